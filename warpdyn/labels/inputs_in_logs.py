"""Columns of a log for q, v, a and time, and their rows as arrays, with missing inputs derived."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from ..logs.records import Log, LogError, LogPart, finite, join_names
from ..model import Model
from ..model.coordinate_ranges import continue_angles
from .savitzky_golay import Difference, EpisodeFinder, Episodes, Filter, derivatives

USUAL: Mapping[str, tuple[str, ...]] = {
    "q": ("q", "observation.state", "position"),
    "v": ("v", "observation.velocity", "velocity"),
    "a": ("a", "observation.acceleration", "acceleration"),
    "tau": ("tau", "observation.effort", "effort"),
    "time": ("timestamp", "time", "times", "t", "seconds"),
    "episode": ("episode_index", "episode"),
}
"""Default column names: ours, LeRobot's, and those of joint states."""

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

CHOICE = re.compile(r"^(?P<column>.+?)(?:\[(?P<from>\d*):(?P<to>\d*)\])?$")
"""Pattern of a choice such as `observation.state[:8]`, the first eight entries."""


NUMBERED = ("{}{}", "{}_{}")
"""Forms of a column's name: the beginning and a number from 0."""

NAMED = ("{}.{}", "{}_{}", "{}{}")
"""Forms of a column's name: the beginning and a joint's name."""


