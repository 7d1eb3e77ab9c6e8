"""Loading of a kernel from its name as text: `my.py:impedance`, `package.module:impedance`."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from ..model.names import spelling_hint
from .own_kernel import OwnKernel
from .refusals import RecordingError
from .signature import NEEDED


def names_a_kernel(text: str) -> bool:
    """True if a text has the form of a kernel's name and is not the name of an existing file."""
    return ":" in text and not Path(text).exists()


def load_kernel(text: str) -> OwnKernel:
    """The kernel with the name `file.py:name` or `package.module:name`.

    A file is run as a module, with its folder first on Python's path meanwhile, so that it can
    import its neighbours. A module is imported. ValueError: the text, the file or the name cannot
    be used. ImportError: the module does not exist or cannot be run; the message has its file and
    line.
    """
    place, _, name = text.rpartition(":")
    if not place or not name.isidentifier():
        raise ValueError(
            "a kernel must be FILE:NAME or MODULE:NAME, such as my.py:impedance or "
            f"package.module:impedance; got {text!r}"
        )
    module = load_module(place)
    there = getattr(module, name, None)
    if isinstance(there, OwnKernel):
        return there
    if callable(there):
        raise ValueError(f"{text} is not a kernel: put @wd.kernel above it")
    if there is not None:
        raise ValueError(f"{text} is not a kernel but a {type(there).__name__}")
    known = [n for n, each in vars(module).items() if isinstance(each, OwnKernel)]
    if not known:
        raise ValueError(f"{place} has no kernel: put @wd.kernel above a function of one robot")
    hint = spelling_hint(name, known)
    raise ValueError(f"{place} has no kernel {name!r}; it has {', '.join(known)}{hint}")


def load_module(place: str) -> ModuleType:
    """The module with the name `file.py` or `package.module`; errors as in `load_kernel`."""
    return _of_file(Path(place)) if place.endswith(".py") else _of_name(place)


def read_options(kernel: OwnKernel, pairs: Sequence[str]) -> dict[str, Any]:
    """Options of a kernel from texts `name=value`. Values are Python literals, or else text.
    ValueError: the text has another form, or there is no such option."""
    known, options = kernel.signature.defaults, {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise ValueError(f"options are NAME=VALUE, such as stiffness=300; got {pair!r}")
        if name not in known:
            there = f"it has {', '.join(known)}" if known else "it has none"
            raise ValueError(f"{kernel.__name__} has no option {name!r}; {there}")
        try:
            options[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            options[name] = value
    return options


def missing_options(kernel: OwnKernel, options: Mapping[str, Any]) -> list[str]:
    """Options without a default that are missing in `options`."""
    return [n for n, x in kernel.signature.defaults.items() if x is NEEDED and n not in options]


def _of_file(path: Path) -> ModuleType:
    """A file as a separate module."""
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    name = f"kernels_of_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, "the file ends in .py"
    module = importlib.util.module_from_spec(spec)
    folder = str(path.absolute().parent)
    sys.modules[name] = module  # dataclasses look here
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ImportError(in_one_line(error, path)) from error
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
    return module


def _of_name(name: str) -> ModuleType:
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise ImportError(f"{name}: {in_one_line(error)}") from error
        spec = None
    except (Exception, SystemExit) as error:  # raised by a parent package, or by the name itself
        raise ImportError(f"{name}: {in_one_line(error)}") from error
    if spec is None:
        raise ImportError(
            f"there is no module {name!r} on Python's path; a file is named with its ending: "
            f"{name.rpartition('.')[2]}.py"
        )
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise ImportError(in_one_line(error, Path(spec.origin or name))) from error


def in_one_line(error: BaseException, file: Path | None = None) -> str:
    """An error's message, with the line of the user's file in which it was raised.

    A RecordingError already has that line. For other errors it is the innermost one in `file`.
    """
    message = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    message = " ".join(message.split())
    if isinstance(error, RecordingError):
        return message
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}:{error.lineno}: {type(error).__name__}: {error.msg}"
    line = None if file is None else line_in(error, file)
    where = "" if file is None or line is None else f"{file.name}:{line}: "
    return (
        f"{where}{type(error).__name__}: {message}" if message else f"{where}{type(error).__name__}"
    )


def line_in(error: BaseException, file: Path) -> int | None:
    """The innermost line of a file in an error's traceback."""
    there = file.absolute()
    frames = traceback.extract_tb(error.__traceback__)
    return next((f.lineno for f in reversed(frames) if Path(f.filename).absolute() == there), None)
