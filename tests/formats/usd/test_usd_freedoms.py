"""Generic joints of USD: a joint of the model for each degree of freedom."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usd_models import SINGLE, load, pose, refusal, shift, turn
from usd_texts import body, joint, stage

from warpdyn.formats.usd.usd import load_usd
from warpdyn.model.names import ModelWarning

pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")

LOW, HIGH = "float limit:{}:physics:low = {}", "float limit:{}:physics:high = {}"


def limit_ranges(**ranges: tuple[float, float]) -> tuple[str, str]:
    apis = ", ".join(f'"PhysicsLimitAPI:{freedom}"' for freedom in ranges)
    lines = (
        "\n".join((LOW.format(freedom, low), HIGH.format(freedom, high)))
        for freedom, (low, high) in ranges.items()
    )
    return apis, "\n".join(lines)


LOCKED = (1.0, -1.0)


def test_a_generic_joint_becomes_one_joint_for_each_degree_of_freedom() -> None:
    """They are slides along the axes of the joint's frame, then one rotation. Each joint has its
    own limits."""
    apis, inside = limit_ranges(
        transX=(-0.5, 0.25),
        transY=LOCKED,
        transZ=(-1.0, 2.0),
        rotX=LOCKED,
        rotY=(-90.0, 45.0),
        rotZ=LOCKED,
    )
    text = stage(body("a", root=True), body("b"), joint("j", "", inside=inside, apis=apis))
    model = load(text, floating_base=False)
    assert model.joint_names == ("j_transX", "j_transZ", "j_rotY")
    assert model.position_lower.tolist() == pytest.approx([-0.5, -1.0, -math.pi / 2])
    assert model.position_upper.tolist() == pytest.approx([0.25, 2.0, math.pi / 4])
    T = shift(0.1, 0, 0) @ shift(0, 0, 0.2) @ turn("y", 0.3)
    assert np.abs(pose(model, [0.1, 0.2, 0.3], "b") - T).max() <= SINGLE


def test_generic_joints_can_be_fixed_or_ball_joints() -> None:
    """Fixed if all degrees of freedom are locked, a ball joint if the three rotations are free."""
    rigid = dict.fromkeys(("transX", "transY", "transZ"), LOCKED)
    for turns, kind in ((dict.fromkeys(("rotX", "rotY", "rotZ"), LOCKED), "fixed"), ({}, "ball")):
        apis, inside = limit_ranges(**rigid, **turns)
        text = stage(body("a", root=True), body("b"), joint("j", "", inside=inside, apis=apis))
        assert load(text).joint("j").kind.name == kind


def test_rotations_of_a_generic_joint_are_about_x_then_y_then_z() -> None:
    """Newton takes them in this order. Each has its limits, and a remark names the order."""
    rigid = dict.fromkeys(("transX", "transY", "transZ"), LOCKED)
    apis, inside = limit_ranges(**rigid, rotX=(-30.0, 60.0), rotZ=LOCKED)
    parts = body("a", root=True), body("b")
    with pytest.warns(ModelWarning, match="one after the other, rotX, rotY, as Newton does"):
        model = load_usd(
            stage(*parts, joint("j", "", inside=inside, apis=apis)), floating_base=False
        )
    assert model.joint("j_rotX").limits.upper == pytest.approx(math.pi / 3)
    assert not np.isfinite(model.joint("j_rotY").limits.upper)
    T = turn("x", 0.4) @ turn("y", -0.7)
    assert np.abs(pose(model, [0.4, -0.7], "b") - T).max() <= SINGLE
    text = stage(*parts, joint("j", "", ("b", "a"), inside=inside, apis=apis))
    assert "exchange its bodies" in refusal(text)
    with pytest.warns(ModelWarning, match="rotX, rotY, rotZ"):
        apis, inside = limit_ranges(**rigid, rotX=(-30.0, 60.0))
        assert load_usd(stage(*parts, joint("j", "", inside=inside, apis=apis))).nv == 9


def test_a_generic_joint_must_go_from_its_first_body_to_its_second() -> None:
    """If the second body carried the first, the order of the rotations would be another."""
    rigid = dict.fromkeys(("transX", "transY", "transZ"), LOCKED)
    for freedoms in ({**rigid, "rotX": LOCKED, "rotY": (-9.0, 9.0)}, rigid):
        apis, inside = limit_ranges(**freedoms)
        parts = body("a", root=True), body("b"), joint("j", "", ("b", "a"), inside, apis)
        assert "its second body carries its first" in refusal(stage(*parts))


@pytest.mark.filterwarnings("ignore::warpdyn.ModelWarning")
@pytest.mark.parametrize(
    ("cones", "limited"), [((-1, -1), False), ((30, -1), True), ((-1, 0), True), ((20, 30), True)]
)
def test_limits_of_a_ball_joint_are_remarked(cones: tuple[float, float], limited: bool) -> None:
    """A negative cone angle means no limit."""
    inside = "\n".join(f"float physics:coneAngle{k}Limit = {x}" for k, x in enumerate(cones))
    text = stage(body("a", root=True), body("b"), joint("j", "Spherical", inside=inside))
    model = load_usd(text)
    assert model.joint("j").kind.name == "ball"
    assert any("limits of a ball joint are left out" in x for x in model.warnings) == limited


def test_a_generic_joint_with_several_freedoms_closes_no_loop() -> None:
    """A loop has one kind. With one free rotation it is a hinge, with two it is refused."""
    rigid = dict.fromkeys(("transX", "transY", "transZ"), LOCKED)
    outside = "bool physics:excludeFromArticulation = 1\n"
    parts = (
        body("a", root=True),
        body("b"),
        body("c"),
        joint("j"),
        joint("k", "Revolute", ("b", "c")),
    )
    apis, inside = limit_ranges(**rigid, rotX=LOCKED, rotY=LOCKED)
    with pytest.warns(ModelWarning, match="closed loops are kept"):
        (loop,) = load_usd(
            stage(*parts, joint("rod", "", ("a", "c"), outside + inside, apis))
        ).loops
    assert loop.kind == "hinge"
    apis, inside = limit_ranges(**rigid, rotX=LOCKED)
    text = stage(*parts, joint("rod", "", ("a", "c"), outside + inside, apis))
    assert "/robot/rod: it closes a loop, but a robot must be a tree" in refusal(text)