@dataclass(frozen=True)
class ColumnSource:
    """The numbers of an input: one list column, some of its entries, or several columns."""

    columns: tuple[str, ...]
    entries: tuple[int, ...] | None = None
    listed: bool = True

    def values(self, numbers: Mapping[str, np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
        """The values as an array (B, *shape)."""
        if self.listed:
            x = numbers[self.columns[0]]
            if self.entries is not None:
                x = x[:, list(self.entries)]
            return x.reshape(len(x), *shape)
        first = numbers[self.columns[0]]
        x = np.empty((len(self.columns), len(first)), first.dtype)
        for k, name in enumerate(self.columns):
            x[k] = numbers[name]
        return x.T.reshape(len(first), *shape)

    def __str__(self) -> str:
        if self.listed:
            some = "" if self.entries is None else f" entries {' '.join(map(str, self.entries))}"
            return f"{self.columns[0]}{some}"
        return f"{self.columns[0]} to {self.columns[-1]}" if self.columns[1:] else self.columns[0]


CheckedPart = tuple[LogPart, dict[str, np.ndarray], np.ndarray]
"""A part of a log, its arrays by input, and its time stamps [s]."""


@dataclass
class Inputs:
    """The arrays of one log that the quantities need."""

    log: Log
    model: Model
    shapes: Mapping[str, tuple[int, ...]]
    """Shape of one row, by input."""
    filter: Filter
    difference: Difference | None
    sources: dict[str, ColumnSource] = field(default_factory=dict)
    derived: tuple[str, ...] = ()
    """v and a, if the log does not have them."""
    time: str = ""
    unit: float = 1.0
    episode: str = ""

    @classmethod
    def of(
        cls,
        log: Log,
        model: Model,
        shapes: Mapping[str, tuple[int, ...]],
        chosen: Mapping[str, str],
        filter: Filter,
        difference: Difference | None,
    ) -> Inputs:
        """Inputs with their columns; LogError if one is missing that cannot be derived."""
        made = cls(log, model, shapes, filter, difference)
        derived = []
        for name, shape in shapes.items():
            source = made._source(name, shape, chosen.get(name))
            if source is not None:
                made.sources[name] = source
            elif name in ("v", "a"):
                derived.append(name)
            else:
                raise made._missing(name, shape)
        made.derived = tuple(derived)
        if derived:
            made._find_origin(chosen)
        return made

    @property
    def apart(self) -> bool:
        """True if labels get one column for each entry, like the inputs from which they are
        computed."""
        return any(not each.listed for each in self.sources.values())

    def parts(self, rows: int) -> Iterator[tuple[LogPart, dict[str, np.ndarray]]]:
        """The log part by part, with arrays for each part."""
        episodes = self._episodes(rows) if self.derived else None
        columns = list(dict.fromkeys(n for each in self.sources.values() for n in each.columns))
        parts = self.log.parts([*columns, *([self.time] if self.derived else [])], rows, True)
        ready = self._checked_parts(parts)
        if episodes is not None:
            yield from self._parts_with_derivatives(ready, episodes)
            return
        for part, arrays, _ in ready:
            yield part, arrays

    def _parts_with_derivatives(
        self, ready: Iterator[CheckedPart], episodes: Episodes
    ) -> Iterator[tuple[LogPart, dict[str, np.ndarray]]]:
        """The parts with derived v and a. A window needs `halo` rows before and after a part."""
        halo, origin = self.filter.window, self._arrays_to_differentiate()
        before: list[tuple[dict[str, np.ndarray], np.ndarray]] = []
        waiting: deque[CheckedPart] = deque()
        first = 0
        while True:
            _read_ahead(waiting, ready, halo)
            if not waiting:
                return
            part, arrays, t = waiting.popleft()
            near = [*before, (arrays, t)]
            missing = halo
            for _, x, stamps in waiting:
                near.append(({n: x[n][:missing] for n in origin}, stamps[:missing]))
                missing = max(0, missing - len(stamps))
            lead = len(before[0][1]) if before else 0
            whole = {n: np.concatenate([x[n] for x, _ in near]) for n in origin}
            stamps = np.concatenate([s for _, s in near])
            wanted = slice(lead, lead + part.rows)
            found = self._derivatives(whole, stamps, first - lead, wanted, episodes)
            yield part, {**arrays, **found}
            first += part.rows
            last = slice(max(0, wanted.stop - halo), wanted.stop)
            before = [({n: x[last] for n, x in whole.items()}, stamps[last])]

    def describe_columns(self) -> dict[str, str]:
        """Columns of each input, for metadata and for a dry run."""
        descriptions = {name: str(source) for name, source in self.sources.items()}
        for name in self.derived:
            origin = "v" if name == "a" and "v" in self.sources else "q"
            descriptions[name] = f"{self.filter} of {origin} by {self.time}"
        return descriptions

    def _checked_parts(self, parts: Iterator[LogPart]) -> Iterator[CheckedPart]:
        first, lower, upper = 0, *_widened_limits(self.model)
        outside = np.zeros(self.model.nq, np.int64)
        for part in parts:
            arrays = {}
            for name, source in self.sources.items():
                values = source.values(part.numbers, self.shapes.get(name, (self.model.nq,)))
                arrays[name] = finite(str(source), values, first)
            if "q" in arrays:
                q = arrays["q"]  # compared in its own precision, a tenth of the time
                beyond = (q < lower.astype(q.dtype)) | (q > upper.astype(q.dtype))
                if beyond.any():
                    outside += beyond.sum(0)
            t = part.numbers[self.time] if self.derived else np.zeros(0)
            yield part, arrays, t.astype(np.float64) * self.unit
            first += part.rows
        self._remark_outside(outside, first)

    def _remark_outside(self, outside: np.ndarray, rows: int) -> None:
        """Add a remark about coordinates beyond their limits, each in `outside` of so many rows."""
        worst = int(outside.argmax()) if outside.size else 0
        if not outside.any():
            return
        model, others = self.model, int((outside > 0).sum()) - 1
        self.log.notes.append(
            f"{model.q_names[worst]} is outside its limits, {model.position_lower[worst]:g} to "
            f"{model.position_upper[worst]:g}, in {outside[worst]} of {rows} rows"
            f"{f', and so are {others} more coordinates' if others else ''}: angles must be in radians"
        )

    def _arrays_to_differentiate(self) -> list[str]:
        """Arrays to differentiate: v for an acceleration if the log has it, else q."""
        from_v = self.derived == ("a",) and "v" in self.sources
        return ["v"] if from_v else ["q"]

    def _derivatives(
        self,
        whole: Mapping[str, np.ndarray],
        t: np.ndarray,
        first: int,
        wanted: slice,
        episodes: Episodes,
    ) -> dict[str, np.ndarray]:
        (name,) = self._arrays_to_differentiate()
        difference = self.difference if name == "q" else None
        x = continue_angles(self.model, whole[name]) if name == "q" else whole[name]
        found = derivatives(x, t, first, wanted, episodes, self.filter, difference)
        one, two = (each.astype(whole[name].dtype, copy=False) for each in found)
        return {"a": one} if name == "v" else {n: {"v": one, "a": two}[n] for n in self.derived}

    def _find_origin(self, chosen: Mapping[str, str]) -> None:
        """Find the columns from which v and a are derived: q or v, time, and the episodes."""
        if self.model.floating_base and self.model.base_velocity != "local":
            raise LogError(
                f"{' and '.join(self.derived)} must be derived, which is in the base's own frame, and "
                f'{self.model.name} has base_velocity="{self.model.base_velocity}"; take '
                'model.with_base_velocity("local")'
            )
        self._need_to_differentiate(chosen)
        name, _, unit = chosen.get("time", "").partition(":")
        names = [name] if name else [n for n in USUAL["time"] if n in self.log.names]
        missing = " and ".join(self.derived)
        if not names or names[0] not in self.log.names:
            raise LogError(
                f"{missing} must be derived, and there is no column of time"
                f"{f' {name!r}' if name else ''}: --columns time=NAME, or time=NAME:ns; it has "
                f"{join_names(self.log.names)}"
            )
        if unit and unit not in SECONDS:
            raise LogError(f"unit of time must be one of {', '.join(SECONDS)}, got {unit!r}")
        self.time, self.unit = names[0], SECONDS[unit or "s"]
        if self.log.width(self.time) is not None:
            raise LogError(f"column {self.time} is a list, not a time stamp")
        episode = chosen.get("episode")
        if episode is not None and episode not in self.log.names:
            raise LogError(f"there is no column {episode!r}; it has {join_names(self.log.names)}")
        self.episode = episode or next((n for n in USUAL["episode"] if n in self.log.names), "")

    def _need_to_differentiate(self, chosen: Mapping[str, str]) -> None:
        (name,) = self._arrays_to_differentiate()
        if name not in self.sources:
            shape = (self.model.nq,)
            source = self._source(name, shape, chosen.get(name))
            if source is None:
                raise self._missing(name, shape)
            self.sources[name] = source

    def _episodes(self, rows: int) -> Episodes:
        names = {"time": self.time, **({"episode": self.episode} if self.episode else {})}
        finder, begin = EpisodeFinder(names), 0
        for part in self.log.parts(list(names.values()), rows, False):
            t = finite(self.time, part.numbers[self.time], begin)
            numbers = part.numbers[self.episode] if self.episode else None
            if numbers is not None:  # NaN would begin an episode in each row
                numbers = finite(self.episode, numbers, begin)
            finder.add(t, numbers, self.unit)
            begin += part.rows
        if not begin:
            raise LogError("it has no rows")
        try:
            found = finder.all_episodes()
        except ValueError as error:
            raise LogError(str(error)) from None
        self._remark(found)
        return found

    def _remark(self, episodes: Episodes) -> None:
        """Add remarks about the time stamps to the log's notes."""
        count, total = int(np.isnan(episodes.dt).sum()), len(episodes.dt)
        short = int(episodes.short(self.filter.window).sum())
        tiny = int(episodes.short(3).sum())
        if count:
            self.log.notes.append(
                f"time stamps of {count} of {total} episodes are uneven: polynomials were fitted "
                "at the stamps themselves"
            )
        if short:
            self.log.notes.append(
                f"{short} of {total} episodes have fewer than {self.filter.window} rows: the whole "
                f"of each is one window{f'; v and a of {tiny} with fewer than 3 are NaN' if tiny else ''}"
            )

    def _source(self, name: str, shape: tuple[int, ...], chosen: str | None) -> ColumnSource | None:
        """Columns of an input; None if there are none."""
        size = prod(shape)
        joints = self.model.q_names if name == "q" else self.model.v_names
        names = tuple(joints) if size == len(joints) else ()
        # Try one list column first, then numbered columns, then columns with the joints' names.
        for text in [chosen] if chosen else USUAL.get(name, (name,)):
            match = CHOICE.match(text)
            assert match is not None, "any text matches"
            column = match["column"] if text not in self.log.names else text
            if column in self.log.names:
                source = self._list(name, column, size, names, match)
                if source is not None:
                    return source
            for form in NUMBERED:
                columns = self._columns_by_number(name, form, column, size, match)
                if columns:
                    return ColumnSource(columns, listed=False)
            for form in NAMED if match["from"] is None else ():
                columns = tuple(form.format(column, joint) for joint in names)
                if self._has_columns(columns):
                    return ColumnSource(columns, listed=False)
        if name == "q" and not chosen and self._has_columns(names):
            return ColumnSource(names, listed=False)
        if chosen:
            raise LogError(
                f"--columns {name}={chosen} is neither a column of the log nor a prefix of {size} of "
                f"them; the log has {join_names(self.log.names)}"
            )
        return None

    def _columns_by_number(
        self, name: str, form: str, column: str, size: int, match: re.Match[str]
    ) -> tuple[str, ...]:
        """Numbered columns of an input, those of the chosen range; none if the log lacks one."""
        count = 0
        while form.format(column, count) in self.log.names:
            count += 1
        begin, end = int(match["from"] or 0), int(match["to"] or count)
        # More columns than numbers are no answer: which of them belong to the model is unknown.
        if count < size or (match["from"] is not None and end > count):
            return ()
        if end - begin != size:
            raise LogError(
                f"{name} of {self.model.name} has {size} numbers a row, the log has {count} columns "
                f"{form.format(column, 0)} to {form.format(column, count - 1)}; choose: --columns "
                f"{name}={column}[:{size}]"
            )
        return tuple(form.format(column, k) for k in range(begin, end))

    def _has_columns(self, columns: Sequence[str]) -> bool:
        """True if the log has all of these columns, at least one."""
        return bool(columns) and all(name in self.log.names for name in columns)

    def _list(
        self, name: str, column: str, size: int, joints: Sequence[str], match: re.Match[str]
    ) -> ColumnSource | None:
        """A column that is a list of the right length, or a list with the joints' names."""
        width = self.log.width(column)
        if width is None:
            plain = size == 1 and match["from"] is None
            return ColumnSource((column,), listed=False) if plain else None
        known = self.log.entries(column)
        if known and joints:
            if missing := [joint for joint in joints if joint not in known]:
                raise LogError(
                    f"{column} has no {join_names(missing)} of {self.model.name}, but {join_names(known)}; "
                    "model.reduce takes joints out of a model"
                )
            order = tuple(known.index(joint) for joint in joints)
            return ColumnSource((column,), None if order == tuple(range(width)) else order)
        begin, end = int(match["from"] or 0), int(match["to"] or width)
        if end > width or end - begin != size:
            remedy = f"choose: --columns {name}={column}[:{size}]"
            if width < size:
                remedy = "take a model without the joints that it lacks (model.reduce)"
            raise LogError(
                f"{name} of {self.model.name} has {size} numbers a row, {column} has {width}; {remedy}"
            )
        return ColumnSource(
            (column,), None if (begin, end) == (0, width) else tuple(range(begin, end))
        )

    def _missing(self, name: str, shape: tuple[int, ...]) -> LogError:
        size = prod(shape)
        return LogError(
            f"there is no column for {name}, {size} numbers a row; usual names are "
            f"{', '.join(USUAL.get(name, (name,)))}, or {name}0 to {name}{size - 1}; the log has "
            f"{join_names(self.log.names)}; choose one by --columns {name}=NAME"
        )


def _read_ahead(waiting: deque[CheckedPart], ready: Iterator[CheckedPart], rows: int) -> None:
    """Read parts until `rows` rows wait behind the first part, or the log ends."""
    while sum(part.rows for part, _, _ in list(waiting)[1:]) < rows:
        after = next(ready, None)
        if after is None:
            return
        waiting.append(after)


def _widened_limits(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Limits of q, widened by a tenth of their range: encoders of a robot at its stop may be that
    far off, numbers in degrees are farther."""
    lower, upper = (np.asarray(x, float) for x in (model.position_lower, model.position_upper))
    bounded = np.isfinite(lower) & np.isfinite(upper)
    slack = np.where(bounded, np.where(bounded, upper, 0.0) - np.where(bounded, lower, 0.0), 0.0)
    return lower - 0.1 * slack, upper + 0.1 * slack
