"""A launch laid out: moved to other arrays it computes on those, and emptied it holds none."""

from __future__ import annotations

import copy
import gc
import pickle
from weakref import ref

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.arrays.layout import BLOCK, LOOP_BLOCK
from warpdyn.codegen.arguments import FIELDS, HEADER
from warpdyn.execution import threads
from warpdyn.execution.launch import job as chosen
from warpdyn.execution.launch.job import COUNT, FIRST
from warpdyn.execution.launch.launch import prepare

ARM = wd.load_robot("ur5e")


def test_a_launch_moves_to_other_arrays() -> None:
    """By addresses in the places of its arguments; the job itself stays where it is."""
    first, second = (np.random.default_rng(k).uniform(-1, 1, (5, 6)) for k in range(2))
    here, there = np.empty((2, 5, 6))
    zero = np.zeros((5, 6))
    job = prepare(wd.rnea.describe(ARM, first, zero, zero, out=here))
    out = len(HEADER) + 3 * FIELDS
    addresses = [(len(HEADER), second.ctypes.data), (out, there.ctypes.data)]
    job.with_addresses(addresses).launch_once()
    job.launch_once()
    assert np.allclose(there, wd.gravity_torques(ARM, second), atol=1e-12)
    assert np.allclose(here, wd.gravity_torques(ARM, first), atol=1e-12)
    assert (job.arguments[FIRST], job.arguments[COUNT]) == (0, 5)


def test_a_bound_call_is_neither_pickled_nor_copied() -> None:
    """Its launch is bound to memory of this process; the error says what to pickle instead."""
    q, zero = np.zeros((2, 5, 6))
    group = wd.Group([ARM, ARM], [2, 3])
    runs = [
        wd.bind(wd.rnea, ARM, q, zero, zero),
        wd.bind(wd.pose_and_jacobian, ARM, q, frame="tool0"),
        group.bind(wd.gravity_torques, q),
    ]
    for run in runs:
        assert repr(run) == "<bound call of warpdyn>"
        for take in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(
                TypeError, match=r"cannot be pickled or copied.* pickle the model and the arrays"
            ):
                take(run)


def test_a_bound_call_takes_nothing() -> None:
    run = wd.bind(wd.gravity_torques, ARM, np.zeros((5, 6)))
    assert run() is run() and run().shape == (5, 6)


@pytest.mark.parametrize("rows", [5, 300_000])
def test_an_argument_of_a_bound_call_is_refused(rows: int) -> None:
    """Of one result, of results with names and of a group, on one thread and on several."""
    arm = wd.load_robot("double_pendulum")
    q = np.zeros((rows, 2))
    one = wd.bind(wd.gravity_torques, arm, q)
    named = wd.bind(wd.state_derivative, arm, q, np.zeros_like(q), np.zeros_like(q))
    of_group = wd.Group([arm], [rows]).bind(wd.gravity_torques, q)
    for run in (one, named, of_group):
        with pytest.raises(TypeError, match=r"takes no arguments, got 1.*in place"):
            run(q)


def test_a_thread_takes_whole_blocks_of_about_a_slice() -> None:
    """At least one, and larger blocks of a loop."""
    q = np.zeros((4000, 6))
    pose = np.tile([0.3, 0.2, 0.4, 0.0, 0.0, 0.0, 1.0], (4000, 1))
    plain = prepare(wd.rnea.describe(ARM, q, q, q))
    loop = prepare(wd.inverse_kinematics.describe(ARM, pose, q0=q, frame="tool0"))
    for job, block in ((plain, BLOCK), (loop, LOOP_BLOCK)):
        share, wanted = job.smallest_share(), threads.SLICE * job.count / job.seconds
        assert share % block == 0 and share >= block
        assert abs(share - wanted) <= block / 2 or share == block > wanted


def test_an_emptied_one_holds_no_array() -> None:
    class Held(np.ndarray):
        """An array that can be watched."""

    q = np.zeros((5, 6)).view(Held)
    gone = ref(q)
    job = prepare(wd.gravity_torques.describe(ARM, q)).without_arrays()
    del q
    gc.collect()
    assert gone() is None and job.count == 5


def test_numbers_that_were_chosen() -> None:
    """By measurements, or by what is outside of this code; another value needs another reason."""
    assert chosen.SECONDS_PER_OPERATION == 1.2e-11
    assert chosen.SECONDS_PER_BYTE == 4e-11
