"""Quantities for each row: a public function, or a user's kernel, with its name, inputs and
units."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..execution.batched import Function
from ..functions.export.identifiers import identifier
from ..logs.records import Label
from ..model import Model
from ..user_kernels.loading import load_kernel, missing_options, names_a_kernel, read_options
from ..user_kernels.own_kernel import OwnKernel
from ..user_kernels.signature import NEEDED
from .named_functions import is_public, named_function
from .units import UNITS

NAMES = {"rnea": "tau"}
"""Labels with a usual symbol; other labels have the function's name."""

OBJECTS = ("points", "pattern", "sensors", "external", "momentum", "rate")
"""Arguments of public functions that no column of a log can be."""

RECORDED_OPTIONS = ("reference", "form", "part", "kind", "subtree", "source", "target")
"""Options that determine the meaning of a vector; they are recorded with their defaults."""


@dataclass(frozen=True)
class Quantity:
    """A function with its options."""

    name: str
    """Name of the label."""
    function: Function
    options: Mapping[str, Any]
    inputs: tuple[str, ...]
    """Names of its array arguments, in order."""
    text: str
    """Its text in the manifest; for a kernel, with the digest of its source."""
    request: str | Callable[..., Any]
    """Input of `read_quantity` that gives the same quantity, also on another machine with the same
    files."""

    def shape(self, model: Model, name: str) -> tuple[int, ...]:
        """Shape of one row of an input."""
        return self.function.argument_shape(model, name, self.options)

    def values(self, model: Model, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Labels by name, (B, ...)."""
        result = self.function(model, *(arrays[n] for n in self.inputs), **self.options)
        return named_results(self.name, result)

    def labels(self, model: Model, values: Mapping[str, np.ndarray], apart: bool) -> list[Label]:
        """Columns for these results, with one entry for each joint if possible."""
        about = self.about()
        made = []
        for name, array in values.items():
            shape = array.shape[1:]
            entries = entries_of(model, shape)
            described = {**about, **({"entries": list(entries)} if entries else {})}
            columns: tuple[str, ...] = ()
            if apart and shape:
                ends = entries or tuple(map(str, range(int(np.prod(shape)))))
                columns = tuple(f"{name}_{end}" for end in ends)
            made.append(Label(name, shape, array.dtype, described, columns))
        return made

    def about(self) -> dict[str, Any]:
        """Description: the quantity, its unit and frame, and its options; for a kernel, its
        docstring."""
        words = " ".join((inspect.getdoc(self.function) or "").split())
        description: dict[str, Any] = {"quantity": self.text}
        known = None if isinstance(self.function, OwnKernel) else UNITS.get(self.function.__name__)
        if known is None:
            description["about"] = words
        else:
            description |= {"about": re.split(r"[.;:] ", words, maxsplit=1)[0], **known._asdict()}
        signature = inspect.signature(self.function).parameters
        options = {n: each.default for n, each in signature.items() if n in RECORDED_OPTIONS}
        for option, value in {**options, **self.options}.items():
            if value is not None and value is not inspect.Parameter.empty:
                description.setdefault("options", {})[option] = str(value)
        return description


def read_quantity(model: Model, request: str | Callable[..., Any]) -> Quantity:
    """The quantity for a text or a function.

    Texts: `rnea`, `fk:LINK`, `fk:LINK:form=pose`, `my.py:residual:gain=2.0`, each with `name=` in
    front to rename its label. ValueError: it cannot be used, with the reason.
    """
    name, options, text = "", dict[str, Any](), ""
    function: Function
    if isinstance(request, str):
        name, text = _name_in_front(request)
        head = text.partition(":")[0]
        if not is_public(head) and names_a_kernel(text):
            function, options = _kernel(text)
            own, place = text, Path(head)
            # Another process needs the absolute path, but the manifest has only the file's name, so
            # that it does not depend on the machine.
            if head.endswith(".py"):
                text_there = f"{place.absolute()}{text[len(head) :]}"
                request = f"{name}={text_there}" if name else text_there
            text = f"{place.name}{text[len(head) :]}"
        else:
            own, found = named_function(model, text)
            function, options = _split_partial(found)
            own = NAMES.get(own, own)
    else:
        function, options = _split_partial(request)
        own, text = NAMES.get(function.__name__, function.__name__), function.__name__
        if isinstance(frame := options.get("frame"), str):
            own, text = f"{own}_{frame}", f"{text}:{frame}"
    if isinstance(function, OwnKernel):
        own = function.__name__
        text = f"{text} ({_digest(function)})"
    inputs = _inputs(function, options)
    return Quantity(name or identifier(own), function, options, inputs, text, request)


def read_quantities(
    model: Model, requests: Iterable[str | Callable[..., Any]]
) -> tuple[Quantity, ...]:
    """All quantities; each label's name may occur once."""
    found: dict[str, Quantity] = {}
    for each in requests:
        quantity = read_quantity(model, each)
        if quantity.name in found:
            raise ValueError(
                f"two quantities would be called {quantity.name}; give one another name: "
                f"other={quantity.text.partition(' ')[0]}"
            )
        found[quantity.name] = quantity
    if not found:
        raise ValueError("nothing to compute: name at least one quantity, such as rnea")
    return tuple(found.values())


def named_results(name: str, result: Any) -> dict[str, np.ndarray]:
    """Arrays by name: a single result has the quantity's name, several have their own names after
    it."""
    if isinstance(result, np.ndarray):
        return {name: result}
    if hasattr(result, "_fields"):
        parts = list(zip(result._fields, result, strict=True))
    elif isinstance(result, Mapping):
        parts = list(result.items())
    elif isinstance(result, Sequence):
        parts = list(zip(map(str, range(len(result))), result, strict=True))
    else:
        raise ValueError(f"{name} returned a {type(result).__name__}, not an array for each row")
    found: dict[str, np.ndarray] = {}
    for part, value in parts:
        if value is not None:
            found |= named_results(f"{name}_{part}", value)
    return found


def entries_of(model: Model, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Names of a vector's entries, if it has one for each velocity coordinate or position
    coordinate."""
    if shape == (model.nv,):
        return tuple(model.v_names)
    return tuple(model.q_names) if shape == (model.nq,) else ()


def _name_in_front(text: str) -> tuple[str, str]:
    head, colon, rest = text.partition(":")
    name, equals, head_only = head.partition("=")
    if not equals:
        return "", text
    if not name.isidentifier():
        raise ValueError(f"a label's name must be an identifier, got {name!r} in {text!r}")
    return name, head_only + colon + rest


def _kernel(text: str) -> tuple[OwnKernel, dict[str, Any]]:
    place, name, *pairs = text.split(":")
    try:
        kernel = load_kernel(f"{place}:{name}")
    except ImportError as error:
        raise ValueError(str(error)) from None
    options = read_options(kernel, pairs)
    if missing := missing_options(kernel, options):
        shown = ":".join(f"{n}=..." for n in missing)
        raise ValueError(f"{name} needs its options: {place}:{name}:{shown}")
    return kernel, options


def _split_partial(request: Any) -> tuple[Function, dict[str, Any]]:
    options: dict[str, Any] = {}
    while isinstance(request, partial) and not request.args:
        options = {**request.keywords, **options}
        request = request.func
    if not isinstance(request, Function) or not request.of_a_model:
        raise ValueError(
            "a quantity is a name, a function of a model such as wd.rnea, one with options by "
            f"functools.partial, or a wd.kernel; got {getattr(request, '__name__', request)!r}"
        )
    return request, options


def _inputs(function: Function, options: Mapping[str, Any]) -> tuple[str, ...]:
    name = function.__name__
    if isinstance(function, OwnKernel):
        declared = function.signature
        missing = [n for n, x in declared.defaults.items() if x is NEEDED and n not in options]
        if missing:
            raise ValueError(f"{name} needs its options {', '.join(missing)}")
        return tuple(n for n, each in declared.arrays.items() if each.default is None)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    needed = [p for p in parameters if p.default is p.empty and p.name not in options]
    for each in needed:
        if each.name == "frame":
            raise ValueError(f"{name} needs a frame: {name}:LINK")
        if each.kind is each.KEYWORD_ONLY or each.name in OBJECTS:
            raise ValueError(
                f"{name} needs {each.name}, which no column of a log can be; in Python: "
                f"functools.partial(wd.{name}, {each.name}=...)"
            )
    return tuple(each.name for each in needed)


def _digest(kernel: OwnKernel) -> str:
    """A digest of a kernel's file; a kernel with another source is another quantity."""
    try:
        text = Path(inspect.getfile(kernel.text)).read_bytes()
    except (OSError, TypeError):  # typed in, or run from a notebook
        text = kernel.text.__code__.co_code + repr(kernel.text.__code__.co_consts).encode()
    return hashlib.sha256(text).hexdigest()[:12]
