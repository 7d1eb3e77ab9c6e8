"""Device operations of warpdyn's calls.

In a process with the emulated Warp, this script prints JSON: a case's name -> the counters that a
call changes, and the error of its results against the same call on the CPU.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp
from cuda_device.ptx_kernels import counters, library

import warpdyn as wd

DEVICE = "cuda:0"
B = 37
MODEL = wd.load_robot("panda")
RANDOM = np.random.default_rng(0)
Q, V, A = (RANDOM.uniform(-1, 1, (B, MODEL.nv)) for _ in range(3))

CASES: dict[str, Callable[[], tuple[dict[str, int], float]]] = {}


def case(function: Callable[[], tuple[dict[str, int], float]]) -> None:
    CASES[function.__name__] = function


def counter_changes(call: Callable[[], Any]) -> dict[str, int]:
    """The counters that a call changes."""
    before = counters()
    call()
    return {name: n - before[name] for name, n in counters().items() if n != before[name]}


def place(*arrays: np.ndarray) -> list[wp.array]:
    return [wp.array(x, device=DEVICE) for x in arrays]


def error(found: Any, expected: np.ndarray) -> float:
    return float(np.abs(np.asarray(found.numpy()) - expected).max() / np.abs(expected).max())


@case
def rnea_again() -> tuple[dict[str, int], float]:
    """The third of equal calls. Its result reuses the memory of the second one's."""
    q, v, a = place(Q, V, A)
    results = [wd.rnea(MODEL, q, v, a) for _ in range(2)]

    def call() -> None:
        results[0] = wd.rnea(MODEL, q, v, a)

    return counter_changes(call), error(results[0], wd.rnea(MODEL, Q, V, A))


@case
def rnea_into_out() -> tuple[dict[str, int], float]:
    q, v, a, out = place(Q, V, A, np.full_like(A, np.nan))
    wd.rnea(MODEL, q, v, a, out=out)
    return counter_changes(lambda: wd.rnea(MODEL, q, v, a, out=out)), error(
        out, wd.rnea(MODEL, Q, V, A)
    )


@case
def bound_aba() -> tuple[dict[str, int], float]:
    q, v, tau = place(Q, V, A)
    run = wd.bind(wd.aba, MODEL, q, v, tau)
    result = run()
    return counter_changes(run), error(result, wd.aba(MODEL, Q, V, A))


def simulations_after_a_step() -> list[wd.Simulation]:
    """Quadrupeds on the device and on the CPU."""
    robot = wd.load_robot("quadruped")
    simulations = [
        wd.Simulation(robot, B, like=like)
        for like in (wp.zeros(1, dtype=wp.float32, device=DEVICE), np.zeros(1, np.float32))
    ]
    for simulation in simulations:
        simulation.step()
    return simulations


@case
def simulation_step() -> tuple[dict[str, int], float]:
    """Each of ten steps of a quadruped."""
    simulations = simulations_after_a_step()
    steps = [counter_changes(simulations[0].step) for _ in range(10)]
    assert all(step == steps[0] for step in steps), steps
    for _ in range(10):
        simulations[1].step()
    return steps[0], error(simulations[0].q, simulations[1].q)


def capture_graph(call: Callable[[], Any]) -> tuple[wp.Graph, list[str]]:
    """A graph of the call and the names of its nodes."""
    with wp.ScopedCapture(device=DEVICE) as capture:
        call()
    nodes = library().emulated_cuda_graph_nodes(ctypes.c_void_p(capture.graph.graph.value)).decode()
    return capture.graph, nodes.split(",")


@case
def captured_bound_call() -> tuple[dict[str, int], float]:
    """A capture of one kernel; the replay is one launch of the graph."""
    q, v, tau = place(Q, V, A)
    run = wd.bind(wd.aba, MODEL, q, v, tau)
    result = run()
    result.fill_(np.nan)
    graph, nodes = capture_graph(run)
    assert len(nodes) == 1 and "aba" in nodes[0], nodes
    assert np.isnan(result.numpy()).all()
    return counter_changes(lambda: wp.capture_launch(graph)), error(result, wd.aba(MODEL, Q, V, A))


@case
def captured_call() -> tuple[dict[str, int], float]:
    """A capture of a call that allocates its result, the first call of its kind."""
    (q,) = place(Q)
    kept: list[wp.array] = []
    graph, nodes = capture_graph(lambda: kept.append(wd.crba(MODEL, q)))
    assert nodes[0] == "allocate" and "crba" in nodes[-1] and len(nodes) == 2, nodes
    return counter_changes(lambda: wp.capture_launch(graph)), error(kept[0], wd.crba(MODEL, Q))


@case
def captured_simulation_step() -> tuple[dict[str, int], float]:
    """Ten replays of a step."""
    simulations = simulations_after_a_step()
    graph, _ = capture_graph(simulations[0].step)
    replays = [counter_changes(lambda: wp.capture_launch(graph)) for _ in range(10)]
    assert all(replay == replays[0] for replay in replays), replays
    for _ in range(10):
        simulations[1].step()
    return replays[0], error(simulations[0].q, simulations[1].q)


@case
def cotangents() -> tuple[dict[str, int], float]:
    """A backward pass in one launch, with three results."""
    q, v, a, w = place(Q, V, A, V)
    results = [wd.vjp(wd.rnea, MODEL, q, v, a, cotangents=w) for _ in range(2)]

    def call() -> None:
        results[0] = wd.vjp(wd.rnea, MODEL, q, v, a, cotangents=w)

    changed = counter_changes(call)
    expected = wd.vjp(wd.rnea, MODEL, Q, V, A, cotangents=V)
    return changed, max(error(x, y) for x, y in zip(results[0], expected, strict=True))


@case
def recorded_on_a_tape() -> tuple[dict[str, int], float]:
    """A call under Warp's tape does not wait, and its gradients are those of `vjp`."""
    q, v, a = (wp.array(x, device=DEVICE, requires_grad=True) for x in (Q, V, A))
    seed = wp.array(V, device=DEVICE)
    results: list[wp.array] = []

    def call() -> None:
        results.append(wd.rnea(MODEL, q, v, a))

    for _ in range(2):
        tape = wp.Tape()
        with tape:
            changed = counter_changes(call)
        tape.zero()
        tape.backward(grads={results[-1]: seed})
    expected = wd.vjp(wd.rnea, MODEL, Q, V, A, cotangents=V)
    return changed, max(error(x.grad, y) for x, y in zip((q, v, a), expected, strict=True))


if __name__ == "__main__":
    wp.config.quiet = True
    print(json.dumps({name: function() for name, function in CASES.items()}))
