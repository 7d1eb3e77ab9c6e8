"""A program as C99 or C++17 functions that do not need Warp: for one robot, and for lanes.

In C++ a program is one function template on the type of its values, numbers or lanes of them; in C
it is written once for each type. The code has no allocation, no loop of unknown length and no
global state; choices are selects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite, isnan, prod

from ..recording.array_operations import ARRAY_OPERATIONS, READS
from ..recording.graph import COLUMN, FIXED, SHARED
from ..recording.order import Statement, operands
from ..recording.program import Program
from .array_statements import (
    array_parameters,
    count_kept_entries,
    function_form,
    memory_in_loops,
    new_arrays,
)
from .emit import FORMS, Dialect, Region, emit, literal
from .one_robot_loop import (
    count_column_entries,
    count_written_entries,
    source_arguments,
    source_parameters,
    write_loop,
    write_sweep,
)
from .partition import split_statements
from .portable_style import Style
from .whole_products import WHOLE_FORMS, with_whole_products

SINE, COSINE = "sine", "cosine"
"""C names of the arrays of sines and cosines."""

TURNS = {"sin": "sin()", "cos": "cos()"}
"""Array names under which sines and cosines are read like inputs: no input has such a name."""

PART = 400
"""Statements of a function: gcc compiles a humanoid's `aba`, 5,900 statements, in a third of the
time this way."""

LOCAL = re.compile(
    r"V|[tsc]\d+|angle|sine|cosine|work|n|i|first|here|width|step|out|then|routine\d+\w*|\w+_lanes"
    r"|memory\d+|array\d+|counter|before|row_of|is_beyond|read_row|write_row|gather_row|scatter_row"
    r"|number|word|lanes|lane_words|lane_count|as|all|less|less_equal|abs|sqrt|floor|exp|log|atan2"
    r"|sine_cosine|rest|size_t|WARPDYN_\w+"
)
"""Names that a function uses itself, including its types and helpers: no array may have one of
them."""

RESERVED = re.compile(
    r"nq|nv|joint_names|lower|upper|velocity_limit|effort_limit|detail|number(_\w+)?|lanes(_\w+)?"
    r"|word|lane_\w+|size_t|V|WARPDYN_\w+"
)
"""Names that a header uses itself: no function may have one of them."""

OF_A_LIBRARY = ("exp", "log", "atan2")
"""Functions for which warpdyn has no code."""

PORTABLE_FORMS = {
    **FORMS,
    **WHOLE_FORMS,
    "fma": "{0} * {1} + {2}",
    "fms": "{0} * {1} - {2}",
    "fnma": "{2} - {0} * {1}",
}
"""C++ of fused operations. Products and sums are left to the compiler to fuse: the function fma is
slow if there is no instruction. Products with a whole number are exact (`whole_products`)."""


def without_a_library(program: Program) -> set[str]:
    """Functions of the C library that a program needs, because warpdyn has no code for them."""
    inner = [without_a_library(routine) for routine in program.routines.values()]
    return {x for x in OF_A_LIBRARY if program.uses(x)}.union(*inner)


def refusal_reason(program: Program, bounded_loops: bool = False) -> str:
    """The reason why a program cannot be exported; "" if it can.

    bounded_loops: loops that end early are allowed.
    """
    if program.tables:
        return f"it looks up the table {program.tables[0]}, which may have any size"
    if any(x.uses("uniform") for x in (program, *_all_routines(program))):
        return "it draws random numbers"
    if not bounded_loops and most_steps_of_ending_loops(program):
        return (
            "it repeats until it is done, so that its time depends on its arguments; to allow that, "
            "pass bounded_loops=True to wd.export, or --bounded-loops"
        )
    return ""


def most_steps_of_ending_loops(program: Program) -> int:
    """Largest number of steps of a program's loops that may end early; 0 if no loop may."""
    loops = (x.repetition for x in _all_routines(program))
    return max((loop.times for loop in loops if loop and loop.ends), default=0)


def _all_routines(program: Program) -> Iterator[Program]:
    for routine in program.routines.values():
        yield routine
        yield from _all_routines(routine)


