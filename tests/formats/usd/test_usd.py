"""The USD reader: bodies and joints as a tree, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from usd_models import SINGLE, load, pose, refusal, shift, turn
from usd_texts import at, body, frames, joint, stage

import warpdyn as wd
from warpdyn.formats.usd import usd_values
from warpdyn.formats.usd.usd import load_usd
from warpdyn.model.names import ModelWarning

pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")

HALF = "0.70710678, 0, 0.70710678, 0"
"""Rotation by 90 degrees about y, w first."""


ARM = (
    body("a", at(0.0, 0.0, 0.0), root=True),
    body("b", at(1.0, 0.0, 0.0), mass=2.0),
    body("c"),
    joint("hold", "Fixed", ("", "a"), frames("0.5, 0, 0")),
    joint("hinge", "Revolute", ("a", "b"), frames("1, 0, 0", "-0.25, 0, 0", HALF, HALF)),
    joint("slide", "Prismatic", ("b", "c"), frames("0, 0.5, 0", "0, 0, 0.125"), axis="Y"),
)


def test_joint_frames_determine_the_poses_of_bodies() -> None:
    """T1 = T0 (frame in body 0) (motion) (frame in body 1)⁻¹ holds, whatever the poses of the
    bodies in the stage."""
    model = load(stage(*ARM))
    assert model.joint_names == ("hinge", "slide") and not model.floating_base
    assert model.root == "world" and model.name == "a"
    q = [0.3, 0.7]
    A = shift(0.5, 0, 0)
    B = A @ shift(1, 0, 0) @ turn("y", math.pi / 2) @ turn("z", 0.3) @ turn("y", -math.pi / 2)
    B = B @ shift(0.25, 0, 0)
    C = B @ shift(0, 0.5, 0) @ shift(0, 0.7, 0) @ shift(0, 0, -0.125)
    for name, T in (("a", A), ("b", B), ("c", C)):
        assert np.abs(pose(model, q, name) - T).max() <= SINGLE


def test_a_joint_may_name_its_bodies_in_either_order() -> None:
    """The tree follows from the root. Coordinates keep their sign."""
    model = load(stage(*ARM))
    turned = stage(
        *ARM[:4],
        joint("hinge", "Revolute", ("b", "a"), frames("-0.25, 0, 0", "1, 0, 0", HALF, HALF)),
        joint("slide", "Prismatic", ("c", "b"), frames("0, 0, 0.125", "0, 0.5, 0"), axis="Y"),
    )
    other = load(turned)
    for name in "abc":
        there = pose(other, [-0.3, -0.7], name)
        assert np.abs(there - pose(model, [0.3, 0.7], name)).max() <= SINGLE


def test_units_and_the_up_axis_are_converted() -> None:
    """A stage in centimetres and grams with y up gives the same robot in metres and kilograms with
    z up."""
    text = stage(
        body("a", at(0, 0, 0)),
        body(
            "b", "point3f physics:centerOfMass = (0, 10, 0)", mass=2000.0, moments="3e4, 2e4, 2e4"
        ),
        joint("hold", "Fixed", ("", "a"), frames("0, 50, 0")),
        joint("slide", "Prismatic", inside="float physics:upperLimit = 20", axis="Y"),
        metre=0.01,
        kilogram=0.001,
        up="Y",
    )
    model = load(text)
    link = model.link("b")
    assert link.mass == pytest.approx(2.0, rel=SINGLE)
    assert link.com == pytest.approx((0, 0.1, 0), rel=SINGLE)
    assert np.diag(link.inertia) == pytest.approx([3e-3, 2e-3, 2e-3], rel=SINGLE)
    assert model.position_upper[0] == pytest.approx(0.2, rel=SINGLE)
    raised = pose(model, [0.25], "b")
    assert raised[:3, 3] == pytest.approx([0, 0, 0.75], abs=SINGLE)
    gravity = wd.oracle(wd.gravity_torques, model, np.zeros(1))
    assert gravity[0] == pytest.approx(2 * 9.81, rel=SINGLE)


def test_a_robot_without_a_joint_to_the_world_floats() -> None:
    """floating_base=None follows the stage. False fixes the base where the stage puts it. True is
    refused for a fixed robot."""
    parts = body("a", at(0, 0, 2.0), root=True), body("b"), joint("j")
    free = load(stage(*parts))
    assert free.floating_base and free.root == "a" and free.nv == 7
    held = load(stage(*parts), floating_base=False)
    assert held.nv == 1 and pose(held, [0.0], "a")[2, 3] == 2.0
    said = refusal(stage(*ARM[:3], *ARM[4:], ARM[3]), floating_base=True)
    assert "/robot/hold: it holds the robot in the world; leave floating_base out" in said
    assert load(stage(*parts), quaternion="wxyz").neutral[3] == 1.0
    assert load(stage(body("a"), body("b", root=True), joint("j"))).root == "b"


def test_one_articulation_is_chosen_by_name() -> None:
    """A scene has two robots. Bodies next to a single robot are left out with a remark."""
    two = stage(body("a", root=True), body("b", root=True))
    assert 'model="..."' in refusal(two) and "/robot/b" in refusal(two)
    with pytest.warns(ModelWarning, match="1 bodies are not of /robot/b"):
        assert load_usd(two, model="b").root == "b"
    assert 'no articulations "c"' in refusal(two, model="c")
    with pytest.warns(ModelWarning, match="1 bodies are not of /robot/a"):
        assert load_usd(stage(body("box"), body("a", root=True))).root == "a"


def test_all_bodies_of_a_stage_can_be_one_robot() -> None:
    """They are an arm that is fixed and two loose bodies, whose poses in "qpos0" are those of the
    stage. A single free articulation keeps its floating base."""
    scene = stage(*ARM, body("cube", at(2.0, 0.0, 0.5), mass=0.5), body("ball", at(0, 3.0, 0.1)))
    model = load(scene, model="world")
    assert model.joint_names == ("hinge", "slide", "world_to_cube", "world_to_ball")
    assert model.root == "world" and not model.floating_base
    q = model.configurations["qpos0"]
    assert pose(model, q, "cube")[:3, 3] == pytest.approx([2.0, 0.0, 0.5])
    assert pose(model, q, "ball")[:3, 3] == pytest.approx([0.0, 3.0, 0.1])
    arm = load_usd(stage(*ARM))
    for name in arm.link_names:
        assert np.allclose(pose(model, q, name), pose(arm, np.zeros(2), name), atol=SINGLE)
    with pytest.warns(ModelWarning, match='2 bodies are not of .*; model="world" reads all'):
        assert load_usd(scene, model="/robot/a").nv == 2
    still = load(scene, model="world", floating_base=False)
    assert still.nv == 2 and pose(still, np.zeros(2), "cube")[0, 3] == 2.0
    alone = load(stage(body("a", root=True), body("b"), joint("j")), model="world")
    assert alone.floating_base and not alone.named


LOOP = (
    *ARM,
    joint("rod", "Spherical", ("a", "c"), "bool physics:excludeFromArticulation = 1"),
)


@pytest.mark.parametrize("held", [(), ("a",), ("b",)])
def test_two_trees_of_one_articulation_are_refused_if_one_floats(held: tuple[str, ...]) -> None:
    """It does not matter whether the other is fixed to the world. Two fixed trees are one robot."""
    both = 'def Xform "two" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])\n{{\n{}}}\n'
    names = {f"/robot/{name}": f"/robot/two/{name}" for name in ("a", "b")}

    def text(held: tuple[str, ...]) -> str:
        welds = "".join(joint(f"weld_{name}", "Fixed", ("", name)) for name in held)
        whole = stage(both.format(body("a") + body("b") + welds))
        for old, new in names.items():
            whole = whole.replace(f"<{old}>", f"<{new}>")
        return whole

    assert "/robot/two is the root of several trees" in refusal(text(held))
    assert set(load_usd(text(("a", "b"))).link_names) >= {"a", "b"}


def test_loops_are_kept_refused_or_cut_by_name() -> None:
    """The joint that the stage excludes from the articulation closes the loop: a ball joint becomes
    a connect, a revolute joint a hinge, and a prismatic joint is refused."""
    with pytest.warns(ModelWarning, match="closes a loop, and is kept without its limits"):
        kept = load_usd(stage(*LOOP))
    (loop,) = kept.loops
    assert (loop.kind, loop.ends, loop.name) == ("connect", ("a", "c"), "rod")
    assert kept.joint_names == ("hinge", "slide")
    kinds = (("Revolute", "hinge"), ("Fixed", "weld"), ("Prismatic", ""))
    for word, kind in kinds:
        last = joint("rod", word, ("a", "c"), "bool physics:excludeFromArticulation = 1")
        text = stage(*LOOP[:-1], last)
        if not kind:
            assert "/robot/rod: it closes a loop" in refusal(text)
            continue
        with pytest.warns(ModelWarning, match="closed loops are kept"):
            assert load_usd(text).loops[0].kind == kind
    with pytest.raises(wd.ModelError, match="/robot/rod: it closes a loop"):
        load_usd(stage(*LOOP), loops="refuse")
    with pytest.warns(ModelWarning, match="/robot/rod: it closes a loop; it is left open"):
        model = load_usd(stage(LOOP[-1], *LOOP[:-1]), loops="cut")
    assert model.joint_names == ("hinge", "slide")


def test_mimic_joints_of_newton_and_physx_are_read() -> None:
    """Newton's attributes are in degrees. PhysX' equation is q + gearing q_ref + offset = 0."""
    newton = (
        "rel newton:mimicJoint = </robot/one>\nfloat newton:mimicCoef0 = 90\n"
        "float newton:mimicCoef1 = -2\n"
    )
    physx = (
        "rel physxMimicJoint:rotZ:referenceJoint = </robot/one>\n"
        "float physxMimicJoint:rotZ:gearing = 2\nfloat physxMimicJoint:rotZ:offset = -90\n"
    )
    for said in (newton, physx):
        parts = body("a", root=True), body("b"), body("c"), joint("one")
        model = load(stage(*parts, joint("two", bodies=("b", "c"), inside=said)))
        mimic = model.joint("two").mimic
        assert mimic is not None and (mimic.joint, mimic.multiplier) == ("one", -2.0)
        assert mimic.offset == pytest.approx(math.pi / 2) and model.joint_names == ("one",)


def test_duplicate_names_are_replaced_by_paths() -> None:
    """This is done for links and for joints."""
    inner = body("b").replace('"b"', '"a"')
    model = load(stage(body("a", inner, root=True), joint("j", bodies=("a", "a/a"))))
    assert model.link_names == ("/robot/a", "/robot/a/a")


def test_usd_is_recognised_by_its_beginning_and_its_suffix(tmp_path: Path) -> None:
    """.usda is recognised as text, .usdc by a path. `load` recognises both."""
    text = stage(*ARM)
    layer = usd_values.library().Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(text)
    for name in ("arm.usda", "arm.usdc", "arm.usd"):
        layer.Export(str(tmp_path / name))
        assert wd.load(tmp_path / name).key == load(text).key
    assert wd.load(text).key == wd.load(text.encode()).key == load(text).key
    assert "give a path" in refusal((tmp_path / "arm.usdc").read_bytes())  # type: ignore[arg-type]


UNUSED = ('def Xform "b" (\nactive = false', 'over "b" (', 'class Xform "b" (')
"""Beginnings of prims that are not part of a stage's scene."""


