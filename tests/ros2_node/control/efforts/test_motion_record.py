"""Records of motions: states are recorded, evaluated in a thread, and answered once."""

from __future__ import annotations

import threading

import numpy as np

from ros2_node.control.efforts.motion_record import MotionRecord


def ask_until_known(record, seconds=0.0):
    while (answer := record.ask(seconds))[1].startswith("computing"):
        record._thread.join(10.0)
    return answer


def add_states(record, states=20, dt=0.01):
    for k in range(states):
        record.add(dt * (k > 0), np.array([k, 0.0]), np.array([2.0 * k]), np.array([3.0 * k]))


def test_a_record_extends_from_one_call_to_the_next():
    """The function gets the recorded states as arrays. The answer is given once, and then a new
    record begins."""
    found = {}

    def find(time, q, v, tau):
        found.update(time=time, q=q, v=v, tau=tau)
        return "one kilogram"

    record = MotionRecord(find)
    assert record.ask(0.0) == (True, "listening until the next call: move the arm, then call again")
    add_states(record)
    assert "heard 0.2 s" in record.ask(0.0)[1] and not record.listening
    assert ask_until_known(record) == (True, "one kilogram")
    np.testing.assert_allclose(found["time"], 0.01 * np.arange(20))
    assert found["q"].shape == (20, 2) and (found["tau"][:, 0] == 3.0 * np.arange(20)).all()
    assert "listening" in record.ask(0.0)[1]


def test_a_record_ends_after_the_requested_time():
    record = MotionRecord(lambda *arrays: "found")
    record.ask(0.1)
    waiting = "listening, 0.1 s are left; no state with efforts has come yet"
    assert record.ask(0.1) == (False, waiting)
    add_states(record)
    assert not record.listening and ask_until_known(record) == (True, "found")
    assert not record._rows, "what was heard takes no memory any more"
    record.ask(9.0)
    assert "computing" in record.ask(0.0)[1], "another time, 0, ends it"


def test_a_failed_record_is_answered_with_its_cause():
    """The causes are no states, a gap, and an exception of the computation. The next call starts a
    new record."""

    def fail(*arrays):
        raise RuntimeError("singular")

    for add, said in (
        (lambda r: None, "no states with efforts"),
        (lambda r: (add_states(r), add_states(r)), "states were lost"),
        (lambda r: add_states(r), "singular"),
    ):
        record = MotionRecord(fail)
        record.ask(0.0)
        add(record)
        record.ask(0.0)
        good, text = ask_until_known(record)
        assert not good and said in text
        assert "listening" in record.ask(0.0)[1]


def test_no_answer_is_given_during_the_computation():
    """No other recording begins either."""
    may_end = threading.Event()
    record = MotionRecord(lambda *arrays: str(may_end.wait(10.0)))
    record.ask(0.0)
    add_states(record)
    assert "computing" in record.ask(0.0)[1]
    assert record.ask(0.0) == (False, "computing: call again for the answer")
    assert not record.listening
    may_end.set()
    assert ask_until_known(record) == (True, "True")


def test_a_record_has_at_least_ten_states_and_a_maximum(monkeypatch):
    """States outside of a record are not stored. The first state of a record has no time before
    it."""
    monkeypatch.setattr("ros2_node.control.efforts.motion_record.MOST", 12)
    for states, answer in (
        (9, (False, "no states with efforts were heard")),
        (10, (True, "found")),
    ):
        record = MotionRecord(lambda *arrays: "found")
        add_states(record)
        record.ask(0.0)
        add_states(record, states)
        assert record.listening and len(record._rows) == states
        record.ask(0.0)
        assert ask_until_known(record) == answer
    record.ask(0.0)
    add_states(record, 11)
    assert record.listening
    record.add(0.01, np.zeros(2), np.zeros(1), np.zeros(1))
    assert not record.listening and ask_until_known(record) == (True, "found")


def test_a_timed_record_ends_with_the_state_that_reaches_the_time():
    """An earlier call is answered with the time that is left."""
    record = MotionRecord(lambda time, *others: f"{time[0]:g} to {time[-1]:g}")
    assert record.ask(1.5) == (True, "listening for 1.5 s: move the arm, then call again")
    add_states(record, 12, 0.125)
    assert record.ask(1.5) == (False, "listening, 0.1 s are left")
    add_states(record, 1)
    record.add(0.125, np.zeros(2), np.zeros(1), np.zeros(1))
    assert not record.listening
    assert ask_until_known(record)[1].startswith("states were lost or efforts were missing")
    record.ask(1.5)
    add_states(record, 13, 0.125)
    assert not record.listening and ask_until_known(record) == (True, "0 to 1.5")


def test_a_state_without_positive_time_is_a_gap():
    """Time that goes back is a gap, too. The first state of a record is none."""
    for dt, said in ((0.0, "states were lost"), (-0.01, "states were lost"), (0.01, "found")):
        record = MotionRecord(lambda *arrays: "found")
        record.ask(0.0)
        add_states(record)
        record.add(dt, np.zeros(2), np.zeros(1), np.zeros(1))
        record.ask(0.0)
        assert ask_until_known(record)[1].startswith(said)


def test_the_computation_runs_in_a_daemon_thread():
    record = MotionRecord(lambda *arrays: "found")
    record.ask(0.0)
    add_states(record)
    record.ask(0.0)
    assert record._thread.daemon and record._thread.name == "identification"
    ask_until_known(record)
