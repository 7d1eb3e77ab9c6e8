"""Steps of a free base: momentum, energy and rotations at any speed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from states import states

import warpdyn as wd
from warpdyn.algorithms.simulation.base_step import base_step

MASS, J, COM = 2.0, np.diag([0.02, 0.05, 0.06]), np.array([0.1, 0.05, -0.2])
AXIS = np.array([3.0, 0.2, 1.0]) / math.sqrt(10.04)
BODY = f"""<robot name="body"><link name="b"><inertial><origin xyz="0.1 0.05 -0.2"/>
<mass value="{MASS}"/><inertia ixx=".02" ixy="0" ixz="0" iyy=".05" iyz="0" izz=".06"/></inertial>
</link></robot>"""
MODEL = wd.load_urdf(BODY, floating_base=True)


def cross(u: Any) -> np.ndarray:
    x, y, z = u
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def mass_matrix(inertia: np.ndarray = J, com: np.ndarray = COM) -> np.ndarray:
    h = cross(MASS * com)
    return np.block(
        [[MASS * np.eye(3), -h], [h, inertia + MASS * (com @ com * np.eye(3) - np.outer(com, com))]]
    )


def rotation(quaternion: np.ndarray) -> np.ndarray:
    u, w = quaternion[:3], quaternion[3]
    return np.eye(3) + 2 * w * cross(u) + 2 * cross(u) @ cross(u)


def advance(
    pose: Any, twist: np.ndarray, h: float, inertia: np.ndarray = J
) -> tuple[np.ndarray, np.ndarray]:
    """A step with gyroscopic forces only. For an explicit step these are in `twist`."""
    H = mass_matrix(inertia)
    linear, w = twist[:3], twist[3:]
    at_rest = np.array([*-np.cross(w, linear), 0, 0, 0])
    V = np.block([[cross(w), np.zeros((3, 3))], [cross(linear), cross(w)]])
    explicit = twist - h * np.linalg.solve(H, H @ at_rest + V @ (H @ twist))
    reached, after = base_step(list(pose), list(twist), list(explicit), H.tolist(), h)
    return np.array(reached), np.array(after)


def of_com(pose: np.ndarray, twist: np.ndarray, inertia: np.ndarray = J) -> tuple[Any, Any, Any]:
    """Position and velocity of the centre of mass, and angular momentum about it, in the world's
    axes.
    """
    R = rotation(pose[3:])
    velocity = R @ (twist[:3] + np.cross(twist[3:], COM))
    return pose[:3] + R @ COM, velocity, R @ inertia @ twist[3:]


@pytest.mark.parametrize("speed", [3.0, 30.0, 100.0, 1e4])
@pytest.mark.parametrize("h", [0.001, 0.005, 0.01])
def test_a_free_body_conserves_momentum(h: float, speed: float) -> None:
    """Exactly, for fast spins about any axis. Its energy does not grow."""
    pose, twist = np.array([0.1, 0.2, 5.0, 0, 0, 0, 1]), np.array([1.0, 0.5, -0.2, *(AXIS * speed)])
    place, velocity, L = of_com(pose, twist)
    energy = twist[3:] @ J @ twist[3:]
    most = 0.0
    for _ in range(300):
        pose, twist = advance(pose, twist, h)
        most = max(most, twist[3:] @ J @ twist[3:] / energy - 1)
    there, same, turned = of_com(pose, twist)
    assert there == pytest.approx(place + 300 * h * velocity, rel=1e-11, abs=1e-9)
    assert same == pytest.approx(velocity, abs=1e-12 * max(speed, 10.0))
    assert turned == pytest.approx(L, rel=1e-10, abs=1e-11 * np.linalg.norm(L))
    assert np.linalg.norm(pose[3:]) == pytest.approx(1, abs=1e-14)
    assert most <= 1e-12 + 1e-3 * min(h * speed, 1.1) ** 4


def test_a_steady_spin_rotates_by_its_speed() -> None:
    """The rotation about a principal axis is h |ω| to the sixth order. One step rotates by at most
    1.08 rad.
    """
    for angle in (0.01, 0.3, 1.0):
        pose, _ = advance([0, 0, 0, 0, 0, 0, 1], np.array([0, 0, 0, angle / 0.005, 0, 0]), 0.005)
        turned = 2 * math.atan2(np.linalg.norm(pose[3:6]), pose[6])
        assert turned == pytest.approx(angle, rel=max(1e-12, 17 / 315 * (angle / 2) ** 6))
    pose, twist = advance([0, 0, 0, 0, 0, 0, 1], np.array([0, 0, 0, 1e5, 0, 0]), 0.005)
    assert 2 * math.atan2(pose[3], pose[6]) == pytest.approx(2 * math.atan(0.6))
    assert twist[3:] == pytest.approx([1e5, 0, 0], abs=1e-6)


def test_the_error_of_a_tumbling_body_is_of_the_second_order() -> None:
    """The attitude after 0.2 s is compared with that of 1,280 steps."""
    ends = {}
    for count in (20, 40, 1280):
        pose, twist = np.array([0, 0, 0, 0, 0, 0, 1.0]), np.array([0, 0, 0, *(AXIS * 10.0)])
        for _ in range(count):
            pose, twist = advance(pose, twist, 0.2 / count)
        ends[count] = pose[3:]
    wrong = [np.linalg.norm(ends[count] - ends[1280]) for count in (20, 40)]
    assert wrong[0] / wrong[1] == pytest.approx(4, rel=0.1)


def test_newtons_iteration_is_regular_for_every_body() -> None:
    """Rods, plates and all bodies between keep unit quaternions and constant momentum at any speed.
    The momentum bounds their energy.
    """
    rng = np.random.default_rng(0)
    for _ in range(300):
        a, b = 10.0 ** rng.uniform(-4, 0, 2)
        moments = np.array([a, b, abs(a - b) + rng.uniform(0, 1) * 2 * min(a, b)])
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        inertia = turn @ np.diag(moments) @ turn.T
        twist = np.array([0, 0, 0, *(rng.normal(size=3) * 10.0 ** rng.uniform(-3, 4))])
        pose = np.array([0, 0, 0, 0, 0, 0, 1.0])
        L = np.linalg.norm(inertia @ twist[3:])
        for _ in range(5):
            pose, twist = advance(pose, twist, 0.005, inertia)
            assert np.linalg.norm(pose[3:]) == pytest.approx(1, abs=1e-12)
        assert np.linalg.norm(inertia @ twist[3:]) == pytest.approx(L, rel=1e-8)


def test_a_robot_with_stiff_drives_conserves_momentum_as_one_body() -> None:
    """A tumbling quadruped keeps its momentum to 2e-6."""
    model = wd.load_robot("quadruped")
    q, v = states(model, 1).q[0], np.zeros(model.nv)
    v[:6] = [1.0, 0.5, -0.2, 2.0, 1.0, -2.0]
    options: dict[str, Any] = {"control": wd.PD(400.0, 5.0, 1e9), "targets": q[7:], "stops": "none"}
    none = (0.0, 0.0, 0.0)
    end = wd.results.Step(
        *wd.oracle(wd.step, model, q, v, 0 * v, dt=0.005, substeps=60, gravity=none, **options)
    )
    before, after = (
        wd.oracle(wd.centroidal_momentum, model, *at) for at in ((q, v), (end.q, end.v))
    )
    for rows in (slice(0, 3), slice(3, 6)):
        lost = np.linalg.norm((after - before)[rows]) / np.linalg.norm(before[rows])
        assert lost < 2e-6


def test_the_momentum_drift_of_a_spin_in_float32_is_small() -> None:
    """The drift is below 1e-5 in one second, at 3 rad/s and 5 ms, about any axis."""
    axes = np.random.default_rng(0).normal(size=(64, 3))
    q = np.tile(np.float32([0, 0, 5, 0, 0, 0, 1]), (64, 1))
    v = np.zeros((64, 6), np.float32)
    v[:, 3:] = 3.0 * axes / np.linalg.norm(axes, axis=1, keepdims=True)
    end = wd.step(MODEL, q, v, 0 * v, dt=0.005, substeps=200, gravity=(0.0, 0.0, 0.0))
    before, after = (wd.oracle(wd.centroidal_momentum, MODEL, *x) for x in ((q, v), end[:2]))
    for rows in (slice(0, 3), slice(3, 6)):
        lost = np.linalg.norm((after - before)[:, rows], axis=1)
        assert (lost < 1e-5 * np.linalg.norm(before[:, rows], axis=1)).all()
