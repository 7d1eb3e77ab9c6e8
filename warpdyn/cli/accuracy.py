"""Accuracy of results compared with the float64 oracle and with a peer's answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..execution.oracle import oracle
from ..functions.dynamics import crba, rnea
from ..peers.peer import Peer
from .workload import Workload

LIMITS = {"float64": 1e-12, "float32": 1e-5}
"""Largest difference that passes, relative to the largest entry of the peer's answer."""

SAMPLE = 32
"""Number of random states that are compared."""


def error_of(work: Workload, sample: int = 16) -> float:
    """Largest error of the first `sample` results, compared with the float64 oracle on the same
    inputs."""
    states = work.states(sample)
    if work.algorithm == "aba":
        q, v, tau = states
        M, h = oracle(crba, work.model, q), oracle(rnea, work.model, q, v, np.zeros_like(v))
        return residual(M, h, work.results(sample), tau)
    wanted = oracle(work.function, work.model, *states, **work.options)
    several = wanted if isinstance(wanted, tuple) else (wanted,)
    pairs = zip(work.all_results(sample), several, strict=True)
    return max(relative_error(results, answers) for results, answers in pairs)


def difference_from(peer: Peer, work: Workload, frame: str) -> float:
    """Largest relative difference between the first results and the peer's; for `aba` its
    residual."""
    states, results = work.states(SAMPLE), work.results(SAMPLE)
    if work.algorithm == "aba":
        return residual_by(peer, states, results)
    answer = getattr(peer, work.algorithm)
    extra = (frame,) if work.algorithm == "jacobian" else ()
    answers = np.array([answer(*state, *extra) for state in zip(*states, strict=True)])
    if work.algorithm == "fk":
        there = work.model.link_indices(peer.links)
        results, answers = results[:, there], answers[:, there]
    return relative_error(results, answers)


def residual_by(peer: Peer, states: Sequence[np.ndarray], a: np.ndarray) -> float:
    """Residual of accelerations `a` for the states q, v, tau, with the peer's M and h."""
    q, v, tau = states
    M = np.array([peer.crba(x) for x in q])
    h = np.array([peer.rnea(x, y, np.zeros_like(y)) for x, y in zip(q, v, strict=True)])
    return residual(M, h, a, tau)


def relative_error(results: np.ndarray, wanted: np.ndarray) -> float:
    """Largest difference in the worst row, divided by the row's largest value. NaN counts as
    infinite."""
    results, wanted = results.reshape(len(results), -1), wanted.reshape(len(wanted), -1)
    if not wanted.size:
        return 0.0
    size = np.maximum(np.abs(wanted).max(axis=1), 1e-12)
    return _worst(np.abs(results - wanted).max(axis=1) / size)


def residual(M: np.ndarray, h: np.ndarray, a: np.ndarray, tau: np.ndarray) -> float:
    """Worst over the rows of |M a + h - tau|, relative to the row's largest |M| |a| + |h| + |tau|.

    This measures the error of accelerations `a` without the error that an ill-conditioned M makes
    from the last digit of `tau`.
    """
    if not a.size:
        return 0.0
    difference = np.abs(np.einsum("eij,ej->ei", M, a) + h - tau).max(axis=1)
    size = (np.einsum("eij,ej->ei", np.abs(M), np.abs(a)) + np.abs(h) + np.abs(tau)).max(axis=1)
    return _worst(difference / np.maximum(size, 1e-12))


def _worst(errors: np.ndarray) -> float:
    worst = float(np.max(errors))
    return float("inf") if np.isnan(worst) else worst
