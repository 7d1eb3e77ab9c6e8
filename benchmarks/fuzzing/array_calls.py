"""Random arrays of NumPy, Torch and JAX in calls, bound calls and derivatives.

The peer is the same call on the same numbers as contiguous float64 NumPy arrays, and for a part of
the cases `wd.oracle`. A series draws a function, a robot, a library and a layout for each array, and
repeats the call on new numbers, so that remembered and native calls are among the cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any
from unittest.mock import patch

import jax
import jax.numpy as jnp
import numpy as np
import torch

import warpdyn as wd
from benchmarks.fuzzing.array_layouts import (
    LAYOUTS,
    OF_NUMPY,
    WRITABLE,
    Layout,
    functional,
    imaginary,
    lazy_zeros,
    other,
)
from benchmarks.fuzzing.outcomes import Outcome
from warpdyn.execution.repeat import call_cache

ROBOTS = ("double_pendulum", "cartpole", "ur5e")
FUNCTIONS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "rnea": (wd.rnea, ("q", "v", "tau")),
    "aba": (wd.aba, ("q", "v", "tau")),
    "crba": (wd.crba, ("q",)),
    "fk": (wd.fk, ("q",)),
    "height_scan": (wd.height_scan, ("q", "pattern")),
}
"""Each with the names of its arguments."""

OF_ANY_LIBRARY = ("numpy", "other_numpy")
"""Layouts that are right for a pattern next to arrays of any library."""

POINTS = 4  # of a pattern, at most; the model does not determine their number
TOLERANCE = {"float64": 1e-11, "float32": 2e-4}
"""Differences relative to the largest entry, at least 1. float32: `aba` divides by small inertias."""

BATCHES = (1, 3, 4, 8, 16, 17, 64)
CALLS = 6
"""Calls of a series, at most: the third one is planned, and in C from the fourth on."""
LONE = {"plain", "offset", "read_only", "imaginary", "lazy_zeros", "parameter", "numpy", "masked"}
"""Layouts of one robot's vector."""

LAZY = {"imaginary", "of_an_adjoint", "offset_imaginary", "lazy_zeros"}

OF_TORCH = "Inference tensors cannot be saved for backward"
"""Words of the RuntimeErrors by which Torch itself refuses a call."""

REFUSALS = (TypeError, ValueError, NotImplementedError)


@dataclass
class Series:
    """The function, robot, arrays and options that all calls of a series share."""

    name: str
    robot: str
    lead: tuple[int, ...]
    dtype: str
    library: str
    mode: str
    layouts: tuple[str, ...]
    out: str
    cotangent: str
    which: str
    """Torch: which arrays require a gradient."""
    points: int

    @property
    def function(self) -> Any:
        return FUNCTIONS[self.name][0]

    @property
    def model(self) -> wd.Model:
        return _robot(self.robot)

    @property
    def is_plain(self) -> bool:
        """Whether the call must run, because all of its arrays are ordinary."""
        if self.library == "jax" and self.out != "none":
            return False
        return {*self.layouts, self.out, self.cotangent} <= {"plain", "none"}

    @property
    def must_be_refused(self) -> bool:
        """Whether the call must be refused."""
        used = [LAYOUTS[self.library][x] for x in self.layouts]
        if self.mode == "gradient":
            used.append(LAYOUTS[self.library][self.cotangent])
        if any(x.refused for x in used) or len({x.other_dtype for x in used}) > 1:
            return True
        bound_to = {*self.layouts} & (LAZY | ({"numpy"} if self.library != "numpy" else set()))
        if self.mode == "bound" and bound_to and {*self.layouts} != {"numpy"}:
            return True
        return self.out in REFUSED_OUTS and self.mode != "gradient"


REFUSED_OUTS = {"read_only", "spread", "alias", "masked", "wide", "imaginary", "lazy_zeros"} | {
    "functional",
    "leaf",
}


@cache
def _robot(name: str) -> wd.Model:
    return wd.load_robot(name)


