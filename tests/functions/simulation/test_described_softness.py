"""Soft contacts of MJCF files are as soft as in MuJoCo."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.functions.simulation.described_softness import (
    limits_of,
    soft_bounds,
    soft_pairs,
    soft_points,
    tendon_bounds_of,
)
from warpdyn.functions.simulation.drives import bounds_of
from warpdyn.model.ground_contact import ContactSoftness, LimitSoftness

BOX = """<mujoco><option timestep="0.001" {0}/><worldbody><geom type="plane" size="9 9 1" {1}/>
<body name="box" pos="0 0 0.2"><freejoint/><geom type="box" size=".1 .1 .1" mass="3" {2}/></body>
</worldbody></mujoco>"""
SOFT = wd.Ground(softness="description")


@pytest.mark.parametrize(
    ("option", "floor", "box", "near"),
    [
        ('cone="elliptic"', 'friction="2"', "", 2e-4),
        ("", 'friction="2"', "", 2e-4),
        ('cone="elliptic" impratio="10"', 'solref=".05 .7" solimp=".3 .8 .02"', "", 5e-4),
        ("", 'condim="1"', 'condim="1" margin="0.01"', 2e-4),
    ],
    ids=["elliptic", "pyramidal", "softer", "without friction"],
)
def test_a_box_falls_and_slides_as_in_mujoco(
    option: str, floor: str, box: str, near: float
) -> None:
    """The whole path agrees.

    The error of rigid ground with the same sink is at least four times larger.
    """
    mujoco = pytest.importorskip("mujoco")
    text = BOX.format(option, floor, box)
    theirs, model = mujoco.MjModel.from_xml_string(text), wd.load(text)
    data, off = mujoco.MjData(theirs), {}
    speed = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    for name, ground in (("soft", SOFT), ("rigid", wd.Ground())):
        mujoco.mj_resetData(theirs, data)
        data.qvel[:] = speed
        sim = wd.Simulation(
            *(model, 1), dt=0.001, substeps=10, sweeps=8, dtype="float64", ground=ground
        )
        sim.reset(v=speed)
        off[name] = 0.0
        for _ in range(50):
            mujoco.mj_step(theirs, data, nstep=10)
            sim.step()
            off[name] = max(off[name], float(np.abs(sim.q[0, :3] - data.qpos[:3]).max()))
    assert off["soft"] < near and off["rigid"] > 4 * off["soft"]


CURVE = (0.9, 0.95, 0.001, 0.5, 2.0)


def test_compliances_use_mujocos_inverse_masses() -> None:
    """The inverse mass of every body is that of the initial pose.

    The compliance of a pyramid depends on its friction.
    """
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><geom type="plane" size="9 9 1"/><body name="a" pos="0 0 1">
    <joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/><geom size="0.1" mass="2" friction="0.5"/>
    <body name="b" pos="0.3 0 0"><joint axis="0 1 0" armature="0.1"/>
    <geom name="tip" size="0.1" pos="0.2 0 0" mass="1" friction="2"/></body></body></worldbody></mujoco>"""
    model, theirs = wd.load(text), mujoco.MjModel.from_xml_string(text)
    points = wd.ContactPoints(model)
    found = soft_points(model, points, SOFT)
    for point, each, mu in zip(points, found, (1.0, 2.0), strict=True):
        assert each is not None and each.is_pyramidal
        inverse = theirs.body(point.link).invweight0[0]
        assert each.normal == pytest.approx(0.5 * mu**2 * (1 + mu**2) * inverse, rel=1e-6)
        assert each.tangential == pytest.approx((1 + mu**2) * inverse, rel=1e-6)
    assert soft_points(model, points, wd.Ground()) == soft_points(model, [], SOFT) == ()


