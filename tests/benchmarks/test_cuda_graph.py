"""Lifetime of the arrays of a captured call, on the emulated device."""

from __future__ import annotations

from cuda_device.emulated_processes import last_json, run_emulated

ARRAYS = """
import gc, json, weakref
import warp as wp
from benchmarks.cuda_graph import Graph

wp.config.quiet = True

def made(times):
    source, goal = wp.full(8, 1.0, device="cuda:0"), wp.zeros(8, device="cuda:0")

    def call():
        wp.copy(goal, source)
        source.fill_(2.0)

    return Graph(call, "cuda:0", times), weakref.ref(source), goal

graph, source, goal = made(1)
gc.collect()
alive = source() is not None
goal.zero_()
graph()
found = goal.numpy().tolist()
del graph
gc.collect()
print(json.dumps([alive, found, source() is None]))
"""


def test_a_graph_keeps_the_arrays_of_its_call() -> None:
    """They live as long as the graph, and no longer."""
    assert last_json(run_emulated("-c", ARRAYS)) == [True, [2.0] * 8, True]
