"""Arrays in loops, on each target: random programs give the numbers of the program itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp
from array_programs import LEAVES_OUT, SEEDS, SHAPES, leaves_out, random_program
from bytecode_on_numbers import run as run_bytecode
from cuda_on_host import needs_compiler
from cuda_on_host import run as run_on_host
from exported_code import CompiledHeader
from states import error

import warpdyn as wd
from warpdyn.algebra.row_arrays import RowArray, loop
from warpdyn.algebra.scalar import absolute, each, repeat
from warpdyn.codegen import lanes
from warpdyn.codegen.array_statements import (
    array_members,
    copy_arrays,
    memory_in_loops,
    nearest,
    uses_arrays,
)
from warpdyn.codegen.bytecode.encode import encode
from warpdyn.codegen.cpu_routines import array_memory, routines
from warpdyn.codegen.exported_header import ExportedFunction, ExportedRobot, exported_header
from warpdyn.codegen.portable_style import Style
from warpdyn.codegen.targets import write
from warpdyn.codegen.warp_cut import is_straight
from warpdyn.execution.batched import batched, bind_single
from warpdyn.execution.request.call import Call
from warpdyn.recording.array_operations import BEGUN
from warpdyn.recording.differentiation import pullback, pushforward
from warpdyn.recording.program import Program, record

MODEL = wd.load_robot("cartpole")
CLOSE = {np.float32: 5e-6, np.float64: 1e-13}
"""Relative to the largest entry, after a few hundred rounded operations."""

COMPILED = [5, LEAVES_OUT]
"""Programs whose kernels are compiled: one with three arrays in its loops, and one whose loops leave
steps out. The interpreter and the CUDA source are tested with all programs."""

each_program = pytest.mark.parametrize("seed", SEEDS)
each_compiled = pytest.mark.parametrize("seed", COMPILED)


def function(seed: int, kernel: str = "compiled") -> Callable[..., Any]:
    """A random program. An interpreted one has a kernel of its own, which is not compiled later."""
    return function_of(random_program(seed), f"{kernel}{seed}")


def function_of(program: Callable[..., list], name: str = "") -> Callable[..., Any]:
    """A function of a model that computes a program. By default it has the program's name."""

    def text(tree: Any, x: list, z: list) -> list:
        return program(x, z)

    @batched
    def run(model: wd.Model, x: Any, z: Any, *, out: Any = None) -> Any:
        given = {"x": x, "z": z}
        return Call(name or program.__name__, model, (text,), given, out=out, shapes=SHAPES)

    return run


