"""Robots of MJCF files simulated as described, compared with MuJoCo; and options that override
files.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.functions.simulation.described_simulation import with_description, with_passive_forces

STANDING = 2.0
"""For how long robots stand, or fall [s]."""

LOW = 0.3
"""The trunk of a robot that has fallen is below this height [m]."""


class Passive(NamedTuple):
    """A robot of Gymnasium without drives.

    until: for how long positions are compared [s]. height, joints: largest differences of the base
    [m] and of joints [rad, m]. They include contacts between bodies, which are not simulated, and
    MuJoCo's soft limits. clamped: the robot begins within its limits. From beyond them MuJoCo throws
    joints back, and warpdyn returns them steadily.
    """

    name: str
    until: float = STANDING
    height: float = 1e-9
    joints: float = 1e-9
    base: int | None = None
    clamped: bool = False
    options: dict[str, Any] = {}  # noqa: RUF012


NO_FLOOR: dict[str, Any] = {"points": []}
SOFT: dict[str, Any] = {"stops": "soft", "ground": wd.Ground(softness="description")}
TABLE: dict[str, Any] = {"terrain": wd.Plane((0.0, 0.0), -0.325)}
ROBOTS = [
    # Its eight contacts have margins of 1 cm, of which two add.
    Passive("ant", height=0.001, joints=0.01, base=2, clamped=True),
    # Springs hold it on two soft contacts; impedances from 0 give way by millimetres in MuJoCo.
    Passive("half_cheetah", height=0.03, joints=0.1, base=1),
    # It falls over its foot and lies: all of it, from the fall to the rest.
    Passive("hopper", height=0.02, joints=0.06, base=1),
    # It stands on an edge for half a second, then tips over: errors double every 0.1 s.
    Passive("walker2d", until=0.5, height=0.01, joints=0.03, base=1),
    Passive("walker2d_v5", until=0.5, height=0.01, joints=0.03, base=1),
    Passive("inverted_double_pendulum", joints=1e-3, options=NO_FLOOR),
    # MuJoCo's step is 20 ms here, and the pole falls: the difference is of the two integrators.
    Passive("inverted_pendulum", until=0.5, joints=1e-3, options=NO_FLOOR),
    # The same with MuJoCo's own softness of limits and contacts.
    Passive("half_cheetah", height=0.002, joints=0.01, base=1, options=SOFT),
    Passive("walker2d_v5", until=0.5, height=0.001, joints=0.005, base=1, options=SOFT),
    Passive("point"),
    Passive("pusher", joints=1e-6, options=TABLE),
    Passive("pusher_v5", joints=1e-6, options=TABLE),
    Passive("reacher"),
    Passive("swimmer"),
    # Lying figures: 17 contacts in each, with margins, and contacts between bodies in MuJoCo.
    pytest.param(
        Passive("humanoid", height=0.05, joints=0.25, base=2), marks=pytest.mark.slow, id="humanoid"
    ),
    pytest.param(
        Passive("humanoidstandup", height=0.05, joints=0.15, base=2),
        marks=pytest.mark.slow,
        id="humanoidstandup",
    ),
]


def file_of(name: str) -> Path:
    gymnasium = pytest.importorskip("gymnasium")
    return Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / f"{name}.xml"


def quietly_loaded(source: Any, **options: Any) -> wd.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        return wd.load(source, **options)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_gymnasiums_robots_stand_and_fall_as_in_mujoco(robot: Passive) -> None:
    """The robots start at qpos0 without drives.

    Gravity and floor come from the file, and all options are defaults.
    """
    mujoco = pytest.importorskip("mujoco")
    file = file_of(robot.name)
    theirs = mujoco.MjModel.from_xml_path(str(file))
    data, model = mujoco.MjData(theirs), quietly_loaded(file, quaternion="wxyz")
    gravity = tuple(theirs.opt.gravity)
    sim = wd.Simulation(
        model, 1, dt=0.002, substeps=10, dtype="float64", gravity=gravity, **robot.options
    )
    assert np.allclose(sim.q[0], data.qpos, atol=1e-12)
    if robot.clamped:
        data.qpos[:] = wd.clamp(model, sim.q)[0]
        sim.reset(q=data.qpos.copy())

    def go_on(seconds: float) -> None:
        while data.time < seconds - 1e-9:
            mujoco.mj_step(theirs, data)
        while sim.time[0] < seconds - 1e-9:
            sim.step()

    go_on(robot.until)
    off = np.abs(sim.q[0] - data.qpos)
    if robot.base is not None:
        assert off[robot.base] < robot.height
        off[robot.base] = 0.0
    assert off.max() < robot.joints
    if robot.until < STANDING and robot.base is not None:
        go_on(STANDING)
        assert data.qpos[robot.base] < LOW and sim.q[0, robot.base] < LOW


SLIDER = """<mujoco><compiler angle="radian"/><default><geom friction="{0}" condim="{1}"/></default><worldbody>
<geom type="plane" size="1 1 1" friction="0.3"/><body name="a" pos="0 0 0.1"><freejoint/>
<geom size="0.1" mass="2"/><body name="b"><joint name="j" axis="0 1 0" damping="0.7" frictionloss="0.2"
 stiffness="3" springref="0.1" ref="0.05"/><geom size="0.05" pos="0.4 0 0" mass="0.5" {2}/></body></body>