def _unused_parameters(
    program: Program, inputs: Mapping[str, str], results: Mapping[str, str]
) -> list[str]:
    """C names of the arrays that a program neither reads nor writes."""
    read = {s.arguments[0] for s in program.statements if s.operation == "input"}
    unread = [name for x, name in inputs.items() if x not in read]
    return [*unread, *(results[x] for x, shape in program.results.items() if not prod(shape))]


def function(
    program: Program,
    name: str,
    inputs: Mapping[str, str],
    results: Mapping[str, str],
    style: Style,
    lanes: bool = False,
) -> str:
    """A program as one function (a template in C++), after the routines that it calls.

    `inputs`, `results`: C names of the arrays, in the order of parameters; each is an array of
    numbers, or of lanes, of one robot, in C order.
    """
    value = "V" if style.language == "c++" else style.type(lanes)
    array = f"* {style.restrict} "
    parameters = [f"const {value}{array}{x}" for x in inputs.values()]
    parameters += [f"{value}{array}{x}" for x in results.values()]

    def store(entries: list[int], text: str) -> str:
        return " ".join(f"{place(k)} = {text};" for k in entries)

    def place(k: int) -> str:
        result, entry = program.places[k]
        return f"{results[result]}[{entry}]"

    arrays_read = {**inputs, TURNS["sin"]: SINE, TURNS["cos"]: COSINE}

    def load(array: str, entry: int) -> str:
        return f"{arrays_read[array]}[{entry}]"

    regions, before, arrays = _routines(program, name, style, lanes)
    memory, made = _arrays(program, regions, value)
    arrays |= made
    dialect = replace(
        _dialect(style, lanes), load=load, store=store, regions=regions, memory=memory
    )
    lines = [f"(void){x};" for x in _unused_parameters(program, inputs, results)]
    parts, slots = split_statements(_alive(program), PART, lambda s: s.operation == "input")
    lines += [*_declare_arrays(arrays, value), *_turns(program, dialect, style, lanes)]
    stored: set[int] = set()
    bodies = [
        list(emit(program, _without_unused_loads(part, program), dialect, stored)) for part in parts
    ]
    # A long program becomes several functions, because compile time grows faster than the length of
    # a function. All share one workspace.
    if len(bodies) > 1:
        local = {x: f"{value} *{x}" for x in ("work", *arrays)}
        if program.angles:
            local |= {x: f"const {value} *{x}" for x in (SINE, COSINE)}
        names = [*inputs.values(), *results.values(), *local]
        own = "<V>" if style.language == "c++" else ""
        for k, body in enumerate(bodies):
            unused = [f"(void){x};" for x in names]
            taken = [*parameters, *local.values()]
            before += _define_function(
                f"{name}_part{k}", taken, [*unused, *body], style, apart=True
            )
        lines.append(f"{value} work[{max(slots, 1)}];")
        lines += [f"{name}_part{k}{own}({', '.join(names)});" for k in range(len(bodies))]
    else:
        lines += bodies[0]
    lines += [
        f"{place(k)} = {_constant(o.constant, style, lanes)};"
        for k, o in enumerate(program.outputs)
        if o.node is None
    ]
    return "\n".join([*before, *_define_function(name, parameters, lines, style)])


def _without_unused_loads(part: Sequence[Statement], program: Program) -> list[Statement]:
    """A part without loads that only later parts read: those parts load the values themselves."""
    # The arguments of `keep` and `recall` are slots of the workspace, not statements.
    reading = (s for s in part if s.operation not in ("keep", "recall"))
    needed = {x for s in reading for x in operands(s)}.union(program.stores)
    return [s for s in part if s.operation != "input" or s.target in needed]


