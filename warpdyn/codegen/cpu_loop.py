"""The CPU form of a program with a loop.

Environments need unlike numbers of steps, so a lane does not wait for its neighbours: when the
environment in it is done, the next one takes its place. What comes after the loop is computed for
as many environments as there are lanes, once so many are done. Lanes do not see each other, so that
a result depends on neither place nor batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from ..recording.program import STATE, Program, Statement
from . import headers, lanes
from .arguments import (
    FIELDS,
    HEADER,
    ArgumentLayout,
    input_identifier,
    result_identifier,
)
from .cpu import PART, in_lanes
from .emit import emit, expression, literal
from .partition import split


def source(program: Program, single: bool) -> str:
    """Body of the native function `(args)` that does `count` environments from `first` on."""
    loop = program.loop
    assert loop is not None
    layout = ArgumentLayout(program.arguments, program.results)
    inputs = {input_identifier(name): prod(shape) for name, shape in program.arguments.items()}
    results = {result_identifier(name): prod(shape) for name, shape in program.results.items()}
    constants = lanes.Constants(single)  # one table for the steps and for what comes after
    state_in, state_out = input_identifier(STATE), result_identifier(STATE)
    parameters = [f"const V* {a}" for a in (*inputs, state_in)] + [
        f"V* {a}" for a in (*results, state_out)
    ]
    parameters += ["const T* constants", "V* turn", "V* work"]
    steps = _Phase(loop.step, "0", constants, parameters)
    finish = _Phase(program, "1", constants, parameters)

    def call(tiles: str, before: str) -> str:
        return ", ".join(
            [*(f"{a}_{tiles}" for a in inputs), before, *(f"{a}_tile" for a in results), "then"]
        )

    def moves(way: str, sizes: Mapping[str, int], tile: str, lane: str, environment: str) -> str:
        return " ".join(_move(way, a, tile, lane, environment, n) for a, n in sizes.items())

    arguments = [f"const I64 {name} = args[{k}];" for k, name in enumerate(HEADER[:2])]
    for name, shape in layout.arrays:
        arguments += _declare(name, shape, layout.position(name))
    # Two tiles for an input: the lanes that step, and the environments that wait for what comes
    # after the loop, which reads its inputs again. One entry more, as C++ has no empty arrays.
    tiles = [f"{a}_{tile}[{n + 1}]" for a, n in inputs.items() for tile in ("tile", "ended")]
    tiles += [f"{a}_tile[{n + 1}]" for a, n in results.items()]
    return lanes.frame(
        single,
        ahead=0,
        members=[headers.piece("loop.h", "moves")],
        parts=[*steps.functions, *finish.functions],
        body="\n".join(
            [
                headers.piece(
                    "loop.h",
                    "arrays",
                    arguments="\n".join(arguments),
                    constants=constants.declaration,
                    tiles="V {};".format(
                        ", ".join(f"{tile} __attribute__((aligned(64))) = {{}}" for tile in tiles)
                    ),
                    turns=max(steps.turns, finish.turns),
                    work=max(steps.slots, finish.slots) + 1,
                ),
                headers.piece(
                    "loop.h",
                    "refilled",
                    size=loop.size,
                    most_steps=loop.steps,
                    step="\n".join(steps.calls(call("tile", "state"))),
                    finish="\n".join(finish.calls(call("ended", "ended"))),
                    enter=moves("enter", inputs, "tile", "l", "at[l]"),
                    enter_ended=moves("enter", inputs, "ended", "j", "over[j]"),
                    leave=moves("leave", results, "tile", "j", "over[j]"),
                ),
            ]
        ),
    )


class _Phase:
    """The functions of a straight-line program on tiles, and their calls in order."""

    def __init__(
        self, program: Program, name: str, table: lanes.Constants, parameters: Sequence[str]
    ):
        turns = {
            angle: (f"turn[{2 * k}]", f"turn[{2 * k + 1}]")
            for k, angle in enumerate(program.angles)
        }

        def place(output: int) -> str:
            array, entry = program.places[output]
            return f"{result_identifier(array)}[{entry}]"

        dialect = in_lanes(
            table,
            lambda array, entry: f"{input_identifier(array)}[{entry}]",
            lambda entries, value: " ".join(f"{place(k)} = {value};" for k in entries),
        )

        def at_hand(s: Statement) -> bool:
            return s.operation == "input" or (
                s.operation in ("sin", "cos") and s.arguments[0] in turns
            )

        parts, self.slots = split(program, PART, at_hand)
        stored: set[int] = set()
        bodies = [list(emit(program, part, dialect, stored, turns)) for part in parts]
        constants = [(k, o.constant) for k, o in enumerate(program.outputs) if o.node is None]
        # Environments leave one by one, so that no tile can keep a constant: written every time.
        bodies[-1] += [
            f"{place(k)} = V{{}} + {literal(value, table.single)};" for k, value in constants
        ]
        angles = [
            f"const V t{s.target} = {expression(s, dialect)};" for s in program.angle_statements
        ]
        angles += [
            f"turn[{2 * k}] = t{angle}; far = furthest(far, t{angle});"
            for k, angle in enumerate(program.angles)
        ]
        self.turns, self.name, self.parts = len(turns), name, len(parts)
        function = {"parameters": ", ".join(parameters), "open": ""}
        self.functions = [
            headers.piece(
                "parts.h",
                "turns",
                name=f"turns{name}",
                angles="\n".join(angles),
                turns=self.turns,
                **function,
            )
        ]
        self.functions += [
            headers.piece(
                "parts.h", "part", name=f"part{name}_{k}", body="\n".join(body), **function
            )
            for k, body in enumerate(bodies)
        ]

    def calls(self, arguments: str) -> Iterator[str]:
        yield f"  Lanes::turns{self.name}({arguments}, constants, turn, work);"
        for k in range(self.parts):
            yield f"  Lanes::part{self.name}_{k}({arguments}, constants, turn, work);"


def _declare(a: str, shape: tuple[int, ...], position: int) -> Iterator[str]:
    """An array's address and stride, and the offset of each entry from its environment's first."""
    const = "const " if a.startswith("a_") else ""
    fields = [f"args[{position + k}]" for k in range(FIELDS)]
    yield f"{const}T* const {a} = ({const}T*){fields[0]};"
    yield f"const I64 {a}_env = {fields[1]};"
    yield f"I64 {a}_offset[{max(prod(shape), 1)}];"
    loops = " ".join(
        f"for (I64 {i} = 0; {i} < {n}; ++{i})"
        for i, n in zip("xyz", (*shape, 1, 1, 1)[:3], strict=True)
    )
    offset = f"x * {fields[2]} + y * {fields[3]} + z * {fields[4]}"
    yield f"{{ int k = 0; {loops} {a}_offset[k++] = {offset}; }}"


def _move(way: str, a: str, tile: str, lane: str, environment: str, count: int) -> str:
    return f"Lanes::{way}({a}_{tile}, {lane}, {a} + {environment} * {a}_env, {a}_offset, {count});"
