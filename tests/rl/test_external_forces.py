"""External forces on links in a task: those of `control`, and held pushes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch

import warpdyn as wd
from warpdyn.rl.external_forces import external_forces, held_push

MASS = wd.load_robot("quadruped").total_mass


class Floating(rl.Task):
    """A quadruped without ground and gravity."""

    dt, substeps, seconds, actions = 0.005, 4, 4.0, 1
    scales = {"nothing": 1.0}  # noqa: RUF012
    vary = {"gravity": rl.Vary(0.0, 0.0)}  # noqa: RUF012

    def __init__(self) -> None:
        self.model = wd.load_robot("quadruped")

    def begin(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"q": self.model.configurations["home"], "v": np.zeros(18)}

    def control(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"tau": np.zeros(18)}

    def observe(self, robot: Any, s: Any) -> Any:
        return s.v

    def reward(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"nothing": 0.0}


class PulledBase(Floating):
    """A force along x of the base that equals the action."""

    def control(self, robot: Any, s: Any) -> dict[str, Any]:
        force = np.concatenate([s.action, np.zeros(5)])
        return {"tau": np.zeros(18), "f_ext": {"base": force}}


class PushedBase(Floating):
    push = rl.HeldPush(60.0, hold=0.1, seconds=0.4)


def momentum(env: Any) -> np.ndarray:
    """Linear momentum of all robots in the world (envs, 3)."""
    q, v = (env.carried[n].numpy().astype(float) for n in ("q", "v"))
    return np.array(wd.centroidal_momentum(env.task.model, q, v))[:, :3]


def test_a_force_of_control_changes_the_momentum_by_force_times_time() -> None:
    """Linear momentum in the world, of all robots."""
    env = rl.VecEnv(PulledBase(), 2)
    env.reset()
    env.step(torch.tensor([[3.0], [-6.0]]))
    np.testing.assert_allclose(momentum(env)[:, 0], [3.0 * 0.02, -6.0 * 0.02], rtol=1e-3)


def test_a_held_push_lasts_its_time_and_ends() -> None:
    """Five steps of a constant horizontal force after 0.4 s, then none.

    It differs between robots.
    """
    env = rl.VecEnv(PushedBase(), 3, seed=1)
    env.reset()
    found = [momentum(env)]
    for _ in range(46):
        env.step(torch.zeros(3, 1))
        found.append(momentum(env))
    forces = np.diff(found, axis=0) / 0.02
    sizes = np.linalg.norm(forces, axis=2)
    assert (sizes[:20] < 0.1).all() and (sizes[25:40] < 0.1).all() and (sizes[40:45] > 1.0).all()
    held = forces[20:25]
    assert (np.linalg.norm(held, axis=2) < 60.5).all() and np.abs(held[..., 2]).max() < 0.1
    np.testing.assert_allclose(held, held[:1].repeat(5, 0), atol=0.3)
    assert not np.allclose(forces[22], forces[42], atol=1.0)
    assert not np.allclose(held[0, 0], held[0, 1], atol=1.0)


def test_a_push_and_a_force_of_control_on_the_same_link_are_added() -> None:
    """The push begins 0.4 s after the start of an episode, and lasts 0.1 s."""
    task, given = PushedBase(), np.array([0.0, 0.0, 5.0, 1.0, 2.0, 3.0])
    upright = SimpleNamespace(fk=lambda q, frame: np.eye(4))

    @wd.kernel
    def forces(robot: Any, age: ()) -> Any:
        s, key = SimpleNamespace(age=age, q=None), wd.random.key(1, 2, age)
        ((link, both),) = external_forces(task, upright, s, {"f_ext": {"base": given}}, key).items()
        assert link == "base"
        return np.stack([both, held_push(task, task.push, upright, s, key)])

    ages = np.array([0.0, 19.0, 20.0, 24.0, 25.0])
    found = np.array([wd.oracle(forces, task.model, age) for age in ages])
    pushes = found[:, 0] - given
    np.testing.assert_allclose(pushes, found[:, 1], atol=1e-12)
    assert not pushes[[0, 1, 4]].any() and not pushes[:, 2:].any()
    np.testing.assert_allclose(pushes[2], pushes[3])
    assert 0.0 < np.hypot(*pushes[2, :2]) < 60.0


def test_a_push_that_began_before_the_first_step_is_drawn_in_the_first_step() -> None:
    """A training begins with episodes of random ages."""
    task, upright = PushedBase(), SimpleNamespace(fk=lambda q, frame: np.eye(4))

    @wd.kernel
    def push(robot: Any, age: (), count: ()) -> Any:
        key = wd.random.key(1, 2, count)
        return held_push(task, task.push, upright, SimpleNamespace(age=age, q=None), key)

    found = [wd.oracle(push, task.model, age, n) for age, n in ((20, 0), (22, 0), (23, 1), (23, 5))]
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])
    assert not np.array_equal(found[0], found[3])


class Elsewhere(Floating):
    """Another model of the quadruped, with its own coordinates."""

    def __init__(self, model: wd.Model, push: Any) -> None:
        self.model, self.push = model, push

    def begin(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"q": self.model.configurations["home"], "v": np.zeros(self.model.nv)}

    def control(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"tau": np.zeros(self.model.nv)}


CUBE = wd.description.Box(0.1, 0.1, 0.1)
MODELS = {
    "with an object": wd.load_robot("quadruped").with_object("cube", CUBE, mass=1.0),
    "other quaternions": wd.load_robot("quadruped", quaternion="wxyz"),
    "velocity in the world": wd.load_robot("quadruped", base_velocity="local_world_aligned"),
}


@pytest.mark.parametrize("name", list(MODELS))
def test_a_push_has_its_speed_in_the_world(name: str) -> None:
    """1 m/s of the whole robot in a horizontal direction, from an inclined base."""

    class InclinedBase(Elsewhere):
        def begin(self, robot: Any, s: Any) -> dict[str, Any]:
            q = np.array(self.model.configurations["home"])
            turn = [0.6, 0.0, 0.0, 0.8]
            q[3:7] = turn if self.model.quaternion == "xyzw" else turn[-1:] + turn[:-1]
            return {"q": q, "v": np.zeros(self.model.nv)}

    env = rl.VecEnv(InclinedBase(MODELS[name], rl.Push(1.0, 0.04, least=1.0)), 3, seed=1)
    env.reset()
    for pushed in (0.0, 0.0, 1.0):
        env.step(torch.zeros(3, 1))
        assert np.linalg.norm(momentum(env), axis=1) == pytest.approx(
            MASS * pushed, abs=1e-3 * MASS
        )
    assert np.abs(momentum(env)[:, 2]).max() < 1e-3 * MASS


def test_a_base_among_objects_is_pushed() -> None:
    """The default link is the robot's base, and not the world in which its objects lie."""
    env = rl.VecEnv(Elsewhere(MODELS["with an object"], PushedBase.push), 3, seed=1)
    env.reset()
    for _ in range(25):
        env.step(torch.zeros(3, 1))
    assert (env.carried["v"][:, :2].norm(dim=1) > 0.01).all()
    assert (env.carried["v"][:, 18:] == 0.0).all()


