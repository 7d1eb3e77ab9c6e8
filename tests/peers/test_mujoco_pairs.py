"""Pairs of shapes in MuJoCo: the same shapes at the same places, with their friction and forces."""

from __future__ import annotations

import numpy as np
import pytest
from pushed_box import BOX, PUSHER, rail

import warpdyn as wd
from warpdyn.algorithms.simulation.contact_shapes import GROUND, ContactPair, ContactShape
from warpdyn.peers.mujoco_pairs import links_of, pair_numbers
from warpdyn.peers.mujoco_robots import MujocoRobots
from warpdyn.peers.mujoco_scene import Drives, mujoco_scene
from warpdyn.peers.peer import NotComparable

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install mujoco)")

TURNED = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
CORNERS = tuple((x, y, z) for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.05, 0.05))


@pytest.fixture(scope="module")
def model() -> wd.Model:
    return rail()


def pairs_of(model):
    return wd.ContactPairs(model).only((PUSHER, BOX)).with_ground(BOX)


def test_shapes_have_the_models_sizes_and_places(model):
    """The test covers each kind of shape. Only the pairs touch, with their friction."""
    shapes = [
        ContactShape(BOX, "sphere", (0.03,), (0.1, 0.0, 0.0)),
        ContactShape(BOX, "capsule", (0.02, 0.05), (0.0, 0.1, 0.0), TURNED),
        ContactShape(BOX, "mesh", (), (0.0, 0.0, 0.1), TURNED, CORNERS),
        ContactShape(BOX, "box", (0.01, 0.02, 0.03)),
    ]
    pairs = [ContactPair(GROUND, shape) for shape in shapes]
    assert links_of(pairs) == [BOX] * 4
    robot = mujoco_scene(model, 0.002, pairs=pairs, friction=0.7, fused=True).compile()
    assert robot.npair == 4 and robot.ngeom == 5 and not robot.geom_contype.any()
    assert np.allclose(robot.pair_friction[:, :2], 0.7) and (robot.pair_dim == 3).all()
    geoms = [robot.pair_geom2[k] for k in pair_numbers(robot, pairs)]
    kinds = [robot.geom_type[k] for k in geoms]
    names = ("SPHERE", "CAPSULE", "MESH", "BOX")
    assert kinds == [getattr(mujoco.mjtGeom, f"mjGEOM_{name}") for name in names]
    data = mujoco.MjData(robot)
    mujoco.mj_forward(robot, data)
    origin = data.body(BOX).xpos
    for shape, geom in zip(shapes[:2], geoms[:2], strict=True):
        assert np.allclose(data.geom_xpos[geom] - origin, shape.position)
        assert np.allclose(robot.geom_size[geom][: len(shape.size)], shape.size)
        assert np.allclose(data.geom_xmat[geom].reshape(3, 3), shape.rotation)
    geom = geoms[2]
    found = robot.mesh_vert @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom] - origin
    wanted = np.array(CORNERS) @ np.array(TURNED).T + [0.0, 0.0, 0.1]
    assert np.allclose(np.sort(found, axis=0), np.sort(wanted, axis=0), atol=1e-6)
    with pytest.raises(NotComparable, match="no contacts of a torus"):
        mujoco_scene(
            model, 0.002, pairs=[ContactPair(GROUND, ContactShape(BOX, "torus", ()))], fused=True
        )


def test_an_object_moves_freely_next_to_the_robot(model):
    """Its state can be set, its weight makes it fall, and forces on it act only on it."""
    robots = MujocoRobots(model, 1, 1e-6)
    q = np.array([0.2, 0.3, -0.1, 0.5, 0.1, 0.2, 0.3, 0.9])
    q[4:] /= np.linalg.norm(q[4:])
    v, tau = np.array([0.4, 0.1, 0.2, 0.3, -0.5, 0.6, 0.7]), np.linspace(-1.0, 1.0, 7)
    robots.put(0, q, v)
    after = robots.advance(0, None, tau, 1)
    assert np.allclose(after.q, q, atol=2e-6)
    wanted = wd.oracle(wd.aba, model, q[None], v[None], tau[None])[0]
    assert np.allclose((after.v - v) / 1e-6, wanted, rtol=1e-3, atol=0.02)


@pytest.mark.parametrize("reverse", [False, True])
def test_forces_act_from_the_first_shape_on_the_second(model, reverse):
    """The ground carries the box, and the ball presses it against its friction."""
    pairs = [ContactPair(*each[::-1]) if reverse else each for each in pairs_of(model)]
    sign = -1.0 if reverse else 1.0
    drives = Drives(500.0, 50.0, 50.0)
    robots = MujocoRobots(model, 1, 0.001, drives=drives, pairs=pairs, contact_time=0.004)
    robots.put(0, np.array([0.0, 0.1, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0]), np.zeros(7))
    still = robots.advance(0, [np.zeros(1)] * 500, None, 500, numbers={"pair_friction": [0.4, 0.4]})
    assert sign * still.pair_forces[1] == pytest.approx([0.0, 0.0, 0.5 * 9.81], abs=0.01)
    assert np.abs(still.pair_forces[0]).max() < 1e-9
    for mu in (0.4, 0.2):
        slide = [np.array([0.02 + 0.2 * 0.001 * k]) for k in range(1200)]
        robots.put(0, np.array([0.02, 0.1, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0]), np.zeros(7))
        forces = [
            robots.advance(0, [target], None, 1, numbers={"pair_friction": [0.0, mu]}).pair_forces
            for target in slide
        ]
        # The box jumps ahead and the ball catches up again, so only the mean is that of sliding.
        pressed, rubbed = np.mean(forces[400:], axis=0)[:, 0] * sign
        assert pressed == pytest.approx(mu * 0.5 * 9.81, rel=0.1)
        assert rubbed == pytest.approx(-mu * 0.5 * 9.81, rel=0.1)
