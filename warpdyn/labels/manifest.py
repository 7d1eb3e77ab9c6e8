"""Manifest of a folder of outputs: its settings, and the failed files with reasons, in
`manifest.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .own_outputs import Outcome

NAME = "manifest.json"


OBJECTS = ("settings", "columns", "failed", "notes")
"""Entries that must be objects if they exist; every manifest has the first."""


def read_manifest(out: Path) -> dict[str, Any]:
    """Manifest of earlier runs; empty if there was none. ValueError: it is not a manifest."""
    path = out / NAME
    if not path.exists() and not path.is_symlink():
        return {}
    if not path.is_file():
        raise _no_manifest(path, "it is not a regular file")
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise _no_manifest(path, str(error) or type(error).__name__) from None
    if not isinstance(read, dict):
        raise _no_manifest(path, f"it holds a {type(read).__name__}, not an object")
    for name in OBJECTS:
        if name in read and not isinstance(read[name], dict):
            raise _no_manifest(
                path, f"its {name!r} is {json.dumps(read[name])[:40]}, not an object"
            )
    if OBJECTS[0] not in read:
        raise _no_manifest(path, f"it has no {OBJECTS[0]!r}")
    return read


def _no_manifest(path: Path, reason: str) -> ValueError:
    return ValueError(
        f"{path} is not a manifest of warpdyn: {reason}; choose another --out, remove it, or replace it "
        "with --force (force=True)"
    )


def check_settings(out: Path, settings: Mapping[str, Any], force: bool = False) -> None:
    """Raise for a folder with outputs of other settings; ValueError names the difference. force:
    remove a file that is not a manifest."""
    try:
        before = read_manifest(out).get("settings")
    except ValueError:
        if not force or (out / NAME).is_dir():
            raise
        (out / NAME).unlink()
        return
    if before is None:
        return
    now = json.loads(json.dumps(settings))
    names = dict.fromkeys([*before, *now])
    differing = [name for name in names if before.get(name) != now.get(name)]
    if differing:
        name = differing[0]
        raise ValueError(
            f"{out} has outputs of another run: {name} was {json.dumps(before.get(name))}, is "
            f"{json.dumps(now.get(name))}; choose another --out, or remove that folder"
        )


def write_manifest(
    out: Path,
    settings: Mapping[str, Any],
    outcomes: Iterable[Outcome],
    counts: Mapping[str, Any],
    columns: Mapping[str, Any],
) -> None:
    """Write the manifest in one step; notes of earlier runs on files that this run did not touch
    remain."""
    earlier = read_manifest(out)
    outcomes = list(outcomes)
    touched = {str(each.file.source) for each in outcomes}
    notes = {n: x for n, x in earlier.get("notes", {}).items() if n not in touched}
    notes |= {str(each.file.source): list(each.notes) for each in outcomes if each.notes}
    failed = {str(each.file.source): each.error for each in outcomes if each.error}
    text = json.dumps(
        {
            "settings": settings,
            "columns": dict(columns) or earlier.get("columns", {}),
            **counts,
            "failed": dict(sorted(failed.items())),
            "notes": dict(sorted(notes.items())),
        },
        indent=1,
        ensure_ascii=False,
    )
    partial = out / f".{NAME}.{os.getpid()}.part"
    partial.write_text(text + "\n", encoding="utf-8")
    partial.replace(out / NAME)
