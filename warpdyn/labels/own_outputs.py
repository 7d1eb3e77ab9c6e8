"""Outputs of logs: which files warpdyn has written, and from which state of their logs. From this a
run decides whether to skip an output, to write it again, or to leave a foreign file alone.

An output's metadata has the size and time of its log under the key "warpdyn". A CSV file has no
metadata, so a hidden file next to it holds the size and time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from ..logs.open_log import read_metadata

KEY = "warpdyn"
"""Key of the data for a CSV file, and suffix of the hidden file's name."""

HAVE_METADATA = (".parquet", ".npz")


class LogFile(NamedTuple):
    """A file to label."""

    source: Path
    target: Path


class Outcome(NamedTuple):
    """Result of labelling a file."""

    file: LogFile
    rows: int = 0
    notes: Sequence[str] = ()
    error: str = ""
    """Reason why there is no output; empty if there is one."""
    full: bool = False
    """True if the disk is full, so that no other file will succeed."""


class OutputState(Enum):
    """State of the file at an output's place."""

    MISSING = "missing"
    DONE = "done"
    STALE = "stale"
    """An output of warpdyn, from a log that has changed since."""
    FOREIGN = "foreign"
    """A file that warpdyn has not written."""


def output_state(source: Path, target: Path) -> OutputState:
    """State of `target`. Size and time of the log are compared for equality, because an older log
    may replace a newer one."""
    if not target.exists():
        return OutputState.FOREIGN if target.is_symlink() else OutputState.MISSING
    metadata = metadata_of(target)
    if metadata is None:
        return OutputState.FOREIGN
    return OutputState.DONE if metadata.get("source") == stamp_of(source) else OutputState.STALE


def stamp_of(source: Path) -> dict[str, Any]:
    """Size [bytes] and time of the last change [ns] of a log; for a bag's folder, those of each
    file. Empty for a log that cannot be read."""
    try:
        if not source.is_dir():
            return _size_and_time(source)
        return {path.name: _size_and_time(path) for path in sorted(source.iterdir())}
    except OSError:  # reported when the log is labelled
        return {}


def _size_and_time(path: Path) -> dict[str, Any]:
    found = path.stat()
    return {"size": found.st_size, "mtime_ns": found.st_mtime_ns}


def metadata_of(target: Path) -> dict[str, Any] | None:
    """warpdyn's metadata of an output; None if warpdyn has not written the file."""
    if not target.is_file():
        return None
    if target.suffix.lower() not in HAVE_METADATA:
        return _entry_of(target)
    try:
        metadata = read_metadata(target)
    except ModuleNotFoundError:  # reported when the log is labelled, which needs the same package
        return {}
    except Exception:  # for an invalid file, libraries raise various errors
        return None
    return metadata if isinstance(metadata, dict) and "columns" in metadata else None


def write_hidden_file(partial: Path, target: Path, stamp: Mapping[str, Any]) -> None:
    """Write the hidden file for an output without metadata, before `partial` takes its name."""
    if target.suffix.lower() in HAVE_METADATA:
        return
    whole = partial.stat()
    entry = {"source": dict(stamp), "size": whole.st_size, "mtime_ns": whole.st_mtime_ns}
    # If the process is killed before it renames, the old output is still valid.
    before = [each for each in _entries(target) if _matches(each, target)]
    hidden = _hidden_file(target)
    part = hidden.with_name(f"{hidden.name}.{partial.name.rsplit('.', 2)[-2]}.part")
    part.write_text(json.dumps({KEY: [entry, *before]}), encoding="utf-8")
    part.replace(hidden)


def refuse_foreign(targets: Iterable[Path], out: Path) -> None:
    """Raise a ValueError that names files not written by warpdyn."""
    names = [str(target) for target in targets]
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        raise ValueError(
            f"{names[0]}{more} is not an output of warpdyn and would be replaced: choose another --out "
            f"than {out}, move it away, or replace it with --force (force=True)"
        )


def _entry_of(target: Path) -> dict[str, Any] | None:
    return next((each for each in _entries(target) if _matches(each, target)), None)


def _entries(target: Path) -> list[Any]:
    """Entries of the hidden file next to an output."""
    with suppress(OSError, ValueError, RecursionError):
        hidden = _hidden_file(target)
        metadata = json.loads(hidden.read_text(encoding="utf-8")) if hidden.is_file() else None
        if isinstance(metadata, dict) and isinstance(metadata.get(KEY), list):
            return list(metadata[KEY])
    return []


def _matches(entry: Any, target: Path) -> bool:
    """True if an entry belongs to the existing file."""
    if not isinstance(entry, dict) or not target.is_file():
        return False
    found = target.stat()
    return (entry.get("size"), entry.get("mtime_ns")) == (found.st_size, found.st_mtime_ns)


def _hidden_file(target: Path) -> Path:
    return target.with_name(f".{target.name}.{KEY}")
