"""A motion is heard, computed beside the cycles, and answered once."""

from __future__ import annotations

import threading

import numpy as np

from ros2_node.control.efforts.motion_record import MotionRecord


def ask_until_known(record, seconds=0.0):
    while (answer := record.ask(seconds))[1].startswith("computing"):
        record._thread.join(10.0)
    return answer


def heard(record, states=20, dt=0.01):
    for k in range(states):
        record.add(dt * (k > 0), np.array([k, 0.0]), np.array([2.0 * k]), np.array([3.0 * k]))


def test_from_one_call_to_the_next():
    """What is heard between them, as arrays; the answer is given once, then it begins anew."""
    found = {}

    def find(time, q, v, tau):
        found.update(time=time, q=q, v=v, tau=tau)
        return "one kilogram"

    record = MotionRecord(find)
    assert record.ask(0.0) == (True, "listening until the next call: move the arm, then call again")
    heard(record)
    assert "heard 0.2 s" in record.ask(0.0)[1] and not record.listening
    assert ask_until_known(record) == (True, "one kilogram")
    np.testing.assert_allclose(found["time"], 0.01 * np.arange(20))
    assert found["q"].shape == (20, 2) and (found["tau"][:, 0] == 3.0 * np.arange(20)).all()
    assert "listening" in record.ask(0.0)[1]


def test_for_a_time():
    record = MotionRecord(lambda *arrays: "found")
    record.ask(0.1)
    waiting = "listening, 0.1 s are left; no state with efforts has come yet"
    assert record.ask(0.1) == (False, waiting)
    heard(record)
    assert not record.listening and ask_until_known(record) == (True, "found")
    assert not record._rows, "what was heard takes no memory any more"
    record.ask(9.0)
    assert "computing" in record.ask(0.0)[1], "another time, 0, ends it"


def test_what_cannot_be_is_an_answer_too():
    """Nothing heard, a gap, an exception of the computation: said, and the next call begins anew."""

    def fail(*arrays):
        raise RuntimeError("singular")

    for add, said in (
        (lambda r: None, "no states with efforts"),
        (lambda r: (heard(r), heard(r)), "states were lost"),
        (lambda r: heard(r), "singular"),
    ):
        record = MotionRecord(fail)
        record.ask(0.0)
        add(record)
        record.ask(0.0)
        good, text = ask_until_known(record)
        assert not good and said in text
        assert "listening" in record.ask(0.0)[1]


def test_while_it_computes_there_is_no_answer():
    """Nor does another recording begin."""
    may_end = threading.Event()
    record = MotionRecord(lambda *arrays: str(may_end.wait(10.0)))
    record.ask(0.0)
    heard(record)
    assert "computing" in record.ask(0.0)[1]
    assert record.ask(0.0) == (False, "computing: call again for the answer")
    assert not record.listening
    may_end.set()
    assert ask_until_known(record) == (True, "True")
