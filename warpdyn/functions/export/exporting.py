"""Functions of a robot as a C++ or C file that a controller includes; it needs no library."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal

from ...codegen.exported_header import (
    ExportedFunction,
    ExportedRobot,
    exported_header,
    library_functions_of,
)
from ...codegen.portable import LOCAL, RESERVED, most_steps_of_ending_loops, refusal_reason
from ...codegen.portable_style import Style
from ...execution.request.call import Call, ResultCheck, input_shapes
from ...execution.request.evaluate import record_call
from ...model import Model
from ...model.coordinate_ranges import orientation_columns
from ...model.model import check_model
from .compile_ahead import Precision, call_on_zeros, zeros_of
from .identifiers import identifier, namespace_name
from .stack_usage import stacks

ExportLanguage = Literal["c++", "c"]
"""C++17, or C99."""

RESULTS = {
    "rnea": "tau", "aba": "a", "crba": "M", "fk": "pose", "jacobian": "J", "gravity_torques": "tau",
    "mass_matrix_inverse": "M_inverse", "bias_forces": "h",
}  # fmt: skip
"""Names of results that have a usual symbol; all other results are named `out`."""

ABOUT = {
    "q": "configuration [rad, m], {}",
    "v": "velocity [rad/s, m/s], {}",
    "a": "acceleration [rad/s^2, m/s^2], {}",
    "tau": "joint torques and forces [N m, N], {}",
    "point": "in the link's frame [m], {}",
    "gravity": "acceleration of free fall in the world's axes [m/s^2], {}",
    "pose": "homogeneous transform, link axes to those of the world or of relative_to [m], {}",
    "J": "rows: linear, then angular [m, rad a unit of v], {}",
    "M": "joint-space inertia, {}",
}
"""Descriptions of arrays by name, each with a place for its shape."""

ABOUT_POSE = "x y z [m] and qx qy qz qw of the link in the world or in relative_to, {}"
"""Description of a pose of seven numbers, in this order for every model."""

ABOUT_PARTS = {
    "linear": "linear rows [m a unit of v], {}",
    "angular": "angular rows [rad a unit of v], {}",
}
"""Descriptions of a Jacobian's part."""

OF_STATES = ("q", "v")
"""Arrays that have their meaning in users' own kernels as well."""

ABOUT_PARAMS = {
    "mass": "[kg], {}",
    "com": "centre of mass in the link's frame [m], {}",
    "inertia": "xx xy xz yy yz zz about the centre of mass in the link's axes [kg m^2], {}",
    "placement": "x y z qx qy qz qw in the parent link [m], {}",
    "axis": "in the joint's frame, of any length, {}",
}
"""Descriptions of model numbers that vary, by quantity."""

MEANINGS = {
    ("reference", "local"): "in the link's axes, at its origin",
    ("reference", "world"): "in the world's axes, at its origin",
    ("reference", "local_world_aligned"): "in the world's axes, at the link's origin",
}
"""Descriptions of the frames of results, by option."""

AT_A_POINT = {
    ("reference", "local"): "in the link's axes, at the point",
    ("reference", "local_world_aligned"): "in the world's axes, at the point",
}
"""The same for results at a point of the link."""


