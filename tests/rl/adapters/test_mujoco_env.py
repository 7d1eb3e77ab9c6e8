"""A task's environments in MuJoCo C have the same episodes, if both simulations are accurate."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install mujoco)")
import gymnasium
import torch
from pushed_box import PushedBox
from rl_cases import Hold

import warpdyn as wd
from warpdyn.peers.peer import NotComparable
from warpdyn.rl.adapters import mujoco_env
from warpdyn.rl.adapters.mujoco_env import (
    STEP_OF_DRIVES,
    MujocoEnv,
    drive_frequency,
    without_noise,
)

ENVS = 6


class VariedHold(Hold):
    """Steps of 0.5 ms. Gains, strength, masses and gravity vary, and targets are delayed."""

    dt, substeps = 0.0005, 40
    numbers = {"reach": np.array([1.0])}  # noqa: RUF012
    vary = {  # noqa: RUF012
        "kp": rl.Vary(0.5, 1.5, how="scale"),
        "strength": rl.Vary(0.8, 1.0),
        "mass": rl.Vary(0.7, 1.4, how="scale"),
        "gravity": rl.Vary(-1.0, 1.0, how="add"),
        "latency": rl.Vary(0.0, 0.03),
    }

    def __init__(self) -> None:
        super().__init__()
        self.model = self.model.with_friction(viscous=0.05)


class Slide(rl.Task):
    """A block on a height map that slopes. It is pushed, and placed anew in each episode."""

    dt, substeps, seconds = 0.001, 20, 0.4
    actions = 1
    scales = {"far": 1.0}  # noqa: RUF012
    ground = wd.Ground(stiffness=5e4)
    vary = {"friction": rl.Vary(0.3, 0.9)}  # noqa: RUF012
    push = rl.Push(1.5, 0.1)

    def __init__(self) -> None:
        builder = '<robot name="block"><link name="block"><inertial><mass value="2"/><inertia '
        builder += (
            'ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
        )
        self.model = wd.load_urdf(builder, floating_base=True)
        corners = [(x, y, -0.04) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
        self.points = [wd.ContactPoint("block", c, 0.01) for c in corners]
        steps = np.zeros((61, 61))
        steps[30:] = 0.5
        self.terrain = wd.HeightMap(steps, 0.2)

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        side = np.where(wd.random.uniform(s.random, 1) < 0.5, -1.0, 1.0)[0]
        height = 0.25 + 0.25 * side
        return {
            "q": np.array([0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0]),
            "v": np.zeros(6),
            "origin": np.stack([3.0 * side, 1.0, height]),
        }

    def control(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"tau": np.concatenate([10.0 * s.action, np.zeros(5)])}

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        return np.concatenate([s.q, s.v, s.forces[:, 2]])

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"far": np.sqrt(s.q[0] ** 2 + s.q[1] ** 2)}


def both(task: rl.Task, dt: float, **options: float) -> list[rl.VecEnv]:
    made = [rl.VecEnv(task, ENVS, seed=2), MujocoEnv(task, ENVS, dt=dt, seed=2, **options)]
    for env in made:
        env.reset()
    return made


def test_robots_with_drawn_gains_and_masses_move_as_in_mujoco() -> None:
    """Both integrators are of first order, with steps of 0.5 ms.

    The tolerances are their errors.
    """
    task = VariedHold()
    here, there = both(task, task.dt)
    draw = torch.Generator().manual_seed(0)
    for _ in range(8):
        action = 0.4 * torch.randn(ENVS, 2, generator=draw)
        ours, theirs = here.step(action), there.step(action)
        assert torch.allclose(here.carried["q"], there.carried["q"], atol=2e-3)
        assert torch.allclose(here.carried["v"], there.carried["v"], atol=0.05)
        assert torch.allclose(ours[1], theirs[1], atol=0.012)  # -v² of 6 rad/s, for 0.02 s
    for name in ("kp", "mass", "gravity", "latency", "age", "ticks"):
        assert torch.equal(here.carried[name], there.carried[name])
    assert here.carried["mass"].std() > 0.05 and here.carried["latency"].max() > 0.02


def test_pushed_blocks_slide_as_in_mujoco() -> None:
    """Height of the ground and friction differ between environments. At the end all begin anew."""
    task = Slide()
    here, there = both(task, 0.001, contact_time=0.02)
    assert set(here.carried["origin"][:, 0].tolist()) == {-3.0, 3.0}
    weight = 2 * 9.81
    for k in range(19):
        action = torch.full((ENVS, 1), 0.2)
        seen = [env.step(action)[0] for env in (here, there)]
        if k == 4:
            carried = [x[:, 13:].sum(1) for x in seen]
            assert torch.allclose(carried[0], carried[1], atol=0.05 * weight)
            assert torch.allclose(carried[1], torch.full((ENVS,), weight), atol=0.05 * weight)
        assert torch.allclose(here.carried["q"][:, :2], there.carried["q"][:, :2], atol=0.01)
        assert torch.allclose(here.carried["q"][:, 2], there.carried["q"][:, 2], atol=4e-3)
    assert here.carried["q"][:, :2].norm(dim=1).min() > 0.02  # pushes have moved them
    for env in (here, there):
        late = env.step(action)[3]
        assert late.all() and torch.equal(env.carried["q"][:, :2], torch.zeros(ENVS, 2))
    after = there.step(action)[0]
    assert after[:, :2].abs().max() < 0.01 and not after.isnan().any()


class Spin(rl.Task):
    """Two balls spin about the vertical. One touches the ground by points, the other by pairs."""

    dt, substeps, seconds = 0.001, 20, 0.4
    actions = 1
    scales = {"spin": 1.0}  # noqa: RUF012
    ground = wd.Ground(stiffness=1e5)
    vary = {  # noqa: RUF012
        "torsional_friction": rl.Vary(0.005, 0.01),
        "pair_torsional_friction": rl.Vary(0.005, 0.01),
    }

    def __init__(self) -> None:
        ball = wd.description.Geometry("sphere", (0.05,))
        builder = wd.ModelBuilder("ball")
        builder.add_link("ball", mass=1.0, inertia=np.diag([1e-3] * 3), collisions=[ball])
        self.model = builder.build(floating_base=True).with_object(
            "other", wd.description.Sphere(0.05), mass=0.5, pose=(0.3, 0.0, 0.05)
        )
        self.points = wd.ContactPoints(self.model).only("ball")
        self.pairs = wd.ContactPairs(self.model).without(("ball", "other")).with_ground("other")

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        q = np.array([0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0, 0.3, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0])
        turning = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 20.0])
        return {"q": q, "v": np.concatenate([turning, turning])}

    def control(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"tau": np.zeros(12)}

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        return s.v

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"spin": s.v[5]}


def test_balls_with_drawn_torsional_friction_slow_down_as_in_mujoco() -> None:
    """Coefficients of points and of pairs are drawn for each environment."""
    here, there = both(Spin(), 0.001, contact_time=0.004)
    for _ in range(10):
        for env in (here, there):
            env.step(torch.zeros(ENVS, 1))
    slower, theirs = (env.carried["v"][:, [5, 11]] for env in (here, there))
    # MuJoCo's balls tremble on the ground, and so do their moments.
    assert torch.allclose(slower, theirs, atol=0.2)
    assert slower.max() < 10.0 and (slower.std(0) > 0.3).all()


def test_a_block_rests_on_a_sloped_plane_as_in_mujoco() -> None:
    """The plane slopes by 0.1 m/m. The block has the height of the plane at its place."""
    task = Slide()
    task.terrain, task.vary, task.push = wd.Plane((0.1, 0.0), 0.2), {}, None
    task.begin = lambda robot, s: {  # type: ignore[method-assign]
        "q": np.array([1.0, 0.5, 0.36, 0.0, -0.05, 0.0, 1.0]),
        "v": np.zeros(6),
    }
    here, there = both(task, 0.001)
    for _ in range(15):
        seen = [env.step(torch.zeros(ENVS, 1))[0] for env in (here, there)]
    assert torch.allclose(seen[0][:, :3], seen[1][:, :3], atol=4e-3)
    assert (seen[1][:, 2] - 0.3 - 0.05).abs().max() < 0.01


def test_mujocos_contact_time_is_shorter_on_a_height_map() -> None:
    """4 ms or two steps on a map, MuJoCo's own 20 ms on a plane, or the time that is passed.

    Steps are an eighth of it, with which contacts do not bounce.
    """
    uneven, even = Slide(), Slide()
    even.terrain = None

    def times(task: rl.Task, **options: float) -> set[float]:
        robot = MujocoEnv(task, 1, **options).robots._robots[0]
        lasts = options.get("contact_time", 0.004 if task is uneven else 0.02)
        step = pytest.approx(0.02 / np.ceil(0.02 / (lasts / 8)))
        assert robot.opt.timestep == options.get("dt", step)
        return set(robot.geom_solref[:, 0].round(9).tolist())

    assert times(uneven) == times(uneven, dt=0.001) == {0.004}
    assert times(uneven, dt=0.005) == {0.01} and times(even) == {0.02}
    assert times(uneven, contact_time=0.02) == {0.02} and times(even, contact_time=0.03) == {0.03}


def test_the_contact_time_of_pairs_is_eight_steps() -> None:
    """MuJoCo's box would hop while it slides if the contact time were two steps."""
    there = MujocoEnv(PushedBox(), 1)
    assert (there.dt, there.contact_time) == (0.0005, 0.004)


