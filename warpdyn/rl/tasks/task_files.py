"""A user's own task, by its file or module and its name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from inspect import isclass, signature
from pathlib import Path
from types import ModuleType
from typing import Any

from ...model.names import spelling_hint
from ...user_kernels.loading import in_one_line, load_module
from ..task import Task, TaskError

FORMS = "my.py:Hopper or package.module:Hopper"
"""Forms of the name of a user's own task."""


def names_a_file(name: str) -> bool:
    """True if a task's name has the form of a file or a module, and a name in it."""
    return ":" in name


def short_name(name: str) -> str:
    """The last part of a task's name, for files and folders."""
    return name.rpartition(":")[2]


def source_of_task(name: str) -> Any:
    """The task's class, a function that returns a task, or a task, for `my.py:Hopper`.

    TaskError: the text, the file or the name cannot be used.
    """
    place, _, word = name.rpartition(":")
    if not place or not word.isidentifier():
        raise TaskError(f"your own task must be named {FORMS}; got {name!r}")
    try:
        module = load_module(place)
    except (ValueError, ImportError) as error:
        raise TaskError(str(error)) from None
    found = getattr(module, word, None)
    if isinstance(found, Task) or (isclass(found) and issubclass(found, Task)):
        return found
    if callable(found) and not isclass(found):
        return found
    if found is not None:
        raise TaskError(
            f"{name} must be a warpdyn.rl.Task, or a function that returns one; it is a "
            f"{found.__name__ if isclass(found) else type(found).__name__}"
        )
    # Nothing has this name: the message lists what there is.
    known = _tasks_in(module)
    there, hint = ", ".join(known) or "no class of warpdyn.rl.Task", spelling_hint(word, known)
    raise TaskError(f"{place} has no task {word!r}; it has {there}{hint}")


def construct(name: str, source: Any, options: Mapping[str, Any]) -> Task:
    """The task of a class, a function or a task, with options such as a quadruped's `model`.

    TaskError: it takes no such option, or its constructor raises an error.
    """
    if isinstance(source, Task):
        if options:
            raise _takes_no(name, options)
        return source
    make: Callable[..., Any] = source
    takes = signature(make).parameters
    if unknown := [n for n in options if n not in takes]:
        raise _takes_no(name, unknown)
    if names_a_file(name):
        try:
            made = make(**options)
        except TaskError:
            raise
        except Exception as error:  # from the user's constructor
            file = Path(sys.modules[source.__module__].__file__ or "")
            raise TaskError(in_one_line(error, file)) from error
    else:
        made = make(**options)
    if not isinstance(made, Task):
        raise TaskError(f"{name} must return a warpdyn.rl.Task; it returned {type(made).__name__}")
    return made


def _takes_no(name: str, options: Any) -> TaskError:
    return TaskError(f"{name} takes no {' and no '.join(sorted(options))}: its robot is fixed")


def _tasks_in(module: ModuleType) -> list[str]:
    """Names of the module's own tasks."""
    return [
        n
        for n, x in vars(module).items()
        if (isclass(x) and issubclass(x, Task) and x.__module__ == module.__name__)
        or isinstance(x, Task)
    ]