def with_second_body(beginning: str) -> str:
    """Two bodies and a joint. The second body would be the world if it were not refused."""
    return stage(body("a"), body("b").replace('def Xform "b" (', beginning), joint("j"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#usda 1.0\n(", ["usd-core cannot read it"]),
        ("#usda 1.0\n", ["no prim has PhysicsRigidBodyAPI"]),
        (
            stage(body("a"), joint("j", bodies=("a", "a"))),
            ["/robot/j", "both of its ends are the same body"],
        ),
        (stage(body("a"), joint("j", bodies=("a", "z"))), ["/robot/j", "no active prim /robot/z"]),
        *((with_second_body(each), ["/robot/j", "no active prim /robot/b"]) for each in UNUSED),
        (
            stage(body("a", "float physics:density.timeSamples = {0: 3, 1: 5}")),
            ["/robot/a", "physics:density has only time samples; give it a value"],
        ),
        (
            stage(body("a"), body("b"), joint("j", "Distance")),
            ["/robot/j", "not supported as a joint"],
        ),
        (
            stage(body("a", at(1e10, 0, 0)), joint("h", "Fixed", ("", "a"), frames("1e10, 0, 0"))),
            ["/robot/h", "1e+09"],
        ),
        (
            stage(body("a").replace("float physics:mass = 1.0", 'string physics:mass = "x"')),
            ["/robot/a", "physics:mass is x; it needs a number"],
        ),
        (
            stage(body("a"), body("b"), joint("j", axis="W")),
            ["/robot/j", "physics:axis is W; it needs one of X, Y, Z"],
        ),
        (
            stage(body("a"), body("b"), joint("j", inside="float physics:upperLimit = nan")),
            ["/robot/j", "a limit is nan"],
        ),
        (
            stage(body("a", 'uniform token[] xformOpOrder = ["xformOp:none"]')),
            ["/robot/a", "its placement cannot be read"],
        ),
        (
            stage(
                body("a"),
                joint("j", bodies=("", "")).replace("{\n", "{\nfloat physics:body0 = 1\n", 1),
            ),
            ["usd-core cannot read it"],
        ),
        (
            stage(body("a"), body("b"), joint("j", inside='string newton:armature = "much"')),
            ["/robot/j", "newton:armature", "it needs a number"],
        ),
        (stage(body("a"), metre=0.0), ["metersPerUnit 0", "must be"]),
    ],
)
def test_unusable_prims_are_refused_by_their_path(text: str, words: list[str]) -> None:
    """The ModelError names the path of the prim."""
    said = refusal(text)
    for word in words:
        assert word in said