</worldbody></mujoco>"""
MODEL = quietly_loaded(SLIDER.format(0.6, 3, ""))


def test_passive_forces_of_a_file_act_in_simulations_by_default() -> None:
    """Dynamics of the model do not have them. Effects that were set on the model are kept."""
    (joint,) = with_passive_forces(MODEL, None).joints
    (effects,) = joint.effects
    assert (effects.viscous, effects.coulomb, effects.spring) == (0.7, 0.2, 3.0)
    assert effects.rest == pytest.approx(0.1)
    assert not MODEL.joints[0].effects and with_passive_forces(MODEL, "model") is MODEL
    mine = MODEL.with_friction(viscous=0.1)
    (effects,) = with_passive_forces(mine, None).joints[0].effects
    assert (effects.viscous, effects.coulomb) == (0.1, 0.2)
    sim = wd.Simulation(MODEL, 1)
    assert sim.model.joints[0].effects == with_passive_forces(MODEL, None).joints[0].effects
    assert wd.Simulation(MODEL, 1, passive_forces="model").model is MODEL
    with pytest.raises(ValueError, match="passive_forces must be one of description, model"):
        wd.Simulation(MODEL, 1, passive_forces="on")  # type: ignore[arg-type]


def test_passive_forces_of_other_formats_act_on_request_only() -> None:
    panda = wd.load_robot("panda")
    assert any(joint.damping for joint in panda.joints)
    assert with_passive_forces(panda, None) is panda
    assert any(joint.effects for joint in with_passive_forces(panda, "description").joints)


ALL_FORCES = """<mujoco><worldbody><body name="b" gravcomp="0.5"><joint name="j" axis="0 1 0" damping="0.7"
frictionloss="0.2" stiffness="3" springref="0.1"/><geom size="0.1" mass="1"/></body></worldbody></mujoco>"""


def test_a_kind_of_passive_force_that_was_set_to_zero_stays_zero() -> None:
    """Also after the robot is attached to another one; mappings without names choose nothing."""
    model = quietly_loaded(ALL_FORCES)
    zero = {
        "viscous": model.with_friction(viscous=0),
        "coulomb": model.with_friction(coulomb={"j": 0.0}),
        "spring": model.with_springs(0),
        "borne": model.with_gravity_compensation(0),
        "none": model.with_friction(viscous={}).with_springs(rest=0.0),
    }
    for name, robot in zero.items():
        for stand, prefix in ((robot, ""), (model.attach(robot, "b", prefix="on_"), "on_")):
            simulated = wd.Simulation(stand, 1, points=()).model
            (effects,) = simulated.joint(prefix + "j").effects
            borne = simulated.link(prefix + "b").borne
            found = (effects.viscous, effects.coulomb, effects.spring, borne)
            wanted = zip(
                ("viscous", "coulomb", "spring", "borne"), (0.7, 0.2, 3.0, 0.5), strict=True
            )
            assert found == tuple(0.0 if kind == name else x for kind, x in wanted)


def test_each_kind_of_passive_force_is_added_independently() -> None:
    """The description has all four. A kind that the model already has is kept."""
    model = quietly_loaded(ALL_FORCES)
    before = {
        "viscous": model.with_friction(viscous=0.9),
        "coulomb": model.with_friction(coulomb=0.9),
        "spring": model.with_springs(0.9),
        "borne": model.with_gravity_compensation(0.9),
        "none": model,
    }
    for name, given in before.items():
        made = with_passive_forces(given, "description")
        (effects,) = made.joints[0].effects
        found = {n: getattr(effects, n) for n in ("viscous", "coulomb", "spring")}
        found["borne"] = made.link("b").borne
        wanted = {"viscous": 0.7, "coulomb": 0.2, "spring": 3.0, "borne": 0.5}
        assert found == {**wanted, **({name: 0.9} if name != "none" else {})}
        assert with_passive_forces(made, "description") is made


def test_params_of_the_model_apply_to_its_simulation() -> None:
    """Masses vary, and the passive forces of the robot act."""
    masses = np.array([[2.0], [4.0]], np.float32)
    sim = wd.Simulation(MODEL, 2, params=MODEL.params(mass={"a": masses[:, 0]}))
    for _ in range(30):
        sim.step()
    weights = (masses[:, 0] + 0.5) * 9.81
    assert np.allclose(sim.forces[:, :, 2].sum(1), weights, rtol=0.05)


def test_contact_numbers_of_a_file_apply_to_the_ground() -> None:
    """The larger friction of geom and floor applies, and none if both have condim 1.

    The caller's numbers override them.
    """
    points = wd.ContactPoints(MODEL)
    ground = with_description(MODEL, points, wd.Ground())
    assert ground.friction == (0.6, 0.6) and ground.restitution == 0.0
    assert ground.dissipation == pytest.approx(2 / (0.95 * 0.02) * (0.95 * 0.02) ** 2, rel=0.1)
    assert with_description(MODEL, points, wd.Ground(0.2)).friction == 0.2
    assert with_description(MODEL, points, wd.SoftGround()).friction == (0.6, 0.6)
    by_hand = [wd.ContactPoint("b", (0.4, 0.0, 0.0), 0.02)]
    assert with_description(MODEL, by_hand, wd.Ground()).friction == (0.6,)
    slippery = quietly_loaded(SLIDER.format(0.6, 1, ""))
    assert with_description(slippery, wd.ContactPoints(slippery), wd.Ground()).friction == (0, 0)
    rubber = quietly_loaded(SLIDER.format(0.6, 3, 'priority="1" friction="0.1"'))
    assert with_description(rubber, wd.ContactPoints(rubber), wd.Ground()).friction == (0.6, 0.1)
    quadruped = wd.load_robot("quadruped")
    feet = wd.ContactPoints(quadruped).only("*_foot")
    ground = wd.Ground()
    assert with_description(quadruped, feet, ground) is ground


def test_a_simulation_begins_at_the_configuration_of_the_file() -> None:
    """The order is the caller's start, "home", "qpos0", the neutral configuration."""
    sim = wd.Simulation(MODEL, 2)
    assert np.allclose(sim.q, [0, 0, 0.1, 0, 0, 0, 1, 0.05])
    home = MODEL.neutral + 0.0
    assert np.allclose(wd.Simulation(MODEL.with_configuration("home", home), 1).q, home)
    assert np.allclose(wd.Simulation(MODEL, 1, start=home).q, home)


