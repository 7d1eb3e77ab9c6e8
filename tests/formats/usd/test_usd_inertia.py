"""Masses and inertias of USD bodies, computed from their shapes."""

from __future__ import annotations

import numpy as np
import pytest
from usd_texts import at, body, stage

from warpdyn.formats.usd import usd_inertia as chosen
from warpdyn.formats.usd.usd import load_usd
from warpdyn.formats.usd.usd_inertia import mesh_moments
from warpdyn.model.names import ModelError, ModelWarning
from warpdyn.model.scene.solids import Box, Cylinder

SINGLE = 1e-6
"""Relative; usd-core adds in single precision."""


def shape(kind: str, numbers: str, where: str = "", density: float | None = None) -> str:
    apis = '"PhysicsCollisionAPI"' + (', "PhysicsMassAPI"' if density else "")
    mass = f"float physics:density = {density}\n" if density else ""
    return f'def {kind} "s" (\nprepend apiSchemas = [{apis}]\n)\n{{\n{numbers}\n{mass}{where}}}\n'


def test_the_mass_of_a_body_is_that_of_its_shapes() -> None:
    """The shape is a cylinder along x, off the origin, of 500 kg/m³. In centimetres it is the same
    body."""
    pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")
    V, (across, _, along) = Cylinder(0.1, 0.4).moments
    for metre, density in ((1.0, 500.0), (0.01, 500e-6)):
        n = 1 / metre
        numbers = f'double radius = {0.1 * n}\ndouble height = {0.4 * n}\nuniform token axis = "X"'
        text = stage(
            body("a", shape("Cylinder", numbers, at(0, 0.25 * n, 0), density), mass=None),
            metre=metre,
        )
        link = load_usd(text).link("a")
        assert link.mass == pytest.approx(500 * V, rel=SINGLE)
        assert link.com == pytest.approx((0, 0.25, 0), abs=SINGLE)
        wanted = 500 * np.diag([along, across, across])
        assert np.abs(np.array(link.inertia) - wanted).max() <= 3 * SINGLE * wanted.max()


def test_a_mass_without_inertia_is_distributed_over_the_shapes() -> None:
    """The shape is a rotated and scaled cube of 3 kg with edges of 0.2, 0.4 and 0.6 m."""
    pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")
    scaled = (
        "float3 xformOp:scale = (0.2, 0.4, 0.6)\nquatf xformOp:orient = (0.70710678, 0, 0, 0.70710678)\n"
        'uniform token[] xformOpOrder = ["xformOp:orient", "xformOp:scale"]\n'
    )
    cube = shape("Cube", "double size = 1", scaled)
    link = load_usd(stage(body("a", cube, mass=3.0, moments="0, 0, 0"))).link("a")
    V, (x, y, z) = Box(0.4, 0.2, 0.6).moments
    assert link.mass == pytest.approx(3.0)
    assert np.abs(np.array(link.inertia) - 3 / V * np.diag([x, y, z])).max() <= SINGLE


def test_moments_without_axes_next_to_shapes_are_remarked() -> None:
    """usd-core computes the axes if the mass or its centre follows from shapes. Written ones need none."""
    pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")
    said = "/robot/a: its inertia has no axes; those of its shapes"
    turn = "double size = 1\nfloat3 xformOp:scale = (1, 2, 3)\nquatf xformOp:orient = (0.6, 0, 0.8, 0)\n"
    cube = shape(
        "Cube", turn, 'uniform token[] xformOpOrder = ["xformOp:orient", "xformOp:scale"]\n'
    )
    with pytest.warns(ModelWarning, match=said):
        load_usd(stage(body("a", cube)))
    along = shape("Cube", "double size = 1")
    assert load_usd(stage(body("a", along))).warnings == ()
    turned = "quatf physics:principalAxes = (0.6, 0, 0.8, 0)\n"
    assert load_usd(stage(body("a", turned + cube))).warnings == ()
    assert (
        load_usd(stage(body("a", "point3f physics:centerOfMass = (0, 0, 1)\n" + cube))).warnings
        == ()
    )


