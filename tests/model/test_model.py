"""The model: immutable, picklable, and the table of what can be made of it."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hand_models import hand

import warpdyn as wd
from warpdyn.model import Model
from warpdyn.model.description import Link, ModelError


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
