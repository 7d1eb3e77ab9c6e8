"""Read every robot description in the folders with warpdyn and with other libraries.

    python -m benchmarks.files FOLDER... [--lines FILE]

The outermost element of a file tells whether it is URDF, SDF or MJCF. URDF is compared with Pinocchio
and MJCF with MuJoCo. A second table compares all files with Drake. Libraries that are not installed are
left out. Of each file the mass matrix, the joint forces and the poses of all links and sites are
compared at two random states in float64. The tables go to standard output. Their "source" is a folder
of the command line, or the subfolder of a package if there are several.

Two files agree if each number is within `TOLERANCE`, relative to the largest number of its kind. MJCF
files that include files from outside their own folder are refused; they are read a second time with
`includes=` and the folder of the command line.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

import numpy as np
from lxml import etree
from tqdm import tqdm

import warpdyn as wd
from benchmarks.peers.drake import Drake, DrakeRefusal
from warpdyn.formats.registry import format_of_root
from warpdyn.model.names import ModelError
from warpdyn.peers.mujoco import MuJoCo
from warpdyn.peers.peer import NotComparable, Peer, first_line
from warpdyn.peers.pinocchio import Pinocchio

TOLERANCE = 1e-9
STATES = 2
SLOW = 0.5
"""Load time from which a file is listed as slow [s]."""

Outcome = Literal[
    "agrees",
    "agrees with includes=",
    "refused by both",
    "by us",
    "by them",
    "differs",
    "read alone",
]
OUTCOMES: tuple[Outcome, ...] = (
    *("agrees", "agrees with includes=", "refused by both", "by us", "by them", "differs"),
    "read alone",
)
SUFFIXES = (".urdf", ".sdf", ".xml", ".mjcf", ".world")


@dataclass(frozen=True)
class FileOutcome:
    """Outcome of a file: reason or difference, and the seconds that warpdyn needed."""

    source: str
    file: str
    format: str
    outcome: Outcome
    why: str
    seconds: float
    nv: int = 0
    reader: str = ""
    """The other library, if it is not the format's own."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the files and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.files", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--lines", type=Path, help="write a line of JSON for each robot description"
    )
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    files = [(folder, path, kind) for folder in given.folders for path, kind in robot_files(folder)]
    reads = []
    with tqdm(files, file=sys.stderr, unit="file") as bar:
        for folder, path, kind in bar:
            bar.set_postfix_str(path.name[:30])
            reads += read_file(folder, path, kind)
    if given.lines:
        given.lines.write_text("".join(json.dumps(asdict(each)) + "\n" for each in reads))
    for reader in dict.fromkeys(each.reader for each in reads):
        print(
            f"{reader}:" if reader else "",
            *table_lines([x for x in reads if x.reader == reader]),
            sep="\n",
        )
    return 0


