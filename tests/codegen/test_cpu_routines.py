"""Functions for repeated parts of programs: their places in the workspace, loops in loops, and
stored states."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from warpdyn.algebra.scalar import repeat, sin, sweep
from warpdyn.codegen import cpu, cpu_routines, lanes
from warpdyn.codegen import cpu_routines as chosen
from warpdyn.codegen.cpu_routines import routines, shared_places
from warpdyn.codegen.targets import write
from warpdyn.recording.differentiation import pullback
from warpdyn.recording.program import Program, record


def loop_in_loop(x: list) -> list:
    """A loop in a loop."""

    def outer(state: list) -> list:
        (y,) = repeat(lambda s: [s[0] * x[0] + sin(state[1])], [state[0]], 3)
        return [y, state[1] * 0.5]

    return repeat(outer, [x[0], x[1]], 4)


def adjoint(x: list, w: list) -> list:
    return pullback(x, repeat(lambda s: [sin(s[0]) * x[1]], [x[0]], 6), w)


def with_late_angle(x: list) -> list:
    """Sines of an input, which each part reads from the table, and of an angle that is computed
    from one."""
    early, late = sin(x[0]), sin(1.5 * sin(x[0]))
    y = x[1] * late
    for k in range(40):
        y = y * y + (k + 1.5) * x[1]
    return [early * y, y + late]


def with_late_angle_in_loop(x: list) -> list:
    return repeat(with_late_angle, x, 3)


@pytest.mark.parametrize("function", [with_late_angle, with_late_angle_in_loop])
def test_a_part_declares_its_inputs(
    function: Callable[[list], list], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part reads values of earlier parts from the workspace, or loads them again if it can."""
    monkeypatch.setattr(cpu, "PART", 20)
    monkeypatch.setattr(cpu_routines, "STEP_PART", 20)
    (source,) = cpu.source(record(function, {"x": (2,)}), True)
    bodies = re.findall(r"void (?:\w+_)?(?:part)?\d+\([^)]*\) \{\n(.*?)\n  \}", source, re.DOTALL)
    assert len(bodies) >= 3
    for body in bodies:
        read = set(re.findall(r"\bt\d+\b", body))
        assert read == set(re.findall(r"const V (t\d+) =", body))
    recalled = [body for body in bodies if "= work[" in body]
    assert recalled and any("= turn[" in body for body in bodies)


def test_regions_of_routines_do_not_overlap() -> None:
    """A workspace common to all routines follows the slots of the program. Then come the inputs and
    outputs of each routine."""
    program = record(adjoint, {"x": (2,), "w": (1,)})
    regions, _, slots = routines(program, lanes.Constants(True), 10)
    starts = [int(place.removeprefix("work + ")) for r in regions.values() for place in r[1:4]]
    assert starts[0] > 10 and starts == sorted(starts) and starts[-1] < slots
    assert all(region.more.startswith(", work + 10,") for region in regions.values())
    forward, backward = regions.values()
    shared, column, out = (int(place.removeprefix("work + ")) for place in forward[1:4])
    assert column - shared == 1 and out - column == 1
    # Six kept states behind the one result, before anything of the next routine.
    assert int(backward.shared.removeprefix("work + ")) >= out + 1 + 6
    assert backward.more.endswith(f"work + {out} + 1")


def test_a_value_that_several_loops_read_is_written_once() -> None:
    """Loops of a step read x and y at their places in one block. A loop's own values follow it."""

    def step(state: list, x: list) -> list:
        (a,) = repeat(lambda s: [s[0] * x[0] + x[1]], [state[0]], 3)
        (b,) = repeat(lambda s: [s[0] * x[1] - x[0]], [state[1]], 3)
        (c,) = repeat(lambda s: [s[0] + x[2] * x[1]], [a], 3)
        return [a, b + c]

    program = record(lambda x: repeat(lambda s: step(s, x), [x[0], x[1]], 4), {"x": (3,)})
    (outer,) = program.routines.values()
    first, second, third = shared_places(outer).values()
    assert first.read == first.written == [0, 1]
    assert sorted(second.read) == [0, 1] and second.written == [None, None]
    assert set(third.written) - {None} == {2} == set(third.read) - {0, 1}
    regions, functions, _ = routines(outer, lanes.Constants(True), 0, "", shared_places(outer))
    assert len({region.shared for region in regions.values()}) == 1
    assert "shared[2]" in "\n".join(functions["routine2"])


