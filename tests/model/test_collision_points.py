"""Contact spheres of collision shapes: they touch a plane where the shape does, and none is
superfluous."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from documented_numbers import check_numbers

import warpdyn as wd
from warpdyn.model.collision_points import RIM, CollisionSphere, LeftOut, collision_spheres
from warpdyn.model.description import Geometry
from warpdyn.model.mesh_files import MeshError
from warpdyn.model.poses_and_limits import Pose, Vector3

TURN = Pose.at((0.1, -0.2, 0.3), (0.4, -0.5, 0.6))
DIRECTIONS = np.concatenate([np.eye(3), -np.eye(3), np.random.default_rng(1).normal(size=(200, 3))])
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)


def none(shape: Geometry) -> Sequence[Vector3]:
    raise MeshError("it is not there")


def spheres_of(*shapes: Geometry) -> list[CollisionSphere]:
    model = (
        wd.ModelBuilder("one").add_link("body", 1.0, collisions=shapes).build(floating_base=True)
    )
    return collision_spheres(model, none)[0]


def reach(spheres: Sequence[CollisionSphere], directions: np.ndarray = DIRECTIONS) -> np.ndarray:
    """The support function of the spheres: how far they reach in each direction."""
    return np.max([directions @ np.array(s.centre) + s.radius for s in spheres], axis=0)


def support(shape: Geometry, directions: np.ndarray = DIRECTIONS) -> np.ndarray:
    """The support function of a shape in closed form."""
    R, p = np.array(shape.pose.rotation), np.array(shape.pose.position)
    d = directions @ R
    across = np.hypot(d[:, 0], d[:, 1])
    if shape.shape == "box":
        inside = np.abs(d) @ np.array(shape.size) / 2
    elif shape.shape == "cylinder":
        inside = across * shape.size[0] + np.abs(d[:, 2]) * shape.size[1] / 2
    elif shape.shape == "capsule":
        inside = shape.size[0] + np.abs(d[:, 2]) * shape.size[1] / 2
    else:
        inside = np.full(len(d), shape.size[0])
    return directions @ p + inside


@pytest.mark.parametrize(
    "shape",
    [
        Geometry("sphere", (0.07,), pose=TURN),
        Geometry("capsule", (0.05, 0.4), pose=TURN),
        Geometry("box", (0.2, 0.4, 0.6), pose=TURN),
    ],
    ids=lambda shape: shape.shape,
)
def test_spheres_reach_as_far_as_their_shape(shape: Geometry) -> None:
    """They touch a plane of any slope where the shape does."""
    np.testing.assert_allclose(reach(spheres_of(shape)), support(shape), atol=1e-12)


def test_a_cylinder_has_points_on_its_rims() -> None:
    """They are within the cylinder, exact along its axis, and elsewhere short of it by at most (1 -
    cos(π / 8)) of its radius."""
    shape = Geometry("cylinder", (0.1, 0.5), pose=TURN)
    spheres = spheres_of(shape)
    lacking = support(shape) - reach(spheres)
    assert len(spheres) == 2 * RIM and lacking.min() > -1e-12
    assert lacking.max() <= 0.1 * (1 - math.cos(math.pi / RIM)) + 1e-12
    axis = np.array(TURN.rotation)[:, 2:].T
    np.testing.assert_allclose(reach(spheres, axis), support(shape, axis), atol=1e-12)


def test_a_cylinder_with_spheres_at_its_ends_is_a_capsule() -> None:
    """URDF writes capsules in this way: the rims are inside the spheres."""
    model = wd.ModelBuilder("one").add_link(
        "a", 1.0, collisions=[Geometry("capsule", (0.05, 0.4), pose=TURN)]
    )
    capsule = model.build(floating_base=True)
    again = wd.load_urdf(capsule.to_urdf(), floating_base=True)
    assert len(again.link("a").collisions) == 3
    written, read = (collision_spheres(m, none)[0] for m in (capsule, again))
    np.testing.assert_allclose(reach(read), reach(written), atol=1e-9)
    assert len(read) == 2


def along(T: np.ndarray, inside: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The support function in the world's directions of something whose frame is at T."""
    return DIRECTIONS @ T[:3, 3] + inside(DIRECTIONS @ T[:3, :3])


def legs(radius: float, at: Sequence[float] = (0, 0, -0.4), kind: str = "revolute") -> wd.Model:
    """A trunk with two links in a chain, each a capsule along its length."""

    def capsule(r: float) -> Geometry:
        return Geometry("capsule", (r, 0.4), pose=Pose((0.0, 0.0, -0.2)))

    builder = wd.ModelBuilder("leg").add_link("trunk", 5.0, collisions=[Geometry("sphere", (0.1,))])
    builder.add_link("thigh", 1.0, collisions=[capsule(0.04)])
    builder.add_link("shin", 1.0, collisions=[capsule(radius)])
    builder.add_link("foot", 0.1, collisions=[Geometry("sphere", (0.05,))])
    builder.add_joint("hip", "revolute", "trunk", "thigh", axis=(0, 1, 0))
    builder.add_joint("knee", kind, "thigh", "shin", pose=at, axis=(0, 1, 0))
    builder.add_joint("ankle", "fixed", "shin", "foot", pose=(0, 0, -0.4))
    return builder.build(floating_base=True)


