"""Comments of a header describe the arrays of the functions that it has, and no others."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from loop_robots import four_bar

import warpdyn as wd


def comment_of(text: str, name: str) -> str:
    """The comment above a function, on one line."""
    return (
        text.partition(f"/// {name}: ")[2]
        .partition(f"inline void {name}(")[0]
        .replace("\n/// ", " ")
    )


def test_a_pose_of_seven_numbers_is_not_called_a_matrix() -> None:
    """Its quaternion is x y z w, also for a model with another order, which the comment on q states."""
    model = wd.load_robot("quadruped", quaternion="wxyz")
    hand = partial(wd.fk, frame="FL_foot")
    every = partial(wd.fk, form="pose")
    text = wd.export(model, {"matrix": hand, "seven": partial(hand, form="pose"), "all": every})
    seven = comment_of(text, "seven")
    assert "q: configuration [rad, m], 19; quaternions are w x y z" in seven
    assert "pose: x y z [m] and qx qy qz qw of the link in the world or in relative_to, 7" in seven
    assert "homogeneous" not in seven
    assert "qw of the link in the world or in relative_to, 18 x 7" in comment_of(text, "all")
    assert "pose: homogeneous transform" in comment_of(text, "matrix")


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("linear", "J: linear rows [m a unit of v], 3 x 2"),
        ("angular", "J: angular rows [rad a unit of v], 3 x 2"),
        ("both", "J: rows: linear, then angular [m, rad a unit of v], 6 x 2"),
    ],
)
def test_a_part_of_a_jacobian_has_its_own_description(part: str, words: str) -> None:
    """A part has three rows."""
    model = wd.load_robot("cartpole")
    text = wd.export(model, {"J": partial(wd.jacobian, frame="pole", part=part)})
    assert words in comment_of(text, "J")


def test_arrays_of_a_users_kernel_have_no_meaning_of_the_library() -> None:
    """Only q and v are those of the robot in every kernel."""

    @wd.kernel
    def swing(robot, q, v, a: (2,), M: (3,)):
        """Amplitudes and moments of something."""
        return {"tau": a[0] * v + q[0] * M[1], "pose": q[:7]}

    text = wd.export(wd.load_robot("quadruped", quaternion="wxyz"), [swing])
    found = comment_of(text, "swing")
    assert "q: configuration [rad, m], 19; quaternions are w x y z" in found
    assert (
        "v: velocity [rad/s, m/s], 18; the free base's in the link's axes, at its origin" in found
    )
    assert " a: 2 " in found and " M: 3 " in found and " tau: 18 " in found
    assert " pose: 7 " in found


def test_conversions_from_other_libraries_do_not_have_the_models_conventions() -> None:
    """The quaternion of Drake's configuration is w x y z, and the comment said x y z w."""
    model = wd.load_robot("quadruped")
    calls = {
        "theirs": partial(wd.convert.configuration, source="drake"),
        "forces": partial(wd.convert.force, source="mujoco"),
    }
    text = wd.export(model, calls)
    assert text.count("quaternions are") == 1 and "; the free base's" not in text
    assert "quaternions are x y z w" in comment_of(text, "forces")  # q is always that of the model
    assert "source = drake" in comment_of(text, "theirs")
    assert "source = mujoco" in comment_of(text, "forces")


def test_derivatives_are_not_called_torques() -> None:
    """Their result was `tau`, described as joint torques, and the comment did not say by what."""
    model = wd.load_robot("cartpole")
    by_v = partial(wd.derivatives, wd.rnea, wrt="v")
    text = wd.export(model, {"by_q": partial(wd.derivatives, wd.rnea), "by_v": by_v})
    found = comment_of(text, "by_q")
    assert "tau_by_q: derivative by q, the last dimension, 2 x 2" in found
    assert "torques and forces" not in found
    assert "tau_by_v: derivative by v, the last dimension, 2 x 2" in comment_of(text, "by_v")


def test_a_jacobian_at_a_point_says_so() -> None:
    """The comment said that it is at the link's origin, and did not name the point."""
    model = wd.load_robot("cartpole")
    hand = partial(wd.jacobian, frame="pole")
    calls = {"origin": hand, "point": partial(hand, point=(0.0, 0.25, -1.0))}
    calls |= {"array": partial(hand, point=np.zeros((1, 3)), reference="local")}
    text = wd.export(model, calls)
    assert "in the world's axes, at the link's origin" in comment_of(text, "origin")
    found = comment_of(text, "point")
    assert "point = 0.0, 0.25, -1.0" in found and "in the world's axes, at the point" in found
    found = comment_of(text, "array")
    assert "point: in the link's frame [m], 3" in found
    assert "reference = local, in the link's axes, at the point" in found


def test_lists_of_names_and_missing_checks_are_in_the_comment() -> None:
    """Rows of a result are those of the named links, and C does not check that loops are closed."""
    model = wd.load_robot("double_pendulum")
    rods = ["lower_rod", "upper_rod"]
    calls = {
        "poses": partial(wd.fk, frames=rods),
        "regressor": partial(wd.joint_torque_regressor, links=rods),
    }
    text = wd.export(model, calls)
    assert "frames = lower_rod, upper_rod" in comment_of(text, "poses")
    assert "links = lower_rod, upper_rod" in comment_of(text, "regressor")
    words = "The result is not checked here; the function of Python raises an error"
    text = wd.export(four_bar(), {"close": partial(wd.loops.close, most_steps=3)})
    assert words in comment_of(text, "close")
    free = partial(wd.loops.close, most_steps=3, check=False)
    assert words not in wd.export(four_bar(), {"close": free})


def test_a_list_that_is_an_argument_is_no_option() -> None:
    """Gravity in a partial is an argument of the C function, which has no default."""
    moon = partial(wd.gravity_torques, gravity=(0.0, 0.0, -1.62))
    found = comment_of(wd.export(wd.load_robot("cartpole"), {"hold": moon}), "hold")
    assert "gravity: acceleration of free fall" in found and "gravity =" not in found


def test_numbers_of_the_call_that_become_arguments_are_in_the_comment() -> None:
    """Before, nobody knew the friction of a step, or which numbers a seed stands for."""
    model = wd.load_robot("cartpole")
    text = wd.export(model, [partial(wd.momentum_observer, dt=0.01)])
    assert "/// dt: 1; the exported call has 0.01\n" in text
    assert "/// gain: 1; the exported call has 50.0\n" in text
