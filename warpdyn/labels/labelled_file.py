"""Labelling of one log file: it is read part by part, computed, and written under a temporary name
until it is complete."""

from __future__ import annotations

import errno
import os
import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..execution.public_functions import FUNCTIONS
from ..logs.open_log import open_log
from ..logs.records import Labels, Log, LogError, LogWriter
from ..model import Model
from ..model.joint_manifolds import LINE
from ..model.optional_packages import installed_version
from ..user_kernels.loading import in_one_line
from .inputs_in_logs import Inputs
from .own_outputs import LogFile, Outcome, stamp_of, write_hidden_file
from .row_quantities import Quantity, read_quantities
from .savitzky_golay import USUAL_FILTER, Difference, Filter

ROWS, PART = 131_072, 128 << 20
"""Rows of a part: fewer rows cost more calls, more rows only memory. Largest bytes of a part's
labels in float64, which limits the rows of large labels."""

FULL = {errno.ENOSPC, errno.EDQUOT}
"""Errors after which no other file can be written either."""

_computing = threading.Lock()
"""Lock for kernels, which run one at a time; they take a thirtieth of the time."""


class StoppedError(Exception):
    """The run was stopped while a file was labelled."""


@dataclass(frozen=True)
class Labelling:
    """The computation for every row of every file."""

    model: Model
    quantities: tuple[Quantity, ...]
    columns: Mapping[str, str]
    """Columns by input that replace the default ones: `{"q": "observation.state[:7]"}`."""
    filter: Filter = USUAL_FILTER
    topic: str = "/joint_states"

    def __reduce__(self) -> tuple[Callable[..., Labelling], tuple[Any, ...]]:
        """Pickle the request, because a kernel's file is not a module that another process could
        import."""
        requests = tuple(each.request for each in self.quantities)
        texts = tuple(each.text for each in self.quantities)
        return _labelling, (self.model, requests, texts, self.columns, self.filter, self.topic)

    def settings(self) -> dict[str, object]:
        """Settings that determine the outputs; a run with other settings is a different run."""
        quantities = {each.name: each.text for each in self.quantities}
        options = {
            each.name: {n: str(x) for n, x in each.options.items()}
            for each in self.quantities
            if each.options
        }
        return {
            "model": self.model.name,
            "model_key": self.model.key,
            "quantities": quantities,
            "options": options,
            "columns": dict(self.columns),
            "filter": str(self.filter),
            "topic": self.topic,
        }

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of one row of every input that a quantity needs."""
        return {n: each.shape(self.model, n) for each in self.quantities for n in each.inputs}

    @cached_property
    def of_zeros(self) -> list[dict[str, np.ndarray]]:
        """Labels of two rows of zeros, at rest in the neutral configuration, in float32."""
        arrays = {n: np.zeros((2, *shape), np.float32) for n, shape in self.shapes().items()}
        if "q" in arrays:
            arrays["q"][:] = self.model.neutral
        return compute_labels(self, arrays)

    @cached_property
    def rows_of_part(self) -> int:
        """Number of rows that are read, computed and written at once."""
        size = sum(x[0].size * 8 for some in self.of_zeros for x in some.values())
        return max(1, min(ROWS, PART // max(1, size)))

    def inputs(self, log: Log) -> Inputs:
        """Inputs of the quantities, from one log."""
        difference = difference_of(self.model)
        return Inputs.of(log, self.model, self.shapes(), self.columns, self.filter, difference)


def _labelling(model: Model, requests: Any, texts: tuple[str, ...], *others: Any) -> Labelling:
    quantities = read_quantities(model, requests)
    for each, text in zip(quantities, texts, strict=True):
        if each.text != text:
            raise ValueError(
                f"{each.request} on {socket.gethostname()} differs from the one where the run began; "
                "every machine needs the same files"
            )
    return Labelling(model, quantities, *others)


def label_file(
    labelling: Labelling,
    file: LogFile,
    on_rows: Callable[[int], None] = lambda rows: None,
    stop: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Label one file; an error is part of the outcome. on_rows: called with the number of finished rows."""
    try:
        rows, notes = _label(labelling, file, on_rows, stop)
        return Outcome(file, rows, notes)
    except LogError as error:
        return Outcome(file, error=str(error))
    except StoppedError:
        return Outcome(file, error="the run was stopped")
    except OSError as error:
        full = error.errno in FULL
        reason = error.strerror or in_one_line(error)
        return Outcome(file, error=f"{error.filename or file.target}: {reason}", full=full)
    except Exception as error:  # from a user's kernel, or for a file that a reader did not expect
        return Outcome(file, error=in_one_line(error))


