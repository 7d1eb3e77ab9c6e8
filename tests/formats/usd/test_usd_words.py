"""USD: words that are not read, and messages of usd-core's errors."""

from __future__ import annotations

import pytest
from usd_models import load
from usd_texts import body, joint, stage

from warpdyn.formats.usd.usd import load_usd
from warpdyn.formats.usd.usd_words import error_message
from warpdyn.model.names import ModelWarning


class NoTextError(Exception):
    """An error of usd-core whose message cannot be decoded."""

    def __str__(self) -> str:
        return b"\xff".decode()


def test_the_message_of_an_error_is_one_short_line() -> None:
    """Only the end of a long message is kept. Its bytes may not be valid text."""
    assert error_message(NoTextError()) == "its bytes are not text"
    assert error_message(ValueError(" a\n\n b ")) == "a b"
    assert error_message(ValueError("x" * 300 + "y" * 10)) == "x" * 290 + "y" * 10


LIMIT = "float limit:{0}:physics:low = -3\nfloat limit:{0}:physics:high = 3"


@pytest.mark.parametrize(
    ("kind", "api", "inside", "said"),
    [
        (
            "Revolute",
            "",
            "float physics:lowerLimt = 3",
            'attribute "physics:lowerLimt" is not part',
        ),
        (
            "Revolute",
            "PhysicsLimitAPI:rotX",
            LIMIT.format("rotX"),
            "PhysicsLimitAPI:rotX is left out",
        ),
        (
            "",
            "PhysicsLimitAPI:distance",
            LIMIT.format("distance"),
            "PhysicsLimitAPI:distance is left",
        ),
        ("Prismatic", "PhysicsDriveAPI:angular", "", "PhysicsDriveAPI:angular is left out"),
    ],
)
def test_words_of_joints_that_are_not_read_are_remarked(
    kind: str, api: str, inside: str, said: str
) -> None:
    """A limit that is left out would otherwise leave no trace."""
    pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")
    lost = joint("j", kind, inside=inside, apis=f'"{api}"' if api else "")
    with pytest.warns(ModelWarning, match=f"/robot/j: {said}"):
        load_usd(stage(body("a", root=True), body("b"), lost))


def test_each_unknown_attribute_of_a_body_is_remarked_once() -> None:
    pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")
    with pytest.warns(ModelWarning):
        model = load_usd(stage(body("a", "float physics:masss = 3")))
    assert model.warnings == ('/robot/a: attribute "physics:masss" is not part of its schemas',)


def test_drives_of_the_joint_and_other_name_spaces_are_no_remark() -> None:
    pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")
    inside = (
        "float drive:angular:physics:maxForce = 3\nfloat newton:armature = 0.1\nfloat user:x = 1"
    )
    driven = joint("j", inside=inside, apis='"PhysicsDriveAPI:angular"')
    load(stage(body("a", root=True), body("b"), driven))
