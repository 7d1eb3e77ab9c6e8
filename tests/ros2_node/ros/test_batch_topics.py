"""Flat states in, flat torques out, over the topics of batches."""

from __future__ import annotations

import time
from array import array
from collections import Counter

import numpy as np
import pytest
from fleets import MODEL, N, Q, panda_fleet
from recording_node import RecordingNode
from std_msgs.msg import Float64MultiArray

import warpdyn as wd
from ros2_node.control.torques import flat_batch
from ros2_node.ros import batch_topics
from ros2_node.ros.batch_topics import BatchTopics
from ros2_node.ros.messages import labelled_array


@pytest.fixture(scope="module")
def fleet():
    return panda_fleet()


@pytest.fixture
def node():
    return RecordingNode()


@pytest.fixture
def counts():
    return Counter()


@pytest.fixture
def batch(node, counts):
    return BatchTopics(node, counts)


def states(robots, seed=0):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (robots, 2, N))


@pytest.mark.parametrize("robots", [1, 5])
def test_torques_belong_to_the_received_states(fleet, node, batch, robots):
    """They are [robot, dof], whether the state has labelled dimensions or not."""
    state = states(robots)
    q = np.ascontiguousarray(state[:, 0])
    bare = Float64MultiArray(data=array("d", state.tobytes()))
    for message in (labelled_array(state, ("robot", "2", "dof")), bare):
        assert batch.answer(fleet, message)
        torque = node.messages["~/batch/torques"][-1]
        assert [(d.label, d.size) for d in torque.layout.dim] == [("robot", robots), ("dof", N)]
        expected = wd.rnea(MODEL, q, 0 * q, 0 * q)
        np.testing.assert_allclose(np.reshape(torque.data, (robots, N)), expected, atol=1e-9)


def test_labels_follow_a_change_of_the_number_of_robots(fleet, node, batch):
    for robots in (3, 3, 2):
        batch.answer(fleet, labelled_array(states(robots), ("robot", "2", "dof")))
        message = node.messages["~/batch/torques"][-1]
        assert message.layout.dim[0].size == robots and len(message.data) == robots * N


def test_a_state_of_the_wrong_size_is_counted_and_not_answered(fleet, node, batch, counts):
    assert not batch.answer(fleet, Float64MultiArray(data=[1.0] * (2 * N + 1)))
    assert counts == {"batch_rejected": 1} and not node.messages
    assert node.log.lines[0].startswith("~/batch/state rejected: the data must be robots x 2 x 8")


def test_numbers_in_front_of_the_robots_are_refused(fleet, node, batch, counts):
    """They would be read as a robot of their own."""
    message = Float64MultiArray(data=array("d", states(3).tobytes()))
    message.layout.data_offset = 2 * N
    assert not batch.answer(fleet, message) and counts == {"batch_rejected": 1}
    assert "data_offset must be 0, got 16" in node.log.lines[0] and not node.messages


def test_robots_with_bad_states_are_counted_and_get_zero_torques(fleet, node, batch, counts):
    state = np.tile(np.stack([Q, 0 * Q]), (4, 1, 1))
    state[2, 0, 3] = np.nan
    batch.answer(fleet, labelled_array(state, ("robot", "2", "dof")))
    torque = np.reshape(node.messages["~/batch/torques"][0].data, (4, N))
    assert (
        counts == {"batch_bad_robot": 1}
        and not torque[2].any()
        and torque[[0, 1, 3]].any(axis=1).all()
    )


def test_the_time_of_each_answer_is_recorded(fleet, batch):
    before = fleet.batch_timing.count
    batch.answer(fleet, labelled_array(states(2), ("robot", "2", "dof")))
    assert fleet.batch_timing.count == before + 1


def test_a_huge_state_is_rejected_and_large_memory_is_released(fleet, node, batch, counts):
    """A state beyond the bound is not computed. The memory of a large one is released once no state
    has come for a while."""
    huge = Float64MultiArray(data=array("d", bytes(8 * (flat_batch.MOST_NUMBERS + 2 * N))))
    assert not batch.answer(fleet, huge) and counts["batch_rejected"] == 1
    many = states(flat_batch.KEPT + 1)
    assert batch.answer(fleet, labelled_array(many, ("robot", "2", "dof")))
    now = time.monotonic()
    assert not batch.rest(fleet, now), "it has just been used"
    assert batch.rest(fleet, now + 2 * batch_topics.IDLE)
    assert len(fleet.batch.q) == len(fleet.batch.torque) == 1 and not batch._message.data
    assert not batch.rest(fleet, now + 2 * batch_topics.IDLE), "there is no more to give back"
    assert batch.answer(fleet, labelled_array(many, ("robot", "2", "dof"))), "and it comes again"
    assert len(node.messages["~/batch/torques"][-1].data) == many[:, 0].size
