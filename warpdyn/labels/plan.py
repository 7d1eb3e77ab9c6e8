"""Selection of the files to label, and names of their outputs."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from ..logs.open_log import kind_of_log, output_name
from .labelled_file import LogFile


def log_files(logs: str | Path | Iterable[str | Path], out: Path) -> tuple[list[LogFile], Path]:
    """Files by names, patterns, folders (all logs in them), or `@list.txt` with a name on each
    line.

    Outputs in `out` have the same subfolders as the files have in their common folder, which is
    returned too. Outputs of earlier runs are not logs. ValueError: there is no file, or two files
    have the same output.
    """
    asked = [logs] if isinstance(logs, (str, Path)) else list(logs)
    sources = list(dict.fromkeys(path for each in asked for path in _find_files(str(each), out)))
    if not sources:
        shown = ", ".join(map(str, asked[:3])) or "nothing"
        raise ValueError(f"there are no logs: {shown} names none")
    parents = {os.path.abspath(path.parent) for path in sources}  # noqa: PTH100 (links stay)
    root = Path(os.path.commonpath(parents))
    targets: dict[Path, Path] = {}
    files = []
    folder_of = cache(Path.resolve)

    def real(path: Path) -> Path:
        """The path with links in its parents resolved, which are the same for many files."""
        return folder_of(path.parent) / path.name

    for source in sources:
        folder = Path(os.path.abspath(source.parent)).relative_to(root)  # noqa: PTH100
        target = out / folder / output_name(source)
        if target in targets:
            raise ValueError(
                f"{targets[target]} and {source} would both be written as {target}; "
                "label them into folders of their own"
            )
        if real(target) == real(source):
            link = f": {out} leads to {out.resolve()}" if out.resolve() != out.absolute() else ""
            raise ValueError(f"{source} would be written over itself{link}; choose another --out")
        targets[target] = source
        files.append(LogFile(source, target))
    return files, root


def _find_files(text: str, out: Path) -> Iterator[Path]:
    if text.startswith("@"):
        with Path(text[1:]).open(encoding="utf-8") as lines:
            for line in filter(None, map(str.strip, lines)):
                yield from _find_files(line, out)
        return
    path = Path(text)
    if not path.exists() and glob.has_magic(text):
        found = map(Path, sorted(glob.glob(text, recursive=True)))  # noqa: PTH207 (absolute ones)
        yield from (x for x in found if out.absolute() not in x.absolute().parents)
    elif path.is_dir() and kind_of_log(path) is None:
        yield from _logs_below(path, out.absolute())
    else:
        yield path


def _logs_below(folder: Path, out: Path) -> Iterator[Path]:
    """Logs in a folder and its subfolders; a bag of ROS 2 is one log."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.absolute() == out:
            continue
        if kind_of_log(path) is not None:
            yield path
        elif path.is_dir():
            yield from _logs_below(path, out)