def _label(
    labelling: Labelling, file: LogFile, on_rows: Callable[[int], None], stop: Callable[[], bool]
) -> tuple[int, list[str]]:
    partial, begun = partial_name(file.target), stamp_of(file.source)
    log = open_log(file.source, labelling.topic)
    writer: LogWriter | None = None
    rows = 0
    # Any failure removes the partial output, so that a target is always complete.
    try:
        inputs = labelling.inputs(log)
        for part, arrays in inputs.parts(labelling.rows_of_part):
            if stop():
                raise StoppedError
            results = compute_labels(labelling, arrays)
            if writer is None:
                writer = log.writer(partial, labels_of(labelling, inputs, results, begun))
            writer.write(part, {n: x for some in results for n, x in some.items()})
            rows += part.rows
            on_rows(part.rows)
        if writer is None:
            raise LogError("it has no rows")
        writer.close()
        if stamp_of(file.source) != begun:
            raise LogError(f"{file.source}: it was written to while it was read; start again")
        _keep(partial, file.target, begun)
    except BaseException:
        if writer is not None:
            writer.abandon()
        partial.unlink(missing_ok=True)
        raise
    finally:
        log.close()
    return rows, log.notes


def compute_labels(
    labelling: Labelling, arrays: Mapping[str, np.ndarray]
) -> list[dict[str, np.ndarray]]:
    """Labels of some rows by name, for each quantity."""
    double = any(x.dtype == np.float64 for x in arrays.values())
    same = {
        n: x.astype(np.float64 if double else np.float32, copy=False) for n, x in arrays.items()
    }
    with _computing:
        return [each.values(labelling.model, same) for each in labelling.quantities]


def labels_of(
    labelling: Labelling,
    inputs: Inputs,
    results: Sequence[Mapping[str, np.ndarray]],
    source: Mapping[str, Any],
) -> Labels:
    """Columns for these results, with their metadata; `source` is the log's stamp."""
    columns = [
        label
        for each, values in zip(labelling.quantities, results, strict=True)
        for label in each.labels(labelling.model, values, inputs.apart)
    ]
    metadata = {
        "warpdyn": installed_version(),
        "model": labelling.model.name,
        "coordinates": list(labelling.model.q_names),
        "inputs": inputs.describe_columns(),
        "source": dict(source),
    }
    return Labels(columns, metadata)


def difference_of(model: Model) -> Difference | None:
    """The tangent between configurations; None if configurations are vectors."""
    if not model.floating_base and all(j.kind.manifold == LINE for j in model.joints):
        return None
    function = FUNCTIONS["difference"]

    def difference(here: np.ndarray, there: np.ndarray) -> np.ndarray:
        with _computing:
            return function(model, np.ascontiguousarray(here), np.ascontiguousarray(there))

    return difference


def partial_name(target: Path) -> Path:
    """Name of an incomplete output, with the machine and the process that write it."""
    machine = socket.gethostname().replace(".", "_")
    return target.with_name(f".{target.name}.{machine}-{os.getpid()}.part")


def remove_leftovers(files: Iterable[LogFile]) -> int:
    """Remove files that killed processes have left for existing outputs; returns their number."""
    count = 0
    targets = {each.target for each in files}
    for folder in {target.parent for target in targets}:
        for path in folder.glob(".*.part"):
            target = folder / path.name[1:].rsplit(".", 2)[0]
            if target in targets and target.exists():
                path.unlink(missing_ok=True)
                count += 1
    return count


def _keep(partial: Path, target: Path, stamp: Mapping[str, Any]) -> None:
    """Flush the output to the disk and rename it; `stamp` is the log's."""
    with partial.open("rb") as file:
        try:
            os.fsync(file.fileno())  # here network file systems report a full disk
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
    try:
        write_hidden_file(partial, target, stamp)
        partial.replace(target)
    except FileNotFoundError:
        if not target.exists():  # otherwise another run was faster, and has removed it
            raise
