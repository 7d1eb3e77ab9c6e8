"""Comments of a header describe the arrays of the functions that it has, and no others."""

from __future__ import annotations

from functools import partial

import pytest

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
    text = wd.export(model, {"matrix": hand, "seven": partial(hand, form="pose")})
    seven = comment_of(text, "seven")
    assert "q: configuration [rad, m], 19; quaternions are w x y z" in seven
    assert "pose: x y z [m] and qx qy qz qw of the link in the world or in relative_to, 7" in seven
    assert "homogeneous" not in seven
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
