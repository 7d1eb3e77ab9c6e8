"""Numbers of a USD stage, converted to SI units."""

from __future__ import annotations

import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from usd_texts import at, body, frames, joint, stage

from warpdyn.formats.usd import usd_values as chosen
from warpdyn.formats.usd.usd import load_usd
from warpdyn.formats.usd.usd_values import Units, UsdValues, kind_of
from warpdyn.model.names import ModelError, ModelWarning

pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")

PAIR = body("a", root=True), body("b")


def test_torques_and_forces_are_converted_to_si_units() -> None:
    """The units kg m²/s² and kg m/s² are those of a stage in centimetres and grams."""
    units = Units(0.01, 0.001, np.eye(4))
    assert units.effort(True) == pytest.approx(1e-7) and units.effort(False) == pytest.approx(1e-5)


def test_principal_axes_rotate_the_inertia() -> None:
    """diag(1, 2, 2.5) in axes rotated by 90 degrees about z is diag(2, 1, 2.5)."""
    turned = "quatf physics:principalAxes = (0.70710678, 0, 0, 0.70710678)\npoint3f physics:centerOfMass = (0.5, 0, 0)"
    link = load_usd(stage(body("a", turned))).link("a")
    assert np.abs(np.array(link.inertia) - np.diag([2, 1, 2.5])).max() < 1e-6
    assert link.com == (0.5, 0, 0)


def test_limits_drives_and_attributes_of_simulators_are_read() -> None:
    """Degrees become radians. A drive's largest force is the effort limit. Armature is PhysX' or
    Newton's, damping Newton's per degree or MuJoCo's per radian."""
    inside = "\n".join(
        (
            "float physics:lowerLimit = -90",
            "float physics:upperLimit = 45",
            "float drive:angular:physics:maxForce = 7",
            "float physxJoint:armature = 0.25",
            "float physxJoint:maxJointVelocity = 180",
            "float newton:damping = 0.5",
            "float mjc:frictionloss = 0.125",
        )
    )
    text = stage(*PAIR, joint("j", inside=inside, apis='"PhysicsDriveAPI:angular"'))
    read = load_usd(text).joint("j")
    assert read.kind.name == "revolute" and read.armature == 0.25 and read.friction == 0.125
    assert (read.limits.lower, read.limits.upper) == pytest.approx((-math.pi / 2, math.pi / 4))
    assert (read.limits.velocity, read.limits.effort) == pytest.approx((math.pi, 7))
    assert read.damping == pytest.approx(0.5 * 180 / math.pi)
    assert load_usd(stage(*PAIR, joint("j"))).joint("j").kind.name == "continuous"


def test_a_body_without_mass_and_shapes_is_remarked() -> None:
    """Its mass is zero. A body with mass but without inertia or shapes is refused."""
    with pytest.warns(ModelWarning, match='link "b": it has neither mass nor shapes'):
        model = load_usd(stage(body("a", root=True), body("b", mass=None), joint("j")))
    assert model.link("b").mass == 0.0
    with pytest.raises(ModelError, match=r"/robot/a: it has no physics:diagonalInertia and no"):
        load_usd(stage(body("a", moments="0, 0, 0")))
    with pytest.raises(ModelError, match=r"/robot/a: its mass is \(1e\+10\)"):
        load_usd(stage(body("a", mass=1e10)))


def test_gravity_other_than_the_earths_is_remarked() -> None:
    """A model has no gravity of its own."""
    scene = (
        'def PhysicsScene "s"\n{{\nvector3f physics:gravityDirection = (0, {}, 0)\n'
        "float physics:gravityMagnitude = {}\n}}\n"
    )
    with pytest.warns(ModelWarning, match="its gravity is"):
        load_usd(stage(*PAIR, joint("j"), scene.format(-1, 1.62)))
    for magnitude, said in ((981, False), (162, True)):  # downwards, as on the earth and the moon
        text = stage(*PAIR, joint("j"), scene.format(-1, magnitude), metre=0.01, up="Y")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            found = load_usd(text).warnings
        assert any("its gravity is (0, 0, -1.62)" in each for each in found) is said
        assert bool(found) is said


