"""Remarks on a description: one warning, at the line of the user's call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from documented_numbers import check_numbers
from hand_models import hand
from sdf_texts import robot as sdf_robot
from urdf_texts import body, inertia, joint, robot

from warpdyn.formats.load import load as load_any
from warpdyn.formats.sdf.sdf import load_sdf
from warpdyn.formats.urdf import load_urdf
from warpdyn.model.description import Joint, Link, Mimic
from warpdyn.model.joints import KINDS
from warpdyn.model.names import ModelWarning
from warpdyn.model.poses_and_limits import Limits
from warpdyn.model.remarks import WARNED_LINES, remark_limits_of_followers, unphysical, warn


def test_a_load_warns_once_and_stores_every_remark() -> None:
    """The warning has at most a dozen lines. Model.warnings has them all."""
    many = [body('<mass value="0"/>' + inertia(1, 1, 1), f"b{i}") for i in range(40)]
    chain = [joint(f"j{i}", "fixed", f"b{i}", f"b{i + 1}", "") for i in range(39)]
    with pytest.warns(ModelWarning) as caught:
        model = load_urdf(robot(*many, *chain))
    assert len(model.warnings) == 40 and len(caught) == 1
    assert str(caught[0].message).count("\n") <= 13 and "and 28 more" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_a_warning_names_the_file_and_the_users_line() -> None:
    """Each load gives one ModelWarning, at the line of the call."""
    with pytest.warns(ModelWarning, match="SDF text is used as written, but:") as caught:
        load_sdf(sdf_robot('<link name="a"><kinematic>1</kinematic></link>'))
        load_any(sdf_robot('<link name="a"/>'))
    assert [warning.filename for warning in caught] == [__file__, __file__]


@pytest.mark.filterwarnings("error")
def test_a_model_without_remarks_gives_no_warning() -> None:
    """The same model is returned."""
    model = hand()
    assert warn("hand", model) is model


@pytest.mark.parametrize("count", [1, WARNED_LINES, WARNED_LINES + 1])
def test_long_lists_of_remarks_are_shortened(count: int) -> None:
    """The list shows at most a dozen remarks and counts the rest."""
    model = replace(hand(), warnings=tuple(f"odd {i}." for i in range(count)))
    with pytest.warns(ModelWarning) as caught:
        warn("hand", model)
    text = str(caught[0].message)
    assert text.count("odd") == min(count, WARNED_LINES)
    assert ("and 1 more, see model.warnings" in text) == (count > WARNED_LINES)


def test_documented_numbers() -> None:
    check_numbers("model.remarks", WARNED_LINES=12)


def test_only_unphysical_inertia_is_remarked() -> None:
    """Negative principal moments, a broken triangle inequality, and inertia without mass are
    remarked. Point masses and rounding errors are not."""

    def remarks(mass: float, *moments: float) -> list[str]:
        inertia = tuple(tuple(row) for row in np.diag(moments).tolist())
        return list(unphysical([Link("a", mass, inertia=inertia)], []))

    assert (
        remarks(1.0, 1.0, 1.0, 1.0) == remarks(0.0, 0.0, 0.0, 0.0) == remarks(0, 1e-13, 0, 0) == []
    )
    assert remarks(1.0, 1.0, 1.0, 2.0005) == []
    assert ["triangle inequality" in line for line in remarks(1.0, 1.0, 1.0, 9.0)] == [True]
    assert ["is negative" in line for line in remarks(1.0, -1.0, 1.0, 1.0)] == [True]
    assert ["no mass" in line for line in remarks(0.0, 1.0, 1.0, 1.0)] == [True]


def test_impossible_numbers_of_a_joint_are_remarked() -> None:
    """Crossed limits, and negative speeds, efforts and losses, of both axes. Equal limits are
    possible, and a fixed joint has no axis."""

    def remarks(kind: str, **fields: Any) -> list[str]:
        axis2 = (0.0, 1.0, 0.0) if KINDS[kind].series else None
        return list(unphysical([], [Joint("j", KINDS[kind], "a", "b", axis2=axis2, **fields)]))

    crossed, lossy = Limits(lower=1.0, upper=-1.0), {"damping": -2.0, "friction": -3.0}
    assert remarks("revolute", limits=Limits(lower=1.0, upper=1.0)) == []
    assert remarks("fixed", limits=crossed, **lossy) == []
    said = ['joint "j": its lower limit 1 is above its upper limit -1']
    assert remarks("revolute", limits=crossed) == said
    said = ['joint "j": its damping is negative, -2', 'joint "j": its friction is negative, -3']
    assert remarks("prismatic", **lossy) == said
    said = ['joint "j": its second velocity is negative, -1']
    assert remarks("universal", limits2=Limits(velocity=-1.0)) == said
    said = ['joint "j": its second damping is negative, -1']
    assert remarks("universal", damping2=-1.0) == said


@pytest.mark.parametrize(
    ("leader", "mimic", "own", "words"),
    [
        ((-2, 2), Mimic("a", 2.0, 0.0), (-0.5, 0.5), "from -4 to 4; its own, -0.5 to 0.5"),
        ((-1, 2), Mimic("a", -1.0, 0.5), (-3, 1), "from -1.5 to 1.5; its own, -3 to 1"),
        ((-np.inf, np.inf), Mimic("a"), (-1, 1), "from -inf to inf; its own, -1 to 1"),
        ((0, 0.8), Mimic("a", -1.0), (-0.8757, 0), None),
        ((0, 0.04), Mimic("a"), (0, 0.04), None),
        ((-2, 2), Mimic("a"), (-np.inf, np.inf), None),
    ],
)
def test_limits_of_mimic_joints_that_differ_from_the_leaders_are_remarked(
    leader: Any, mimic: Mimic, own: Any, words: str | None
) -> None:
    joints = [
        Joint("a", KINDS["revolute"], "x", "y", limits=Limits(*leader)),
        Joint("b", KINDS["revolute"], "y", "z", limits=Limits(*own), mimic=mimic),
    ]
    found = list(remark_limits_of_followers(joints))
    assert len(found) == (words is not None)
    assert all(f'joint "b" follows "a", whose limits let it move {words}' in x for x in found)