def test_each_loop_is_one_loop_of_the_source() -> None:
    """The inner loop is a function that the step of the outer loop calls. The functions have
    different names."""
    program = record(loop_in_loop, {"x": (2,)})
    _, functions, _ = routines(program, lanes.Constants(True), 0)
    text = "\n".join(functions["routine0"])
    assert text.count("for (int step = 0;") == 2
    names = re.findall(r"static \w+ void (\w+)\(", text)
    assert len(names) == len(set(names)) and {"routine0", "routine0_step_routine0"} <= set(names)


def test_the_length_of_a_source_does_not_depend_on_the_steps() -> None:
    """Ten steps and ten thousand have as many lines, also if their states are stored."""

    def text(times: int) -> Program:
        return record(
            lambda x, w: pullback(x, repeat(lambda s: [sin(s[0]) * x[1]], [x[0]], times), w),
            {"x": (2,), "w": (1,)},
        )

    short, long = (write(text(times), "adjoint", True, "cpu") for times in (10, 1000))
    assert short.code.count("\n") == long.code.count("\n")
    assert long.operations > 50 * short.operations


def test_parts_load_inputs_and_sines_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a step is divided, only computed values are stored in the workspace."""

    def chain(x: list) -> list:
        s, y = sin(x[0]), x[1]
        for k in range(30):
            y = y * x[0] + s * float(k + 2)
        return [y]

    monkeypatch.setattr(cpu_routines, "STEP_PART", 10)
    program = record(chain, {"x": (2,)})
    functions = cpu_routines.TileFunctions(
        *(program, "chain", lanes.Constants(True), ()),
        load=lambda array, entry: f"{array}[{entry}]",
        store=lambda k: f"out[{k}]",
    )
    assert functions.parts > 3 and functions.slots <= 2


def test_loops_in_loops_run_on_numbers() -> None:
    """There they are loops of Python."""
    program = record(loop_in_loop, {"x": (2,)})
    x = [0.7, -0.4]
    y, z = x
    for _ in range(4):
        for _ in range(3):
            y = y * x[0] + np.sin(z)
        z *= 0.5
    np.testing.assert_allclose(program.on_numbers({"x": x})["out"], [y, z], rtol=1e-14)


def test_only_loops_that_are_entered_once_share_a_block() -> None:
    """A sweep, which reads rows at their own places, does not, nor does a loop that is entered
    twice."""

    def step(s: list, x: list) -> list:
        rows = [[x[k], 0.5 + k] for k in range(2)]
        values, _ = sweep(
            lambda t, row: ([t[0] * row[0]], [t[0] + row[1]]), [[s[0]]], [[0, 1]], rows
        )
        (a,) = repeat(lambda t: [t[0] * x[0] + sin(x[1])], [s[0]], 3)
        (b,) = repeat(lambda t: [t[0] * x[0] + sin(x[1])], [s[1]], 3)
        (c,) = repeat(lambda t: [t[0] * x[1] - x[2]], [a], 3)
        return [values[0][-1][0] + b, b + c]

    program = record(lambda x: repeat(lambda s: step(s, x), [x[0], x[1]], 4), {"x": (3,)})
    (outer,) = program.routines.values()
    frames = Counter(s.arguments[0] for s in outer.statements if s.operation == "frame")
    found = shared_places(outer)
    loops = {name for name, each in outer.routines.items() if each.repetition is not None}
    assert set(outer.routines) - loops, "the sweep is a routine, too"
    assert set(found) == {name for name in loops if frames[name] == 1}


def test_places_of_routines_count_from_the_end_of_the_workspace() -> None:
    """The shared values, the column and the results of a routine follow each other. A program
    without routines needs no more slots.
    """
    program = record(loop_in_loop, {"x": (2,)})
    regions, functions, slots = routines(program, lanes.Constants(True), 7)
    (region,) = regions.values()
    shared, column, out = (int(place.removeprefix("work + ")) for place in region[1:4])
    (routine,) = program.routines.values()
    assert column - shared == int(np.prod(routine.inputs["shared"]))
    assert out - column == int(np.prod(routine.inputs["column"])) == 2 and slots == out + 2
    assert region.function == "Lanes::routine0" and list(functions) == ["routine0"]
    named, _, _ = routines(program, lanes.Constants(True), 7, "deep_")
    assert [each.function for each in named.values()] == ["Lanes::deep_routine0"]
    assert routines(record(lambda x: [x[0]], {"x": (1,)}), lanes.Constants(True), 7) == ({}, {}, 7)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.PART == 250
    assert chosen.STEP_PART == 20_000