def inputs(seed: int, count: int, dtype: Any = float) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    x = draw.uniform(-0.6, 0.6, (count, 4))  # larger numbers make the programs chaotic
    return x.astype(dtype), draw.integers(-1, 6, (count, 3)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_program
def test_the_interpreter_is_right(seed: int, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes of different environments read and write different rows."""
    monkeypatch.setattr(wd.config, "compile", "never")
    run = function(seed, "interpreted")
    for count, different in ((1, 1), (300, 40)):
        # Each environment's inputs are drawn from a few, which the oracle computes one by one.
        few, chosen = inputs(seed, different, dtype), np.arange(count)
        if count > different:
            chosen = np.random.default_rng(seed).integers(0, different, count)
        found = run(MODEL, *(x[chosen] for x in few))
        wanted = wd.oracle(run, MODEL, *few)[chosen]
        assert error(found.astype(float), wanted) <= CLOSE[dtype]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_compiled
def test_programs_in_lanes_are_right(seed: int, dtype: Any) -> None:
    """The last vector is not full. Arrays are in rows and in columns."""
    given = inputs(seed, 37, dtype)
    wanted = wd.oracle(function(seed), MODEL, *given)
    for layout in (np.ascontiguousarray, np.asfortranarray):
        found = function(seed)(MODEL, *map(layout, given))
        assert error(found.astype(float), wanted) <= CLOSE[dtype]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_narrow_vectors_give_the_same_bits(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given, found = inputs(LEAVES_OUT, 37, dtype), []
    monkeypatch.setattr(wd.config, "compile", "wait")
    for name, flag in (("narrow", "-DWARPDYN_NARROW="), ("whole", "-D__AVX512F__=1")):
        monkeypatch.setattr(wp.config, "cpu_compiler_flags", f"-march=native {flag}")
        found.append(function(LEAVES_OUT, name)(MODEL, *given))
    assert np.array_equal(*found)


@each_compiled
def test_programs_of_one_environment_are_right(seed: int) -> None:
    """The target is the scalar kernel."""
    given = inputs(seed, 1)
    found = bind_single(function(seed), MODEL, *given)()
    assert error(found, wd.oracle(function(seed), MODEL, *given)) <= CLOSE[np.float64]


@each_program
def test_programs_in_bytecode_are_right(seed: int) -> None:
    """They give the numbers of the program, to the last bit."""
    program = record(random_program(seed), SHAPES)
    for x, z in zip(*(array.tolist() for array in inputs(seed, 3)), strict=True):
        found = run_bytecode(encode(program), {"x": x, "z": z})["out"]
        assert found == program.on_numbers({"x": x, "z": z})["out"]


@needs_compiler
@each_program
def test_programs_for_cuda_are_right(seed: int, tmp_path: Path) -> None:
    """The source is built by the host's compiler and run thread by thread."""
    x, z = inputs(seed, 5)
    program = record(random_program(seed), SHAPES)
    out = np.full((5, len(program.outputs)), np.nan)
    source = write(program, f"random{seed}", False, "cuda")
    run_on_host(source, {"x": x, "z": z}, out, folder=tmp_path)
    assert error(out, wd.oracle(function(seed), MODEL, x, z)) <= CLOSE[np.float64]


@pytest.mark.parametrize("language", ["c++", "c"])
@each_compiled
def test_exported_programs_are_right(seed: int, language: Any, tmp_path: Path) -> None:
    """They are for one robot and for many, and compile without warnings."""
    program = record(random_program(seed), SHAPES)
    style = Style(language, False, "ours")
    names = {"x": "x", "z": "z"}
    each = ExportedFunction("swept", program, names, {"out": "y"}, ["swept: a test."])
    text = exported_header(ExportedRobot(["a test."]), [each], style)
    built = CompiledHeader(
        tmp_path, text, {"swept": ["x", "z", "y"]}, namespace="ours", language=language
    )
    given = inputs(seed, 11)
    wanted = wd.oracle(function(seed), MODEL, *given)
    shape = (len(program.outputs),)
    assert error(built.one_by_one("swept", given, shape), wanted) <= CLOSE[np.float64]
    assert error(built.batch("swept", given, shape), wanted) <= CLOSE[np.float64]


def test_arrays_of_a_program_do_not_overlap() -> None:
    """They follow the regions of its routines in memory, one after the other."""
    program = record(random_program(0), SHAPES)
    regions, _, slots = routines(program, lanes.Constants(True), 3)
    memory, end = array_memory(program, regions, slots)
    sizes = [node.rows * node.width for k, node in program.graph.arrays.items() if k == node.root]
    starts = sorted(int(place.removeprefix("work + ")) for place in memory.values())
    assert len(starts) == len(sizes) and starts[0] == slots and end == slots + sum(sizes)


def test_programs_without_arrays_have_no_functions_for_rows() -> None:
    """The functions are not in their sources."""
    program = record(lambda x: [x[0] * x[1]], {"x": (2,)})
    assert not uses_arrays(program) and not array_members(program, True)
    assert "row" not in write(program, "plain", True, "cpu").code.partition("struct Block")[2]


def test_constant_indices_give_the_nearest_row() -> None:
    """Indices of a kernel do the same."""
    assert [nearest(x, 3) for x in (-1.0, 0.0, 1.7, 9.0, float("nan"))] == [0, 0, 1, 2, 0]


# Derivatives, on each target.


def derivatives(seed: int, count: int, dtype: Any = float) -> tuple[dict[str, Any], tuple, Any]:
    """The tangent and cotangent of a call, its arguments, and a function that computes both."""
    draw, (x, z) = np.random.default_rng(seed), inputs(seed, count, dtype)
    dx, w = (draw.uniform(-1, 1, (count, n)).astype(dtype) for n in (4, 8))

    def both(run: Callable[..., Any]) -> list[np.ndarray]:
        tangent = wd.jvp(run, MODEL, x, z, tangents={"x": dx})
        return [tangent, wd.vjp(run, MODEL, x, z, cotangents=w, wrt="x")]

    return {"dx": dx, "w": w}, (x, z), both


def evaluate_unrolled(seed: int, name: str, given: dict[str, np.ndarray]) -> np.ndarray:
    """A derivative from the program whose loops are unrolled."""
    program = (jvp if name == "dx" else vjp)(seed, True)
    rows = zip(*(given[x].astype(float).tolist() for x in program.inputs), strict=True)
    found = [program.on_numbers(dict(zip(program.inputs, row, strict=True))) for row in rows]
    return np.array([x["out"] for x in found])


def jvp(seed: int, unrolls: bool = False) -> Program:
    def text(x: list, z: list, dx: list) -> list:
        return pushforward(x, dx, random_program(seed)(x, z))

    return record(text, {**SHAPES, "dx": (4,)}, rolls=False, unrolls=unrolls)


def vjp(seed: int, unrolls: bool = False) -> Program:
    def text(x: list, z: list, w: list) -> list:
        return pullback(x, random_program(seed)(x, z), w)

    return record(text, {**SHAPES, "w": (8,)}, rolls=False, unrolls=unrolls)


def test_copies_of_arrays_are_read_at_their_place() -> None:
    """Each array is copied before the first step of each loop, with one array and with several."""
    several = 0
    for program in map(vjp, SEEDS):
        regions, _, _ = routines(program, lanes.Constants(True), 3)
        memory = memory_in_loops(program, regions, "kept")
        for s in program.statements:
            if s.operation == BEGUN:
                name, _, j = s.arguments
                lines = list(copy_arrays(program.routines[name], "out"))
                first = memory[s.target].removeprefix(f"{regions[name].out} + ")
                assert any(f"(out)[{first} + k] = array{j}[k];" in line for line in lines)
                several += int(j) > 0
    assert several > 5


@pytest.mark.parametrize("compiles", [False, True])
@each_compiled
def test_derivatives_in_lanes(seed: int, compiles: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels are interpreted and compiled."""
    if not compiles:
        monkeypatch.setattr(wd.config, "compile", "never")
    rest, (x, z), both = derivatives(seed, 20)
    run = function(seed, "compiled" if compiles else "interpreted")
    for found, name in zip(both(run), ("dx", "w"), strict=True):
        wanted = evaluate_unrolled(seed, name, {"x": x, "z": z, **rest})
        assert error(found, wanted) <= CLOSE[np.float64]


@pytest.mark.parametrize("derive", [jvp, vjp])
@each_program
def test_derivatives_in_bytecode_are_right(seed: int, derive: Callable[..., Program]) -> None:
    """They give the numbers of the program, to the last bit."""
    program, (rest, (x, z), _) = derive(seed), derivatives(seed, 1)
    given = {name: {"x": x, "z": z, **rest}[name][0].tolist() for name in program.inputs}
    assert run_bytecode(encode(program), given) == program.on_numbers(given)


@needs_compiler
@pytest.mark.parametrize("derive", [jvp, vjp])
@each_compiled
def test_derivatives_for_cuda_and_export_are_right(
    seed: int, derive: Callable[..., Program], tmp_path: Path
) -> None:
    """The arrays are in the memory of a thread."""
    program, (rest, (x, z), _) = derive(seed), derivatives(seed, 5)
    given = {name: {"x": x, "z": z, **rest}[name] for name in program.inputs}
    wanted = evaluate_unrolled(seed, "dx" if derive is jvp else "w", given)
    out = np.full(wanted.shape, np.nan)
    run_on_host(write(program, "derived", False, "cuda"), given, out, folder=tmp_path)
    assert error(out, wanted) <= CLOSE[np.float64]
    names = {name: name for name in given}
    each = ExportedFunction("derived", program, names, {"out": "y"}, ["derived: a test."])
    text = exported_header(ExportedRobot(["a test."]), [each], Style("c++", False, "ours"))
    built = CompiledHeader(tmp_path, text, {"derived": [*names, "y"]}, namespace="ours")
    found = built.batch("derived", [*given.values()], wanted.shape[1:])
    assert error(found, wanted) <= CLOSE[np.float64]


# Steps that are skipped if no environment needs them.


def always(x: list, z: list) -> list:
    return leaves_out(x, z, always=True)


def forms(dtype: Any, count: int) -> Iterator[list[np.ndarray]]:
    """Results and derivatives of a program that skips steps, and of one that computes all."""
    for text in (leaves_out, always):
        run = function_of(text)
        _, given, both = derivatives(LEAVES_OUT, count, dtype)
        yield [run(MODEL, *given), *both(run)]


@pytest.mark.parametrize("compiles", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 300])
def test_skipped_steps_change_no_bit(
    count: int, dtype: Any, compiles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results, tangents and adjoints are compared, interpreted and in lanes."""
    monkeypatch.setattr(wd.config, "compile", "wait" if compiles else "never")
    for found, wanted in zip(*forms(dtype, count), strict=True):
        np.testing.assert_array_equal(found, wanted)


@needs_compiler
def test_skipped_steps_change_no_bit_in_other_languages(tmp_path: Path) -> None:
    """The languages are CUDA, run on the host, and C++ for one robot and for many."""
    given, found = inputs(LEAVES_OUT, 40), []
    for text in (leaves_out, always):
        program, name = record(text, SHAPES), text.__name__
        out = np.full((40, len(program.outputs)), np.nan)
        (folder := tmp_path / name).mkdir()
        source = write(program, name, False, "cuda")
        run_on_host(source, dict(zip("xz", given, strict=True)), out, folder=folder)
        names = {"x": "x", "z": "z"}
        each = ExportedFunction("swept", program, names, {"out": "y"}, ["swept: a test."])
        header = exported_header(ExportedRobot(["a test."]), [each], Style("c++", False, "ours"))
        built = CompiledHeader(folder, header, {"swept": ["x", "z", "y"]}, namespace="ours")
        shape = (len(program.outputs),)
        found.append([out, built.one_by_one("swept", given, shape)])
        found[-1].append(built.batch("swept", given, shape))
    for left_out, whole in zip(*found, strict=True):
        np.testing.assert_array_equal(left_out, whole)


# Programs of other forms.


def separate_ends(tree: Any, x: list) -> list:
    """A loop that ends separately for each environment, around one with an array."""

    def step(state: list) -> list:
        a = RowArray([[state[0], x[1]], [x[2], state[1]], [0.0, 0.0]])

        def inner(k: Any, s: list, _: Any) -> list:
            a[k] = [0.5 * a[k - 1.0][0] + s[0], a[x[3]][1]]
            return [0.5 * s[0] + 0.1 * a[x[3]][0]]

        (y,) = loop(3, inner, [state[0]], [a])
        return [0.5 * y + 0.01 * a[2][1], state[1] + 1.0]

    return repeat(step, [x[0], 0.0], 30, lambda s: 0.01 + 0.05 * x[1] * x[1] - absolute(s[0]))


def columns(tree: Any, x: list) -> list:
    """A function of many columns, which has a loop with an array."""

    def column(shared: Any, entries: Any) -> list:
        y = entries[0]
        for _ in range(300):
            y = y * entries[1] + shared[0]
        a = RowArray([[y], [0.0]])
        loop(2, lambda k, s, _: a.__setitem__(1, [a[k][0] * entries[1]]) or s, [], [a])
        return a[1]

    found = each(column, [0.1 * x[2]], [[0.1 * k * x[0], 0.5 * x[1]] for k in range(40)])
    return [row[0] for row in found]


@pytest.mark.parametrize("compiles", [False, True])
@pytest.mark.parametrize("text", [separate_ends, columns])
def test_loops_with_arrays_may_be_inside_other_loops(
    text: Callable[..., list], compiles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are interpreted and compiled."""

    @batched
    def run(model: wd.Model, x: Any, *, out: Any = None) -> Any:
        return Call(name, model, (text,), {"x": x}, out=out, shapes={"x": (4,)})

    name = f"{text.__name__}_{'compiled' if compiles else 'interpreted'}"
    monkeypatch.setattr(wd.config, "compile", "wait" if compiles else "never")
    x = np.random.default_rng(0).uniform(-1, 1, (50, 4))
    x[:, 3] = np.arange(50) % 4
    assert error(run(MODEL, x), wd.oracle(run, MODEL, x)) <= CLOSE[np.float64]


def test_a_function_of_columns_with_a_loop_is_written_for_lanes() -> None:
    """It is one routine for many columns and calls its loop as a function."""
    program = record(lambda x: columns(None, x), {"x": (4,)})
    routine = next(iter(program.routines.values()))
    assert routine.repetition is None and routine.routines
    source = write(program, "columns", True, "cpu").code
    assert source.count("for (int step = 0; step < 2; ++step)") == len(program.routines)


def test_an_array_that_is_only_read_is_not_cut_for_several_warps() -> None:
    """Its memory belongs to one thread, even if no loop is left."""

    def text(x: list) -> list:
        a = RowArray([[x[0]], [x[1]]])
        loop(2, lambda k, s, _: s, [x[2]], [a])
        return a[x[3]]

    program = record(text, {"x": (4,)})
    assert not program.routines and not is_straight(program)
