"""`wd.labels.label`: quantities of a robot for every row of many logs."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ..execution.compile.kernel_cache import start_kernel_cache
from ..logs.open_log import kind_of_log, open_log, output_name
from ..logs.records import LogError
from ..model import Model
from ..model.optional_packages import install_extra
from .inputs_in_logs import USUAL
from .labelled_file import Labelling, label_file, remove_leftovers
from .manifest import check_settings, write_manifest
from .on_ray import on_ray
from .on_threads import on_threads
from .own_outputs import LogFile, Outcome, OutputState, output_state, refuse_foreign
from .row_quantities import read_quantities
from .savitzky_golay import Filter

MOST_COUNTED = 1000
"""Largest number of files whose rows are counted in advance, for the progress bar."""

Asked = str | Callable[..., Any]
"""A quantity: a name, a function, or one with options by `functools.partial`."""


class LabelError(RuntimeError):
    """A run that could not continue. Finished files are kept, and the next run continues from
    there."""


@dataclass(frozen=True)
class LabelReport:
    """Result of a run."""

    done: int
    """Number of files that this run has labelled."""
    skipped: int
    """Number of files that were labelled before."""
    rows: int
    """Number of rows that this run has labelled."""
    failed: Mapping[str, str]
    """Reasons for files without an output, by file name."""
    out: Path
    """Folder of the outputs and manifest.json."""
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Remarks on files of this run, by file name."""


def label(
    model: Model,
    logs: str | Path | Sequence[str | Path],
    quantities: Asked | Sequence[Asked],
    out: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    filter: str = "savgol:15",
    on: str = "threads",
    workers: int | None = None,
    topic: str = "/joint_states",
    progress: bool = True,
    force: bool = False,
) -> LabelReport:
    """Compute quantities for every row of many logs, and write them together with the logs' data;
    returns a report on the files.

    logs: Parquet, NPZ, CSV, bags of ROS 1 and 2 and MCAP files, by names, patterns, folders or
    "@list.txt". quantities: "rnea", "fk:LINK", "my.py:residual", or functions such as wd.rnea; a
    name in front names the label, "torque=rnea". Units are those of the functions, [rad, m, s, N,
    N·m]; the outputs record units and frames.
    out: a folder with one output for each log, under the log's name (for a bag, Parquet). Existing
    outputs are kept, so that an interrupted run continues, except those of logs whose size or time
    has changed since. manifest.json lists the failed files with reasons. If a file with an output's
    name was not written by warpdyn, this raises an error; force=True replaces the file.
    columns: of the log, by input: {"q": "observation.state[:7]", "time": "stamp:ns"}; by default
    the usual names are searched. Missing v and a are derivatives of polynomials fitted to q by its
    time stamps. filter: "savgol:WINDOW" or "savgol:WINDOW:DEGREE", in rows.
    on: "threads", "ray", or "ray:ADDRESS" of a cluster. workers: number of files at a time; by
    default all cores.
    topic: of a bag's joint states. progress: a bar on stderr.
    Raises ValueError for invalid arguments, LabelError when the disk is full.
    """
    out = Path(out)
    labelling, files, root = prepare_labelling(model, logs, quantities, out, columns, filter, topic)
    run = _runner(on, workers)
    settings = {**labelling.settings(), "root": str(root)}
    check_settings(out, settings, force)
    states = {each: output_state(*each) for each in files}
    if not force:
        refuse_foreign(
            (x.target for x, state in states.items() if state is OutputState.FOREIGN), out
        )
    # Only files without a current output are labelled, so that an interrupted run continues.
    todo = [each for each, state in states.items() if state is not OutputState.DONE]
    for folder in {each.target.parent for each in todo} | {out}:
        folder.mkdir(parents=True, exist_ok=True)
    counts = {"files": len(files), "done": len(files) - len(todo), "rows_of_this_run": 0}
    write_manifest(out, settings, [], counts, {})
    outcomes: list[Outcome] = []
    bar = tqdm(total=_rows(todo), unit=" rows", unit_scale=True, disable=not progress)
    try:
        with bar, closing(run(partial(label_file, labelling), todo, bar.update)) as results:
            for outcome in results:
                outcomes.append(outcome)
                bar.set_postfix_str(f"{len(outcomes)} of {len(todo)} files", refresh=False)
                if outcome.full:
                    raise LabelError(
                        f"{outcome.error}; {_count_finished(outcomes)} files were finished, and no "
                        "partial file is left; free some space and start again to continue"
                    )
    finally:
        rows = sum(each.rows for each in outcomes)
        counts |= {"done": counts["done"] + _count_finished(outcomes), "rows_of_this_run": rows}
        _write_if_possible(out, settings, labelling, outcomes, counts)
        remove_leftovers(files)
    failed = {str(each.file.source): each.error for each in outcomes if each.error}
    notes = {str(each.file.source): each.notes for each in outcomes if each.notes}
    return LabelReport(_count_finished(outcomes), len(files) - len(todo), rows, failed, out, notes)