def _turns(program: Program, dialect: Dialect, style: Style, lanes: bool) -> Iterator[str]:
    """Sines and cosines of all angles computed from inputs, in a separate loop, which compilers
    vectorise: a panda's `rnea` then takes less than half of the time."""
    angles = program.angles
    if not angles:
        return
    n = len(angles)
    yield f"{dialect.type} angle[{n}], {SINE}[{n}], {COSINE}[{n}];"
    yield "{"
    statements = with_whole_products(program.angle_statements)
    yield from emit(program, statements, dialect, {*program.stores})
    yield from (f"angle[{k}] = t{angle};" for k, angle in enumerate(angles))
    call = f"{style.helper('sine_cosine', lanes)}(angle[k], &{SINE}[k], &{COSINE}[k])"
    yield from ("}", f"for (int k = 0; k < {n}; ++k) {call};")


def _alive(program: Program) -> list[Statement]:
    """Statements that are needed if sines and cosines of `program.angles` are read like inputs."""
    place = {angle: k for k, angle in enumerate(program.angles)}
    needed, alive = set(program.stores), list[Statement]()
    changes = {"frame", "call", *ARRAY_OPERATIONS}.difference(READS)
    for each in reversed(with_whole_products(program.statements)):
        # A routine's results are read through its arrays, so `frame` and `call` always stay, and so
        # do writes to arrays.
        if each.target not in needed and each.operation not in changes:
            continue
        statement = each
        if each.operation in ("sin", "cos") and each.arguments[0] in place:
            table = TURNS[each.operation]
            statement = Statement(each.target, "input", (table, place[each.arguments[0]]))
        alive.append(statement)
        needed.update(operands(statement))
    return alive[::-1]


def _define_function(
    name: str, parameters: list[str], lines: list[str], style: Style, apart: bool = False
) -> Iterator[str]:
    """A function; `apart`: compilers are asked not to inline it."""
    if style.language == "c++":
        yield "template <typename V>"
    static = "static " if style.language == "c" else ""
    declared = f"WARPDYN_APART {static}".strip() if apart else style.inline
    yield f"{declared} void {name}({', '.join(parameters)}){style.noexcept} {{"
    yield from (f"  {line}" for line in lines)
    yield "}"


def _constant(x: float, style: Style, lanes: bool) -> str:
    return _broadcast(number(x, style), style, lanes)


def _broadcast(text: str, style: Style, lanes: bool) -> str:
    """A constant as a value of the function's type."""
    if style.language == "c++":
        return f"as<V>({text})"
    return f"{style.helper('all', True)}({text})" if lanes else text


def number(x: float, style: Style) -> str:
    """A constant, including infinities and NaN, with the type of the style's numbers."""
    x = style.nearest(x)
    if isfinite(x):
        return literal(x, style.single)
    builtin = "f" if style.single else ""
    if isnan(x):
        return "NAN" if style.libm else f'__builtin_nan{builtin}("")'
    return ("-" if x < 0 else "") + ("INFINITY" if style.libm else f"__builtin_inf{builtin}()")


def _routines(
    program: Program, name: str, style: Style, lanes: bool
) -> tuple[dict[str, Region], list[str], dict[str, int]]:
    """The routines of a program: the arrays of each, their functions, and the arrays' sizes."""
    value = "V" if style.language == "c++" else style.type(lanes)
    regions: dict[str, Region] = {}
    before: list[str] = []
    arrays: dict[str, int] = {}
    for routine_name, routine in program.routines.items():
        own = f"{name}_{routine_name}"
        places = [f"{routine_name}_{array}" for array in (SHARED, COLUMN, "out")]
        sizes = [
            prod(routine.inputs[SHARED]),
            count_column_entries(routine),
            count_written_entries(routine),
        ]
        # Compilers warn of an array without numbers that is read, so it is a null pointer.
        none = "nullptr" if style.language == "c++" else "0"
        places[:2] = [x if n else none for x, n in zip(places[:2], sizes[:2], strict=True)]
        arrays |= {x: n for x, n in zip(places, sizes, strict=True) if x != none}
        parameters = [f"const {value} *shared", f"const {value} *column", f"{value} *out"]
        rest, repetition, stride = "", routine.repetition, 0
        if repetition and repetition.reads:
            source = program.routines[repetition.reads]
            stride, kept = count_kept_entries(source), prod(source.results["out"])
            parameters.append(f"const {value} *kept")
            rest = f", {regions[repetition.reads].out} + {kept}"
        parameters += source_parameters(routine, value).split(", ")[1:]
        rest += source_arguments(routine, regions)
        # A routine may call further routines: their functions come first.
        inner, first, held = _routines(routine, own, style, lanes)
        parameters += array_parameters(routine, value).split(", ")[1:]
        memory, made = _arrays(routine, inner, value)
        held |= made
        body = partial(_body, routine, style, lanes, inner, memory)
        counter = _broadcast(f"({style.type(False)})step", style, lanes)
        beyond = style.helper("is_beyond", lanes)
        numeric, own_number = partial(number, style=style), style.type(False)
        lines = list(
            write_sweep(routine, routine.sweep, value, own_number, numeric, body)
            if routine.sweep
            else write_loop(routine, repetition, value, stride, body, counter, beyond)
            if repetition
            else body({}, "out")
        )
        names = [f"array{j}" for j in range(len(routine.arrays))]
        unread = ["shared", "column", *names, *([] if sizes[2] else ["out"])]
        unused = [f"(void){x};" for x in unread]
        if repetition and repetition.counts and repetition.reads:
            unused.append("(void)kept;")
        lines = [*unused, *_declare_arrays(held, value), *lines]
        before += [*first, *_define_function(own, parameters, lines, style)]
        called = own if style.language == "c" else f"{own}<V>"
        regions[routine_name] = Region(called, places[0], places[1], places[2], rest)
    return regions, before, arrays


