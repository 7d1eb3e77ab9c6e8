"""Cache of generated programs on disk, so that a second process neither records nor writes them
again."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from ...codegen.bytecode.bytecode import Bytecode
from ...codegen.source import Source
from . import sealed_files
from .cache_folder import cache_directory, tag_cache, tell_distrusted, tell_unwritable

FORMAT = 7
"""Version of the cache format."""

SOURCE, BYTECODE = ".json", ".bytecode"
"""Suffixes of the files."""

R = TypeVar("R")


class CacheEntry:
    """The files of a program in the cache: its C++, and its bytecode."""

    def __init__(self, key: str, algorithms: Sequence[Callable[..., Any]]):
        modules = {*RECORDING, *(module for each in algorithms for module in modules_of(each))}
        version = source_version(frozenset(modules))
        names = [identity_of(each) for each in algorithms]
        digest = hashlib.sha256(f"{FORMAT} {version} {names} {key}".encode()).hexdigest()
        self._path = cache_directory() / digest
        reason = sealed_files.distrust_folder(self._path.parent, link=True)
        self._trusted = not reason
        if reason:
            tell_distrusted(self._path.parent, reason)

    def source(self) -> Source | None:
        """The program in C++; None if it is not there."""
        return self._read(SOURCE, source_of_json)

    def bytecode(self) -> tuple[Source, Bytecode] | None:
        """The description of the program and its bytecode; None if they are not there."""
        return self._read(BYTECODE, _described_bytecode)

    def keep_source(self, source: Source) -> None:
        """Cache a program in C++."""
        self.keep_json(json.dumps(asdict(source)).encode())

    def keep_json(self, content: bytes) -> None:
        """Cache a program in C++, given as JSON."""
        self._write(SOURCE, lambda: content)

    def keep_bytecode(self, described: Source, bytecode: Bytecode) -> None:
        """Cache the description of a program and its bytecode."""
        self._write(
            BYTECODE, lambda: json.dumps(asdict(described)).encode() + b"\n" + bytecode.to_bytes()
        )

    def _read(self, suffix: str, parse: Callable[[bytes], R]) -> R | None:
        if not self._trusted:
            return None
        path = self._path.with_suffix(suffix)
        content = sealed_files.read(path)
        if content is None:
            return None
        # The hash is correct, so a version of warpdyn wrote this, but not necessarily this version.
        try:
            return parse(content)
        except Exception:  # RecursionError is among these errors
            sealed_files.discard(path)
            return None

    def _write(self, suffix: str, content: Callable[[], bytes]) -> None:
        if not self._trusted:
            return
        path = self._path.with_suffix(suffix)
        try:
            sealed_files.make_folder(path.parent)
            tag_cache(path.parent)
            sealed_files.write(path, content())
        except OSError as error:  # only time is lost
            tell_unwritable(path.parent, error.strerror)


def source_of_json(content: bytes) -> Source:
    """A program in C++ from its form in the cache; raises an exception if that is damaged."""
    return _source(json.loads(content))


def _described_bytecode(content: bytes) -> tuple[Source, Bytecode]:
    described, _, rest = content.partition(b"\n")
    return _source(json.loads(described)), Bytecode.from_bytes(rest)


def _source(kept: dict[str, Any]) -> Source:
    """The program from its cached form; raises an exception if it is invalid."""
    for arrays in ("inputs", "results"):
        kept[arrays] = {name: tuple(shape) for name, shape in kept[arrays].items()}
    for texts_of in ("translation_units", "tables", "numbers"):
        kept[texts_of] = tuple(kept[texts_of])
    source = Source(**kept)
    texts = (source.name, source.code, source.target, *source.translation_units, *source.tables)
    texts += source.numbers
    facts = ("operations", "bytes", "constant_bytes", "warps", "shared_bytes")
    numbers = [getattr(source, name) for name in facts]
    shapes = (*source.inputs.values(), *source.results.values())
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a text is not a string")
    if not all(isinstance(x, int) for x in (*numbers, *(n for shape in shapes for n in shape))):
        raise TypeError("a number is not an integer")
    return source


RECORDING = (
    "warpdyn.execution.request.evaluate",
    "warpdyn.codegen.targets",
    "warpdyn.codegen.bytecode.encode",
)
"""Modules that record an algorithm and write the program as C++ and as bytecode."""


def identity_of(algorithm: Callable[..., Any]) -> tuple[Any, ...]:
    """The name of an algorithm, with the functions that it wraps and the numbers and strings that
    are bound to it. Other values are options of the call, which are part of its key.

    Without it, a call with other algorithms would find the old program in the cache.
    """
    if isinstance(algorithm, partial):
        bound = [*algorithm.args, *(x for pair in sorted(algorithm.keywords.items()) for x in pair)]
        return (*identity_of(algorithm.func), *_plain(bound))
    cells = getattr(algorithm, "__closure__", None) or ()
    name = getattr(algorithm, "__qualname__", type(algorithm).__qualname__)
    return algorithm.__module__, name, *_plain([cell.cell_contents for cell in cells])


def _plain(values: Iterable[Any]) -> Iterator[Any]:
    for x in values:
        if callable(x) and not isinstance(x, type):
            yield identity_of(x)
        elif isinstance(x, (str, int, float)):
            yield x


def modules_of(algorithm: Callable[..., Any]) -> set[str]:
    """The modules of an algorithm and of the functions that it wraps."""
    inside: list[Any] = [
        cell.cell_contents for cell in getattr(algorithm, "__closure__", None) or ()
    ]
    if isinstance(algorithm, partial):
        inside.append(algorithm.func)
    modules = {module for each in inside if callable(each) for module in modules_of(each)}
    return modules if isinstance(algorithm, partial) else {algorithm.__module__, *modules}


@cache
def source_version(modules: frozenset[str]) -> str:
    """A hash of the files that determine the recorded program: these modules, all modules that they
    import, and the data files that any of them names."""
    digest = hashlib.sha256((sys.implementation.cache_tag or "").encode())
    for name, path in sorted(source_files(modules).items()):
        digest.update(name.encode() + _read(path))
        for data in data_files(path):
            digest.update(data.name.encode() + _read(data))
    return digest.hexdigest()


def source_files(modules: Iterable[str]) -> dict[str, Path]:
    """Files of the given modules and of all modules of this package that they import, directly or
    indirectly, by module name.

    They are found from the import statements, including those inside functions. `warpdyn` itself
    only re-exports names and is left out.
    """
    of_package = _files_of_package()[0]
    found: dict[str, Path] = {}
    waiting = [(name, getattr(sys.modules.get(name), "__file__", None)) for name in modules]
    while waiting:
        name, file = waiting.pop()
        if file is not None and name not in found:
            found[name] = path = Path(file)
            waiting += [(each, of_package[each]) for each in _imports(name, path)]
    return found


def data_files(module: Path) -> list[Path]:
    """Files next to a module that it names as a string, and the files that those name in turn.

    C++ headers are an example: they determine a module's output as much as its own code does.
    """
    beside = _files_of_package()[1].get(str(module.parent), {})
    found: set[Path] = set()
    waiting = [module] if beside else []
    while waiting:
        named = {beside[name] for name in _NAMED.findall(_text(waiting.pop())) if name in beside}
        waiting += named - found
        found |= named
    return sorted(found)


_NAMED = re.compile(r"""["']([\w-]+(?:\.\w+)+)["']""")


@cache
def _imports(name: str, path: Path) -> list[str]:
    """Modules of this package that a module imports by `from`."""
    of_package = _files_of_package()[0]
    parts = name.split(".")
    package = parts if path.name == "__init__.py" else parts[:-1]
    imported = []
    for dots, start, names in _FROM.findall(_text(path)):
        above = package[: len(package) - len(dots) + 1] if dots else []
        module = ".".join([*above, *start.split(".")]).rstrip(".")
        submodules = (each.split()[0] for each in names.strip("()").split(",") if each.split())
        imported += [module, *(f"{module}.{each}" for each in submodules)]
    return [each for each in imported if each in of_package]


_FROM = re.compile(
    r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)", re.MULTILINE
)


@cache
def _files_of_package() -> tuple[dict[str, str], dict[str, dict[str, Path]]]:
    """Modules of this package by name, except the package itself; other files by folder and name.

    The list is made once, because a first call looks up several hundred names, most of which are
    not modules.
    """
    modules: dict[str, str] = {}
    data: dict[str, dict[str, Path]] = {}
    for folder, _, files in os.walk(PACKAGE):
        name = ".".join((PACKAGE.name, *Path(folder).relative_to(PACKAGE).parts))
        for file in files:
            path = Path(folder, file)
            if path.suffix == ".py":
                modules[name if path.stem == "__init__" else f"{name}.{path.stem}"] = str(path)
            else:
                data.setdefault(folder, {})[file] = path
    del modules[PACKAGE.name]
    return modules, data


@cache
def _read(path: Path) -> bytes:
    return path.read_bytes()


def _text(path: Path) -> str:
    return _read(path).decode()


PACKAGE = Path(__file__).parents[2]
