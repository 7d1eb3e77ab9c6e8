"""Sensors: readings of IMUs and contact forces, as functions, in kernels, and in a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradient_cases import MODELS
from hopper import HOPPER
from states import states

import warpdyn as wd

G = 9.81

UP = np.array([0.0, 0.0, G])

ROBOTS = ("hopper", "gripper", "socket", "planar")

CAROUSEL = """<robot name="carousel"><link name="post"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="seat"/>
<joint name="turn" type="continuous"><parent link="post"/><child link="arm"/><axis xyz="0 0 1"/>
</joint><joint name="at" type="fixed"><parent link="arm"/><child link="seat"/>
<origin xyz="0.5 0 0" rpy="0 0 1.5707963267948966"/></joint></robot>"""
"""A seat half a metre from the axis; its y axis points to it."""


def rotations(model: wd.Model, q: np.ndarray) -> np.ndarray:
    return wd.fk(model, q)[..., :3, :3]


@pytest.mark.parametrize("name", ROBOTS)
def test_an_imu_at_rest_reads_gravity_upwards(name: str) -> None:
    """9.81 m/s² upwards in the axes of each link, and no rate."""
    model = MODELS[name]
    q = states(model, 5).q
    reading = wd.imu(model, q, None, None)
    held = np.einsum("blji,j->bli", rotations(model, q), UP)
    assert np.allclose(reading[..., :3], held, atol=1e-12) and not reading[..., 3:].any()


@pytest.mark.parametrize("name", ROBOTS)
def test_an_imu_reads_the_acceleration_of_its_origin(name: str) -> None:
    """The second difference of its position along q(t) with these v and a, minus gravity."""
    model, h = MODELS[name], 1e-4
    s = states(model, 4)
    q, v, a = s.q, s.v, 0.5 * s.tau

    def place(t: float) -> np.ndarray:
        return wd.fk(model, wd.integrate(model, q, t * v + 0.5 * t * t * a))[..., :3, 3]

    second = (place(h) - 2 * place(0.0) + place(-h)) / h**2
    felt = np.einsum("blji,blj->bli", rotations(model, q), second + UP)
    scale = 1 + np.abs(felt).max()
    reading = wd.imu(model, q, v, a)
    # Second differences of numbers of size one lose eight digits at this step.
    assert np.abs(reading[..., :3] - felt).max() < 3e-6 * scale
    rates = wd.frame_velocity(model, q, v, reference="local")[..., 3:]
    assert np.allclose(reading[..., 3:], rates, atol=1e-12)


def test_an_imu_in_free_fall_reads_no_acceleration() -> None:
    """The IMU is at the centre of mass.

    The reading is zero with and without rotation and for any gravity.
    """
    stone = wd.load_urdf(
        '<robot name="s"><link name="a"><inertial><mass value="2"/><inertia ixx="0.1" ixy="0" '
        'ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial></link></robot>',
        floating_base=True,
    )
    s = states(stone, 6)
    for gravity in ((0, 0, -9.81), (1.0, 2.0, 3.0)):
        a = wd.aba(stone, s.q, s.v, np.zeros((6, 6)), gravity=gravity)
        reading = wd.imu(stone, s.q, s.v, a, frame="a", gravity=gravity)
        assert np.allclose(reading[:, :3], 0, atol=1e-12)
        assert np.allclose(reading[:, 3:], s.v[:, 3:])


def test_an_imu_on_a_carousel_reads_radius_times_squared_rate() -> None:
    model = wd.load_urdf(CAROUSEL)
    q, v, a = np.array([[0.3], [2.0]]), np.array([[4.0], [-3.0]]), np.array([[0.0], [2.0]])
    reading = wd.imu(model, q, v, a, frame="seat")
    assert np.allclose(reading[0], [0, 0.5 * 16, G, 0, 0, 4.0])
    assert np.allclose(reading[1], [0.5 * 2, 0.5 * 9, G, 0, 0, -3.0])


def test_imu_kernels_agree_with_the_oracle_in_each_base_velocity() -> None:
    """Also in single precision, for one link and several, and as a method of the robot."""
    model = MODELS["hopper"]
    s = states(model, 5)
    q, v, a = s.q, s.v, s.tau
    wanted = wd.oracle(wd.imu, model, q, v, a, frames=["leg", "body"])
    assert np.allclose(wd.imu(model, q, v, a, frames=["leg", "body"]), wanted, atol=1e-10)
    single = wd.imu(model, *(x.astype(np.float32) for x in (q, v, a)), frame="leg")
    assert single.dtype == np.float32 and np.allclose(single, wanted[:, 0], rtol=1e-4, atol=1e-3)
    mixed = model.with_base_velocity("mixed")
    there = wd.convert.velocity(model, q, v, target="mixed")
    accelerating = wd.convert.acceleration(model, q, v, a, target="mixed")
    same = wd.imu(mixed, q, there, accelerating, frame="leg")
    assert np.allclose(same, wanted[:, 0], atol=1e-9)

    @wd.kernel
    def measure(robot: Any, q: Any, v: Any) -> Any:
        return robot.imu(q, v, 0.0 * v, frame="leg")

    assert np.allclose(measure(model, q, v), wd.imu(model, q, v, None, frame="leg"), atol=1e-12)


POINTS = (
    wd.ContactPoint("leg", (0.1, 0.02, -0.4), 0.05),
    wd.ContactPoint("leg", (-0.1, 0.0, -0.4), 0.05),
    wd.ContactPoint("body", (0.0, 0.0, 0.2), 0.0),
)


def test_link_forces_do_the_work_of_the_point_forces() -> None:
    """Used as external forces they give Jᵀ f, with J of the lowest points of the spheres."""
    model = MODELS["hopper"]
    q = states(model, 4).q
    forces = np.random.default_rng(1).normal(size=(4, 3, 3))
    local = wd.link_contact_forces(model, q, forces, points=POINTS, reference="local")
    still = np.zeros((4, model.nv))
    held = wd.rnea(model, q, still, still, f_ext=local, gravity=(0, 0, 0))
    work = np.zeros((4, model.nv))
    for k, (link, centre, radius) in enumerate(POINTS):
        R = rotations(model, q)[:, model.link_index(link)]
        lowest = np.array(centre) - radius * R[:, 2]
        J = wd.jacobian(model, q, frame=link, point=lowest, part="linear")
        work += np.einsum("bij,bi->bj", J, forces[:, k])
    assert np.allclose(held, -work, atol=1e-12)


def test_a_link_force_is_the_same_wrench_in_each_reference() -> None:
    model = MODELS["hopper"]
    q = states(model, 4).q
    forces = np.random.default_rng(2).normal(size=(4, 3, 3))
    options: dict[str, Any] = {"points": POINTS, "frame": "leg"}
    here = wd.link_contact_forces(model, q, forces, **options)
    assert np.allclose(here[:, :3], forces[:, :2].sum(1))
    T = wd.fk(model, q, frame="leg")
    world = wd.link_contact_forces(model, q, forces, reference="world", **options)
    about = here[:, 3:] + np.cross(T[:, :3, 3], here[:, :3])
    assert np.allclose(world, np.concatenate([here[:, :3], about], 1))
    local = wd.link_contact_forces(model, q, forces, reference="local", **options)
    turned = [np.einsum("bji,bj->bi", T[:, :3, :3], x) for x in (here[:, :3], here[:, 3:])]
    assert np.allclose(local, np.concatenate(turned, 1))
    every = wd.link_contact_forces(model, q, forces, points=POINTS)
    assert np.allclose(every[:, model.link_index("leg")], here)
    assert np.allclose(every.sum(1)[:, :3], forces.sum(1))


def test_contact_flags_compare_forces_with_a_threshold() -> None:
    """A link is in contact by the net force of its points."""
    model = MODELS["hopper"]
    forces = np.zeros((3, 3, 3))
    forces[0, 0] = 0.0, 0.3, 0.4
    forces[1] = 0.0, 0.0, 0.4
    flags = wd.contact_flags(model, forces, points=POINTS)
    assert np.array_equal(flags, [[1, 0, 0], [1, 1, 1], [0, 0, 0]])
    links: dict[str, Any] = {"links": ["leg", "body"], "points": POINTS, "threshold": 0.45}
    assert np.array_equal(wd.contact_flags(model, forces, **links), [[1, 0], [1, 0], [0, 0]])
    assert not wd.contact_flags(model, forces, points=POINTS, threshold=0.5).any()

    @wd.kernel
    def press(robot: Any, q: Any, forces: (3, 3)) -> Any:  # type: ignore[valid-type]
        flags = robot.contact_flags(forces, points=POINTS)
        force = robot.link_contact_forces(q, forces, points=POINTS, frame="leg")
        return {"flags": flags, "force": force}

    q = states(model, 3).q
    got = press(model, q, forces)
    assert np.array_equal(got.flags, flags)
    wanted = wd.link_contact_forces(model, q, forces, points=POINTS, frame="leg")
    assert np.allclose(got.force, wanted, atol=1e-12)


SENSORS = wd.Sensors(imu=["trunk", "tail"], links=["tr*"], threshold=0.5)


@pytest.fixture(scope="module")
def box() -> wd.Model:
    return wd.load_urdf(HOPPER, floating_base=True)


def simulation(model: wd.Model, envs: int = 2, **options: Any) -> wd.Simulation:
    """Environment 0 begins half a metre above the ground, all others close to it."""
    start = np.tile([0, 0, 0.1, 0, 0, 0, 1, 0.5], (envs, 1))
    start[0, 2] = 0.6
    scene: dict[str, Any] = {"control": wd.PD(5.0, 0.5), "start": start, "substeps": 2}
    return wd.Simulation(model, envs, **{**scene, "sensors": SENSORS, **options})


def test_sensors_read_zero_in_free_fall_and_the_weight_at_rest(box: wd.Model) -> None:
    """The four lower corners are in contact. The moment on the link balances that of the weight."""
    sim = simulation(box, like=np.zeros(1))
    for _ in range(20):
        sim.step([0.5])
    assert np.abs(sim.imu[0]).max() < 1e-9 and not sim.contacts[0].any()
    assert not sim.link_forces[0].any() and not sim.link_contacts[0].any()
    for _ in range(180):
        sim.step()
    trunk, tail = sim.imu[1]
    assert np.allclose(trunk, [0, 0, G, 0, 0, 0], atol=2e-2)
    assert np.linalg.norm(tail[:3]) == pytest.approx(G, rel=2e-3) and tail[0] < -4.0
    below = np.array([point.centre[2] < -0.05 for point in sim.points])
    assert np.array_equal(sim.contacts[1] > 0, below) and sim.link_contacts[1, 0] == 1
    force, moment = np.split(sim.link_forces[1, 0], 2)
    weight = box.total_mass * G
    assert force[2] == pytest.approx(weight, rel=1e-3)
    arm = wd.com(box, sim.q[1:]).ravel() - sim.q[1, :3]
    balance = np.cross(arm, [0, 0, weight])[:2]
    assert np.allclose(moment[:2], balance, atol=1e-3 * weight * 0.1)
    assert np.abs(balance).max() > 0.02


def test_sensors_of_a_simulation_equal_the_sensor_functions(box: wd.Model) -> None:
    """The readings are those after a step. Accelerations are those of the last of two substeps."""
    single: dict[str, Any] = {"like": np.zeros(1), "substeps": 1}
    sim, steps = simulation(box, like=np.zeros(1)), simulation(box, **single)
    plain = simulation(box, like=np.zeros(1), sensors=None)
    rng = np.random.default_rng(5)
    spin = rng.normal(size=(2, 7))
    spin[:, 2] = -1.0
    pressed = 0
    for each in (sim, steps, plain):
        each.v[:] = spin
    mixed = box.with_base_velocity("mixed")
    for _ in range(12):
        for each in (sim, plain, steps):
            each.step([0.9])
        last = wd.convert.velocity(box, steps.q, steps.v, target="mixed")
        steps.step()
        assert np.allclose(steps.q, sim.q, atol=1e-12)
        now = wd.convert.velocity(box, sim.q, sim.v, target="mixed")
        a = (now - last) / 0.005
        felt = wd.imu(mixed, sim.q, now, a, frames=SENSORS.imu)
        # The base's spin is differentiated in the world's axes by one and by both in its own.
        assert np.allclose(sim.imu, felt, atol=1e-6 * (1 + np.abs(felt).max()))
        assert np.allclose(steps.imu, sim.imu, atol=1e-8 * (1 + np.abs(felt).max()))
        assert np.array_equal(sim.q, plain.q) and np.array_equal(sim.forces, plain.forces)
        options: dict[str, Any] = {"points": sim.points}
        by_link = wd.link_contact_forces(box, sim.q, sim.forces, frames=["trunk"], **options)
        assert np.allclose(sim.link_forces, by_link, atol=1e-9)
        flags = wd.contact_flags(box, sim.forces, threshold=0.5, **options)
        assert np.array_equal(sim.contacts, flags)
        pressed += int(flags.sum())
    assert pressed and plain.imu.shape == (2, 0, 6) and plain.contacts.shape == (2, 0)


SLOPE = (0.6, -0.2)
NODES = np.linspace(-3.0, 3.0, 11)


@pytest.mark.parametrize(
    "terrain",
    [
        wd.Plane(SLOPE),
        wd.HeightMap(SLOPE[0] * NODES[:, None] + SLOPE[1] * NODES, 0.6),
        wd.HeightMap(SLOPE[0] * NODES[:, None] + SLOPE[1] * NODES, 0.6, offset=(0.5, 0.5, 0.2)),
    ],
    ids=["plane", "map", "map with an offset"],
)
def test_the_moment_of_a_force_on_sloping_ground_turns_the_link(terrain: Any) -> None:
    """The rate of a ball's angular momentum. Without friction it is zero, though the force of the
    ground is inclined."""
    bare = wd.ModelBuilder("w").add_link("w").build()
    ball = bare.with_object("ball", wd.description.Sphere(0.1), mass=2.0, pose=(0.0, 0.0, 0.11))
    friction = np.array([[0.0], [0.1], [0.8]])
    options: dict[str, Any] = {"terrain": terrain, "dt": 0.001, "substeps": 1, "dtype": "float64"}
    sensors = wd.Sensors(links=["ball"])
    sim = wd.Simulation(ball, 3, ground=wd.Ground(friction=friction), sensors=sensors, **options)
    for _ in range(20):
        before = sim.v[:, 3:].copy()
        sim.step()
        moment = sim.link_forces[:, 0, 3:]
        np.testing.assert_allclose(
            0.4 * 2.0 * 0.1**2 * (sim.v[:, 3:] - before) / 0.001, moment, atol=2e-3
        )
    assert (np.abs(sim.forces[:, 0, 0]) > 1.0).all() and np.abs(moment[0]).max() < 1e-9
    assert (np.abs(moment[1:, :2]) > 0.05).all()
    same = wd.link_contact_forces(
        ball, sim.q, sim.forces, points=sim.points, frames=["ball"], terrain=terrain
    )
    np.testing.assert_allclose(sim.link_forces, same, atol=1e-9)


def test_forces_with_the_softness_of_mujoco_act_halfway_into_the_ground() -> None:
    """As in MuJoCo. A ball whose margin carries it slides. The moment is the rate of its angular
    momentum, to the change of its height in a step."""
    text = """<mujoco><option cone="elliptic"/><worldbody><geom type="plane" size="9 9 .1"/>
    <body name="ball" pos="0 0 0.1195"><freejoint/><geom size="0.1" mass="2" margin="0.02"/></body>
    </worldbody></mujoco>"""
    ground = wd.Ground(softness="description", friction=0.3)
    options: dict[str, Any] = {"dt": 0.002, "substeps": 1, "dtype": "float64", "ground": ground}
    sim = wd.Simulation(wd.load(text), 1, sensors=wd.Sensors(links=["ball"]), **options)
    sim.v[:, 0], slides = 1.0, 0
    for _ in range(60):
        before = sim.v[0, 3:].copy()
        sim.step()
        if sim.forces[0, 0, 0] < -4.0:
            slides += 1
            rate = 0.4 * 2.0 * 0.1**2 * (sim.v[0, 3:] - before) / 0.002
            np.testing.assert_allclose(sim.link_forces[0, 0, 3:], rate, rtol=3e-3, atol=1e-9)
    assert slides >= 5 and sim.q[0, 2] > 0.11


def test_sensors_of_a_failed_state_read_zero(box: wd.Model) -> None:
    """Other environments do not change. A reset clears the sensors, and a checkpoint has them."""
    sims = [simulation(box, 3) for _ in range(2)]
    for sim in sims:
        for _ in range(5):
            sim.step([0.5])
    sims[0].step([[0.5], [np.nan], [0.5]])
    sims[1].step([0.5])
    sim, undisturbed = sims
    assert sim.failures.tolist() == [0, 1, 0]
    for name in ("imu", "contacts", "link_forces", "link_contacts"):
        array, other = getattr(sim, name), getattr(undisturbed, name)
        assert not array[1].any() and np.array_equal(array[[0, 2]], other[[0, 2]]), name
        assert array[2].any()
    saved = sim.state()
    sim.reset([2])
    assert not sim.imu[2].any() and not sim.contacts[2].any() and sim.imu[0].any()
    sim.restore(saved)
    assert np.array_equal(sim.imu, saved["imu"])


@pytest.mark.parametrize(
    ("sensors", "error", "text"),
    [
        ("base", TypeError, r"sensors must be wd.Sensors\(imu=\[...\]\), got str"),
        (wd.Sensors(imu=["trnk"]), KeyError, "did you mean 'trunk'"),
        (wd.Sensors(imu="trunk"), TypeError, "names must be a list"),
        (wd.Sensors(links=["tail"]), KeyError, "no contact points on 'tail'.*trunk"),
        (wd.Sensors(links="trunk"), TypeError, "names must be a list"),
        (wd.Sensors(links=["trunk", "trunk"]), ValueError, "has 'trunk' twice"),
        (wd.Sensors(threshold=-1.0), ValueError, "threshold must be a force of 0 or more"),
        (wd.Sensors(threshold=np.nan), ValueError, "threshold must be a force of 0 or more"),
        (wd.Sensors(threshold=np.inf), ValueError, "threshold must be a force of 0 or more"),
    ],
)
def test_invalid_sensors_are_refused(box: wd.Model, sensors: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        simulation(box, sensors=sensors)


def test_invalid_points_forces_and_links_are_refused() -> None:
    model = MODELS["hopper"]
    q, forces = np.zeros((2, model.nq)), np.zeros((2, 3, 3))
    with pytest.raises(KeyError, match="no link named 'foot'"):
        wd.link_contact_forces(model, q, forces, points=[("foot", (0, 0, 0), 0.0)])
    with pytest.raises(ValueError, match="forces"):
        wd.link_contact_forces(model, q, forces[:, :2], points=POINTS)
    with pytest.raises(ValueError, match="threshold"):
        wd.contact_flags(model, forces, points=POINTS, threshold=-1)
    with pytest.raises(TypeError, match="names must be a list"):
        wd.contact_flags(model, forces, points=POINTS, links="leg")
