"""Dry run: the data that a run would read, compute and write, before it computes anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..logs.open_log import open_log
from ..logs.records import LogError
from .labelled_file import Labelling
from .own_outputs import LogFile, OutputState, output_state

MOST_OPENED = 1000
"""Largest number of files that are opened; for more files, the number of rows is estimated from
their sizes."""


class Forecast(NamedTuple):
    """Forecast of a run."""

    files: int
    """Files without an output, or changed since."""
    finished: int
    """Files with an output."""
    rows: int | None
    """Number of rows; None if files must be read to know it."""
    size: int | None
    """Bytes of the outputs: the size of the logs, plus the added data uncompressed."""
    inputs: dict[str, str]
    """Columns of each input, in the first readable log."""
    labels: dict[str, str]
    """Shapes, units and frames by label."""
    wrong: dict[str, str]
    """Logs that will fail, with the reason."""


def forecast(labelling: Labelling, files: Sequence[LogFile]) -> Forecast:
    """Open the logs, read their metadata, and compute two rows of zeros."""
    states = [output_state(*each) for each in files]
    todo = [
        each for each, state in zip(files, states, strict=True) if state is not OutputState.DONE
    ]
    rows, read, unknown = 0, 0, False
    inputs: dict[str, str] = {}
    wrong = {
        str(
            each.source
        ): f"{each.target} is not an output of warpdyn, and is replaced with --force alone"
        for each, state in zip(files, states, strict=True)
        if state is OutputState.FOREIGN
    }
    for each in todo[:MOST_OPENED]:
        try:
            log = open_log(each.source, labelling.topic)
            here = labelling.inputs(log)
            log.close()
        except (LogError, OSError) as error:
            wrong[str(each.source)] = str(error)
            continue
        inputs = inputs or here.describe_columns()
        unknown = unknown or log.rows is None
        rows += log.rows or 0
        read += each.source.stat().st_size
    labels, added = _labels(labelling)
    # If only some of the files were opened, the total is scaled by the bytes of all of them.
    size = sum(each.source.stat().st_size for each in todo if each.source.is_file())
    total = (
        None if unknown or not read else round(rows * (size / read if todo[MOST_OPENED:] else 1))
    )
    return Forecast(
        len(todo),
        len(files) - len(todo),
        total,
        None if total is None else (size if todo[MOST_OPENED:] else read) + total * added,
        inputs,
        labels,
        wrong,
    )


def _labels(labelling: Labelling) -> tuple[dict[str, str], int]:
    """Description of each label, and bytes of all labels in a row of float32."""
    labels, added = {}, 0
    for each, values in zip(labelling.quantities, labelling.of_zeros, strict=True):
        for label in each.labels(labelling.model, values, False):
            entries = " x ".join(map(str, label.shape)) or "a number"
            words = [entries, *(str(label.about[n]) for n in ("unit", "frame") if n in label.about)]
            labels[label.name] = "; ".join(words)
            added += int(np.prod(label.shape)) * label.dtype.itemsize
    return labels, added


def forecast_lines(found: Forecast) -> Iterator[str]:
    """Lines for a terminal."""
    rows = "rows are known when they are read"
    if found.rows is not None:
        rows = f"{found.rows:,} rows"
    size = "" if found.size is None else f", outputs of about {found.size / 1e6:,.1f} MB"
    yield f"{found.files} file{'s' * (found.files != 1)} to label, {found.finished} finished before; {rows}{size}"
    for name, source in found.inputs.items():
        yield f"  {name}: {source}"
    for name, words in found.labels.items():
        yield f"  {name} = {words}"
    for name, why in found.wrong.items():
        yield f"  will fail: {name}: {why}"