def cases(seed: int, robots: Sequence[str] = ROBOTS) -> Iterator[Outcome]:
    """An outcome for each call, without end."""
    for number in count():
        yield from outcomes(seed, number, robots)


def outcomes(seed: int, number: int, robots: Sequence[str] = ROBOTS) -> list[Outcome]:
    """Those of one series."""
    draw = np.random.default_rng([seed, number])
    series = _drawn(draw, robots)
    text = (
        "from benchmarks.fuzzing.array_calls import outcomes\n\n"
        f"# {series}\n"
        f"print(*outcomes({seed}, {number}, {tuple(robots)!r}), sep='\\n')\n"
    )
    found = []
    precision = jax.enable_x64(True) if series.library == "jax" else nullcontext()
    with precision, patch.object(call_cache, "RUNS_IN_PYTHON", 1):
        for _ in range(draw.integers(1, CALLS + 1)):
            try:
                reason = _carried_out(series, draw)
            except REFUSALS as error:
                if series.is_plain:
                    reason = f"a plain call is refused: {type(error).__name__}: {error}"
                else:
                    found.append(Outcome("refused", _reason(error)))
                    continue
            except Exception as error:  # whatever else is not a refusal
                if str(error).startswith(OF_TORCH):
                    found.append(Outcome("refused", _reason(error)))
                    continue
                reason = f"{series.mode}: {type(error).__name__} {_reason(error)}"
            else:
                if series.must_be_refused:
                    reason = f"{series.mode} {series.library}: carried out, to be refused"
            found.append(Outcome("different", reason, text) if reason else Outcome("equal"))
    return found


def _reason(error: Exception) -> str:
    """The message of an error, without names and numbers."""
    text = re.sub(r"\d+", "N", str(error).splitlines()[0])
    text = re.sub(r"\b(q|v|a|tau|out)\b", "x", text)
    text = re.sub(r"\((N, )*N,?\)", "(..)", text)
    return re.sub(r"float(N)", "floatN", text)[:110]


def _drawn(draw: np.random.Generator, robots: Sequence[str]) -> Series:
    def one(of: Sequence[str]) -> str:
        return str(draw.choice(list(of)))

    name, robot, dtype = one([*FUNCTIONS]), one(robots), one(["float32", "float64"])
    library = one(["numpy", "torch", "torch", "jax"])
    modes = {"numpy": ("call", "bound", "gradient"), "jax": ("call", "jit", "gradient")}
    mode = one((*modes.get(library, ("call", "call", "bound", "gradient")), "call"))
    batch = int(draw.choice(BATCHES))
    lead: tuple[int, ...] = (batch,)
    if mode in ("call", "bound") and draw.random() < 0.25:
        lead = () if draw.random() < 0.4 else (2, batch)
    names = [x for x in LAYOUTS[library] if lead or x in LONE]
    layouts = tuple(
        one([x for x in names if argument != "pattern" or x not in OF_ANY_LIBRARY])
        if draw.random() < 0.4
        else "plain"
        for argument in FUNCTIONS[name][1]
    )
    if all(LAYOUTS[library][x].other_dtype for x in layouts):
        layouts = ("plain", *layouts[1:])  # else it is a call in the other dtype
    out = "none"
    if mode in ("call", "bound") and lead and draw.random() < 0.4:
        kinds: tuple[str, ...] = (*WRITABLE, "alias", "wide")
        kinds += ("read_only", "spread", "masked") if library == "numpy" else ()
        kinds += ("imaginary", "lazy_zeros", "functional", "leaf") if library == "torch" else ()
        out = one(kinds)
    # Of cotangents Torch and JAX convert or refuse dtypes and devices themselves.
    theirs = ("half", "other_dtype", "other_numpy", "without_numbers") if library != "numpy" else ()
    kinds_of_cotangents = [x for x in LAYOUTS[library] if x not in theirs]
    cotangent = one(kinds_of_cotangents) if draw.random() < 0.5 else "plain"
    if mode != "gradient":
        cotangent = "plain"
    which = "first" if name == "rnea" and draw.random() < 0.5 else "all"
    points = int(draw.integers(1, POINTS + 1))
    return Series(name, robot, lead, dtype, library, mode, layouts, out, cotangent, which, points)


