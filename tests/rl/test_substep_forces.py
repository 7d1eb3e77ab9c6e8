"""Contact forces over all substeps of a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from pushed_box import BOX, PUSHER, PushedBox

import warpdyn as wd


class DroppedQuadruped(rl.QuadrupedVelocity):
    """A quadruped with feet 1 cm above the ground. It carries copies of the forces."""

    substep_forces = True
    scales = {"nothing": 1.0}  # noqa: RUF012
    vary = {}  # noqa: RUF012

    def begin(self, robot: Any, s: Any) -> dict[str, Any]:
        begun = super().begin(robot, s)
        q = np.concatenate([np.zeros(2), [self.height + 0.01], [0, 0, 0, 1.0], self.stance])
        kept = {"mean": np.zeros((4, 3)), "peak": np.zeros(4), "last": np.zeros((4, 3))}
        return {**begun, **kept, "wanted": np.zeros(3), "q": q, "v": np.zeros(18)}

    def update(self, robot: Any, s: Any) -> dict[str, Any]:
        forces = {"mean": s.mean_forces, "peak": s.peak_forces, "last": s.forces}
        return {**super().update(robot, s), **forces}

    def reward(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"nothing": np.sum(s.peak_forces)}


class Plain(DroppedQuadruped):
    """The same motion with the forces of the last substep only."""

    substep_forces = False

    def update(self, robot: Any, s: Any) -> dict[str, Any]:
        return rl.QuadrupedVelocity.update(self, robot, s)

    def reward(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"nothing": 0.0}


class Late(DroppedQuadruped):
    vary = {"latency": rl.Vary(0.013, 0.013)}  # noqa: RUF012


class PlainLate(Plain):
    vary = {"latency": rl.Vary(0.013, 0.013)}  # noqa: RUF012


@pytest.mark.parametrize(("task", "plain"), [(DroppedQuadruped(), Plain()), (Late(), PlainLate())])
def test_substep_forces_show_impacts_and_do_not_change_the_motion(task: Any, plain: Any) -> None:
    """Also with delayed targets.

    The peak is at least the last force, and the mean carries the weight.
    """
    env, other = rl.VecEnv(task, 1), rl.VecEnv(plain, 1)
    env.reset()
    other.reset()
    peaks = []
    for k in range(12):
        action = 0.5 * np.sin(k) * torch.ones(1, 12)
        env.step(action)
        other.step(action)
        for name in ("q", "v"):
            np.testing.assert_allclose(env.carried[name], other.carried[name], atol=2e-4)
        last = np.linalg.norm(env.carried["last"][0], axis=1)
        peak = env.carried["peak"][0].numpy()
        assert (peak >= last - 1e-2).all()
        peaks.append((peak - last).max())
    assert max(peaks) > 20.0  # between two steps [N]


def test_mujoco_env_has_substep_forces() -> None:
    pytest.importorskip("mujoco")
    env = rl.MujocoEnv(DroppedQuadruped(), 1)
    env.reset()
    carried = []
    for _ in range(60):
        env.step(torch.zeros(1, 12))
        kept = {n: env.carried[n][0].numpy().copy() for n in ("mean", "peak", "last")}
        carried.append(kept["mean"][:, 2].sum())
        assert (kept["peak"] >= np.linalg.norm(kept["last"], axis=1) - 1e-3).all()
    weight = 9.81 * env.task.model.total_mass
    assert np.mean(carried[20:]) == pytest.approx(weight, rel=0.05)


def test_substep_forces_do_not_change_steps_with_contact_pairs() -> None:
    """The impulses of the pairs of a pushed box are carried through the loop."""

    class SubstepBox(PushedBox):
        substep_forces = True

    ends = []
    for task in (PushedBox(), SubstepBox()):
        env = rl.VecEnv(task, 2, seed=0)
        env.reset()
        for _ in range(5):
            env.step(0.5 * torch.ones(2, task.actions))
        ends.append(env.carried["q"].numpy().copy())
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-4)


def test_substep_forces_do_not_change_steps_with_points_and_pairs() -> None:
    """A box on its corners is pushed by a ball.

    States and forces of points and pairs are compared.
    """

    class OnCorners(PushedBox):
        def __init__(self) -> None:
            super().__init__()
            self.points = wd.ContactPoints(self.model).only(BOX)
            self.pairs = wd.ContactPairs(self.model).only((PUSHER, BOX))

        def begin(self, robot: Any, s: Any) -> dict[str, Any]:
            return {**super().begin(robot, s), "felt": np.zeros(3), "carried": np.zeros(3)}

        def update(self, robot: Any, s: Any) -> dict[str, Any]:
            return {"felt": s.pair_forces[0], "carried": np.sum(s.forces, axis=0)}

    class SubstepCorners(OnCorners):
        substep_forces = True

    ends = []
    for task in (OnCorners(), SubstepCorners()):
        env = rl.VecEnv(task, 2, seed=0)
        env.reset()
        for _ in range(20):
            env.step(torch.ones(2, task.actions))
        ends.append({n: env.carried[n].numpy().copy() for n in ("q", "felt", "carried")})
    for name, x in ends[0].items():
        np.testing.assert_allclose(ends[1][name], x, rtol=1e-3, atol=1e-3, err_msg=name)
    assert np.abs(ends[0]["felt"]).max() > 0.5 and ends[0]["carried"][:, 2].min() > 1.0