def test_a_start_outside_the_limits_warns() -> None:
    """It may be in degrees, or the neutral one, which nobody has chosen. A configuration of the
    model, which a file may draw outside the limits, and a start within reach do not warn."""
    builder = wd.ModelBuilder("leg").add_link("hip").add_link("shin", mass=1.0, com=(0, 0, -0.1))
    builder.add_joint("knee", "revolute", "hip", "shin", axis=(0, 1, 0), lower=-2, upper=-0.5)
    leg = builder.build()
    words = (
        r"leg has no configuration 'home'.*knee is 0, outside -2 to -0.5; pass start=.*with_conf"
    )
    with pytest.warns(UserWarning, match=words) as caught:
        sim = wd.Simulation(leg, 2, points=[])
    assert caught[0].filename == __file__ and not sim.q.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wd.Simulation(leg, 2, points=[], start=[-1.0])
        wd.Simulation(leg.with_configuration("up", [0.0]), 2, points=[], start="up")
        wd.Simulation(leg.with_configuration("home", [0.0]), 2, points=[])
        wd.Simulation(leg.with_limits("knee", upper=0.0), 2, points=[])
    words = "start of leg: q in environment 1: knee is -90, outside -2 to -0.5; stops"
    with pytest.warns(UserWarning, match=words) as caught:
        wd.Simulation(leg, 2, points=[], start=[[-1.0], [-90.0]])
    assert len(caught) == 1 and caught[0].filename == __file__