# A call, and what it gives.


def _numbers(draw: np.random.Generator, shape: tuple[int, ...], dtype: str, it: Layout) -> Any:
    """Numbers that the dtype has, as the layout changes them, in float64."""
    x = draw.uniform(-2, 2, shape).astype(dtype).astype(float)
    if it.other_dtype:
        x = x.astype("float32").astype(float)
    if it.zero:
        x = np.zeros_like(x)
    elif it.spread:
        x = np.array(np.broadcast_to(x[0], x.shape))
    return x


def _carried_out(series: Series, draw: np.random.Generator) -> str:
    """One call of the series; how it differs, or nothing."""
    model, kinds = series.model, LAYOUTS[series.library]
    shapes = {"q": (model.nq,), "pattern": (series.points, 2)}
    names = FUNCTIONS[series.name][1]
    layouts = [kinds[x] for x in series.layouts]
    numbers = [
        _numbers(draw, (*series.lead, *shapes.get(n, (model.nv,))), series.dtype, it)
        for n, it in zip(names, layouts, strict=True)
    ]
    arrays = [it.make(x, series.dtype) for it, x in zip(layouts, numbers, strict=True)]
    wanted = series.function(model, *numbers)
    if draw.random() < 0.02:
        checked = wd.oracle(series.function, model, *numbers)
        if problem := _compared("the peer", wanted, checked, "float64"):
            return problem
    if series.mode == "gradient":
        problem = _gradient(series, draw, numbers, arrays, wanted)
    elif series.mode == "bound":
        problem = _bound(series, draw, numbers, arrays, wanted)
    else:
        problem = _called(series, arrays, wanted)
    return problem or _unchanged(series, numbers, arrays)


def _called(series: Series, arrays: list[Any], wanted: Any) -> str:
    function, model = series.function, series.model
    if series.mode == "jit":
        # `numpy` is a constant of the program.
        traced = [k for k, x in enumerate(arrays) if not isinstance(x, np.ndarray)]

        def run(*given: Any) -> Any:
            whole = list(arrays)
            for k, x in zip(traced, given, strict=True):
                whole[k] = x
            return function(model, *whole)

        found = jax.jit(run)(*(arrays[k] for k in traced))
    elif series.out == "none":
        found = function(model, *arrays)
    else:
        out = _out(series, arrays, np.shape(wanted))
        found = function(model, *arrays, out=out)
        if found is not out:
            return f"call {series.library}: the result is not out"
    return _compared(f"{series.mode} {series.library}", found, wanted, series.dtype)


def _out(series: Series, arrays: list[Any], shape: tuple[int, ...]) -> Any:
    """An array for the result, without numbers."""
    empty, of_torch = np.full(shape, np.nan), series.library == "torch"
    dtype, kind = series.dtype, series.out
    if kind == "alias":
        same = [x for x in arrays if tuple(x.shape) == shape]
        kind = "alias" if same else "wide"
        if same:
            return same[0]
    if kind == "wide":
        dtype, kind = other(dtype), "plain"
    if series.library == "jax":
        return jnp.asarray(empty, dtype)
    if kind == "leaf":
        return torch.tensor(empty.astype(dtype), requires_grad=True)
    if of_torch and kind in REFUSED_OUTS:
        makers = {"imaginary": imaginary, "lazy_zeros": lazy_zeros, "functional": functional}
        return makers[kind](empty, dtype)
    made = (
        LAYOUTS["numpy"][kind].make(empty, dtype)
        if kind not in OF_NUMPY
        else OF_NUMPY[kind](empty, dtype)
    )
    return torch.from_numpy(made) if of_torch else made