@pytest.mark.parametrize("order", ["xyzw", "wxyz"])
def test_inverse_masses_do_not_depend_on_the_order_of_quaternions(order: str) -> None:
    """An arm with a ball joint has MuJoCo's inverse inertias in both orders."""
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><compiler angle="radian"/><option cone="elliptic"/><worldbody>
    <geom type="plane" size="9 9 1"/><body name="arm" pos="0 0 1">
    <joint name="turn" axis="0 1 0" range="-1 1" limited="true"/>
    <geom type="capsule" fromto="0 0 0 0.5 0.1 0" size="0.05"/><body name="hand" pos="0.5 0.1 0">
    <joint type="ball" armature="0.1"/><geom type="capsule" fromto="0 0 0 0.4 0.2 0.1" size="0.04"/>
    </body></body></worldbody></mujoco>"""
    model, theirs = wd.load(text, quaternion=order), mujoco.MjModel.from_xml_string(text)
    points = wd.ContactPoints(model)
    for point, each in zip(points, soft_points(model, points, SOFT), strict=True):
        assert each is not None
        assert each.normal == pytest.approx(theirs.body(point.link).invweight0[0], rel=1e-6)
    (limit,) = limits_of(model, None, "soft")
    assert limit.soft is not None
    assert limit.soft.inverse_inertia == pytest.approx(theirs.dof_invweight0[0], rel=1e-6)


def test_softness_without_an_mjcf_shape_is_refused() -> None:
    """Points without a shape of an MJCF file, rebounds, unknown words, and limits of other files."""
    text = BOX.format("", "", "")
    model = wd.load(text)
    points = wd.ContactPoints(model)
    with pytest.raises(ValueError, match="that of box is another"):
        soft_points(model, points.with_sphere("box", (0, 0, 0), 0.05), SOFT)
    with pytest.raises(ValueError, match="restitution is for rigid ground"):
        soft_points(model, points, SOFT._replace(restitution=0.5))
    with pytest.raises(ValueError, match="softness must be"):
        soft_points(model, points, wd.Ground(softness="much"))
    arm = wd.load_robot("panda")
    assert soft_bounds(model, []) == ()
    with pytest.raises(wd.ModelError, match="no joint of panda has it"):
        soft_bounds(arm, bounds_of(arm, None))
    assert points.on_ground[points[0]].softness == ContactSoftness(
        *((0.95 * 0.02) ** -2, 2 / (0.95 * 0.02), (0.9, 0.95, 0.001, 0.5, 2.0)), 1.0, 2.0, True
    )


def test_soft_limits_have_the_numbers_of_their_mjcf_file() -> None:
    """Joints without softness have rigid limits.

    Margins shrink the range. A model without any is refused.
    """
    rod = """<mujoco><worldbody><body><joint name="j" axis="0 1 0" range="-90 90" margin="0.1" armature="0.5"/>
    <geom pos="0.5 0 0" size="0.1" mass="2"/></body></worldbody></mujoco>"""
    (soft,) = limits_of(wd.load(rod), None, "soft")
    assert (soft.lower, soft.upper) == pytest.approx((0.1 - np.pi / 2, np.pi / 2 - 0.1))
    inertia = 2 * (0.25 + 0.4 * 0.01) + 0.5
    assert soft.soft is not None and soft.soft.inverse_inertia == pytest.approx(1 / inertia)
    assert limits_of(wd.load(rod), None, "rows")[0].soft is None
    assert limits_of(wd.load(rod), None, "springs") == ()
    with pytest.raises(wd.ModelError, match='take "rows" or "springs"'):
        limits_of(wd.load_robot("panda"), None, "soft")


def test_margins_beyond_half_of_the_range_are_refused() -> None:
    """MuJoCo would press from both limits at once. A margin of half of the range is accepted."""
    text = """<mujoco><worldbody><body><joint name="j" type="slide" axis="0 0 1" range="-0.1 0.1" limited="true"
    margin="{}"/><geom size="0.1"/></body></worldbody></mujoco>"""
    (bound,) = limits_of(wd.load(text.format(0.1)), None, "soft")
    assert (bound.lower, bound.upper) == (0.0, 0.0)
    with pytest.raises(
        wd.ModelError, match=r"the margin of j is 0\.11, more than half of its range"
    ):
        limits_of(wd.load(text.format(0.11)), None, "soft")
    ranged = """<mujoco><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody><tendon>
    <fixed name="t" range="-1 1" margin="{}"><joint joint="j" coef="1"/></fixed></tendon></mujoco>"""
    (of_tendon,) = tendon_bounds_of(wd.load(ranged.format(0.9)))
    assert of_tendon is not None and (of_tendon.lower, of_tendon.upper) == pytest.approx(
        (-0.1, 0.1)
    )
    with pytest.raises(
        wd.ModelError, match=r"the margin of t is 1\.1, more than half of its range"
    ):
        tendon_bounds_of(wd.load(ranged.format(1.1)))


def test_a_tendon_without_softness_has_a_rigid_limit() -> None:
    """The other tendon keeps its softness."""
    model = wd.load(
        """<mujoco><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody><tendon>
        <fixed name="s" range="-1 1"><joint joint="j" coef="1"/></fixed>
        <fixed name="t" range="-2 2"><joint joint="j" coef="2"/></fixed></tendon></mujoco>"""
    )
    first, second = model.tendons
    rigid = replace(model, tendons=(replace(first, soft_limit=None), second))
    assert tendon_bounds_of(rigid) == (None, tendon_bounds_of(model)[1])


def test_a_sliding_body_has_its_own_inverse_mass() -> None:
    """The inverse mass equals MuJoCo's under three conditions.

    The body slides along its axes of inertia, has no rotors and carries nothing. Other bodies have
    the mean of three directions.
    """
    mujoco = pytest.importorskip("mujoco")
    body = """<body name="{}" pos="{} 0 1"><joint type="slide" axis="{}" armature="0.5"/>{}
    <geom {}/>{}</body>"""
    ball, off = 'size="0.1" mass="2"', 'size="0.1" mass="2" pos="0.01 0 0"'
    turned = 'type="box" size="0.1 0.2 0.3" mass="2" euler="0 30 0"'
    other = '<joint type="slide" axis="0 0 1"/>'
    child = '<body pos="0.3 0 0"><joint axis="0 1 0"/><geom size="0.1" mass="1"/></body>'
    rider = f'<body name="rider" pos="0.3 0 0">{other}<geom {ball}/></body>'
    bodies = [
        body.format("one", 0, "1 0 0", "", ball, ""),
        body.format("two", 1, "1 0 0", other, ball, ""),
        body.format("tilted", 2, "1 1 0", other, ball, ""),
        body.format("carrier", 3, "1 0 0", other, ball, child),
        body.format("off", 4, "1 0 0", other, off, ""),
        body.format("turned", 5, "1 0 0", other, turned, ""),
        body.format("light", 6, "1 0 0", "", 'size="0.1" mass="0.5"', rider),
    ]
    text = f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>"
    model, theirs = wd.load(text), mujoco.MjModel.from_xml_string(text)
    contact = wd.description.PairContact(softness=ContactSoftness(1.0, 1.0, CURVE))
    names = ["one", "two", "tilted", "carrier", "off", "turned", "light", "rider"]
    pairs = wd.ContactPairs(model).only(*names)
    laws = soft_pairs(model, pairs, contact, in_mujoco_steps=True)
    for pair, law in zip(pairs, laws, strict=True):
        ends = [theirs.body(shape.link).id for shape in pair if shape.link in names]
        if len(ends) == 2:
            assert law.normal == pytest.approx(theirs.body_invweight0[ends, 0].sum())
    assert len(pairs) > 14 and laws[0].in_mujoco_steps


def test_a_foot_without_mass_has_its_own_inverse_mass() -> None:
    """MuJoCo puts the centre of mass of such a body at the body's pose, as a point of its frame."""
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><body><freejoint/><geom type="box" size="0.3 0.2 0.1" mass="2"/>
    <body name="foot" pos="0.1 0.2 -0.3"><geom size="0.05" pos="0 0 -0.1" mass="0"/></body></body>
    </worldbody></mujoco>"""
    model, theirs = wd.load(text), mujoco.MjModel.from_xml_string(text)
    contact = wd.description.PairContact(softness=ContactSoftness(1.0, 1.0, CURVE))
    pairs = wd.ContactPairs(model).only().with_ground("foot")
    (law,) = soft_pairs(model, pairs, contact, in_mujoco_steps=True)
    assert law.normal == pytest.approx(theirs.body_invweight0[theirs.body("foot").id, 0])


def test_limits_of_sliders_have_the_inverse_mass_of_their_body() -> None:
    """The inverse mass equals MuJoCo's for two sliders and excludes the rotor.

    A hinge, or a slider whose body carries another body, has the inverse mass of the whole robot.
    """
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><body><joint type="slide" axis="1 0 0" range="-1 1" limited="true" armature="0.5"/>
    <joint type="slide" axis="0 1 0" range="-1 1" limited="true"/><geom size="0.1" mass="2"/></body>
    <body pos="1 0 0"><joint type="slide" axis="1 0 0" range="-1 1" limited="true" armature="0.5"/>
    <geom size="0.1" mass="2"/><body pos="0.3 0 0"><joint axis="0 1 0" range="-20 20" limited="true"/>
    <geom size="0.1" pos="0.1 0 0" mass="1"/></body></body>
    <body pos="2 0 0"><joint type="slide" axis="1 0 0" range="-1 1" limited="true" armature="0.5"/>
    <geom size="0.1" mass="2"/><body><geom size="0.1" mass="1"/></body></body></worldbody></mujoco>"""
    model, theirs = wd.load(text), mujoco.MjModel.from_xml_string(text)
    bounds = soft_bounds(model, bounds_of(model, None))
    found = [each.soft.inverse_inertia for each in bounds if each.soft is not None]
    assert found == pytest.approx(theirs.dof_invweight0)