def _arrays(
    program: Program, regions: Mapping[str, Region], value: str
) -> tuple[dict[int, str], dict[str, int]]:
    """The arrays of a program in loops: their addresses, and their sizes by name."""
    made = new_arrays(program)
    memory = memory_in_loops(program, regions, f"({value} *)before")
    memory |= {array: f"memory{array}" for array in made}
    return memory, {f"memory{array}": size for array, size in made.items()}


def _declare_arrays(arrays: Mapping[str, int], value: str) -> Iterator[str]:
    """Declarations of a function's arrays; C does not allow empty ones."""
    return (f"{value} {name}[{max(n, 1)}];" for name, n in arrays.items())


def _body(
    routine: Program,
    style: Style,
    lanes: bool,
    regions: Mapping[str, Region],
    memory: Mapping[int, str],
    arrays: Mapping[str, str],
    out: str,
) -> Iterator[str]:
    """A routine's statements and the constants among its results."""

    def load(array: str, entry: int) -> str:
        text = f"{arrays.get(array, array)}[{entry}]"
        return _broadcast(text, style, lanes) if array == FIXED else text

    dialect = replace(
        _dialect(style, lanes),
        load=load,
        store=lambda entries, value: " ".join(f"{out}[{k}] = {value};" for k in entries),
        regions=regions,
        memory=memory,
    )
    yield from emit(routine, with_whole_products(routine.statements), dialect, set())
    known = [(k, o.constant) for k, o in enumerate(routine.outputs) if o.node is None]
    yield from (f"{out}[{k}] = {_constant(value, style, lanes)};" for k, value in known)


def _dialect(style: Style, lanes: bool) -> Dialect:
    value = "V" if style.language == "c++" else style.type(lanes)
    names = ("sqrt", "abs", "floor", "exp", "log", "atan2", "rest")

    def select(x: str, sign: str, y: str, a: str, b: str) -> str:
        chosen = style.helper("less" if sign == "<" else "less_equal", lanes)
        return f"{chosen}({x}, {y}, {a}, {b})"

    def never(*_: object) -> str:
        raise NotImplementedError("tables are refused")

    sine_cosine = style.helper("sine_cosine", lanes)
    return Dialect(
        type=value,
        functions={name: style.helper(name, lanes) for name in names},
        constant=lambda x: number(x, style),
        load=never,
        store=never,
        sincos=lambda x, s, c: f"{value} {s}, {c}; {sine_cosine}({x}, &{s}, &{c});",
        select=select,
        look=never,
        cell=never,
        corners=never,
        forms=PORTABLE_FORMS,
        broadcast=partial(_broadcast, style=style, lanes=lanes),
        array_form=function_form(lambda name: style.helper(name, lanes)),
    )
