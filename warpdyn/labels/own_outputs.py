"""Whose output a file is, and of which state of its log: what a run may skip, write anew, or must leave alone.

An output says in its metadata, under the key "warpdyn", which size and time its log had. A CSV has no
metadata: a hidden file beside it says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any

from ..logs.opening import read_metadata

KEY = "warpdyn"
"""Key of what is said beside a CSV file, and the ending of that file's name."""

HAVE_METADATA = (".parquet", ".npz")


class OutputState(Enum):
    """What stands where an output is to be."""

    MISSING = "missing"
    DONE = "done"
    STALE = "stale"
    """An output of warpdyn, of a log that has changed since."""
    FOREIGN = "foreign"
    """A file that warpdyn has not written."""


def output_state(source: Path, target: Path) -> OutputState:
    """What stands at `target`: size and time of the log are compared for equality, as an older log
    may take the place of a newer one."""
    if not target.exists():
        return OutputState.FOREIGN if target.is_symlink() else OutputState.MISSING
    said = metadata_of(target)
    if said is None:
        return OutputState.FOREIGN
    return OutputState.DONE if said.get("source") == stamp_of(source) else OutputState.STALE


def stamp_of(source: Path) -> dict[str, Any]:
    """Size [bytes] and time of the last change [ns] of a log; of a bag's folder those of each file.
    A log that cannot be read has none."""
    try:
        if not source.is_dir():
            return _size_and_time(source)
        return {path.name: _size_and_time(path) for path in sorted(source.iterdir())}
    except OSError:  # told when it is labelled
        return {}


def _size_and_time(path: Path) -> dict[str, Any]:
    found = path.stat()
    return {"size": found.st_size, "mtime_ns": found.st_mtime_ns}


def metadata_of(target: Path) -> dict[str, Any] | None:
    """What warpdyn has written about an output; None where a file is not its own."""
    if not target.is_file():
        return None
    if target.suffix.lower() not in HAVE_METADATA:
        return _beside(target)
    try:
        said = read_metadata(target)
    except ModuleNotFoundError:  # told when the log is labelled, which needs the same package
        return {}
    except Exception:  # of a file that is none of these, whatever the library makes of it
        return None
    return said if isinstance(said, dict) and "columns" in said else None


def write_beside(partial: Path, target: Path, stamp: Mapping[str, Any]) -> None:
    """What stands beside an output without metadata, before `partial` takes its name."""
    if target.suffix.lower() in HAVE_METADATA:
        return
    whole = partial.stat()
    entry = {"source": dict(stamp), "size": whole.st_size, "mtime_ns": whole.st_mtime_ns}
    # If the process is killed before it renames, the output is the one that was there.
    before = [each for each in _entries(target) if _matches(each, target)]
    beside = _name_beside(target)
    part = beside.with_name(f"{beside.name}.{partial.name.rsplit('.', 2)[-2]}.part")
    part.write_text(json.dumps({KEY: [entry, *before]}), encoding="utf-8")
    part.replace(beside)


def refuse_foreign(targets: Iterable[Path], out: Path) -> None:
    """ValueError that names files which warpdyn has not written."""
    names = [str(target) for target in targets]
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        raise ValueError(
            f"{names[0]}{more} is no output of warpdyn and would be replaced: choose another --out "
            f"than {out}, move it away, or replace it with --force (force=True)"
        )


def _beside(target: Path) -> dict[str, Any] | None:
    return next((each for each in _entries(target) if _matches(each, target)), None)


def _entries(target: Path) -> list[Any]:
    """What is said of a file beside it."""
    with suppress(OSError, ValueError, RecursionError):
        beside = _name_beside(target)
        said = json.loads(beside.read_text(encoding="utf-8")) if beside.is_file() else None
        if isinstance(said, dict) and isinstance(said.get(KEY), list):
            return list(said[KEY])
    return []


def _matches(entry: Any, target: Path) -> bool:
    """Whether an entry is of the file that stands there."""
    if not isinstance(entry, dict) or not target.is_file():
        return False
    found = target.stat()
    return (entry.get("size"), entry.get("mtime_ns")) == (found.st_size, found.st_mtime_ns)


def _name_beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{KEY}")