@pytest.mark.parametrize("softness", ["description", 0.1])
def test_the_softness_of_pairs_must_be_a_record(softness: object) -> None:
    """A word, which `wd.Ground` accepts, and a number are refused."""
    box = wd.description.Box(0.1, 0.1, 0.1)
    model = wd.load_robot("double_pendulum").with_object("box", box, mass=1.0)
    pairs = wd.ContactPairs(model).with_ground("box")
    contact = wd.description.PairContact(softness=softness)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"must be a wd\.description\.ContactSoftness"):
        soft_pairs(model, pairs, contact, in_mujoco_steps=False)


def step_soft_pair(**numbers: Any) -> None:
    """One step of two spheres whose contact has this softness."""
    scene = wd.ModelBuilder("table").add_link("table").build()
    for name in ("red", "green"):
        scene = scene.with_object(name, wd.description.Sphere(0.1), mass=0.1)
    soft = ContactSoftness(**{"stiffness": 1e3, "rate": 50.0, "impedance": CURVE, **numbers})
    still = np.zeros((1, scene.nv))
    wd.step(
        *(scene, scene.neutral[None], still, still),
        pairs=wd.ContactPairs(scene),
        pair_contact=wd.description.PairContact(softness=soft),
    )


@pytest.mark.parametrize(
    ("numbers", "error"),
    [
        (
            {"stiffness": -1.0},
            "stiffness of the softness of pairs must be a finite number of 0 or more",
        ),
        ({"rate": float("nan")}, "rate of the softness of pairs"),
        ({"normal": float("inf")}, "normal of the softness of pairs"),
        ({"impedance": (0.0, 0.0, 0.001, 0.5, 2.0)}, "must be five numbers as in solimp"),
        ({"impedance": (0.0, 0.95, 0.001, 0.5, 2.0)}, "must be five numbers as in solimp"),
        ({"impedance": (0.9, 1.5, 0.001, 0.5, 2.0)}, "must be five numbers as in solimp"),
        ({"impedance": (0.9, 0.95)}, "must be five numbers as in solimp"),
        ({"impedance": (0.9, 0.95, 0.001, 0.5, 0.0)}, "must be five numbers as in solimp"),
        ({"impedance": (0.9, 0.95, 0.001, 0.5, 0.99)}, "a power of 1 or more"),
        ({"tangential": 0.5}, "leave out tangential, is_pyramidal and along"),
    ],
)
def test_invalid_numbers_of_a_softness_are_refused(numbers: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        step_soft_pair(**numbers)


@pytest.mark.parametrize("width", [0.0, 1.0, 20.0])
def test_a_softness_can_have_any_positive_width(width: float) -> None:
    """Impedances and the midpoint must be below 1, the width is a length."""
    step_soft_pair(impedance=(0.9, 0.95, width, 0.5, 2.0))


@pytest.mark.parametrize("power", [1.0, 1.2, 6.0])
def test_a_softness_can_have_any_power_of_one_or_more(power: float) -> None:
    step_soft_pair(impedance=(0.9, 0.95, 0.001, 0.5, power))


def test_invalid_numbers_of_a_soft_limit_are_refused() -> None:
    model = wd.load(
        """<mujoco><worldbody><body><joint name="hip" axis="0 1 0" range="-20 20"/><geom size="0.1" mass="1"/>
        </body></worldbody></mujoco>"""
    )
    soft = LimitSoftness(1e3, 50.0, (0.0, 0.0, 0.1, 0.5, 2.0))
    joints = [
        replace(joint, soft_limit=soft) if joint.name == "hip" else joint for joint in model.joints
    ]
    model, zeros = replace(model, joints=tuple(joints)), np.zeros((1, 1))
    with pytest.raises(ValueError, match="impedance of the soft limit of hip must be five numbers"):
        wd.step(model, zeros, zeros, zeros, stops="soft")


@pytest.mark.parametrize("axis", ["0 0 1", "0.3 0.5 0.7"])
def test_a_pose_without_an_inverse_mass_matrix_is_refused(axis: str) -> None:
    """The first hinge and the third one have the same axis in the drawn pose. Rounding hides this for one axis."""
    text = f"""<mujoco><worldbody><body><joint axis="{axis}" range="-9 9"/><joint axis="0.7 -0.7 0.2"/>
    <joint axis="{axis}"/><geom type="box" size="0.1 0.2 0.3" pos="0.3 0.1 0"/></body></worldbody></mujoco>"""
    with pytest.raises(wd.ModelError, match="in the pose in which the file is drawn, where it is"):
        limits_of(wd.load(text), None, "soft")


def test_softness_of_a_joint_that_moves_no_inertia_is_refused_by_its_name() -> None:
    """Two hinges next to each other turn about the same axis in all poses."""
    text = """<mujoco><worldbody><body><joint name="j" range="-9 9"/><joint/><geom size="0.1" pos="1 0 0"/></body>
    </worldbody></mujoco>"""
    with pytest.raises(wd.ModelError, match='joint "j" moves no inertia'):
        wd.Simulation(wd.load(text), 1, points=[], stops="soft")