def test_without_usd_core_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is an optional extra."""
    import sys

    monkeypatch.setitem(sys.modules, "pxr", None)
    assert "pip install '.[usd]' in warpdyn's folder" in refusal(stage(*ARM))


def test_joints_without_effect_are_left_out() -> None:
    """A disabled joint is remarked. A joint between the world and the world is ignored."""
    parts = body("a", root=True), body("b"), joint("j")
    off = joint("off", "Fixed", ("", "a"), "bool physics:jointEnabled = 0")
    with pytest.warns(ModelWarning, match="/robot/off: this joint is disabled; it is left out"):
        model = load_usd(stage(*parts, off))
    assert model.floating_base and model.joint_names == ("j",)
    assert load(stage(*parts, joint("w", "Fixed", ("", "")))).key == load(stage(*parts)).key


PLACE = 'def Xform "{}"\n{{\n{}}}\n'


def test_a_joint_may_name_a_prim_below_a_body() -> None:
    """The frame of the joint is then that of the prim, moved and scaled as in the stage. A prim of
    the scene fixes the robot in the world."""
    inner = PLACE.format("mount", at(0.0, 0.0, 0.5, HALF))
    plain = stage(
        body("a", at(0, 0, 1), root=True),
        body("b"),
        joint("j", inside=frames("0, 0, 0.75", turn0=HALF)),
    )
    below = stage(
        body("a", at(0, 0, 1) + inner, root=True),
        body("b"),
        joint("j", bodies=("a/mount", "b"), inside=frames("-0.25, 0, 0")),
    )
    for q in (0.0, 0.4):
        there = pose(load(below, floating_base=False), [q], "b")
        assert np.abs(there - pose(load(plain, floating_base=False), [q], "b")).max() <= SINGLE
    wall = PLACE.format("wall", at(0.0, 2.0, 0.0, HALF))
    held = load(stage(wall, body("a"), joint("h", "Fixed", ("wall", "a"), frames("0.5, 0, 0"))))
    wanted = shift(0, 2, 0) @ turn("y", math.pi / 2) @ shift(0.5, 0, 0)
    assert not held.floating_base and np.abs(pose(held, [], "a") - wanted).max() <= SINGLE


def test_a_mimic_of_something_other_than_a_joint_is_refused() -> None:
    said = "rel newton:mimicJoint = </robot/a>\n"
    parts = body("a", root=True), body("b"), joint("j", inside=said)
    assert "/robot/j: it mimics /robot/a, which is not a joint of the robot" in refusal(
        stage(*parts)
    )


@pytest.mark.parametrize("offset", ["0, 0, 0", "0, 0.25, 0"])
def test_the_joint_frame_in_the_child_may_be_rotated(offset: str) -> None:
    """The joint's axis is then another axis of the child. A moved frame becomes a link of its
    own."""
    parts = body("a", root=True), body("b")
    turned = joint("j", inside=frames("1, 0, 0", offset, HALF, "0.70710678, 0.70710678, 0, 0"))
    model = load(stage(*parts, turned), floating_base=False)
    axis = {"0, 0, 0": "b", "0, 0.25, 0": "j_frame"}[offset]
    assert model.joint("j").child == axis
    along = {"b": (0.0, -1.0, 0.0), "j_frame": (0.0, 0.0, 1.0)}[axis]
    assert model.joint("j").axis == pytest.approx(along, abs=SINGLE)
    for q in (0.0, 0.7):
        T = shift(1, 0, 0) @ turn("y", math.pi / 2) @ turn("z", q) @ turn("x", -math.pi / 2)
        T = T @ shift(*(-float(x) for x in offset.split(", ")))
        assert np.abs(pose(model, [q], "b") - T).max() <= SINGLE