def test_messages_describe_types_in_words() -> None:
    """The words with which a message names the type that an attribute needs."""
    from pxr import Gf

    told = {
        "true or false": (True,),
        "a number": (1, 1.5),
        "a word": ("x",),
        "a quaternion": (Gf.Quatf(1.0), Gf.Quatd(1.0)),
        "3 numbers": (Gf.Vec3f(1.0), Gf.Vec3d(1.0)),
        "no object": (object(),),
    }
    for words, values in told.items():
        assert [kind_of(value) for value in values] == [words] * len(values)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('token physics:principalAxes = "x"', "principalAxes is x; it needs a quaternion"),
        ("float physics:centerOfMass = 1", "centerOfMass is 1.0; it needs 3 numbers"),
        ("int physics:kinematicEnabled = 2", "kinematicEnabled is 2; it needs true or false"),
    ],
)
def test_values_of_a_wrong_type_are_refused(line: str, said: str) -> None:
    """The message names the type of the schema."""
    with pytest.raises(ModelError, match=said):
        load_usd(stage(body("a", line)))


def test_a_rotation_of_length_zero_is_refused() -> None:
    turned = joint("j", inside=frames(turn1="0, 0, 0, 0"))
    with pytest.raises(
        ModelError, match=r"a rotation is \(0, 0, 0, 0\); it needs a unit quaternion"
    ):
        load_usd(stage(*PAIR, turned))


def test_placement_at_accepts_quaternions_of_any_length() -> None:
    """The rotation is about all three axes, in a stage in centimetres."""
    values = UsdValues.__new__(UsdValues)
    values.units = Units(0.01, 1.0, np.eye(4))
    w, x, y, z = quaternion = (0.2, -0.5, 0.7, 0.4)
    turn = SimpleNamespace(GetReal=lambda: 3 * w, GetImaginary=lambda: [3 * x, 3 * y, 3 * z])
    found = values.placement_at(None, np.array([1.0, 2.0, 3.0]), turn)
    wanted = np.eye(4)
    real, *axis = np.array(quaternion) / np.linalg.norm(quaternion)
    cross = np.cross(axis, np.eye(3)).T
    wanted[:3, :3] = np.eye(3) + 2.0 * (real * cross + cross @ cross)
    wanted[:3, 3] = 0.01, 0.02, 0.03
    np.testing.assert_allclose(found, wanted, atol=1e-15)


