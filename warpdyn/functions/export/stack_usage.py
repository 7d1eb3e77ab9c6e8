"""Stack usage of exported functions, as gcc reports it if it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ...codegen.portable_style import Language

GCC: dict[Language, tuple[str, ...]] = {"c++": ("g++", "-std=c++17"), "c": ("gcc", "-std=c99")}


def stacks(
    text: str, names: Sequence[str], prefix: str, language: Language
) -> tuple[dict[str, tuple[int, int]], str]:
    """Bytes of stack for one robot and for a batch, by function, and the compiler that measured
    them.

    The result adds the frames of a function, of the functions it calls, and of its deepest part. It
    is empty, with an empty text, if gcc is not installed.
    """
    program, *options = GCC[language]
    found = shutil.which(program)
    if found is None:
        return {}, ""
    apart = "::" if language == "c++" else "_"
    types = [f"{prefix}{apart}{name}{suffix}" for name in names for suffix in ("", "_batch")]
    # A table of the functions' addresses keeps the compiler from dropping functions that nothing
    # calls.
    source = ['#include "robot.h"']
    source += [f"void *const address{k} = (void *)&{x};" for k, x in enumerate(types)]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "robot.h").write_text(text, encoding="utf-8")
        unit = Path(folder) / f"unit.{'cpp' if language == 'c++' else 'c'}"
        kept = ", ".join(f"&address{k}" for k in range(len(types)))
        unit.write_text("\n".join([*source, f"void *const *all[] = {{{kept}}};", ""]))
        command = [found, *options, "-O2", "-fstack-usage", "-c", unit.name, "-o", "unit.o"]
        ran = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        if ran.returncode:
            return {}, ""
        usage = (Path(folder) / "unit.su").read_text(encoding="utf-8")
        versions = [
            subprocess.run([found, flag], capture_output=True, text=True, check=False).stdout
            for flag in ("-dumpfullversion", "-dumpmachine")
        ]
    if not all(versions):  # another compiler by the name of gcc
        return {}, ""
    frames = [_frame(line) for line in usage.splitlines()]
    return (
        {name: (_deepest(frames, name, False), _deepest(frames, name, True)) for name in names},
        f"{program} {versions[0].strip()} -O2, {versions[1].strip()}",
    )


def _frame(line: str) -> tuple[str, bool, int]:
    """A function's name, True if it works on lanes, and its bytes."""
    place, bytes_, _ = line.split("\t")
    lanes = "__vector" in place or "_lanes" in place or "_batch" in place
    name = re.search(r"([A-Za-z_]\w*)(?:\.[\w.]+)?(?:\(| \[|$)", place)
    return (name[1] if name else place), lanes, int(bytes_)


def _deepest(frames: Sequence[tuple[str, bool, int]], name: str, lanes: bool) -> int:
    """Bytes of all frames that exist at once during a call; only one part runs at a time."""
    own = [b for n, many, b in frames if many is lanes and _is_of(n, name) and "_part" not in n]
    parts = [b for n, many, b in frames if many is lanes and _is_of(n, name) and "_part" in n]
    return sum(own) + max(parts, default=0)


def _is_of(frame: str, name: str) -> bool:
    """True if a frame belongs to a function, or to one of its parts or routines."""
    ending = rf"(^|_){re.escape(name)}(_lanes|_batch|_part\d+|_routine\w*|_loop\w*)*$"
    return re.search(ending, frame) is not None
