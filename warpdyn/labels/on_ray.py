"""Labelling of many files on a cluster with Ray's core: plain tasks of one file each, repeated if a
worker dies.

Ray's own data sets are not used. With them, two workers on two processors starve the task that
lists the files. They also merge small files, so that an input has no separate output.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice
from typing import Any

from ..execution.threads import set_num_threads
from ..user_kernels.loading import in_one_line
from .own_outputs import LogFile, Outcome

TRIES = 5
"""Number of times that a file is started again after its worker was killed."""

AHEAD = 4
"""Number of tasks per processor that are submitted in advance: the queue is never empty, and ten
million files are not submitted at once."""


WAIT = 10.0
"""Seconds to wait for a cluster's answer."""

STORE = 100 << 20
"""Bytes for data that tasks share: a model and names. No row of a log passes through it."""

LabelFile = Callable[[LogFile], Outcome]
"""A function that labels a file. Pickle takes it to the workers."""

_known: dict[Any, LabelFile] = {}
"""The latest function that this worker has received. It holds the model's kernels."""


def on_ray(
    label: LabelFile,
    files: Sequence[LogFile],
    on_rows: Callable[[int], None],
    address: str | None = None,
    workers: int | None = None,
) -> Generator[Outcome, None, None]:
    """Outcomes in the order in which files are done; a file's rows are reported when it is done.

    address: of a running cluster, such as "auto" or "ray://head:10001"; None starts one on this
    machine's processors, or on `workers` of them, and ends it.
    """
    import ray

    here = not ray.is_initialized()
    if here:
        _start(ray, address, workers)
    try:
        yield from _outcomes(ray, label, files, on_rows)
    finally:
        if here:
            ray.shutdown()


def _start(ray: Any, address: str | None, workers: int | None) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is not None:
        _look_for(address)
        ray.init(address=address, log_to_driver=False)
        return
    ray.init(
        address="local",  # not a cluster that happens to run
        num_cpus=workers or len(os.sched_getaffinity(0)),
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        object_store_memory=STORE,
        _node_ip_address="127.0.0.1",
    )


def _look_for(address: str) -> None:
    """Raise if nothing listens at the address, because Ray would try for ten minutes. Ray handles
    "auto" itself."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), WAIT).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise ValueError(
            f"no Ray cluster answers at {address}: {reason}; `ray start --head` on the first machine "
            "says its address"
        ) from error


def _outcomes(
    ray: Any, label: LabelFile, files: Sequence[LogFile], on_rows: Callable[[int], None]
) -> Iterator[Outcome]:
    task = ray.remote(num_cpus=1, max_retries=TRIES)(_label_alone)
    shared = ray.put(label)
    window = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
    rest, running = iter(files), dict[Any, LogFile]()
    while True:
        for file in islice(rest, window - len(running)):
            running[task.remote([shared], file)] = file
        if not running:
            return
        done, _ = ray.wait(list(running), num_returns=1)
        file = running.pop(done[0])
        try:
            outcome: Outcome = ray.get(done[0])
        except ray.exceptions.RayTaskError as error:
            outcome = Outcome(file, error=in_one_line(error.cause or error))
        except ray.exceptions.RayError as error:
            reason = str(error).strip().splitlines()[0]
            outcome = Outcome(file, error=f"its worker ended {TRIES + 1} times: {reason}")
        on_rows(outcome.rows)
        yield outcome


def _label_alone(shared: list[Any], file: LogFile) -> Outcome:
    """Label a file in a process that has one processor. A reference inside a list is not resolved,
    so each worker reads the function once instead of once for each task."""
    import ray

    label = _known.get(shared[0])
    if label is None:
        _known.clear()
        label = _known[shared[0]] = ray.get(shared[0])
    set_num_threads(1)
    return label(file)