@pytest.mark.parametrize(
    ("direction", "magnitude", "said"),
    [
        (None, None, ""),
        (None, -1.0, ""),
        (None, 9.8, ""),
        (None, 9.82, ""),
        (None, 9.84, "(0, 0, -9.84)"),
        (None, 3.71, "(0, 0, -3.71)"),
        (None, 0.0, "(0, 0, -0)"),
        ((0, 0, -2), None, ""),
        ((0, 0, 2), None, "(0, 0, 9.81)"),
        ((3, 0, -4), 10.0, "(6, 0, -8)"),
        ((0, 3, -4), -1.0, "(0, 5.886, -7.848)"),
    ],
)
def test_gravity_of_a_scene_has_the_schemas_defaults(
    direction: tuple | None, magnitude: float | None, said: str
) -> None:
    """A negative or missing magnitude means the earth's. A missing direction means downwards."""
    inside = f"vector3f physics:gravityDirection = {direction}\n" if direction else ""
    inside += f"float physics:gravityMagnitude = {magnitude}\n" if magnitude is not None else ""
    text = stage(*PAIR, joint("j"), f'def PhysicsScene "s"\n{{\n{inside}}}\n')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        found = load_usd(text).warnings
    more = "; a model stores none; pass gravity=... to functions"
    assert found == ((f"its gravity is {said}{more}",) if said else ())


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.AXES == {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def test_numbers_above_a_billion_are_refused() -> None:
    """A billion is used, a number larger by one millionth is not."""
    values = UsdValues.__new__(UsdValues)
    values.source = "text"
    prim = SimpleNamespace(GetPath=lambda: "/robot/a")
    assert values.numbers(prim, "its place", [1e9, -1e9, 0.0]) == [1e9, -1e9, 0.0]
    for number in (1.000001e9, -1.000001e9, math.nan, math.inf):
        with pytest.raises(ModelError) as refused:
            values.numbers(prim, "its place", [0.0, number])
        said = f"its place is (0, {number:g}); it needs finite numbers up to 1e+09"
        assert str(refused.value).endswith(said)


DISABLED = (
    'def Sphere "s" (\nprepend apiSchemas = ["PhysicsCollisionAPI"]\n)\n'
    "{\nbool physics:collisionEnabled = 0\n}\n"
)


def test_shapes_without_collision_add_no_mass() -> None:
    """usd-core does not count them. It then has no principal axes and returns uninitialised
    memory."""
    link = load_usd(stage(body("a", DISABLED))).link("a")
    assert np.abs(np.array(link.inertia) - np.diag([1, 2, 2.5])).max() == 0.0
    assert link.mass == 1.0 and link.com == (0.0, 0.0, 0.0)
    with pytest.raises(ModelError, match=r"/robot/a: it has no physics:diagonalInertia and no"):
        load_usd(stage(body("a", DISABLED, moments="0, 0, 0")))
    with pytest.warns(ModelWarning, match='link "a": it has neither mass nor shapes'):
        assert load_usd(stage(body("a", DISABLED, mass=None))).link("a").mass == 0.0


@pytest.mark.parametrize("name", ["mass", "density"])
def test_negative_masses_are_refused(name: str) -> None:
    """usd-core treats them as missing and gives the shapes the density of water."""
    shape = DISABLED.replace("= 0", "= 1")
    with pytest.raises(ModelError, match=rf"/robot/a: physics:{name} is -2; it must not be neg"):
        load_usd(stage(body("a", f"float physics:{name} = -2\n{shape}", mass=None)))


def test_disabled_and_kinematic_bodies_are_fixed() -> None:
    """A disabled body is part of the scene. A kinematic body is moved by the stage, with a
    remark."""
    for name, value in (("rigidBodyEnabled", 0), ("kinematicEnabled", 1)):
        held = body("a", f"bool physics:{name} = {value}\n{at(0, 0, 2)}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            model = load_usd(stage(held, body("b"), joint("j")))
        assert not model.floating_base and model.link_names == ("world", "b")
        assert model.joint("j").pose.position == (0, 0, 2)
        said = "/robot/a: it is kinematic; it is fixed at its place in the stage"
        assert model.warnings == ((said,) if name == "kinematicEnabled" else ())


def test_a_position_with_time_samples_has_its_first_value() -> None:
    """Its default value may be missing."""
    moved = at(0, 0, 0).replace(" = (0, 0, 0)", ".timeSamples = {1: (0, 0, 2), 3: (0, 0, 4)}")
    model = load_usd(stage(body("a", moved)), floating_base=False)
    assert model.joint("world_to_a").pose.position == (0, 0, 2)


def test_sheared_bodies_are_refused() -> None:
    """A rotated body in a group with unequal scales has no pose of position and rotation."""
    turned = body("a", at(0, 0, 0, "0.9238795, 0, 0, 0.3826834"))
    wide = 'float3 xformOp:scale = (1, 3, 1)\nuniform token[] xformOpOrder = ["xformOp:scale"]\n'
    with pytest.raises(ModelError, match="/robot/g/a: its scales shear it; scale its shapes"):
        load_usd(stage(f'def Xform "g"\n{{\n{wide}{turned}}}\n'))


def test_filtered_pairs_are_remarked() -> None:
    """A model reads excluded pairs only from MJCF and SRDF."""
    apart = body("a", "rel physics:filteredPairs = </robot/b>", root=True)
    apart = apart.replace('"PhysicsMassAPI"', '"PhysicsMassAPI", "PhysicsFilteredPairsAPI"')
    with pytest.warns(
        ModelWarning, match="/robot/a: its filtered pairs are not read; leave them o"
    ):
        load_usd(stage(apart, body("b"), joint("j")))
