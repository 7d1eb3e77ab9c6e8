"""A prepared launch: its copy with other arrays, and its copy without arrays."""

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


def test_a_launch_can_be_copied_for_other_arrays() -> None:
    """The copy has other addresses in its arguments. The original launch is not changed."""
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


def test_a_bound_call_can_be_neither_pickled_nor_copied() -> None:
    """It is bound to memory of this process. The error says what to pickle instead."""
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


def test_a_bound_call_has_no_arguments() -> None:
    run = wd.bind(wd.gravity_torques, ARM, np.zeros((5, 6)))
    assert run() is run() and run().shape == (5, 6)


def test_the_smallest_share_of_a_thread_is_about_a_slice() -> None:
    """It has complete blocks, at least one. Loops have larger blocks."""
    q = np.zeros((4000, 6))
    pose = np.tile([0.3, 0.2, 0.4, 0.0, 0.0, 0.0, 1.0], (4000, 1))
    plain = prepare(wd.rnea.describe(ARM, q, q, q))
    loop = prepare(wd.inverse_kinematics.describe(ARM, pose, q0=q, frame="tool0"))
    for job, block in ((plain, BLOCK), (loop, LOOP_BLOCK)):
        share, wanted = job.smallest_share(), threads.SLICE * job.count / job.seconds
        assert share % block == 0 and share >= block
        assert abs(share - wanted) <= block / 2 or share == block > wanted


def test_a_launch_without_arrays_keeps_none_alive() -> None:
    class WeakArray(np.ndarray):
        """An array that can be watched."""

    q = np.zeros((5, 6)).view(WeakArray)
    gone = ref(q)
    job = prepare(wd.gravity_torques.describe(ARM, q)).without_arrays()
    del q
    gc.collect()
    assert gone() is None and job.count == 5


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.SECONDS_PER_OPERATION == 1.2e-11
    assert chosen.SECONDS_PER_BYTE == 4e-11