def robot_files(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the robot descriptions in a folder with their formats."""
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in SUFFIXES or not path.is_file():
            continue
        try:
            root = etree.parse(str(path), etree.XMLParser(recover=True, no_network=True)).getroot()
        except (etree.LxmlError, OSError):
            continue
        chosen = None if root is None else format_of_root(etree.QName(root).localname)
        if chosen is not None:
            yield path, chosen.name


def read_file(folder: Path, path: Path, kind: str) -> list[FileOutcome]:
    """Read a file and compare it with the format's own library and with Drake."""
    inside = path.relative_to(folder).parts
    source = (
        f"{folder.name}/{inside[0]}"
        if len(inside) > 2 and folder.name != inside[0]
        else folder.name
    )
    started = time.perf_counter()
    ours: wd.Model | None = None
    trusted = why = ""
    for includes in (None, folder):
        try:
            options = {} if includes is None else {"includes": includes}
            ours = wd.load(path, **options)  # type: ignore[arg-type]
            trusted = " with includes=" if options else ""
            break
        except ModelError as error:
            why = f"{error}"
            if kind != "MJCF" or "outside of the folder" not in why:
                break
        except Exception as error:  # any other exception is a defect of warpdyn
            why = f"DEFECT {type(error).__name__}: {error}"
            break
    seconds = time.perf_counter() - started

    def format_peer(model: wd.Model) -> Peer:
        if kind == "MJCF":
            return MuJoCo(model, path, whole=True)
        return Pinocchio(model, path.read_text(errors="replace"))

    def judge(
        theirs: str | None, peer: Callable[[wd.Model], Peer | Drake] = format_peer
    ) -> tuple[Outcome, str]:
        if ours is None:
            return ("refused by both" if theirs else "by us"), why
        if theirs is None:
            return "read alone", ""
        if theirs:
            return "by them", theirs
        try:
            difference = compare(ours, peer(ours))
        except NotComparable as error:
            return "differs", f"not comparable: {error}"
        if difference:
            return "differs", f"{difference}; remarks: {'; '.join(ours.warnings) or 'none'}"
        return ("agrees with includes=" if trusted else "agrees"), ""

    def record(reader: str, outcome: Outcome, words: str) -> FileOutcome:
        file, nv = str(path.relative_to(folder)), 0 if ours is None else ours.nv
        return FileOutcome(source, file, kind, outcome, words, round(seconds, 3), nv, reader)

    reads = [record("", *judge(refusal(path, kind)))]
    try:
        drake = Drake(path)
    except ImportError:
        return reads
    except DrakeRefusal as error:
        return [*reads, record("Drake", *judge(str(error)))]
    return [*reads, record("Drake", *judge("", drake.on))]


def refusal(path: Path, kind: str) -> str | None:
    """Reason why the other library refuses a file; "" if it reads the file, None if there is no library."""
    try:
        if kind == "MJCF":
            mujoco = import_module("mujoco")
            mujoco.MjModel.from_xml_path(str(path))
        elif kind == "URDF":
            pinocchio = import_module("pinocchio")
            pinocchio.buildModelFromXML(path.read_text(errors="replace"))
        else:
            return None
    except ImportError:
        return None
    except Exception as error:
        return first_line(error) or "refused"
    return ""


def compare(model: wd.Model, peer: Peer | Drake) -> str:
    """The first quantity that differs, with its largest difference; "" if all agree."""
    if not model.nv:
        return ""
    links = [name for name in peer.links if not name.startswith("universe")]
    there = model.link_indices(links)
    rng = np.random.default_rng(0)
    for seed in range(STATES):
        q = np.asarray(wd.random_configuration(model, 1, seed=seed), float)[0]
        v, a = rng.uniform(-1, 1, (2, model.nv))
        pairs = {
            "poses": (wd.oracle(wd.fk, model, q)[there], peer.fk(q)[there]),
            "mass matrix": (wd.oracle(wd.crba, model, q), peer.crba(q)),
            "joint forces": (wd.oracle(wd.rnea, model, q, v, a), peer.rnea(q, v, a)),
        }
        for what, (mine, other) in pairs.items():
            if mine.size and not (np.isfinite(mine).all() and np.isfinite(other).all()):
                return f"{what} are not finite"
            off = np.abs(mine - other).max(initial=0.0) / max(np.abs(other).max(initial=0.0), 1e-3)
            if off > TOLERANCE:
                return f"{what} by {off:.1e}"
    return ""


def table_lines(reads: Sequence[FileOutcome]) -> Iterator[str]:
    """Lines of the tables: counts by format and source, reasons with their counts, and slow files."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for each in reads:
        counts[each.format, each.source][each.outcome] += 1
        counts[each.format, "all"][each.outcome] += 1
    yield f"| format | source | files | {' | '.join(OUTCOMES)} |"
    yield "|---" * (3 + len(OUTCOMES)) + "|"
    for (kind, source), each in sorted(
        counts.items(), key=lambda x: (x[0][0], x[0][1] == "all", x[0])
    ):
        numbers = " | ".join(str(each[outcome] or "") for outcome in OUTCOMES)
        yield f"| {kind} | {source} | {sum(each.values())} | {numbers} |"
    for outcome in ("by us", "differs", "by them", "refused by both"):
        reasons: dict[str, list[FileOutcome]] = defaultdict(list)
        for read_ in reads:
            if read_.outcome == outcome:
                reasons[f"{read_.format}: {without_names(read_.why)}"].append(read_)
        if reasons:
            yield f"\n{outcome}:"
        for why, those in sorted(reasons.items(), key=lambda x: -len(x[1])):
            yield f"- {len(those)} × {why} ({those[0].source}/{those[0].file})"
    slow = sorted((each for each in reads if each.seconds > SLOW), key=lambda x: -x.seconds)
    for each in slow[:10]:
        yield f"slow: {each.seconds:.2f} s {each.source}/{each.file} ({each.nv} coordinates)"


def without_names(why: str) -> str:
    """A reason without the names and numbers of its file."""
    words = re.sub(r"^\S*\.\w+: ", "", why)
    words = re.sub(r"\S+\.xml", "….xml", words)
    words = re.sub(r'"[^"]*"', '"…"', words)
    words = re.sub(r"'[^']*'", "'…'", words)
    return re.sub(r"[0-9][0-9.e+-]*", "#", words)[:160]


if __name__ == "__main__":
    raise SystemExit(main())
