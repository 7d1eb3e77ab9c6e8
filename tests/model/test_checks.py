"""Checks of links and joints: each one is seen to raise, and valid parts pass."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from documented_numbers import check_numbers
from hand_models import hand, joint
from hypothesis import given
from hypothesis import strategies as st

import warpdyn as wd
from warpdyn.model import Model
from warpdyn.model.checks import (
    check_description,
    find_root,
    not_negative,
    rigid_body,
)
from warpdyn.model.description import Joint, Link, Mimic
from warpdyn.model.joints import KINDS
from warpdyn.model.names import ModelError
from warpdyn.model.poses_and_limits import EYE, PERPENDICULAR, Pose


@pytest.mark.parametrize(
    ("link", "said"),
    [
        (Link("a", math.nan), "finite"),
        (Link("a", 1.0, (0, 0, math.inf)), "finite"),
        (Link("a", -1.0), "must not be negative"),
        (Link("a", 1.0, (1e308, 0, 0)), r"inertial values must be at most 1e\+09 kg, m"),
        (Link("a", 1e12), r"inertial values must be at most 1e\+09 kg, m"),
    ],
)
def test_links_with_impossible_numbers_are_refused(link: Link, said: str) -> None:
    """Models built by hand pass the same checks as models from a file."""
    with pytest.raises(ModelError, match=said):
        Model.assemble("m", [link], [])


@pytest.mark.parametrize("axis", [(0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (math.nan, 0.0, 0.0)])
def test_an_axis_must_be_a_unit_vector(axis: tuple[float, float, float]) -> None:
    """A joint's axis has length one."""
    with pytest.raises(ModelError, match="axis is"):
        Model.assemble("m", [Link("a"), Link("b")], [joint("j", "a", "b", axis=axis)])


LINKS = [Link("a"), Link("b"), Link("c")]
A_B = joint("ab", "a", "b")
UNIVERSAL = joint("ab", "a", "b", "universal", axis2=(0.6, 0.8, 0.0))

