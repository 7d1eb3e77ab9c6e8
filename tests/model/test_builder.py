"""A model built by hand equals the model that a file of the same content gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from robots import ROBOTS, Robot, random_trees
from states import error, states

import warpdyn as wd
from warpdyn.model import Model
from warpdyn.model.builder import ModelBuilder
from warpdyn.model.closed_loops.loop import Loop
from warpdyn.model.description import Geometry
from warpdyn.model.joints import KINDS
from warpdyn.model.names import ModelError, ModelWarning
from warpdyn.model.poses_and_limits import Pose

J = ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.02))


def rebuilt(model: Model) -> Model:
    """The same robot, built again part by part."""
    builder = ModelBuilder(model.name)
    for joint in reversed(model.joints):
        second = {"axis2": joint.axis2, "limits2": joint.limits2} if joint.kind.series else {}
        gear = {"gearbox": (joint.gearbox.ratio, joint.gearbox.reference)} if joint.gearbox else {}
        mimic = joint.mimic and (joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset)
        limits = {
            name: getattr(joint.limits, name) for name in ("lower", "upper", "velocity", "effort")
        }
        others = {
            "mimic": mimic,
            "pitch": joint.pitch,
            "armature": joint.armature,
            **limits,
            **second,
            **gear,
        }
        axis = [2.5 * x for x in joint.axis] if max(map(abs, joint.axis)) == 1 else joint.axis
        builder.add_joint(
            joint.name, joint.kind.name, joint.parent, joint.child, joint.pose, axis, **others
        )
    builder._joints = dict(reversed(builder._joints.items()))
    for link in model.links:
        builder.add_link(link.name, link.mass, link.com, np.array(link.inertia))
    return builder.build(floating_base=model.floating_base, quaternion=model.quaternion)


@pytest.mark.parametrize("mimic", [("a", 2.0, 0.5), wd.description.Mimic("a", 2.0, 0.5)])
def test_a_mimic_joint_is_built_from_three_values_or_a_mimic(
    mimic: wd.description.Mimic | tuple[str, float, float],
) -> None:
    """The record of a model's joint is accepted as well."""
    builder = ModelBuilder().add_link("root").add_link("one").add_link("two")
    builder.add_joint("a", "continuous", "root", "one")
    model = builder.add_joint("b", "continuous", "one", "two", mimic=mimic).build()
    assert model.joint("b").mimic == wd.description.Mimic("a", 2.0, 0.5) and model.joint_names == (
        "a",
    )


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
@pytest.mark.filterwarnings("ignore::warpdyn.ModelWarning")
def test_a_built_robot_equals_the_loaded_one(robot: Robot) -> None:
    """It has the same key, hence the same dynamics and kernels, and the same limits."""
    built = rebuilt(robot.model)
    assert built.key == robot.model.key and built.q_names == robot.model.q_names
    assert np.array_equal(built.position_lower, robot.model.position_lower)
    assert np.array_equal(built.effort_limit, robot.model.effort_limit)


@given(random_trees())
@pytest.mark.filterwarnings("ignore::warpdyn.ModelWarning")
def test_every_built_tree_equals_the_loaded_one(robot: Robot) -> None:
    """The trees are random and contain mimic joints."""
    assert rebuilt(robot.model).key == robot.model.key


def pendulum() -> ModelBuilder:
    builder = ModelBuilder("pendulum")
    builder.add_joint(
        "hinge", "continuous", "base", "rod", pose=(0, 0, 1), axis=(0, -3, 0), damping=0.1
    )
    return builder.add_link("base").add_link("rod", 2.0, (0, 0, -0.5), J)


def test_a_pendulum_can_be_built_by_hand() -> None:
    """Parts come in any order. The torque that holds it horizontal is m g l."""
    model = pendulum().add_frame("tip", "rod", Pose.at((0, 0, -1), (0.1, 0, 0))).build()
    assert model.link_names == ("base", "rod", "tip") and model.joint("hinge").axis == (0, -1, 0)
    q = np.array([np.pi / 2])
    assert error(wd.oracle(wd.rnea, model, q, 0 * q, 0 * q), np.array([2.0 * 9.81 * 0.5])) < 1e-12
    assert error(wd.oracle(wd.fk, model, q, frame="tip")[:3, 3], np.array([1.0, 0.0, 1.0])) < 1e-12


