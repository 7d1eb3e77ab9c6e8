"""Throughput for one robot and algorithm. Cases and peers run in turns, so that all see the same noise."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from math import prod
from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn.cli.accuracy import relative_error
from warpdyn.model.names import ModelError
from warpdyn.peers.peer import NotComparable

from .algorithms import ALGORITHMS
from .cases import LARGEST, Case
from .interleave import CORES, ROUNDS, Turn, take_turns
from .peers import NEAR, NEAR_OF_FREE_BASE, CannotDo, InstalledPeer, PreparedRun, jax_aot
from .robots import robot as robot_named
from .workload import Work, states_of

SAMPLE = 16
PEER_BATCH = 4096
"""Robots in a peer's batch; beyond it none gains."""

Record = dict[str, Any]


def measure(
    cases: Sequence[Case],
    peers: Sequence[InstalledPeer] = (),
    rounds: int = ROUNDS,
    compile_limit: float = jax_aot.LIMIT,
) -> Iterator[Record]:
    """Yield a record for each case and each peer. All cases have one robot, algorithm and device."""
    name, algorithm, device = cases[0].robot, cases[0].algorithm, cases[0].device
    robot = robot_named(name)
    at = {"robot": name, "algorithm": algorithm, "device": device, "nv": robot.model.nv}
    states = states_of(robot, max(SAMPLE, *(case.batch for case in cases)))
    few = {key: values[:SAMPLE] for key, values in states.items()}
    try:
        exact = Work(robot, algorithm, few, "float64")
        exact.call()
    except ModelError as error:
        yield {**at, "library": "warpdyn", "blank": str(error)}
        return
    truth = exact.answers(SAMPLE)
    entries = sum(prod(x.shape[1:]) for x in truth)

    works, bound, called = [], [], []
    kept = [
        case
        for case in cases
        if case.batch * entries * (4 if case.dtype == "float32" else 8) <= LARGEST
    ]
    for case in kept:
        wd.runtime.set_num_threads(case.threads)
        start = time.perf_counter()
        own = {key: values[: case.batch] for key, values in states.items()}
        work = Work(robot, algorithm, own, case.dtype, case.layout, device)
        cores = _cores(case.threads)
        run = work.bind()
        works.append(
            (
                work,
                time.perf_counter() - start,
                worst(work.answers(SAMPLE), [x[: case.batch] for x in truth]),
            )
        )
        bound.append(Turn(run, case.batch, cores, device))
        called.append(Turn(_with_threads(case.threads, work), case.batch, cores, device))
    ready = list(_peers(peers, robot, algorithm, states, truth, device, compile_limit))
    opponents = [
        Turn(p.run, p.count, _cores(p.threads), device if p.launches else "cpu")
        for _, p, *_ in ready
        if isinstance(p, PreparedRun)
    ]
    primal = ALGORITHMS[algorithm].of
    if primal:
        main = max(
            (case for case in kept if case.plain),
            key=lambda case: min(case.batch, 16384),
            default=kept[0],
        )
        own = {key: values[: main.batch] for key, values in states.items()}
        wd.runtime.set_num_threads(1)
        of = Turn(Work(robot, primal, own, device=device).bind(), main.batch, _cores(1), device)
        take_turns([*opponents, *bound, *called, of], rounds)
    else:
        take_turns([*opponents, *bound, *called], rounds)
    wd.runtime.set_num_threads(None)

    for case, (work, first, error), tight, plain in zip(kept, works, bound, called, strict=True):
        source = work.source()
        record = {
            **asdict(case),
            **at,
            "library": "warpdyn",
            **tight.figures,
            "ns_of_plain_call": plain.figures["ns"],
        }
        record |= {
            "prepared_seconds": first,
            "worst_relative_error": error,
            "operations": source.operations,
        }
        record["bytes"] = source.bytes
        if case.threads > 1 or case.layout == "rows":
            beside = "ns_of_one_thread" if case.threads > 1 else "ns_of_columns"
            pairs = zip(kept, bound, strict=True)
            record[beside] = next(
                (turn.figures["ns"] for c, turn in pairs if c.plain and c.batch == case.batch), None
            )
        if primal and case.plain and case.batch == main.batch:
            record |= {
                "primal": primal,
                "primal_ns": of.figures["ns"],
                "times_primal": tight.figures["ns"] / of.figures["ns"],
            }
        yield record
    turns = iter(opponents)
    for peer, prepared, first, error in ready:
        record = {**at, "library": peer.name, "peer": peer.key, "dtype": peer.module.DTYPE}
        if isinstance(prepared, str):
            yield {**record, "blank": prepared}
            continue
        yield {
            **record,
            "batch": prepared.count,
            "threads": prepared.threads,
            "form": prepared.form,
            **next(turns).figures,
            "first_call_seconds": first,
            "worst_relative_error": error,
        }


def _peers(
    peers: Sequence[InstalledPeer],
    robot: Any,
    algorithm: str,
    states: Mapping[str, np.ndarray],
    truth: Sequence[np.ndarray],
    device: str,
    compile_limit: float,
) -> Iterator[tuple[InstalledPeer, PreparedRun | str, float, float]]:
    """Each peer with its work, which has run and been compared, or with the reason for its absence."""
    batch = {key: values[:PEER_BATCH] for key, values in states.items()}
    for peer in peers:
        start = time.perf_counter()
        try:
            variants = peer.module.prepare(robot, algorithm, batch, device)
            for prepared in variants if isinstance(variants, list) else [variants]:
                if jax_aot.is_needed(peer):
                    cold = jax_aot.seconds(peer, robot, algorithm, prepared, device, compile_limit)
                    start = time.process_time()
                    prepared.run()
                    # The second time counts if the program was not in the cache.
                    first = max(cold, time.process_time() - start)
                else:
                    prepared.run()
                    first = time.perf_counter() - start
                found = [x[: len(y)] for x, y in zip(prepared.answers(), truth, strict=True)]
                error = worst(found, [y[: len(x)] for x, y in zip(found, truth, strict=True)])
                near = prepared.near or max(
                    NEAR[peer.module.DTYPE], NEAR_OF_FREE_BASE * robot.floating
                )
                wrong = f"another result: {error:.1e} from warpdyn's float64, more than {near:.0e}"
                yield peer, prepared if error <= near else wrong, first, error
                start = time.perf_counter()
        except (CannotDo, NotComparable) as reason:
            yield peer, str(reason), 0.0, 0.0
        except Exception as error:
            text = (str(error).strip().splitlines() or [""])[0][:200]
            yield peer, f"it failed: {type(error).__name__}: {text}", 0.0, 0.0


def worst(found: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> float:
    """Largest relative difference of several results."""
    return max(relative_error(x, y) for x, y in zip(found, wanted, strict=True))


def _cores(threads: int) -> Sequence[int]:
    return CORES[-1:] if threads == 1 else CORES


def _with_threads(threads: int, work: Work) -> Callable[[], Any]:
    def run() -> Any:
        wd.runtime.set_num_threads(threads)
        return work.call()

    return run
