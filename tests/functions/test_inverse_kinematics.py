"""Public inverse kinematics: forms of targets, defaults, libraries, results by name, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
import warp as wp

import warpdyn as wd
from warpdyn.execution.request.evaluate import result_shapes
from warpdyn.functions import inverse_kinematics as module
from warpdyn.functions.inverse_kinematics import Solution, _space, inverse_kinematics

MODEL = wd.load_robot("double_pendulum")
TIP = "tip"


def reachable(model: wd.Model, count: int, frame: str) -> np.ndarray:
    """Poses of a frame at random configurations."""
    return wd.fk(model, wd.random_configuration(model, count, seed=3), frame=frame)


TARGETS = reachable(MODEL, 12, TIP)


def test_results_have_names_and_one_entry_per_robot() -> None:
    """q, success, both errors, and steps. For one target they have no batch axis."""
    found = inverse_kinematics(MODEL, TARGETS, frame=TIP)
    assert isinstance(found, Solution)
    assert [x.shape for x in found] == [(12, MODEL.nq), (12,), (12,), (12,), (12,)]
    assert [x.dtype for x in found] == [np.float64, bool, np.float64, np.float64, np.int32]
    assert found._fields == ("q", "success", "position_error", "orientation_error", "iterations")
    one = inverse_kinematics(MODEL, TARGETS[3], frame=TIP)
    assert [np.shape(x) for x in one] == [(MODEL.nq,), (), (), (), ()]
    assert all(np.array_equal(x, y[3]) for x, y in zip(one, found, strict=True))
    small = inverse_kinematics(MODEL, TARGETS.astype(np.float32), frame=TIP)
    assert small.q.dtype == np.float32 and small.position_error.dtype == np.float32


def test_an_array_with_frame_equals_a_mapping_with_one_entry() -> None:
    """{frame: targets} and targets with frame= are the same call."""
    by_name = inverse_kinematics(MODEL, {TIP: TARGETS})
    alone = inverse_kinematics(MODEL, TARGETS, frame=TIP)
    assert all(np.array_equal(x, y) for x, y in zip(by_name, alone, strict=True))


def test_the_repr_of_a_solution_is_a_summary() -> None:
    """Number of solutions, largest errors and the mean number of steps."""
    q, none = np.zeros((3, 2)), np.zeros(0)
    flags, errors = np.array([True, False, True]), np.array([1e-9, 0.0123, 2e-8])
    found = Solution(q, flags, errors, 2.0 * errors, np.array([4, 10, 5], np.int32))
    words = "<Solution: 2 of 3 solved; at worst 0.012 m and 0.025 rad off; 6.33 steps on average>"
    assert repr(found) == words
    assert repr(Solution(q[:0], none, none, none, none)) == "<Solution of no environments>"


def test_inverse_kinematics_has_its_documented_defaults() -> None:
    """32 restarts of 60 steps, a tenth of a millimetre and a milliradian, seed 0, weights one."""
    describe = inverse_kinematics.describe
    left_out = describe(MODEL, {TIP: TARGETS})
    explicit = describe(
        MODEL,
        {TIP: TARGETS},
        q0=None,
        position_weight=1.0,
        orientation_weight={TIP: 1.0},
        restarts=32,
        iterations=60,
        tolerance=(1e-4, 1e-3),
        seed=0,
    )
    assert left_out.options == explicit.options
    assert list(left_out.arrays) == list(explicit.arrays) == [f"target:{TIP}", "seed"]
    assert result_shapes(left_out)["q"] == (MODEL.nq,)


def test_the_shape_of_a_target_determines_its_form() -> None:
    """(4, 4), (7,) and (3,), with or without a batch, also as lists."""
    for target, form in (
        (TARGETS, (4, 4)),
        (TARGETS[0], (4, 4)),
        (np.zeros((5, 7)), (7,)),
        (np.zeros(7), (7,)),
        (np.zeros((5, 3)), (3,)),
        ([0.0, 0.0, 1.0], (3,)),
    ):
        call = inverse_kinematics.describe(MODEL, {TIP: target}, orientation_weight=0.0)
        assert dict(call.options)["task"].forms == (form,)


def test_the_default_start_is_the_middle_of_the_limits() -> None:
    """Joints without limits start at the neutral configuration. `q0` adds an array of its own."""
    model = wd.load_robot("panda")
    T = np.eye(4)[None]
    task = dict(inverse_kinematics.describe(model, {"panda_hand": T}).options)["task"]
    middle = (model.position_lower + model.position_upper) / 2
    assert np.allclose(task.start, middle)
    call = inverse_kinematics.describe(model, {"panda_hand": T}, q0=model.neutral)
    assert dict(call.options)["task"].start is None
    free = dict(inverse_kinematics.describe(MODEL, {TIP: T}).options)["task"]
    assert np.array_equal(free.start, MODEL.neutral)


def test_random_starts_are_within_limits() -> None:
    """Angles span at most one turn, lengths their limits or nothing.

    A quaternion needs three numbers from 0 to 1.
    """
    builder = wd.ModelBuilder("kinds").add_link("base")
    for name, kind, limits in (
        ("narrow", "revolute", (-0.5, 1.0)),
        ("wide", "revolute", (-9.0, 10.0)),
        ("wheel", "continuous", None),
        ("slide", "prismatic", (-0.2, 0.6)),
        ("rail", "prismatic", None),
        ("free", "ball", None),
    ):
        builder.add_link(name, 1.0, inertia=np.eye(3))
        lower, upper = limits or (-math.inf, math.inf)
        builder.add_joint(f"{name}_joint", kind, "base", name, lower=lower, upper=upper)
    space, inf, pi = _space(builder.build()), math.inf, math.pi
    assert space.lower == (-0.5, -9.0, -inf, -0.2, -inf, *[-inf] * 4)
    assert space.upper == (1.0, 10.0, inf, 0.6, inf, *[inf] * 4)
    assert space.middle == pytest.approx((0.25, 0.5, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0, 1.0))
    assert space.draws[:5] == (
        *((-0.5, 1.0, False), (0.5 - pi, 0.5 + pi, False), (-pi, pi, False)),
        *((-0.2, 0.6, False), (-1.0, 1.0, True)),
    )
    assert space.draws[5:] == ((0.0, 1.0, False),) * 4


def test_inverse_kinematics_works_with_each_library_out_and_bind() -> None:
    """Arrays of the given library, flags as bool and counts as int32.

    With out= the five arrays themselves.
    """
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    model, hand = wd.load_robot("ur5e"), "tool0"
    T = reachable(model, 20, hand).astype(np.float32)
    wanted = inverse_kinematics(model, {hand: T})
    assert wanted.success.dtype == bool and wanted.iterations.dtype == np.int32
    found = inverse_kinematics(model, {hand: torch.tensor(T)})
    assert found.success.dtype is torch.bool and found.iterations.dtype is torch.int32
    assert all((a == b.numpy()).all() for a, b in zip(wanted, found, strict=True))
    found = inverse_kinematics(model, {hand: wp.array(T, dtype=wp.float32, device="cpu")})
    assert found.success.dtype is wp.bool and found.iterations.dtype is wp.int32
    assert all((a == b.numpy()).all() for a, b in zip(wanted, found, strict=True))
    for call in (
        lambda x: inverse_kinematics(model, {hand: x}),
        jax.jit(lambda x: inverse_kinematics(model, {hand: x})),
    ):
        found = call(jax.numpy.asarray(T))
        assert found.success.dtype == bool and isinstance(found.q, jax.Array)
        assert all((a == np.asarray(b)).all() for a, b in zip(wanted, found, strict=True))

    out = tuple(np.full(x.shape, np.nan, np.float32) for x in wanted)
    found = inverse_kinematics(model, {hand: T}, out=out)
    assert all(x is y and (x == z).all() for x, y, z in zip(found, out, wanted, strict=True))
    run = wd.bind(inverse_kinematics, model, {hand: T})
    T[:] = T[::-1].copy()
    assert (run().success == wanted.success[::-1]).all() and (run().q == wanted.q[::-1]).all()


def test_invalid_targets_and_options_are_refused() -> None:
    """The message says what is needed and what was passed."""
    model, T = wd.load_robot("ur5e"), np.tile(np.eye(4), (3, 1, 1))
    for error, message, targets, options in (
        (ValueError, "pass its frame too", T, {}),
        (ValueError, "not both", {"tool0": T}, {"frame": "tool0"}),
        (ValueError, "at least one frame", {}, {}),
        (KeyError, "tool1", {"tool1": T}, {}),
        (ValueError, r"\(B, 4, 4\), \(B, 7\), or \(B, 3\)", {"tool0": T[:, :2]}, {}),
        (ValueError, "give orientation_weight=0", {"tool0": T[:, 0, :3]}, {}),
        (ValueError, "restarts must be", {"tool0": T}, {"restarts": -1}),
        (ValueError, "iterations must be", {"tool0": T}, {"iterations": 0}),
        (ValueError, "tolerance must be", {"tool0": T}, {"tolerance": (1e-4, 0.0)}),
        (ValueError, "one for each of tool0", {"tool0": T}, {"position_weight": {"tool": 1.0}}),
        (ValueError, "not negative", {"tool0": T}, {"position_weight": -1.0}),
        (
            ValueError,
            "every weight is 0",
            {"tool0": T},
            {"position_weight": 0, "orientation_weight": 0},
        ),
        (ValueError, r"q0 must be", {"tool0": T}, {"q0": np.zeros((3, 7))}),
        (
            ValueError,
            "one array with frame=, not both",
            {"tool0": T},
            {"frame": "tool0"},
        ),
        (KeyError, "no link named 'tool1'; did you mean", T, {"frame": "tool1"}),
        (KeyError, "no link named 'tool1'; did you mean", {"tool0": T, "tool1": T}, {}),
        (ValueError, "finite and not negative", {"tool0": T}, {"orientation_weight": np.inf}),
        (
            ValueError,
            "restarts must be a whole number of at least 0",
            {"tool0": T},
            {"restarts": 1.5},
        ),
        (
            ValueError,
            "two positive numbers, in metres and radians",
            {"tool0": T},
            {"tolerance": (1, 1, 1)},
        ),
        (ValueError, "two positive numbers", {"tool0": T}, {"tolerance": (1e-4, np.nan)}),
        (ValueError, "in metres and radians; got 0.001", {"tool0": T}, {"tolerance": 1e-3}),
        (ValueError, r"got \(3, 4\)", {"tool0": [[0.0] * 4] * 3}, {}),
    ):
        with pytest.raises(error, match=message):
            inverse_kinematics(model, targets, **options)


def test_a_target_that_is_no_array_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^the target of tool0 must be an array, got None$"):
        wd.inverse_kinematics(wd.load_robot("ur5e"), {"tool0": None})  # type: ignore[dict-item]


def test_a_call_is_known_to_repeat_and_limits_are_computed_once_for_a_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    computed: list[wd.Model] = []
    monkeypatch.setattr(module, "_space", lambda model: computed.append(model) or _space(model))
    model = MODEL.with_friction(viscous=0.125)
    for _ in range(2):
        call = inverse_kinematics.describe(model, TARGETS, frame=TIP)  # type: ignore[attr-defined]
        assert call.repeats
    assert computed == [model]
