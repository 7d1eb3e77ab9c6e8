"""The scene that is timed in warpdyn and MuJoCo: both robots stand in it at the same height."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")


def test_a_quadruped_stands_in_warpdyn_and_mujoco() -> None:
    """The feet carry its weight, joints agree within 0.01 rad, and the trunk within 3 mm, since the
    contacts of both are compliant in different ways. In both, friction balances the forces that
    pull the feet apart."""
    import mujoco

    from benchmarks.simulation import QUADRUPED_STANCE, Scene
    from benchmarks.simulators.in_mujoco import contact_force

    scene = Scene("quadruped", 0.32, QUADRUPED_STANCE, (40.0, 1.0), "*_foot")
    robot, data = scene.mujoco()
    mujoco.mj_step(robot, data, nstep=600)
    assert contact_force(robot, data)[2] == pytest.approx(scene.weight, rel=2e-3)
    assert robot.body_mass.sum() == pytest.approx(scene.model.total_mass)
    sim = scene.simulation(2, "float32", 4, 4)
    for _ in range(150):
        sim.step(scene.start[7:])
    assert sim.forces[0, :, 2].sum() == pytest.approx(scene.weight, rel=2e-3)
    assert np.abs(sim.q[0, 2] - data.qpos[2]) < 3e-3
    assert np.abs(sim.q[0, 7:] - data.qpos[7:]).max() < 0.01
    sideways, force = [], np.zeros(6)
    for k in range(data.ncon):
        mujoco.mj_contactForce(robot, data, k, force)
        sideways.append(np.hypot(*force[1:3]))
    ours = np.hypot(sim.forces[0, :, 0], sim.forces[0, :, 1])
    assert np.allclose(sorted(ours), sorted(sideways), atol=0.6)
