"""Visuals and collisions of USD bodies."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from usd_texts import at, body, stage

from warpdyn.formats.usd.usd import load_usd
from warpdyn.model.description import Link
from warpdyn.model.names import ModelError, ModelWarning

pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")

TOUCHES = '"PhysicsCollisionAPI"'


def prim(kind: str, name: str, inside: str, touches: bool = True) -> str:
    apis = f" (\nprepend apiSchemas = [{TOUCHES}]\n)" if touches else ""
    return f'def {kind} "{name}"{apis}\n{{\n{inside}\n}}\n'


def link(*parts: str, metre: float = 1.0) -> Link:
    """The one body of a stage with these shapes, without a remark."""
    text = stage(body("a", "".join(parts) + at(1, 2, 3)), metre=metre)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return load_usd(text).link("a")


def test_sizes_and_poses_are_in_metres_in_the_body_frame() -> None:
    """The stage is in centimetres, and the prim has a scale."""
    scaled = (
        "double3 xformOp:translate = (10, 0, 0)\nfloat3 xformOp:scale = (1, 2, 3)\n"
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]'
    )
    found = link(prim("Cube", "box", f"double size = 20\n{scaled}"), metre=0.01)
    (shape,) = found.collisions
    assert shape.shape == "box" and shape.size == pytest.approx((0.2, 0.4, 0.6))
    assert shape.pose.position == pytest.approx((0.1, 0, 0)) and shape.name == "box"
    assert found.visuals == found.collisions


@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
@pytest.mark.parametrize("kind", ["Cylinder", "Capsule"])
def test_cylinders_and_capsules_are_along_their_axis(kind: str, axis: str) -> None:
    """z of the shape is that axis of the prim, which is rotated about z in the body."""
    numbers = f'double radius = 0.1\ndouble height = 0.5\nuniform token axis = "{axis}"\n'
    half = math.sqrt(0.5)
    (shape,) = link(prim(kind, "s", numbers + at(0, 0, 1, f"{half}, 0, 0, {half}"))).collisions
    assert (shape.shape, shape.size) == (kind.lower(), pytest.approx((0.1, 0.5)))
    assert shape.pose.position == pytest.approx((0, 0, 1), abs=1e-6)
    R = np.array(shape.pose.rotation)
    along = {"X": (0, 1, 0), "Y": (-1, 0, 0), "Z": (0, 0, 1)}[axis]
    assert R[:, 2] == pytest.approx(along, abs=1e-6) and np.linalg.det(R) == pytest.approx(1)


def test_visuals_and_collisions_are_distinguished() -> None:
    """Guides and hidden shapes are no visuals. A shape without PhysicsCollisionAPI, or with a
    disabled one, is not a collision."""
    ball = "double radius = 0.1\n"
    guide = ball + 'uniform token purpose = "guide"'
    hidden = ball + 'token visibility = "invisible"'
    red = ball + "color3f[] primvars:displayColor = [(1, 0, 0)]"
    found = link(
        prim("Sphere", "guide", guide),
        prim("Sphere", "hidden", hidden, touches=False),
        prim("Sphere", "red", red, touches=False),
        prim("Sphere", "disabled", guide + "\nbool physics:collisionEnabled = 0"),
    )
    assert [each.name for each in found.visuals] == ["red"]
    assert [each.name for each in found.collisions] == ["guide"]
    assert found.visuals[0].color == (1, 0, 0, 1) and found.collisions[0].color is None


def test_unsupported_shapes_are_remarked_once() -> None:
    """Cones and oval shapes, which a body with its own inertia may have."""
    oval = 'float3 xformOp:scale = (1, 2, 1)\nuniform token[] xformOpOrder = ["xformOp:scale"]'
    parts = prim("Cone", "c", ""), prim("Sphere", "s", oval), prim("Cylinder", "o", oval)
    whole = "point3f physics:centerOfMass = (0, 0, 0)\n"
    with pytest.warns(ModelWarning, match="3 shapes are meshes or of other kinds"):
        model = load_usd(stage(body("a", whole + "".join(parts))))
    assert model.link("a").collisions == ()


def test_invalid_sizes_are_refused_by_path() -> None:
    """They are a word in place of a number, and numbers above the largest size."""
    for wrong, words in (
        ('string radius = "x"', "needs a number"),
        ("double radius = 1e300", "1e\\+09"),
    ):
        with pytest.raises(ModelError, match=f"/robot/a/s: .*{words}"):
            link(prim("Sphere", "s", wrong, touches=False))


def test_sheared_shapes_are_left_out() -> None:
    """A rotated box in a group with unequal scales is not a box."""
    turned = 'float xformOp:rotateZ = 30\nuniform token[] xformOpOrder = ["xformOp:rotateZ"]'
    wide = 'float3 xformOp:scale = (1, 3, 1)\nuniform token[] xformOpOrder = ["xformOp:scale"]\n'
    group = f'def Xform "g"\n{{\n{wide}{prim("Cube", "s", turned, touches=False)}}}\n'
    with pytest.warns(ModelWarning, match="1 shapes are meshes or of other kinds"):
        assert load_usd(stage(body("a", group))).link("a").visuals == ()
