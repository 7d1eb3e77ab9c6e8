"""A captured call keeps what its graph reads, on the emulated device."""

from __future__ import annotations

from importlib import util

import pytest
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

PEER = """
import gc, json, sys
import warp as wp
from importlib import import_module
from benchmarks.gpu_peers.dynamics import truth
from benchmarks.robots import robot
from benchmarks.throughput import worst
from benchmarks.workload import states_of

wp.config.quiet = True
quadruped = robot("quadruped")
states = states_of(quadruped, 16)
prepared = import_module("benchmarks.peers." + sys.argv[1]).prepare(quadruped, "fk", states, "cuda:0")
gc.collect()
prepared.run()
print(json.dumps(worst(prepared.answers(), truth(quadruped, "fk", states))))
"""


def test_a_graph_keeps_the_arrays_of_its_call() -> None:
    """As long as it lives, and no longer."""
    assert last_json(run_emulated("-c", ARRAYS)) == [True, [2.0] * 8, True]


@pytest.mark.parametrize("peer", ["mujoco_warp", "newton"])
def test_a_replay_of_a_peer_reads_its_model(peer: str) -> None:
    """The model was freed before the replay once: freed memory is 3.4e38 on the emulated device."""
    if not util.find_spec(peer):
        pytest.skip(f"{peer} is not installed")
    assert last_json(run_emulated("-c", PEER, peer)) < 1e-5