def _bound(
    series: Series, draw: np.random.Generator, numbers: list[Any], arrays: list[Any], wanted: Any
) -> str:
    """Bound, run, run on numbers that were changed in place; another bound call writes the result."""
    function, model = series.function, series.model
    options = {}
    if series.out != "none":
        options["out"] = _out(series, arrays, np.shape(wanted))
    run = wd.bind(function, model, *arrays, **options)
    label = f"bound {series.library}"
    if problem := _compared(label, run(), wanted, series.dtype):
        return problem
    result = run()
    others = [np.array(x) for x in numbers]
    for k, name in enumerate(series.layouts):
        if name in (*WRITABLE, "reversed_rows", "reversed_columns"):
            others[k] = draw.uniform(-2, 2, numbers[k].shape).astype(series.dtype).astype(float)
            if series.library == "numpy":
                arrays[k][...] = others[k]
            elif series.library == "torch":
                arrays[k].copy_(torch.tensor(others[k]))
        numbers[k][...] = others[k]
    later = function(model, *others)
    if problem := _compared(f"{label}, changed", run(), later, series.dtype):
        return problem
    if series.library == "jax" or any(
        LAYOUTS[series.library][x].other_dtype for x in series.layouts
    ):
        return ""
    more = [x[..., ::-1].copy() for x in others]
    shown = [torch.tensor(x, dtype=getattr(torch, series.dtype)) for x in more]
    given = shown if series.library == "torch" else [x.astype(series.dtype) for x in more]
    second = wd.bind(function, model, *given, out=result)
    wanted = function(model, *more)
    for each, right in ((second, wanted), (run, later), (second, wanted)):
        if problem := _compared(f"{label}, two on one array", each(), right, series.dtype):
            return problem
    return ""


def _gradient(
    series: Series, draw: np.random.Generator, numbers: list[Any], arrays: list[Any], wanted: Any
) -> str:
    function, model = series.function, series.model
    it = LAYOUTS[series.library][series.cotangent]
    w = _numbers(draw, np.shape(wanted), series.dtype, it)
    cotangent = it.make(w, series.dtype)
    right = wd.vjp(function, model, *numbers, cotangents=w)
    right = list(right) if isinstance(right, tuple) else [right]
    if series.library == "numpy":
        found = wd.vjp(function, model, *arrays, cotangents=cotangent)
    elif series.library == "jax":
        found = jax.vjp(lambda *x: function(model, *x), *arrays)[1](jnp.asarray(cotangent))
    else:
        asked = arrays if series.which == "all" else arrays[:1]
        asked = [x for x in asked if isinstance(x, torch.Tensor) and not x.is_inference()]
        if not asked:
            raise ValueError("no tensor can require a gradient")
        for x in asked:
            x.requires_grad_()
        result = function(model, *arrays)
        found = torch.autograd.grad(result, asked, torch.as_tensor(cotangent), allow_unused=True)
        right = [y for x, y in zip(arrays, right, strict=True) if any(x is z for z in asked)]
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    for x, y in zip(found, right, strict=True):
        if x is None:
            return f"gradient {series.library}: none came"
        if problem := _compared(f"gradient {series.library}", x, y, series.dtype):
            return problem
    return ""


# What is compared.


def _host(x: Any) -> np.ndarray:
    if isinstance(x, torch.Tensor):
        x = x.detach().clone().numpy()
    return np.asarray(x, dtype=float)


def _compared(label: str, found: Any, wanted: Any, dtype: str) -> str:
    x, y = _host(found), np.asarray(wanted, dtype=float)
    if x.shape != y.shape:
        return f"{label}: shape"
    if not np.isfinite(x).all():
        return f"{label}: not finite"
    off = float(np.abs(x - y).max(initial=0.0))
    return (
        f"{label}: numbers" if off > TOLERANCE[dtype] * max(1.0, np.abs(y).max(initial=0)) else ""
    )


def _unchanged(series: Series, numbers: list[Any], arrays: list[Any]) -> str:
    """No input is written, unless it is `out`."""
    for x, array, name in zip(numbers, arrays, series.layouts, strict=True):
        if LAYOUTS[series.library][name].refused:
            continue
        if not np.array_equal(_host(array), x):
            return f"{series.mode} {series.library}: an input was changed"
    return ""