def test_a_ball_pushes_a_box_as_in_mujoco() -> None:
    """Friction differs between environments.

    The box moves as far, and the mean force of the ball is equal to 20 %, because MuJoCo's box
    loses contact again and again.
    """
    task = PushedBox()
    here, there = both(task, 0.001)
    assert there.contact_time == MujocoEnv(task, 1).contact_time == 0.004
    pushed = []
    for k in range(25):
        action = torch.full((ENVS, 1), 0.02 * k)
        seen = [env.step(action)[0]["critic"] for env in (here, there)]
        assert torch.allclose(seen[0][:, :3], seen[1][:, :3], atol=3e-3)
        assert torch.allclose(seen[0][:, 3:7], seen[1][:, 3:7], atol=0.025)
        pushed.append(torch.stack([x[:, -3].mean() for x in seen]))
    assert here.carried["q"][:, 1].min() > 0.12
    assert torch.equal(here.carried["pair_friction"], there.carried["pair_friction"])
    means = torch.stack(pushed[12:]).mean(0)
    assert means[1] == pytest.approx(float(means[0]), rel=0.2) and means[0] > 2.0


def test_tasks_that_mujoco_cannot_simulate_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(rl.TaskError, match=r"dt must divide the task's step, 0.02 s; got 0.003"):
        MujocoEnv(Hold(), 1, dt=0.003)
    rubbing = Slide()
    heights = np.zeros((4, 4))
    rubbing.terrain = wd.HeightMap(heights, 0.2, friction=heights + 1.0)
    with pytest.raises(rl.TaskError, match="height fields have one friction"):
        MujocoEnv(rubbing, 1, dt=0.005)
    for plane in (wd.Plane(np.zeros((3, 2))), wd.Plane((0.0, 0.0), np.zeros(3))):
        rubbing.terrain = plane
        with pytest.raises(rl.TaskError, match="MuJoCo has one plane for all environments"):
            MujocoEnv(rubbing, 3, dt=0.005)
    fast = Hold()
    fast.drives = wd.PD(30.0, 2.0, no_load_speed=10.0)
    with pytest.raises(rl.TaskError, match="no speed-torque curve"):
        MujocoEnv(fast, 1, dt=0.005)
    for name, contact in (
        ("ground", wd.Ground(restitution=0.5)),
        ("pair_contact", wd.description.PairContact(restitution=0.5)),
    ):
        bouncing = PushedBox()
        setattr(bouncing, name, contact)
        with pytest.raises(rl.TaskError, match=f"{name}: MuJoCo's contacts have no restitution"):
            MujocoEnv(bouncing, 1)
    monkeypatch.setattr("warpdyn.rl.adapters.mujoco_env.find_spec", lambda name: None)
    with pytest.raises(rl.TaskError, match="MuJoCo is not installed: pip install mujoco"):
        MujocoEnv(Hold(), 1)