def test_every_joint_type_can_be_built() -> None:
    """Each type with the parameters that it needs."""
    needs: dict[str, dict[str, Any]] = {
        "universal": {"axis2": (0, 2, 0)},
        "revolute2": {"axis2": (1, 1, 0)},
        "screw": {"pitch": 0.1},
        "gearbox": {"gearbox": (2.0, "base")},
    }
    for kind in KINDS:
        builder = ModelBuilder(kind).add_link("base").add_link("arm", 1.0, (0.1, 0.2, 0.3), J)
        builder.add_joint("lead", "revolute", "base", "arm", lower=-1, upper=1).add_link(
            "tip", 1.0, (0.1, 0, 0), J
        )
        model = builder.add_joint("own", kind, "arm", "tip", **needs.get(kind, {})).build()
        s = states(model, 1)
        assert np.isfinite(wd.oracle(wd.rnea, model, s.q, s.v, s.a)).all()


@pytest.mark.parametrize(
    ("add", "said"),
    [
        (lambda b: b.add_link("rod"), 'link "rod" is there already'),
        (lambda b: b.add_joint("hinge", "fixed", "rod", "tip"), 'joint "hinge" is there already'),
        (
            lambda b: b.add_joint("j", "hinge", "rod", "tip"),
            'no joint kind "hinge"; choose one of revolute',
        ),
        (
            lambda b: b.add_joint("j", "fixed", "rod", "tip").build(),
            'child link "tip" does not exist',
        ),
        (lambda b: b.add_joint("j", "fixed", "rod", "tip", pose=[1, 2]), 'joint "j": a pose is'),
        (
            lambda b: b.add_joint("j", "ball", "rod", "tip", axis="up"),
            "\"j\": axis must be three numbers x, y, z, got 'up'",
        ),
        (
            lambda b: (
                b.add_link("tip").add_joint("j", "prismatic", "rod", "tip", axis=(0, 0, 0)).build()
            ),
            "non-zero",
        ),
        (lambda b: b.add_link("tip").add_joint("j", "universal", "rod", "tip").build(), "axis2"),
        (lambda b: b.add_link("tip").build(), "2 links have no parent joint"),
        (lambda b: b.add_link("tip", -1.0), 'link "tip" needs a finite mass'),
        (lambda b: b.add_link("tip", 1.0, inertia=(1, 2, 3)), r"inertia \(3, 3\)"),
        (lambda b: b.add_link("tip", 1.0, inertia=np.arange(9).reshape(3, 3)), "must be symmetric"),
        (lambda b: b.build(quaternion="wxzy"), "quaternion must be"),
    ],
)
def test_invalid_parts_are_refused(add: Callable[[ModelBuilder], Any], said: str) -> None:
    """The message names the part. The error is raised as early as possible."""
    with pytest.raises(ModelError, match=said):
        add(pendulum())


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"axis": (0, 0, 1, 5)}, r"axis must be three numbers x, y, z, got \(0, 0, 1, 5\)"),
        ({"axis": (0, 1)}, "axis must be three numbers"),
        ({"lower": 1.0, "upper": -1.0}, "lower must be at most upper, got 1 and -1"),
        ({"upper": np.nan}, "lower must be at most upper, got -inf and nan"),
        ({"velocity": -1.0}, "velocity must be at least 0, got -1"),
        ({"effort": np.nan}, "effort must be at least 0, got nan"),
        ({"damping": -0.1}, "damping must be finite and not negative, got -0.1"),
        ({"friction": np.inf}, "friction must be finite and not negative, got inf"),
    ],
)
def test_numbers_of_a_joint_that_cannot_be_are_refused(numbers: dict[str, Any], said: str) -> None:
    """Each was accepted without a word: of four numbers of an axis the first three counted."""
    with pytest.raises(ModelError, match=f'joint "j": {said}'):
        pendulum().add_joint("j", "revolute", "rod", "tip", **numbers)