def test_mujoco_applies_external_forces_as_joint_forces() -> None:
    """The momentum of the whole robot in MuJoCo changes by force times time."""
    pytest.importorskip("mujoco")
    env = rl.MujocoEnv(PulledBase(), 2)
    env.reset()
    env.step(torch.tensor([[3.0], [-6.0]]))
    np.testing.assert_allclose(momentum(env)[:, 0], [3.0 * 0.02, -6.0 * 0.02], rtol=2e-2)


PANDA = wd.load_robot("panda")


def test_unknown_links_are_refused_by_name() -> None:
    class Nowhere(PulledBase):
        def control(self, robot: Any, s: Any) -> dict[str, Any]:
            return {"tau": np.zeros(18), "f_ext": {"bas": np.zeros(6)}}

    class PushedArm(PushedBase):
        push = rl.HeldPush(1.0, link="arm")

    class Nothing(PulledBase):
        def control(self, robot: Any, s: Any) -> dict[str, Any]:
            return {"f_ext": {"base": np.zeros(6)}}

    for task, said in (
        (Nowhere(), "f_ext names bas, which quadruped does not have; its links are base"),
        (PushedArm(), "PushedArm.push: quadruped has no link 'arm'"),
        (Elsewhere(PANDA, rl.HeldPush(1.0)), "push: panda has no free base; name the link to push"),
        (Elsewhere(PANDA, rl.HeldPush(1.0, link="panda_link0")), "'panda_link0' of panda is fixed"),
        (Nothing(), "must return targets, tau, or both, and optionally f_ext; it returned f_ext"),
    ):
        with pytest.raises(rl.TaskError, match=said):
            env = rl.VecEnv(task, 1)
            env.reset()
            env.step(torch.zeros(1, 1))


def test_a_deployed_policy_commands_no_external_forces(tmp_path: Any) -> None:
    from policy_files import linear_policy

    file = linear_policy(
        tmp_path / "a.onnx", np.zeros((18, 1)), task="PulledBase", robot="quadruped"
    )
    wanted = rl.DeployedPolicy(PulledBase(), rl.Policy(file)).step(
        np.array(wd.load_robot("quadruped").neutral), np.zeros(18)
    )
    np.testing.assert_array_equal(wanted.tau, np.zeros(12))