def test_without_noise_copies_a_task_and_removes_its_noise() -> None:
    class Noisy(Hold):
        noise = {"observation": rl.Noise(0.1)}  # noqa: RUF012

    task = Noisy()
    assert (
        without_noise(task).noise == {} and task.noise and without_noise(task).model is task.model
    )


ASSETS = Path(gymnasium.__file__).parent / "envs/mujoco/assets"


class Planar(rl.Task):
    """A planar robot of Gymnasium in the air, with constant torques."""

    dt, substeps, seconds = 0.0002, 100, 1.0
    scales = {"forward": 1.0}  # noqa: RUF012

    def __init__(self, file: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the file has in vain
            self.model = wd.load(str(ASSETS / file))
        self.actions = self.model.nv - 3
        lower, upper = self.model.position_lower[3:], self.model.position_upper[3:]
        self.middle = np.where(np.isfinite(lower + upper), (lower + upper) / 2, 0.0)

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"q": np.concatenate([np.zeros(3), self.middle]), "v": np.zeros(self.model.nv)}

    def control(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"tau": np.concatenate([np.zeros(3), 5.0 * s.action])}

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        return np.concatenate([s.q[1:], s.v])

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"forward": s.v[0]}


@pytest.mark.parametrize("file", ["hopper.xml", "walker2d.xml", "half_cheetah.xml"])
def test_planar_robots_from_mjcf_move_as_in_mujoco(file: str) -> None:
    """Their prismatic joints have links without mass, and the cheetah's joints have springs.

    After 0.1 s in the air both simulators agree to 1 % of the largest speed.
    """
    envs = rl.VecEnv(Planar(file), 1), rl.MujocoEnv(Planar(file), 1, dt=0.0002)
    for env in envs:
        env.reset()
        for _ in range(5):
            env.step(torch.linspace(-1.0, 1.0, env.task.actions)[None])
    here, there = (env.carried["v"][0].numpy() for env in envs)
    assert np.abs(here[3:]).max() > 0.2
    np.testing.assert_allclose(there, here, atol=1e-2 * np.abs(here).max())


