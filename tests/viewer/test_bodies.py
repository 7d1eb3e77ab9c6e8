"""Bodies that move as one: a link with everything fixed to it, in one mesh of several colours."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

pytest.importorskip("warpdyn.viewer")
import trimesh

from warpdyn.model.description import Geometry
from warpdyn.viewer.bodies import bodies, colored_glb, shrink
from warpdyn.viewer.robot_view import rotate_vectors
from warpdyn.viewer.shapes import Solid, solids, triangles


@pytest.mark.parametrize("name", ["panda", "quadruped", "cartpole"])
def test_a_body_includes_all_links_fixed_to_it(name: str) -> None:
    """The triangles of a body are those of its links, in any configuration.

    No two bodies share a link, and every moving link has its own body.
    """
    model = wd.load_robot(name)
    drawn = solids(model).solids
    found = bodies(model, drawn)
    moving = {model.link_index(joint.child) for joint in model.joints if joint.kind.nv}
    carriers = [body.link for body in found]
    assert set(carriers) <= moving | {0} and len(set(carriers)) == len(carriers)
    pose = np.asarray(wd.fk(model, wd.random_configuration(model, 1, seed=3), form="pose"))[0]

    def placed_triangles(each: Any) -> np.ndarray:
        points = [
            pose[solid.link, :3] + rotate_vectors(pose[solid.link, 3:], solid.vertices[solid.faces])
            for solid in each
        ]
        return np.concatenate(points).reshape(-1, 9)

    moved = [solid for body in found for solid in body.solids]
    a, b = placed_triangles(drawn), placed_triangles(moved)
    assert a.shape == b.shape and np.allclose(a.T @ a / len(a), b.T @ b / len(b), atol=1e-4)
    for law in (np.min, np.mean, np.max):
        assert np.allclose(law(a, axis=0), law(b, axis=0), atol=1e-4)


def _cube(color: tuple[float, float, float, float]) -> Solid:
    box = trimesh.creation.box()
    return Solid(0, box.vertices.astype(np.float32), box.faces.astype(np.uint32), color)


def test_transparent_shapes_are_separate_bodies() -> None:
    """The colour decides. A transparent robot has one body for each colour."""
    arm = wd.load_robot("panda")
    red, blue, glass = (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0), (0.0, 1.0, 0.0, 0.4)
    shapes = [_cube(red), _cube(blue), _cube(glass), _cube(red)]
    opaque, clear = bodies(arm, shapes)
    assert [s.color for s in opaque.solids] == [red, blue] and [s.color for s in clear.solids] == [
        glass
    ]
    assert len(opaque.solids[0].vertices) == 2 * len(shapes[0].vertices)
    assert len(bodies(arm, shapes, opacity=0.5)) == 3


def test_shrink_moves_faces_inwards_by_the_distance() -> None:
    """This holds at all points of a ball, and for each face of a box. Triangles and colour do not
    change."""
    ball = trimesh.creation.uv_sphere(radius=0.1, count=(16, 24))
    round_one = Solid(
        0, ball.vertices.astype(np.float32), ball.faces.astype(np.uint32), (1, 0, 0, 1)
    )
    less = shrink(round_one, 0.002)
    assert np.allclose(np.linalg.norm(less.vertices, axis=1), 0.098, atol=1e-4)
    assert less.faces is round_one.faces and less.color == round_one.color
    ((box, _),) = triangles(Geometry("box", (0.2, 0.4, 0.6)))
    flat = Solid(0, box.vertices.astype(np.float32), box.faces.astype(np.uint32), (1, 0, 0, 1))
    moved = flat.vertices - shrink(flat, 0.002).vertices
    assert np.allclose(np.linalg.norm(moved, axis=1), 0.002) and np.allclose(
        np.abs(moved).max(1), 0.002
    )
    assert shrink(flat, 0.0) is flat


def test_a_glb_has_the_triangles_and_the_colours() -> None:
    """trimesh reads them back. Colours are linear in the file."""
    shapes = [_cube((1.0, 0.5, 0.0, 1.0)), _cube((0.0, 0.02, 1.0, 1.0))]
    scene: Any = trimesh.load_scene(io.BytesIO(colored_glb(shapes)), file_type="glb", process=False)
    (mesh,) = scene.geometry.values()
    assert len(mesh.faces) == 24 and mesh.area == pytest.approx(12.0)
    colors = np.asarray(mesh.visual.vertex_attributes["color"])
    assert np.allclose(colors[0], [1.0, 0.2140, 0.0], atol=1e-3)
    assert np.allclose(colors[-1], [0.0, 0.02 / 12.92, 1.0], atol=1e-3)
    assert mesh.visual.material.metallicFactor == 0.0