def test_links_share_a_sphere_at_a_hinge() -> None:
    """So do links that are fixed to them: a leg of capsules has as many spheres as ends. In every
    configuration the hull of all links reaches as far as with all spheres."""
    model = legs(0.04)
    spheres, left = collision_spheres(model, none)
    assert [s.link for s in spheres] == ["trunk", "thigh", "foot"] and not left
    shapes = [(link.name, shape) for link in model.links for shape in link.collisions]
    random = np.random.default_rng(2)
    for _ in range(5):
        q = model.neutral.copy()
        q[7:] = random.uniform(-2, 2, 2)
        poses = dict(zip(model.link_names, map(np.array, wd.oracle(wd.fk, model, q)), strict=True))

        whole = [along(poses[link], partial(support, shape)) for link, shape in shapes]
        kept = [along(poses[s.link], partial(reach, [s])) for s in spheres]
        np.testing.assert_allclose(np.max(kept, axis=0), np.max(whole, axis=0), atol=1e-9)


def test_spheres_that_separate_are_kept() -> None:
    """The reasons are a thicker end, a slide, and a joint that is not at the end of its link."""
    assert [s.link for s in collision_spheres(legs(0.045), none)[0]] == ["trunk", "shin", "foot"]
    for model in (legs(0.04, kind="prismatic"), legs(0.04, at=(0.02, 0, -0.4))):
        assert [s.link for s in collision_spheres(model, none)[0]].count("shin") == 1


def test_fixed_links_have_no_spheres() -> None:
    """Nor are there spheres on the axis of a joint of a fixed link."""
    fixed = replace(legs(0.04), floating_base=False)
    assert [s.link for s in collision_spheres(fixed, none)[0]] == ["thigh", "foot"]
    assert (
        collision_spheres(wd.load_robot("panda", floating_base=True), none)[0][0].link
        == "panda_link0"
    )


def test_unreadable_meshes_are_left_out_with_their_reason() -> None:
    """Other shapes of the link have spheres."""
    shapes = Geometry("mesh", (1.0, 1.0, 1.0), "a.stl"), Geometry("sphere", (0.1,))
    builder = wd.ModelBuilder("one").add_link("body", 1.0, collisions=shapes)
    spheres, left = collision_spheres(builder.build(floating_base=True), none)
    assert left == [LeftOut("body", "the mesh a.stl", "it is not there")] and len(spheres) == 1
    corners = [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0)]
    spheres, left = collision_spheres(builder.build(floating_base=True), lambda mesh: corners)
    assert [s.centre for s in spheres] == [*corners, (0.0, 0.0, 0.0)] and not left


@pytest.mark.parametrize("name", wd.robot_names())
def test_no_sphere_of_a_bundled_robot_is_superfluous(name: str) -> None:
    """No sphere is inside another one of its link, and all of them move."""
    model = wd.load_robot(name)
    spheres, left = collision_spheres(model, none)
    assert not left
    for a in spheres:
        for b in spheres:
            inside = math.dist(a.centre, b.centre) + a.radius <= b.radius
            assert a is b or a.link != b.link or not inside
    q = np.stack([model.neutral, model.neutral])
    q[1, 7 if model.floating_base else 0 :] += 0.1
    poses = wd.fk(model, q)
    for sphere in spheres:
        placed = poses[:, model.link_index(sphere.link)] @ [*sphere.centre, 1.0]
        assert model.floating_base or math.dist(*placed[:, :3]) > 1e-3


def test_the_points_of_a_box_are_at_most_the_spacing_apart() -> None:
    """They are on its edges and faces, not inside. The corners come first."""
    box = Geometry("box", (0.2, 0.4, 0.1))
    builder = wd.ModelBuilder("box")
    builder.add_link("box", mass=1.0, inertia=np.diag([0.1] * 3), collisions=[box])
    built = builder.build(floating_base=True)
    corners = [s.centre for s in collision_spheres(built, none)[0]]
    for spacing, count in ((1.0, 8), (0.2, 12), (0.1, 30), (0.05, 114)):
        found = [s.centre for s in collision_spheres(built, none, spacing)[0]]
        assert sorted(found[:8]) == sorted(corners)
        half = np.array(box.size) / 2
        assert np.isclose(np.abs(found), half).any(1).all()
        for axis in range(3):
            steps = np.diff(sorted({round(p[axis], 9) for p in found}))
            assert steps.max() <= spacing + 1e-9
        assert len({tuple(np.round(p, 9)) for p in found}) == len(found) == count


def test_documented_numbers() -> None:
    check_numbers("model.collision_points", RIM=8, CLOSE=1e-06)