def test_stiff_drives_shorten_mujocos_steps() -> None:
    """The step is below MuJoCo's stability bound of the fastest drive.

    With soft drives it is 5 ms. A step that is passed is used.
    """
    stiff, soft = rl.PandaReach(), rl.QuadrupedVelocity()
    assert drive_frequency(stiff) == pytest.approx(553.0, abs=1.0)
    assert STEP_OF_DRIVES <= 0.75
    env = MujocoEnv(stiff, 1)
    assert env.dt * drive_frequency(stiff) <= STEP_OF_DRIVES
    assert (env.steps - 1) * STEP_OF_DRIVES / drive_frequency(stiff) < stiff.step_seconds
    assert drive_frequency(soft) < 100.0 and MujocoEnv(soft, 1).dt == 0.0025
    assert MujocoEnv(stiff, 1, dt=0.005).dt == 0.005
    assert drive_frequency(rl.make("cartpole_swing_up")) == 0.0


def test_the_frequency_of_a_drive_is_the_root_of_stiffness_over_inertia() -> None:
    """The task's robot has one joint."""
    task = Hold()
    task.model = wd.load_robot("cartpole")
    rod = task.model.reduce([task.model.joints[1].name], at={})
    task.model, task.drives = rod, wd.PD(25.0, 0.0)
    inertia = float(wd.oracle(wd.crba, rod, np.zeros((1, 1)))[0, 0, 0])
    assert drive_frequency(task) == pytest.approx(np.sqrt(25.0 / inertia))


def test_a_number_is_the_environments_or_of_all_or_the_default() -> None:
    of_one, of_all = torch.tensor([[1.0], [2.0]]), torch.tensor([3.0, 4.0])
    env = SimpleNamespace(carried={"kp": of_one}, numbers={"kp": of_all, "kd": of_all})
    found = [rl.MujocoEnv._number_of(env, name, 1, 5.0).tolist() for name in ("kp", "kd", "effort")]
    assert found == [[2.0], [3.0, 4.0], 5.0]


def test_a_robot_that_mujoco_lacks_is_refused_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lacking(*_: Any, **__: Any) -> None:
        raise NotComparable("MuJoCo has no planar joint in URDF")

    monkeypatch.setattr(mujoco_env, "MujocoRobots", lacking)
    said = "^Hold cannot run in MuJoCo: MuJoCo has no planar joint in URDF$"
    with pytest.raises(rl.TaskError, match=said):
        MujocoEnv(Hold(), 1)