REFUSED = {
    "no link": ([], [], "there is no link"),
    "one name for two links": ([Link("a"), Link("a")], [], 'two links are named "a"'),
    "one name for two joints": (LINKS, [A_B, joint("ab", "b", "c")], 'two joints are named "ab"'),
    "no such parent": (LINKS, [joint("j", "x", "b")], 'its parent link "x" does not exist'),
    "two parents": (LINKS, [A_B, joint("cb", "c", "b")], 'already the child of joint "ab"'),
    "nowhere": (
        LINKS,
        [replace(A_B, pose=Pose((0.0, math.nan, 0.0)))],
        'joint "ab": its origin must be finite numbers, got (0.0, nan, 0.0)',
    ),
    "beyond all": (
        LINKS,
        [replace(A_B, pose=Pose((1e308, 0.0, 0.0)))],
        "its origin must be within 1e+09 m of its parent's",
    ),
    "no second axis": (LINKS, [joint("j", "a", "b", "revolute2")], "it has no axis2"),
    "leaning axes": (
        LINKS,
        [UNIVERSAL],
        "must be perpendicular, but the cosine between them is 0.6",
    ),
    "thread": (
        LINKS,
        [replace(A_B, pitch=0.1)],
        "pitch is 0.1; it must be finite, and only a screw",
    ),
    "armature": (
        LINKS,
        [replace(A_B, armature=-1.0)],
        "armature is -1.0; it must be finite and not",
    ),
    "follows nothing": (LINKS, [replace(A_B, mimic=Mimic("x"))], 'it mimics "x", which does not'),
    "follows itself": (LINKS, [replace(A_B, mimic=Mimic("ab"))], "in a cycle: ab -> ab"),
    "two follow each other": (
        LINKS,
        [replace(A_B, mimic=Mimic("bc")), joint("bc", "b", "c", mimic=Mimic("ab"))],
        "in a cycle: ab -> bc -> ab",
    ),
    "endless factor": (
        LINKS,
        [replace(A_B, mimic=Mimic("ab", math.inf))],
        "must be finite numbers",
    ),
    "a ball follows": (
        LINKS,
        [joint("j", "a", "b", "ball", mimic=Mimic("j"))],
        "a ball joint cannot mimic another",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_invalid_descriptions_are_refused(what: str) -> None:
    """The message is one sentence that begins with the source and names the part."""
    links, joints, said = REFUSED[what]
    with pytest.raises(ModelError, match=r"^m: ") as caught:
        check_description("m", links, joints)
    assert said in str(caught.value)


@pytest.mark.parametrize("lean", [0.0, PERPENDICULAR, -PERPENDICULAR])
def test_two_axes_are_perpendicular_within_a_thousandth(lean: float) -> None:
    """The bound applies to the cosine between them. A slightly larger one is refused."""
    for cosine, passes in ((lean, True), (lean * 1.01, lean == 0.0)):
        axis2 = (cosine, 0.0, math.sqrt(1.0 - cosine**2))
        parts = (
            [Link("a"), Link("b")],
            [joint("j", "a", "b", "universal", axis=(1, 0, 0), axis2=axis2)],
        )
        if passes:
            check_description("m", *parts)
        else:
            with pytest.raises(ModelError, match=r"must be perpendicular, .* is -?0.00101"):
                check_description("m", *parts)


def test_valid_parts_pass() -> None:
    """These are a model's own links and joints. The mimic of a fixed joint is ignored."""
    model = hand()
    check_description("hand", model.links, model.joints)
    fixed = Joint("j", KINDS["fixed"], "a", "b", mimic=Mimic("nothing"))
    check_description("m", LINKS, [fixed])


def test_the_root_is_the_link_without_a_parent() -> None:
    """Two roots, or a closed loop, are refused by name."""
    assert find_root("m", LINKS, [A_B, joint("bc", "b", "c")]) == "a"
    with pytest.raises(ModelError, match='2 links have no parent joint \\("a", "c"\\)'):
        find_root("m", LINKS, [A_B])
    loop = [joint("bc", "b", "c"), joint("cb", "c", "b")]
    with pytest.raises(ModelError, match='a closed loop through link "b"'):
        find_root("m", LINKS, loop)


@given(st.floats(0, 1e300), st.tuples(*[st.floats(-1e9, 1e9)] * 3))
def test_a_rigid_body_has_plain_numbers(mass: float, com: tuple[float, float, float]) -> None:
    """The numbers do not change, whatever the type of the arrays."""
    assert rigid_body("a load", np.float64(mass), np.array(com), np.eye(3)) == (mass, com, EYE)
    assert not_negative(mass)


@pytest.mark.parametrize(
    ("mass", "com", "inertia", "said"),
    [
        (-1.0, (0, 0, 0), EYE, "a load needs a finite mass that is not negative"),
        (math.nan, (0, 0, 0), EYE, "needs a finite mass"),
        (1.0, (0, math.inf, 0), EYE, r"a finite com \(3,\)"),
        (1.0, (0, 0), EYE, r"a finite com \(3,\)"),
        (1.0, (0, 0, 0), np.eye(2), r"inertia \(3, 3\)"),
        (1.0, (0, 0, 0), np.triu(np.ones((3, 3))), "the inertia of a load must be symmetric"),
        (1.0, (0, 0, 0), -np.eye(3), "of a load has a negative principal moment, -1 kg"),
        (1.0, (0, 0, 0), 1 - np.eye(3), "a negative principal moment, -1 kg"),
        ("heavy", (0, 0, 0), EYE, "got heavy kg"),
    ],
)
def test_impossible_inertial_values_are_refused(
    mass: object, com: object, inertia: object, said: str
) -> None:
    """Links, payloads and replaced numbers have the same message."""
    with pytest.raises(ValueError, match=said):
        rigid_body("a load", mass, com, inertia)


def test_errors_of_assembled_models_begin_with_the_source() -> None:
    """`Model.assemble` runs the same checks as the readers."""
    with pytest.raises(ModelError, match=r"^file\.urdf: "):
        Model.assemble("m", [], [], source="file.urdf")


def test_documented_numbers() -> None:
    check_numbers(
        "model.checks",
        ROUNDING=0.001,
        SKEW=1e-09,
    )


def test_sizes_that_are_no_numbers_are_refused() -> None:
    sphere = wd.description.Geometry("sphere", (None,))  # type: ignore[arg-type]
    builder = wd.ModelBuilder("ball")
    with pytest.raises(
        ModelError, match=r'link "ball": a sphere has 1 size, finite and .*\(None,\)'
    ):
        builder.add_link("ball", mass=1.0, collisions=[sphere])
    with pytest.raises(
        ModelError, match=r'link "ball": visuals and collisions are lists of shapes; got one sphere'
    ):
        builder.add_link("ball", mass=1.0, collisions=sphere)  # type: ignore[arg-type]