def prepare_labelling(
    model: Model,
    logs: str | Path | Sequence[str | Path],
    quantities: Asked | Sequence[Asked],
    out: Path,
    columns: Mapping[str, str] | None,
    filter: str,
    topic: str,
) -> tuple[Labelling, list[LogFile], Path]:
    """The computation, its files, and their common folder; ValueError if it is not possible."""
    requests = [quantities] if isinstance(quantities, str) or callable(quantities) else quantities
    read = read_quantities(model, requests)
    known = {*USUAL, *(name for each in read for name in each.inputs)}
    if unknown := [name for name in columns or () if name not in known]:
        raise ValueError(
            f"columns are by input, {', '.join(sorted(known))}; there is no {unknown[0]!r}"
        )
    start_kernel_cache()
    labelling = Labelling(model, read, dict(columns or {}), Filter.of(filter), topic)
    return labelling, *log_files(logs, out)


def _runner(on: str, workers: int | None) -> Callable[..., Generator[Outcome, None, None]]:
    kind, _, address = on.partition(":")
    if kind == "threads" and not address:
        return partial(on_threads, workers=workers)
    if kind != "ray":
        raise ValueError(f'on must be "threads", "ray" or "ray:ADDRESS", got {on!r}')
    if find_spec("ray") is None:
        raise ValueError(f"on=ray needs ray, which is not installed: {install_extra('ray')}")
    return partial(on_ray, address=address or None, workers=workers)


def _rows(files: Sequence[LogFile]) -> int | None:
    """Rows of all files, if each file gives its number without being read."""
    if len(files) > MOST_COUNTED or any(each.source.suffix.lower() != ".parquet" for each in files):
        return None
    total = 0
    for each in files:
        try:
            log = open_log(each.source)
        except (LogError, OSError):  # reported when the file is labelled
            continue
        total += log.rows or 0
        log.close()
    return total


def _count_finished(outcomes: Sequence[Outcome]) -> int:
    return sum(not each.error for each in outcomes)


def _write_if_possible(
    out: Path,
    settings: Mapping[str, object],
    labelling: Labelling,
    outcomes: Sequence[Outcome],
    counts: Mapping[str, int],
) -> None:
    """Write the manifest; a full disk was reported already."""
    columns = {each.name: each.about() for each in labelling.quantities}
    try:
        write_manifest(out, settings, outcomes, counts, columns)
    except OSError:
        if not any(each.full for each in outcomes):
            raise


def log_files(logs: str | Path | Iterable[str | Path], out: Path) -> tuple[list[LogFile], Path]:
    """Files by names, patterns, folders (all logs in them), or `@list.txt` with a name on each line.

    Outputs lie in `out` as the files lie below the folder that they have in common, which is
    returned too. Outputs of earlier runs are not logs. ValueError: no file, or two of one output.
    """
    names = [logs] if isinstance(logs, (str, Path)) else list(logs)
    sources = list(dict.fromkeys(path for each in names for path in _find_logs(str(each), out)))
    if not sources:
        shown = ", ".join(map(str, names[:3])) or "nothing"
        raise ValueError(f"there are no logs: {shown} names none")
    parents = {os.path.abspath(path.parent) for path in sources}  # noqa: PTH100 (links stay)
    root = Path(os.path.commonpath(parents))
    targets: dict[Path, Path] = {}
    files = []
    folder_of = cache(Path.resolve)

    def real(path: Path) -> Path:
        """Without links above it, which are the same for many files."""
        return folder_of(path.parent) / path.name

    for source in sources:
        folder = Path(os.path.abspath(source.parent)).relative_to(root)  # noqa: PTH100
        target = out / folder / output_name(source)
        if target in targets:
            raise ValueError(
                f"{targets[target]} and {source} would both be written as {target}; "
                "label them into separate folders"
            )
        if real(target) == real(source):
            link = f": {out} leads to {out.resolve()}" if out.resolve() != out.absolute() else ""
            raise ValueError(f"{source} would be written over itself{link}; choose another --out")
        targets[target] = source
        files.append(LogFile(source, target))
    return files, root


def _find_logs(text: str, out: Path) -> Iterator[Path]:
    if text.startswith("@"):
        with Path(text[1:]).open(encoding="utf-8") as lines:
            for line in filter(None, map(str.strip, lines)):
                yield from _find_logs(line, out)
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
    """Logs in a folder and those in it; a bag of ROS 2 is one log."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.absolute() == out:
            continue
        if kind_of_log(path) is not None:
            yield path
        elif path.is_dir():
            yield from _logs_below(path, out)