def export(
    model: Model,
    calls: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]],
    path: str | Path | None = None,
    *,
    namespace: str | None = None,
    dtype: Precision = "float64",
    language: ExportLanguage = "c++",
    libm: bool = True,
    bounded_loops: bool = False,
    overwrite: bool = False,
) -> str:
    """The text of one header with these functions for a robot, also written to `path` if given.

    calls: functions of a model, including your own kernels, and
    `functools.partial(wd.jacobian, frame="hand")` for one with options. A mapping gives them names.
    Model numbers that vary (`params=model.params(mass=...)` in a partial) become arguments.
    namespace: the C++ namespace or the C prefix; by default the robot's name as an identifier.
    dtype: the type of all numbers. language: "c++" (C++17) or "c" (C99). libm: if False, the header
    does not include `math.h` or `cmath`, and programs that need exp, log or atan2 raise an error.
    bounded_loops: allow functions with loops that end early (`wd.kernels.repeat` with `until`). How
    long such a function takes depends on its arguments. Its comment gives the largest number of steps.

    Each function has a form for one robot, `rnea(q, v, a, tau)`, and a form for n robots in rows,
    `rnea_batch(n, q, v, a, tau)`. Neither allocates, locks, throws or runs a loop of unknown
    length.
    """
    check_model(model)
    if language not in ("c++", "c"):
        raise ValueError(f'language must be "c++" or "c", got {language!r}')
    as_prefix = namespace_name if language == "c++" else identifier
    style = Style(language, dtype == "float32", as_prefix(namespace or model.name), libm)
    functions = exported_functions(model, calls, dtype, bounded_loops)
    text = header_of(model, functions, style)
    if path is not None:
        file = Path(path)
        if file.is_dir():
            raise IsADirectoryError(f"{file} is a folder; give the name of a file in it")
        if file.exists() and not overwrite:
            raise FileExistsError(f"{file} exists; overwrite=True replaces it")
        text = header_of(model, with_stacks(functions, text, style), style)
        file.write_text(text, encoding="utf-8")
    return text


def header_of(model: Model, functions: Sequence[ExportedFunction], style: Style) -> str:
    """The header of a robot's functions; ValueError if a function needs the C library and the style
    excludes it."""
    if not style.libm and (needed := library_functions_of(functions)):
        name, what = next(iter(needed.items()))
        raise ValueError(
            f"{name} needs {', '.join(sorted(what))} of the C library, which libm=False leaves out"
        )
    return exported_header(_robot(model, style), functions, style)


def with_stacks(
    functions: Sequence[ExportedFunction], text: str, style: Style
) -> list[ExportedFunction]:
    """Functions with their stack usage added to their comments, if gcc is installed."""
    found, by = stacks(text, [each.name for each in functions], style.prefix, style.language)
    said = {
        name: f"Stack: {one} bytes, a batch {many} ({by})." for name, (one, many) in found.items()
    }
    return [
        replace(each, about=[*each.about, *([said[each.name]] if each.name in said else [])])
        for each in functions
    ]


def exported_functions(
    model: Model,
    calls: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]],
    dtype: Precision,
    bounded_loops: bool = False,
) -> list[ExportedFunction]:
    """Programs of the functions, with the C names of the functions and of their arrays."""
    zeros = zeros_of(dtype, "cpu")
    named = _functions_by_name(calls)
    if not named:
        raise ValueError("nothing to export: name at least one function, such as [wd.rnea]")
    return [
        _export_function(
            name, function, call_on_zeros(model, function, zeros), dtype == "float32", bounded_loops
        )
        for name, function in named.items()
    ]


def _functions_by_name(
    calls: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]],
) -> dict[str, Callable[..., Any]]:
    """Functions by their C names: those of the mapping, or the function's own name with its
    frame."""
    if callable(calls):
        raise TypeError(f"calls must be a list: wd.export(model, [{calls!r}])")
    pairs = calls.items() if isinstance(calls, Mapping) else ((_name(x), x) for x in calls)
    found: dict[str, Callable[..., Any]] = {}
    for wanted, each in pairs:
        name = identifier(wanted)
        if RESERVED.fullmatch(name):
            raise ValueError(
                f"no function can be called {name}, which the header itself defines; give another "
                'name: wd.export(model, {"name": ...})'
            )
        # A function's second form, for rows, takes another name.
        if found.keys() & {name, f"{name}_batch", name.removesuffix("_batch")}:
            raise ValueError(
                f"two functions would be called {name}; give names: "
                'wd.export(model, {"first": ..., "second": ...})'
            )
        found[name] = each
    return found


