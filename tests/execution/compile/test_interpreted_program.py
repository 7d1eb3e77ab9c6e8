"""Programs that are interpreted before they are compiled, and the change to their kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algebra.scalar import select_less
from warpdyn.codegen.bytecode.encode import encode
from warpdyn.codegen.targets import describe
from warpdyn.execution.compile import background, compiling
from warpdyn.execution.compile.compiling import Kernel, load
from warpdyn.execution.compile.interpreted_program import (
    InterpretedCommand,
    InterpretedProgram,
    _still,
)
from warpdyn.execution.launch.launch import prepare
from warpdyn.recording.program import record


@pytest.fixture
def model() -> wd.Model:
    """A model whose kernels are in no cache."""
    return wd.load_robot("cartpole").with_armature(np.random.default_rng().uniform(0.1, 0.2))


@pytest.fixture
def policy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Set `wd.config.compile`. At the end the background is idle."""
    yield lambda value: monkeypatch.setattr(wd.config, "compile", value)
    background.wait_until_idle(60.0)


def states(model: wd.Model, number: int, dtype: Any = float) -> tuple[np.ndarray, ...]:
    draw = np.random.default_rng(number)
    return tuple(draw.normal(size=(number, model.nv)).astype(dtype) for _ in range(3))


def kernel_of(model: wd.Model, *arrays: np.ndarray) -> Kernel:
    return prepare(wd.rnea.describe(model, *arrays)).kernel  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_calls_have_the_same_bits_interpreted_and_compiled(
    model: wd.Model, dtype: Any, policy: Any
) -> None:
    """Plain and bound calls of batches of several sizes, in rows and in columns."""
    policy("never")
    batches = [states(model, number, dtype) for number in (1, 15, 16, 17, 64, 200)]
    in_columns = [tuple(map(np.asfortranarray, arrays)) for arrays in batches]
    bound = [wd.bind(wd.rnea, model, *arrays) for arrays in batches]

    def results() -> list[bytes]:
        plain = [wd.rnea(model, *arrays) for arrays in (*batches, *in_columns)]
        return [x.tobytes() for x in (*plain, *(run() for run in bound))]

    interpreted = results()
    kernels = {kernel_of(model, *arrays) for arrays in (*batches, *in_columns)}
    for kernel in kernels:
        assert not kernel.loaded and kernel.interpreted is not None
        load(kernel)
        assert kernel.interpreted.is_compiled
    assert results() == interpreted
    count = len(batches)
    assert interpreted[:count] == interpreted[2 * count :]


def test_the_second_call_requests_the_kernel(model: wd.Model, policy: Any) -> None:
    """The first does not. Bound calls do at once."""
    policy("background")
    arrays = states(model, 3)
    wd.rnea(model, *arrays)
    kernel = kernel_of(model, *arrays)
    assert kernel.counts_calls
    wd.rnea(model, *arrays)
    assert not kernel.counts_calls and background.wait_until_idle(60.0) and kernel.loaded
    wd.bind(wd.crba, model, arrays[0])
    assert background.wait_until_idle(60.0)
    assert prepare(wd.crba.describe(model, arrays[0])).kernel.loaded  # type: ignore[attr-defined]


