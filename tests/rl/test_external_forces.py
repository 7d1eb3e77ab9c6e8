"""Forces on links in a task: those of `control`, and pushes that are held."""

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


class Pulled(Floating):
    """A force of the size of the action along x of the base."""

    def control(self, robot: Any, s: Any) -> dict[str, Any]:
        force = np.concatenate([s.action, np.zeros(5)])
        return {"tau": np.zeros(18), "f_ext": {"base": force}}


class Pushed(Floating):
    push = rl.HeldPush(60.0, hold=0.1, seconds=0.4)


def momentum(env: Any) -> np.ndarray:
    """Linear momentum of all robots in the world (envs, 3)."""
    q, v = (env.carried[n].numpy().astype(float) for n in ("q", "v"))
    return np.array(wd.centroidal_momentum(env.task.model, q, v))[:, :3]


def test_a_force_of_control_changes_the_momentum() -> None:
    """By force times time."""
    env = rl.VecEnv(Pulled(), 2)
    env.reset()
    env.step(torch.tensor([[3.0], [-6.0]]))
    np.testing.assert_allclose(momentum(env)[:, 0], [3.0 * 0.02, -6.0 * 0.02], rtol=1e-3)


def test_a_push_is_held_and_ends() -> None:
    """Five steps of a constant horizontal force after 0.4 s, then none; it differs between robots."""
    env = rl.VecEnv(Pushed(), 3, seed=1)
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
    task, given = Pushed(), np.array([0.0, 0.0, 5.0, 1.0, 2.0, 3.0])
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


def test_another_simulator_has_them_as_joint_forces() -> None:
    """Momentum of the whole robot in MuJoCo."""
    pytest.importorskip("mujoco")
    env = rl.MujocoEnv(Pulled(), 2)
    env.reset()
    env.step(torch.tensor([[3.0], [-6.0]]))
    np.testing.assert_allclose(momentum(env)[:, 0], [3.0 * 0.02, -6.0 * 0.02], rtol=2e-2)


def test_mistakes_name_the_link() -> None:
    class Nowhere(Pulled):
        def control(self, robot: Any, s: Any) -> dict[str, Any]:
            return {"tau": np.zeros(18), "f_ext": {"bas": np.zeros(6)}}

    class Elsewhere(Pushed):
        push = rl.HeldPush(1.0, link="arm")

    class Nothing(Pulled):
        def control(self, robot: Any, s: Any) -> dict[str, Any]:
            return {"f_ext": {"base": np.zeros(6)}}

    for task, said in (
        (Nowhere(), "f_ext is of bas, which quadruped does not have; its links are base"),
        (Elsewhere(), "Elsewhere.push: quadruped has no link 'arm'"),
        (Nothing(), "must give targets, tau, or both, and f_ext in addition; it gave f_ext"),
    ):
        with pytest.raises(rl.TaskError, match=said):
            env = rl.VecEnv(task, 1)
            env.reset()
            env.step(torch.zeros(1, 1))


def test_a_deployed_policy_does_not_ask_for_them(tmp_path: Any) -> None:
    from policy_files import linear_policy

    file = linear_policy(tmp_path / "a.onnx", np.zeros((18, 1)), task="Pulled", robot="quadruped")
    wanted = rl.DeployedPolicy(Pulled(), rl.Policy(file)).step(
        np.array(wd.load_robot("quadruped").neutral), np.zeros(18)
    )
    np.testing.assert_array_equal(wanted.tau, np.zeros(12))