def _name(function: Any) -> str:
    """A function's name, with its frame where it has one."""
    whole = function.func if isinstance(function, partial) else function
    if not callable(whole):
        raise TypeError(f"calls must hold functions of a model, such as wd.rnea, got {whole!r}")
    frame = function.keywords.get("frame") if isinstance(function, partial) else None
    return f"{whole.__name__}_{frame}" if isinstance(frame, str) else str(whole.__name__)


def _export_function(
    name: str, function: Callable[..., Any], call: Call[Any], single: bool, bounded_loops: bool
) -> ExportedFunction:
    program = record_call(call, input_shapes(call), single)
    if why := refusal_reason(program, bounded_loops):
        raise ValueError(f"{name} cannot be exported: {why}")
    inputs = {x: _array_name(x) for x in program.inputs}
    results: dict[str, str] = {}
    for result in program.results:
        written = _array_name(_result_label(call, result, len(program.results) == 1))
        results[result] = f"{written}_out" if written in inputs.values() else written
    # An array that is both an input and a result has two C arguments, so the result gets a suffix.
    # Link names may still map to the same identifier.
    taken = [*inputs.values(), *results.values()]
    twice = sorted({x for x in taken if taken.count(x) > 1})
    if twice:
        raise ValueError(
            f"{name}: arrays {', '.join(n for n, c in [*inputs.items(), *results.items()] if c in twice)} "
            f"would all be called {twice[0]}; rename a link"
        )
    exported = ExportedFunction(name, program, inputs, results, ())
    labels = {c: label for label, c in (*inputs.items(), *results.items())}
    return replace(exported, about=_comment(exported, labels, function, call))


def _result_label(call: Call[Any], result: str, single: bool) -> str:
    """The name of a result: that of a usual symbol for the only result, and for its derivatives,
    "tau by q"."""
    usual = RESULTS.get(call.name, "out")
    if call.derivatives:
        return f"{usual}{result.removeprefix('out')}" if result.startswith("out by ") else result
    return usual if single else result


def _comment(
    exported: ExportedFunction,
    labels: Mapping[str, str],
    function: Callable[..., Any],
    call: Call[Any],
) -> list[str]:
    """The comment above the C function: the first paragraph of the docstring, then its arrays and
    options. labels: of the arrays by their C names."""
    program, name = exported.program, exported.name
    whole: Any = function.func if isinstance(function, partial) else function
    about = (inspect.getdoc(whole) or "").split("\n\n", 1)[0]
    lines = [*wrap(f"{name}: {' '.join(about.split())}" if about else name, 92), ""]
    for c, shape in exported.shapes.items():
        lines += wrap(f"{c}: {_about_array(call, labels[c], c, shape)}", 92)
    # Options of a conversion, such as its source, are only in the partial.
    keywords = function.keywords if isinstance(function, partial) else {}
    at_a_point = keywords.get("point") is not None
    meanings = MEANINGS | AT_A_POINT if at_a_point else MEANINGS
    # Lists of names are columns or records in the call, and names in the partial.
    inputs = {**call.arrays, **program.inputs}
    named = {n: _as_list(x) for n, x in keywords.items() if n not in inputs}
    for name_of_option, x in {**dict(call.options), **named}.items():
        if isinstance(x, (str, int, float)):
            meaning = meanings.get((name_of_option, str(x)), "")
            lines += wrap(f"{name_of_option} = {x}{meaning and ', '}{meaning}", 92)
    if isinstance(call.named, ResultCheck):
        lines.append(
            "The result is not checked here; the function of Python raises an error if it is wrong."
        )
    lines.append(f"{program.operations} operations, {len(program.angles)} sines and cosines.")
    if steps := most_steps_of_ending_loops(program):
        lines.append(
            f"Loops of at most {steps} steps end early: its time depends on its arguments."
        )
    return lines


def _as_list(x: Any) -> Any:
    """Names or numbers of a list on one line; anything else as it is."""
    plain = isinstance(x, (list, tuple)) and all(isinstance(each, (str, int, float)) for each in x)
    return ", ".join(map(str, x)) if plain and x else x


