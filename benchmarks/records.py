"""The records of a run, by kind, and the targets that were missed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import cases as lists
from .algorithms import ALGORITHMS

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Target:
    """A target and the measured value."""

    figure: str
    robot: str
    what: str
    """The algorithm, or what else was measured."""
    value: float
    wanted: float
    least: bool
    form: str

    @property
    def is_reached(self) -> bool:
        return self.value >= self.wanted if self.least else self.value <= self.wanted

    @property
    def missing(self) -> float:
        """Distance of the value from the target, relative to the target."""
        return abs(self.value / self.wanted - 1)

    def __str__(self) -> str:
        how_far = "" if "%" in self.figure else f" ({100 * self.missing:,.0f}%)"
        return f"{self.what} {self.value:{self.form}}{how_far}"


@dataclass
class Run:
    """The records of a run, by kind."""

    about: Record = field(default_factory=dict)
    starts: Record = field(default_factory=dict)
    compiled: dict[tuple[str, str], Record] = field(default_factory=dict)
    own: list[Record] = field(default_factory=list)
    peers: list[Record] = field(default_factory=list)

    memory: list[Record] = field(default_factory=list)
    calls: list[Record] = field(default_factory=list)
    """Whole calls (calls.py), with ns per robot by kind of call."""

    asked: list[Target] = field(default_factory=list)
    """Targets of the tables that were written so far."""

    @property
    def robots(self) -> list[str]:
        return list(dict.fromkeys(r["robot"] for r in self.own))

    @property
    def algorithms(self) -> list[str]:
        found = {r["algorithm"] for r in self.own}
        return [name for name in ALGORITHMS if name in found]

    def plain(self, robot: str, algorithm: str) -> list[Record]:
        """Records of the reference case (float32, one core, [n, B]), by batch size."""
        found = [
            r
            for r in self.own
            if (r["robot"], r["algorithm"]) == (robot, algorithm) and is_plain(r)
        ]
        return sorted(found, key=lambda r: r["batch"])

    def main(self, robot: str, algorithm: str) -> Record | None:
        """Record of the reference case at the batch size of the targets, or at the largest below it."""
        found = [
            r for r in self.plain(robot, algorithm) if r["batch"] <= lists.BATCH
        ] or self.plain(robot, algorithm)
        return found[-1] if found else None

    def other(self, robot: str, algorithm: str, **wanted: Any) -> Record | None:
        for r in self.own:
            if (r["robot"], r["algorithm"]) == (robot, algorithm) and all(
                r.get(k) == v for k, v in wanted.items()
            ):
                return r
        return None

    def rivals(self, robot: str, algorithm: str) -> list[Record]:
        """Peers that were timed on one core."""
        at = (robot, algorithm)
        return [
            r
            for r in self.peers
            if (r["robot"], r["algorithm"]) == at and "ns" in r and r["threads"] == 1
        ]

    def dof(self, robot: str) -> int:
        return next(r["nv"] for r in self.own if r["robot"] == robot)

    def held(
        self,
        figure: str,
        robot: str,
        what: str,
        value: float,
        wanted: float | None,
        *,
        least: bool = True,
        form: str = ".0f",
    ) -> str:
        """The value as text, bold if it misses the target. The target is recorded."""
        text = f"{value:{form}}"
        if wanted is None:
            return text
        self.asked.append(Target(figure, robot, what, value, wanted, least, form))
        return text if self.asked[-1].is_reached else f"**{text}**"


def is_plain(r: Record) -> bool:
    return "ns" in r and (r["dtype"], r["layout"], r["threads"]) == ("float32", "columns", 1)


def read(folder: Path) -> Run:
    """Records of a folder without those that were measured again later. A later blank replaces a number."""
    run, timed, remembered = Run(), dict[tuple, Record](), dict[tuple, Record]()
    called = dict[tuple, Record]()
    for line in (folder / "results.jsonl").read_text().splitlines():
        record = json.loads(line)
        kind = record.pop("kind")
        if kind == "about":
            run.about = {
                **record,
                "versions": {**run.about.get("versions", {}), **record["versions"]},
            }
        elif kind == "starts":
            run.starts = record
        elif kind == "compile":
            run.compiled[record["robot"], record["algorithm"]] = record
        elif kind == "call":
            called[record["robot"], record["algorithm"], record["batch"]] = record
        elif kind == "memory":
            remembered[tuple(record.get(name) for name in KEY)] = record
        else:
            at = ("library", "robot", "algorithm")
            for key, old in list(timed.items()):
                if ("blank" in old) != ("blank" in record) and all(
                    old[name] == record[name] for name in at
                ):
                    del timed[key]
            timed[tuple(record.get(name) for name in KEY)] = record
    for record in timed.values():
        (run.own if record["library"] == "warpdyn" else run.peers).append(record)
    run.memory, run.calls = list(remembered.values()), list(called.values())
    order = {name: k for k, name in enumerate(lists.ROBOTS)}
    for records in (run.own, run.memory):
        records.sort(key=lambda r: order.get(r["robot"], len(order)))
    return run


KEY = ("library", "robot", "algorithm", "batch", "dtype", "layout", "device", "threads")
"""What tells one measurement from another."""


# How tables are written.


def table(header: str, rows: Sequence[str], title: str, text: str = "") -> Iterator[str]:
    if rows:
        yield f"## {title}\n"
        if text:
            yield text + "\n"
        yield header
        yield "|---" * (header.count("|") - 1) + "|"
        yield from rows
        yield ""


def short(ns: float) -> str:
    """A number with three digits."""
    return f"{ns:,.0f}" if ns >= 100 else f"{ns:.3g}"


def rows_of(run: Run, row: Callable[[str, str], str | None]) -> list[str]:
    """A row for each robot and algorithm that has one."""
    found = (row(robot, algorithm) for robot in run.robots for algorithm in run.algorithms)
    return [x for x in found if x]


def line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