def test_points_of_four_numbers_are_refused() -> None:
    """The first three counted: centres of mass, and centres of contact points."""
    with pytest.raises(ModelError, match=r"needs a finite mass.* a finite com \(3,\)"):
        pendulum().add_link("tip", 1.0, com=(0, 0, 0.1, 9.0))
    with pytest.raises(ValueError, match=r"a payload needs .* a finite com \(3,\)"):
        pendulum().build().with_payload("rod", 1.0, com=(0, 0, 0.1, 9.0))
    points = wd.ContactPoints(pendulum().build())
    with pytest.raises(ValueError, match="three numbers are needed"):
        points.with_sphere("rod", (0, 0, 0.1, 9.0), 0.1)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (Geometry("box", (0.1, 0.1, 0.1), Pose.at((0, 0, 1))), r"file name of a mesh.*pose=\.\.\."),
        (
            Geometry("box", (0.1, 0.1, 0.1), pose=(0, 0, 1)),
            r"pose of a box is a wd.description.Pose",
        ),
        (Geometry("boks", (0.1, 0.1, 0.1)), 'no shape "boks"; choose one of box, cylinder'),
        (Geometry("box", (0.1, 0.1)), r"a box has 3 sizes, finite and not negative.*\(0.1, 0.1\)"),
        (Geometry("sphere", (-0.1,)), "a sphere has 1 size, finite and not negative"),
        (Geometry("capsule", (0.1, np.nan)), "a capsule has 2 sizes"),
        (Geometry("mesh", (1.0, np.inf, 1.0), "a.stl"), "a mesh has 0 or 3 sizes, finite"),
        (wd.description.Box(0.1, 0.1, 0.1), "a shape is a wd.description.Geometry, such as"),
    ],
)
def test_shapes_of_a_link_are_checked(shape: Any, said: str) -> None:
    """A pose in the place of the file name had no effect: the shape lay at the link's origin."""
    for argument in ("visuals", "collisions"):
        with pytest.raises(ModelError, match=f'robot: link "a": .*{said}'):
            ModelBuilder().add_link("a", **{argument: [shape]})


def test_sizes_of_shapes_become_floats() -> None:
    box = Geometry("box", np.array([1, 2, 3]))
    mirrored = Geometry("mesh", (-1, 1, 1), "a.stl")
    model = ModelBuilder().add_link("a", collisions=[box, mirrored]).build()
    assert [x.size for x in model.links[0].collisions] == [(1.0, 2.0, 3.0), (-1.0, 1.0, 1.0)]
    assert isinstance(hash(model), int)


def test_impossible_inertia_is_a_warning() -> None:
    """Files give the same warning."""
    builder = (
        pendulum()
        .add_link("flat", 1.0, inertia=((1, 0, 0), (0, 1, 0), (0, 0, 3)))
        .add_joint("j", "fixed", "rod", "flat")
    )
    with pytest.warns(ModelWarning, match='link "flat".*triangle inequality'):
        builder.build()


def test_integers_and_floats_give_equal_models() -> None:
    """Equal models share programs and checkpoints."""

    def pendulum(one: Any) -> wd.Model:
        builder = wd.ModelBuilder("pendulum").add_link("base")
        for k, parent in enumerate(("base", "rod0")):
            mass = {"mass": one, "com": (0, 0, one), "inertia": np.eye(3) * one}
            builder.add_link(f"rod{k}", **mass)
            builder.add_joint(
                f"hinge{k}",
                "revolute",
                parent,
                f"rod{k}",
                wd.description.Pose((0, 0, one)),
                (0, one, 0),
                lower=-one,
                upper=one,
                effort=one,
                damping=one,
                friction=one,
                armature=one,
                mimic=("hinge0", one, one) if k else None,
            )
        return builder.build()

    assert pendulum(1) == pendulum(1.0) and pendulum(1).key == pendulum(1.0).key


def test_loops_of_both_kinds_are_built() -> None:
    """A loop joins two links, or a link and the world, at their poses."""
    at, there = (0.1, 0.2, 0.3), (0.4, 0.5, 0.6)
    builder = ModelBuilder("r").add_link("a", mass=1.0).add_link("b", mass=1.0)
    builder.add_joint("j", "continuous", "a", "b")
    weld, hinge = (
        builder.weld("b", at, None, there, "w").hinge("b", at, "a", there, "h").build().loops
    )
    assert (weld.name, weld.first, weld.second) == ("w", "b", None)
    assert (hinge.name, hinge.first, hinge.second) == ("h", "b", "a")
    for made, loop in ((weld, Loop.weld), (hinge, Loop.hinge)):
        assert made == loop("b", Pose(at), made.second, Pose(there), name=made.name)
