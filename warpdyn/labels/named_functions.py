"""Public functions by name for command lines, with options: `rnea`, `fk:hand`,
`fk:hand:form=pose`."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..execution.public_functions import FUNCTIONS, PublicFunction
from ..functions.export.identifiers import identifier
from ..model import Model
from ..model.names import spelling_hint


def is_public(name: str) -> bool:
    """True if there is a function of a model with that name."""
    return name in FUNCTIONS and FUNCTIONS[name].of_a_model


def named_function(model: Model, text: str) -> tuple[str, Callable[..., Any]]:
    """The function for `name`, `name:LINK` or `name:option=value`, and an identifier for it.

    ValueError: there is no such function, link or option.
    """
    name, *rest = text.split(":")
    if not is_public(name):
        known = [each for each, function in FUNCTIONS.items() if function.of_a_model]
        hint = spelling_hint(name, known)
        raise ValueError(
            f"there is no function {name!r}{hint} (a robot's functions are those of warpdyn, such "
            "as rnea, aba, crba, fk:LINK, jacobian:LINK, or your own, my.py:impedance)"
        )
    function = FUNCTIONS[name]
    options = function_options(model, function, rest)
    words = [name, *(str(x) for x in options.values() if isinstance(x, str))]
    if not options:
        return name, function
    return identifier("_".join(words)), partial(function, **options)


def function_options(
    model: Model, function: PublicFunction, texts: Sequence[str]
) -> dict[str, Any]:
    """Options from `LINK`, which is the frame, and `option=value`; values are Python literals, or
    text."""
    name = function.__name__
    known = [
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.kind is each.KEYWORD_ONLY and each.name not in ("out", "params")
    ]
    options: dict[str, Any] = {}
    for text in texts:
        option, equals, value = text.partition("=")
        if not equals:
            option, value = "frame", text
        if option not in known:
            raise ValueError(
                f"{name} has no option {option!r}; it has {', '.join(known) or 'none'}"
            )
        try:
            options[option] = ast.literal_eval(value) if equals else value
        except (ValueError, SyntaxError):
            options[option] = value
    if isinstance(frame := options.get("frame"), str):
        try:
            model.link_index(frame)
        except KeyError as error:
            raise ValueError(error.args[0]) from None
    return options
