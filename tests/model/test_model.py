"""The model: immutable, picklable, and its table of methods."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import re
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from hand_models import hand

import warpdyn as wd
from warpdyn.execution.launch.launch import prepare
from warpdyn.model import Model
from warpdyn.model.description import Link
from warpdyn.model.model import INSTEAD
from warpdyn.model.names import ModelError


def test_a_model_is_immutable() -> None:
    """Fields cannot be set, and changed copies do not change the original."""
    model = hand()
    with pytest.raises(FrozenInstanceError):
        model.name = "other"  # type: ignore[misc]
    key = model.key
    assert (
        model.with_armature(0.1).key != key
        and model.with_payload("palm", 1.0).key != key
        and model.key == key
    )


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("gravity", r"pass gravity= to the call"),
        ("position_lower", r"model\.with_limits\(joint, \.\.\.\) returns a changed copy"),
        ("effects", r"methods with_\.\.\. return a changed copy"),
        ("foo", r"keep data of your own next to the model"),
        ("name", r"dataclasses\.replace"),
    ],
)
def test_setting_any_attribute_of_a_model_is_refused(name: str, instead: str) -> None:
    """This holds for fields and for new attributes, which would change nothing. The error says what
    to call."""
    model = hand()
    before = dict(vars(model))
    with pytest.raises(FrozenInstanceError, match=f"{name} cannot be set; .*{instead}"):
        setattr(model, name, 1)
    with pytest.raises(FrozenInstanceError, match="cannot be deleted"):
        delattr(model, name)
    assert vars(model) == before


def test_the_methods_that_errors_name_exist() -> None:
    named = {word for text in INSTEAD.values() for word in re.findall(r"with_[a-z_]+", text)}
    assert named and all(hasattr(Model, name) for name in named)


ARRAYS = (
    "neutral",
    "position_lower",
    "position_upper",
    "velocity_limit",
    "joint_columns",
    "joint_position_columns",
    "effort_limit",
    "supports",
)


def test_arrays_and_tables_of_a_model_are_read_only() -> None:
    """Those of its copies are, too."""
    model = wd.load_robot("panda")
    assert model.neutral is model.neutral
    for each in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        arrays = {n: x for n, x in inspect.getmembers(each) if isinstance(x, np.ndarray)}
        assert set(arrays) == set(ARRAYS)
        for array in (*arrays.values(), *each.configurations.values()):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
        with pytest.raises(TypeError):
            each.coordinates["panda_joint1"] = None  # type: ignore[index]


def test_setting_any_attribute_of_params_is_refused() -> None:
    params = hand().params(mass={"palm": 1.0})
    for name in ("foo", "gravity"):
        with pytest.raises(FrozenInstanceError):
            setattr(params, name, 1)


def test_copies_are_equal() -> None:
    """Copies, deep copies and pickles are equal and have the same hash. They share kernels and give
    the same results."""
    model = wd.load_robot("double_pendulum")
    q = np.ones((2, model.nq))
    wanted = wd.crba(model, q)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert other is not model and other == model and hash(other) == hash(model)
        assert {model: 1}[other] == 1
        assert np.array_equal(wd.crba(other, q), wanted)
        assert (
            prepare(wd.crba.describe(other, q)).kernel is prepare(wd.crba.describe(model, q)).kernel
        )
    assert wd.load_robot("double_pendulum") == model


@pytest.mark.parametrize(
    "changed",
    [
        lambda m: m.with_armature(0.1),
        lambda m: m.with_limits(m.joint_names[0], lower=-0.5, upper=0.25),
        lambda m: m.with_configuration("far", m.neutral),
        lambda m: replace(m, name="other"),
        lambda m: replace(m, base_armature=-0.0),
        lambda m: replace(m, warnings=("one",)),
    ],
)
def test_changed_models_are_not_equal(changed: Any) -> None:
    """They differ in numbers of the dynamics, limits that inverse kinematics respects, names, or
    signs of zeros."""
    model = wd.load_robot("double_pendulum")
    other = changed(model)
    assert other != model and model != other and {model: 1}.get(other) is None
    assert model != model.name


def test_shared_kernels_outlive_the_model_that_made_them() -> None:
    """Equal models share kernels, which remain right when the first model is deleted."""
    first = wd.load_robot("double_pendulum").with_armature(0.125)
    second, q = copy.deepcopy(first), np.ones((2, 2))
    wanted = wd.crba(first, q)
    assert np.array_equal(wd.crba(second, q), wanted)
    del first
    gc.collect()
    for _ in range(4):
        assert np.array_equal(wd.crba(second, q), wanted)


def test_a_pickled_model_has_the_same_key_and_numbers() -> None:
    """Its joint types are the same objects."""
    model = wd.load_robot("panda")
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.key == model.key
        assert all(a.kind is b.kind for a, b in zip(other.joints, model.joints, strict=True))
        assert np.array_equal(other.effort_limit, model.effort_limit)


METHODS = [name for name, _ in inspect.getmembers(Model, inspect.isfunction) if name[0] != "_"]


@pytest.mark.parametrize("name", METHODS)
def test_methods_from_all_files_have_proper_names_and_signatures(name: str) -> None:
    """help() shows the method's own name, `self` first, and the return type."""
    method = getattr(Model, name)
    assert method.__name__ == name and next(iter(inspect.signature(method).parameters)) == "self"
    assert inspect.signature(method).return_annotation is not inspect.Signature.empty


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in METHODS
        if inspect.signature(getattr(Model, name)).return_annotation == "Robot"
    ],
)
def test_methods_that_change_a_model_say_what_they_return(name: str) -> None:
    """They return a robot of the class that was changed."""
    assert (getattr(Model, name).__doc__ or "").split()[:1] in (["The"], ["This"])
    if name == "collapse":
        assert type(hand().collapse()) is Model


def test_an_unknown_quaternion_order_is_refused() -> None:
    """The message begins with the source."""
    with pytest.raises(ModelError, match='file: quaternion must be "xyzw" or "wxyz", got \'zyxw\''):
        Model.assemble("m", [Link("a")], [], source="file", quaternion="zyxw")


@pytest.mark.parametrize("word", ["no", "", 2, 0.5])
def test_a_floating_base_is_true_or_false(word: Any) -> None:
    """A word such as "no" would be true."""
    with pytest.raises(ModelError, match="file: floating_base must be True or False, got "):
        Model.assemble("m", [Link("a")], [], source="file", floating_base=word)
    assert Model.assemble("m", [Link("a")], [], floating_base=np.True_).floating_base is True
