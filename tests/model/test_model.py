"""The model: immutable, picklable, and the table of what can be made of it."""

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
from warpdyn.model.description import Link, ModelError
from warpdyn.model.model import INSTEAD


def test_model_is_immutable() -> None:
    """Fields cannot be set; changed copies leave the original as it was."""
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
def test_a_model_takes_no_attributes(name: str, instead: str) -> None:
    """Neither fields nor new ones, which would change nothing; the error says what to call."""
    model = hand()
    before = dict(vars(model))
    with pytest.raises(FrozenInstanceError, match=f"{name} cannot be set; .*{instead}"):
        setattr(model, name, 1)
    with pytest.raises(FrozenInstanceError, match="cannot be deleted"):
        delattr(model, name)
    assert vars(model) == before


def test_what_the_errors_name_exists() -> None:
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


def test_no_half_changed_model_exists() -> None:
    """No array of a model can be written, those of its copies neither, and no table."""
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


def test_params_take_no_attributes() -> None:
    params = hand().params(mass={"palm": 1.0})
    for name in ("foo", "gravity"):
        with pytest.raises(FrozenInstanceError):
            setattr(params, name, 1)


def test_copies_are_equal() -> None:
    """Copied, deep or not, and pickled: equal with the same hash; they share kernels, and results."""
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
    """Whatever differs: numbers of the dynamics, limits that inverse kinematics keeps, names, signs of
    zeros."""
    model = wd.load_robot("double_pendulum")
    other = changed(model)
    assert other != model and model != other and {model: 1}.get(other) is None
    assert model != model.name


def test_a_model_that_is_equal_outlives_the_first() -> None:
    """Kernels are shared by equal models, and stay right when the one that they were made for is gone."""
    first = wd.load_robot("double_pendulum").with_armature(0.125)
    second, q = copy.deepcopy(first), np.ones((2, 2))
    wanted = wd.crba(first, q)
    assert np.array_equal(wd.crba(second, q), wanted)
    del first
    gc.collect()
    for _ in range(4):
        assert np.array_equal(wd.crba(second, q), wanted)


def test_a_copied_or_pickled_model_is_the_same_robot() -> None:
    """Its key, its kinds (the very records) and its numbers survive the way to another process."""
    model = wd.load_robot("panda")
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.key == model.key
        assert all(a.kind is b.kind for a, b in zip(other.joints, model.joints, strict=True))
        assert np.array_equal(other.effort_limit, model.effort_limit)


METHODS = [name for name, _ in inspect.getmembers(Model, inspect.isfunction) if name[0] != "_"]


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_those_of_one_class_whatever_file_they_stand_in(name: str) -> None:
    """help() shows a method's own name, `self` first, what it returns; a change makes the same class."""
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
def test_changes_are_documented(name: str) -> None:
    """Their docstrings say what comes out: a robot, of the class that was changed."""
    assert (getattr(Model, name).__doc__ or "").split()[:1] in (["The"], ["This"])
    if name == "collapse":
        assert type(hand().collapse()) is Model


def test_orders_of_quaternions_are_two() -> None:
    """Any other word is refused, with the source."""
    with pytest.raises(ModelError, match='file: quaternion must be "xyzw" or "wxyz", got \'zyxw\''):
        Model.assemble("m", [Link("a")], [], source="file", quaternion="zyxw")