def _about_array(call: Call[Any], label: str, name: str, shape: tuple[int, ...]) -> str:
    """The description of an array: its meaning, unit and shape, its conventions of this robot, and
    the links or joints of its rows, which are in the model's order and not in the caller's."""
    model, kind = call.model, label.partition(":")
    if kind[0] == "params" and call.params is not None:
        rows = f", of {', '.join(call.params.names[kind[2]])}"
        return ABOUT_PARAMS.get(kind[2], "{}").format(_shape(shape)) + rows
    if kind[0] == "f_ext":
        whose = kind[2] or "each link, in the order of the model"
        return f"force, then torque about its origin, in its axes [N, N m], {_shape(shape)}, on {whose}"
    by = label.partition(" by ")[2] if call.derivatives else ""
    if by:
        return f"derivative by {by}, the last dimension, {_shape(shape)}"
    text = _meaning(call, name, shape).format(_shape(shape))
    # Numbers of a call, such as dt=0.01, become arguments, so that the comment keeps them.
    if isinstance(numbers := call.arrays.get(label), tuple):
        text += f"; the exported call has {', '.join(map(str, numbers))}"
    # Conversions have arrays in the conventions of other libraries, and kernels of users have any.
    own = call.identity is not None
    if name == "q" and orientation_columns(model) and call.name != "convert_configuration":
        text += f"; quaternions are {' '.join(model.quaternion)}"
    converted = call.by_velocity is None and not (own and name in OF_STATES)
    if name in ("v", "a", "tau") and model.floating_base and not converted:
        text += f"; the free base's {MEANINGS['reference', model.base_velocity]}"
    return text


def _meaning(call: Call[Any], name: str, shape: tuple[int, ...]) -> str:
    """The meaning and unit of an array, with a place for its shape. Other arrays of users' own kernels
    have any meaning."""
    if call.identity is not None and name not in OF_STATES:
        return "{}"
    if name == "pose" and shape[-1:] == (7,):
        return ABOUT_POSE
    if name == "J" and (part := dict(call.options).get("part")) in ABOUT_PARTS:
        return ABOUT_PARTS[part]
    return ABOUT.get(name, "{}")


def _shape(shape: tuple[int, ...]) -> str:
    if not shape:
        return "one number"
    return f"{' x '.join(map(str, shape))}{', rows one after the other' if len(shape) > 1 else ''}"


def _array_name(label: str) -> str:
    """The C name of an array: "f_ext:hand", "params:mass" are f_ext_hand and mass."""
    name = identifier(label.removeprefix("params:"))
    return f"{name}_" if LOCAL.fullmatch(name) else name


def _robot(model: Model, style: Style) -> ExportedRobot:
    """The header's description of the robot: names in order, limits, and the layout of all
    arrays."""
    base = "a free base" if model.floating_base else "a fixed base"
    about = [
        f"{model.name}: dynamics as straight-line code, written by warpdyn {version('warpdyn')}.",
        f"Model {model.key[:16]}: {base}, nq = {model.nq}, nv = {model.nv}.",
        "",
        "Arrays of one robot lie without gaps, matrices row by row, and must not overlap.",
        "No function allocates, locks, throws, keeps state or, unless its comment says so, branches on",
        "its arguments; stacks are bounded. Sines and cosines are within two units in the last place for",
        f"angles up to {'8000' if style.single else '500000'} rad, lose digits beyond, and are NaN beyond "
        f"{'4.2e6' if style.single else '2.2e15'} rad.",
        "NaN comes out as NaN, infinity as infinity or NaN. Do not compile with -ffast-math or parts of it.",
        "Numbers too small to be normal may count as zero where the processor says so, and do in roots",
        "without libm.",
    ]
    return ExportedRobot(
        about,
        {"nq": model.nq, "nv": model.nv},
        {"joint_names": list(model.joint_names)},
        {
            "lower": [float(x) for x in model.position_lower],
            "upper": [float(x) for x in model.position_upper],
            "velocity_limit": [float(x) for x in model.velocity_limit],
            "effort_limit": [float(x) for x in model.effort_limit],
        },
    )