def test_a_long_call_requests_the_kernel(
    model: wd.Model, policy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy("background")
    monkeypatch.setattr(compiling, "ENOUGH_INTERPRETED", 0.0)
    arrays = states(model, 3)
    wd.rnea(model, *arrays)
    assert not kernel_of(model, *arrays).counts_calls


def test_an_environment_variable_sets_the_number_of_calls(
    model: wd.Model, policy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy("background")
    monkeypatch.setenv("WARPDYN_COMPILE_AFTER", "4")
    monkeypatch.setattr(compiling, "ENOUGH_INTERPRETED", 10.0)  # a busy machine takes longer
    arrays = states(model, 3)
    for expected in (True, True, True, False):
        wd.rnea(model, *arrays)
        assert kernel_of(model, *arrays).counts_calls is expected


def test_the_policy_never_compiles_no_kernel(model: wd.Model, policy: Any) -> None:
    policy("never")
    arrays = states(model, 3)
    wanted = wd.oracle(wd.rnea, model, *arrays)
    for _ in range(30):
        np.testing.assert_allclose(wd.rnea(model, *arrays), wanted, rtol=1e-12)
    wd.bind(wd.rnea, model, *arrays)
    assert background.wait_until_idle(1.0) and not kernel_of(model, *arrays).loaded


def test_the_policy_wait_compiles_at_the_next_bound_call(model: wd.Model, policy: Any) -> None:
    """A kernel that was interpreted before is compiled, too."""
    policy("never")
    arrays = states(model, 3)
    wd.rnea(model, *arrays)
    policy("wait")
    wd.bind(wd.rnea, model, *arrays)
    assert kernel_of(model, *arrays).loaded


def test_interpreted_results_may_overwrite_inputs(model: wd.Model, policy: Any) -> None:
    """The interpreter reads all inputs of an environment before it writes the result."""
    policy("never")
    q, d, _ = states(model, 70)
    wanted = wd.integrate(model, q, d)
    wd.integrate(model, q, d, out=q)
    np.testing.assert_array_equal(q, wanted)


def test_an_interpreted_launch_computes_its_slice_only(model: wd.Model, policy: Any) -> None:
    """It begins with its first environment and writes no other slice."""
    policy("never")
    arrays = states(model, 100)
    wanted = wd.rnea(model, *arrays)
    job = prepare(wd.rnea.describe(model, *arrays))  # type: ignore[attr-defined]
    command = job.kernel.new_command()
    assert isinstance(command, InterpretedCommand)
    result = job.results[0]
    result[:] = np.nan
    command.set([37, 21, *job.arguments[2:]])
    command.run()
    np.testing.assert_array_equal(result[37:58], wanted[37:58])
    assert np.isnan(result[:37]).all() and np.isnan(result[58:]).all()


def test_an_empty_batch_gives_an_empty_result(model: wd.Model, policy: Any) -> None:
    policy("never")
    assert wd.rnea(model, *(np.zeros((0, model.nv)),) * 3).shape == (0, model.nv)


def test_user_kernels_are_interpreted(model: wd.Model, policy: Any) -> None:
    policy("never")

    @wd.kernel
    def effort(robot: Any, q: nq, v: nv) -> Any:  # noqa: F821
        return robot.rnea(q, v, 0.0 * v) * 2.0

    q, v, _ = states(model, 5)
    wanted = 2.0 * wd.rnea(model, q, v, np.zeros_like(v))
    np.testing.assert_allclose(effort(model, q, v), wanted, rtol=1e-12)


def nested_loops(depth: int) -> Any:
    """A kernel of loops, each inside another one."""

    def nest(level: int, x: Any) -> Any:
        step = lambda state: [nest(level - 1, state[0]) + 0.5]  # noqa: E731
        return wd.kernels.repeat(2 if level < 3 else 1, step, [x])[0] if level else 1.5 * x

    @wd.kernel
    def loops(robot: Any, q: Any) -> Any:
        return nest(depth, q[0])

    return loops


def test_interpreted_loops_may_be_nested(model: wd.Model, policy: Any) -> None:
    """Loops that are nested deeper than the interpreter's limit are refused, not computed wrongly."""
    policy("never")
    q = states(model, 3)[0]
    for depth in (1, 5, 32):
        kernel = nested_loops(depth)
        np.testing.assert_allclose(kernel(model, q), wd.oracle(kernel, model, q), rtol=1e-12)
    with pytest.raises(ValueError, match="too large for the interpreter: 33 nested loops"):
        nested_loops(33)(model, q)


def test_runs_of_constants_have_flags() -> None:
    """The last run may be shorter. Four flags of no run follow."""
    assert _still([True, True, True, False, True], 2) == [1, 0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bound_calls_keep_constants_only(dtype: Any, policy: Any) -> None:
    """The second call writes no runs of constants. All other entries are those of the new inputs."""
    policy("never")
    arm = wd.load_robot("panda")
    q = np.asarray(wd.random_configuration(arm, 64, seed=1), dtype)
    now = q[:32].copy()
    run = wd.bind(wd.jacobian, arm, now, constants="once")
    for each in (q[:32], q[32:]):
        now[:] = each
        np.testing.assert_array_equal(run(), wd.jacobian(arm, each))


def test_constants_are_copied_to_their_slots_in_pairs() -> None:
    """Bytecode that writes outside of its slots is refused."""
    program = record(lambda x: [select_less(x[0], 2.5, x[1], 0.3)], {"x": (2,)})
    bytecode, source = encode(program), describe(program, "choice", True, "cpu")
    interpreter: Any = None  # without a call
    found = InterpretedProgram(bytecode, source, interpreter, True)
    preloaded = found._words.tolist().index(len(bytecode.inputs), 7) + 2  # inputs, results, pairs
    assert len(bytecode.preload) == 4 and found._words[preloaded] == 2
    bytecode.code[1] = bytecode.slots
    with pytest.raises(ValueError, match="outside of the program"):
        InterpretedProgram(bytecode, source, interpreter, True)