def test_large_moments_in_small_units_are_read() -> None:
    """1,000 kg m² are 10¹⁰ g cm²."""
    pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")
    heavy = body("a", mass=1e6, moments="1e10, 1e10, 1e10")
    link = load_usd(stage(heavy, metre=0.01, kilogram=0.001)).link("a")
    assert np.array(link.inertia) == pytest.approx(1000.0 * np.eye(3))
    assert link.mass == pytest.approx(1000.0)


CORNERS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
SIDES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
TRIANGLES = np.array([(a, *two) for a, b, c, d in SIDES for two in ((b, c), (c, d))])


def test_moments_of_the_surface_of_a_box_equal_those_of_the_box() -> None:
    """The box may be anywhere, with triangles of either orientation. A flat surface has none."""
    corners = CORNERS * [0.2, 0.4, 0.6] + [1, 2, 3]
    wanted, moments = Box(0.2, 0.4, 0.6).moments
    for triangles in (TRIANGLES, TRIANGLES[:, ::-1]):
        V, centre, J = mesh_moments(corners, triangles)
        assert pytest.approx(wanted) == V and centre == pytest.approx([1.1, 2.2, 3.3])
        assert np.abs(J - np.diag(moments)).max() <= 1e-12
    assert mesh_moments(corners * [1, 1, 0], TRIANGLES)[0] == 0.0


def mesh(more: str = "", faces: int = 6) -> str:
    points = ", ".join(f"({x}, {y}, {z})" for x, y, z in CORNERS * [0.2, 0.4, 0.6])
    numbers = ", ".join(str(k) for side in SIDES[:faces] for k in side)
    counts = ", ".join(["4"] * faces)
    api = ', "PhysicsMeshCollisionAPI"' if more else ""
    return (
        f'def Mesh "s" (\nprepend apiSchemas = ["PhysicsCollisionAPI"{api}]\n)\n{{\n'
        f"point3f[] points = [{points}]\nint[] faceVertexCounts = [{counts}]\n"
        f"int[] faceVertexIndices = [{numbers}]\n{more}{at(1, 0, 0)}}}\n"
    )


APPROXIMATION = 'uniform token physics:approximation = "{}"\n'


def test_the_mass_of_a_mesh_is_that_of_its_volume_or_of_its_hull() -> None:
    """The density is 1000 kg/m³. The hull of a box without a lid is the box."""
    pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")
    pytest.importorskip("scipy", reason="hulls by trimesh need scipy")
    V, moments = Box(0.2, 0.4, 0.6).moments
    hull = APPROXIMATION.format("convexHull")
    for part in (mesh(), mesh(hull), mesh(hull, faces=5)):
        with pytest.warns(ModelWarning, match="1 shapes are meshes"):
            link = load_usd(stage(body("a", part, mass=None))).link("a")
        assert link.mass == pytest.approx(1000 * V, rel=SINGLE)
        assert link.com == pytest.approx((1.1, 0.2, 0.3), rel=SINGLE)
        assert np.abs(np.array(link.inertia) - 1000 * np.diag(moments)).max() <= 4 * SINGLE


def test_shapes_of_unknown_volume_are_refused_by_path() -> None:
    """These are meshes, and round shapes that a scale made oval."""
    pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")
    oval = 'float3 xformOp:scale = (1, 2, 1)\nuniform token[] xformOpOrder = ["xformOp:scale"]\n'
    decomposed = mesh(APPROXIMATION.format("convexDecomposition"))
    broken = mesh().replace("[4,", "[5,")
    unknown = shape("Mesh", ""), decomposed, broken, shape("Sphere", "double radius = 1", oval)
    for part in unknown:
        with pytest.raises(ModelError, match=r"/robot/a: its mass.* /robot/a/s, which is not comp"):
            load_usd(stage(body("a", part, mass=None)))


def test_a_flat_hull_without_volume_is_refused() -> None:
    """The message names the path of the shape."""
    pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")
    flat = mesh(APPROXIMATION.format("convexHull")).replace(", 0.6)", ", 0.0)")
    with pytest.raises(ModelError, match=r"/robot/a: its mass.* /robot/a/s, which is not comp"):
        load_usd(stage(body("a", flat, mass=None)))


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.SAME == 1e-05
