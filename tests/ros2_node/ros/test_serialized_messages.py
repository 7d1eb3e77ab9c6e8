"""Conversion of messages from and to bytes, compared with rclpy's."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ros2_node.ros import serialized_messages
from ros2_node.ros.serialized_messages import (
    Form,
    NumbersWriter,
    StateMessage,
    StateReader,
    nanoseconds,
)

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=9)
NUMBERS = st.lists(st.floats(), max_size=5)


def bits(values):
    return array("d", values).tobytes()


def same(read, message):
    assert list(read.name) == list(message.name)
    stamp = message.header.stamp
    assert (read.header.stamp.sec, read.header.stamp.nanosec) == (stamp.sec, stamp.nanosec)
    for part in ("position", "velocity", "effort"):
        assert bits(getattr(read, part)) == bits(getattr(message, part)), part


def joint_state(names=("a", "bc"), numbers=(1.0, 2.0), frame="", sec=1):
    message = JointState(name=list(names), position=list(numbers), velocity=list(numbers))
    message.header.frame_id, message.header.stamp = frame, Time(sec=sec, nanosec=7)
    return message


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.lists(TEXT, max_size=4), NUMBERS, NUMBERS, NUMBERS, TEXT), max_size=4))
def test_any_messages_are_read_as_rclpy_reads_them(parts):
    """One reader reads all messages, each twice, since the second reading uses the known form."""
    reader = StateReader()
    for names, position, velocity, effort, frame in parts:
        message = JointState(name=names, position=position, velocity=velocity, effort=effort)
        message.header.frame_id = frame
        for nanosec in (0, 999_999_999):
            message.header.stamp.nanosec = nanosec
            same(reader.read(bytes(serialize_message(message))), message)


def test_a_second_message_of_a_form_is_not_read_by_rclpy(monkeypatch):
    """Its numbers and stamp are new, and its names are the same list object."""
    reader = StateReader()
    reader.read(bytes(serialize_message(joint_state())))
    monkeypatch.setattr(serialized_messages, "deserialize_message", None)
    first = reader.read(bytes(serialize_message(joint_state(numbers=(3.0, np.nan), sec=5))))
    second = reader.read(bytes(serialize_message(joint_state(numbers=(4.0, 5.0), sec=6))))
    assert isinstance(first, StateMessage) and first.name is second.name
    same(first, joint_state(numbers=(3.0, np.nan), sec=5))
    same(second, joint_state(numbers=(4.0, 5.0), sec=6))


def test_padding_bytes_may_have_any_value():
    """Fast DDS leaves there the previous contents of its buffer."""
    data = bytearray(serialize_message(joint_state(names=("ab", "c"))))
    reader = StateReader()
    reader.read(bytes(data))
    name = data.index(b"ab\0")
    data[name + 3] ^= 0xFF
    read = reader.read(bytes(data))
    assert isinstance(read, StateMessage)
    same(read, joint_state(names=("ab", "c")))


@pytest.mark.parametrize("part", ["position", "velocity", "effort", "stamp"])
def test_a_form_that_is_read_differently_is_left_to_rclpy(monkeypatch, part):
    """If the fast reading of a first message differs from rclpy's in any number, its form is not
    stored, and rclpy reads the second one too."""
    message = joint_state()
    message.effort = message.position
    data, real = bytes(serialize_message(message)), serialized_messages.deserialize_message

    def other(data, kind):
        read = real(data, kind)
        if part == "stamp":
            read.header.stamp.nanosec += 1
        else:
            getattr(read, part)[0] += 1.0
        return read

    reader = StateReader()
    monkeypatch.setattr(serialized_messages, "deserialize_message", other)
    for _ in range(2):
        assert isinstance(reader.read(data), JointState)
    monkeypatch.setattr(serialized_messages, "deserialize_message", real)
    reader.read(data)
    assert isinstance(reader.read(data), StateMessage), "and once they agree it is"


def test_names_of_the_same_length_are_distinguished():
    reader = StateReader()
    for names in (("ab", "c"), ("xy", "c"), ("ab", "d"), ("ab", "c")):
        assert list(reader.read(bytes(serialize_message(joint_state(names=names)))).name) == list(
            names
        )


def test_new_forms_in_each_message_do_not_fill_the_memory():
    reader = StateReader()
    for k in range(300):
        message = joint_state(names=("a" * (k % 40 + 1), chr(97 + k % 26)))
        same(reader.read(bytes(serialize_message(message))), message)
    assert len(reader._forms) <= 8 and all(len(f) <= 8 for f in reader._forms.values())


@pytest.mark.parametrize("cut", [0, 3, 4, 11, 20, 40])
def test_truncated_messages_raise_an_exception(cut):
    """This holds before and after the form is known."""
    whole = bytes(serialize_message(joint_state()))
    reader = StateReader()
    for _ in range(2):
        with pytest.raises(Exception):  # noqa: B017  whichever rclpy raises
            reader.read(whole[:cut])
        reader.read(whole)


@pytest.mark.parametrize("known", [True, False], ids=["bytes", "messages"])
@pytest.mark.parametrize("count", [0, 1, 7])
def test_written_bytes_equal_those_of_rclpy(known, count, monkeypatch):
    """The numbers may be nonfinite. Writing the next message does not change the previous one."""
    state = NumbersWriter(JointState(name=["a"] * count), "effort", count)
    flat = NumbersWriter(Float64MultiArray(), "data", count)
    if not known:
        state._known = flat._known = False
    stamp = Time(sec=3, nanosec=4)
    for numbers in (np.arange(count) + 0.5, np.full(count, np.nan)):
        for writer, kind, field in (
            (state, JointState, "effort"),
            (flat, Float64MultiArray, "data"),
        ):
            written = writer.message_with(numbers, stamp)
            if isinstance(written, bytes):
                written = deserialize_message(written, kind)
            assert isinstance(written, kind) and bits(getattr(written, field)) == bits(numbers)
            if kind is JointState:
                assert written.header.stamp == stamp and list(written.name) == ["a"] * count
    if count and known:
        assert isinstance(flat.message_with(np.zeros(count)), bytes)
        assert isinstance(state.message_with(np.zeros(count), stamp), bytes)


def test_a_huge_message_is_refused(monkeypatch):
    """It is not read. Messages of the largest robots are far smaller."""
    monkeypatch.setattr(serialized_messages, "deserialize_message", None)
    with pytest.raises(ValueError, match="joint_states of 1048577 bytes; at most 1048576 are read"):
        StateReader().read(bytes(serialized_messages.LARGEST + 1))


@given(st.integers(0, 2**31 - 1), st.integers(0, 10**9 - 1))
def test_a_stamp_is_one_number(sec, nanosec):
    total = nanoseconds(Time(sec=sec, nanosec=nanosec))
    assert divmod(total, 10**9) == (sec, nanosec)


def test_another_count_of_numbers_is_another_form():
    """Messages of the same length in bytes may differ only in the lengths of their arrays."""
    message = joint_state()
    data = bytes(serialize_message(message))
    form = Form(data, message)
    assert form.read(data) is not None
    for at, count in form._counts:
        other = bytearray(data)
        other[at] = count[0] + 1
        assert form.read(bytes(other)) is None


def test_a_name_count_beyond_the_message_is_refused():
    """Reading stops at the end of the message, whatever count it has."""
    data = bytearray(serialize_message(joint_state(names=("ab", "c"))))
    at = data.index(b"ab\0") - 8
    assert data[at : at + 4] == b"\2\0\0\0"
    data[at : at + 4] = b"\xff\xff\xff\x7f"
    with pytest.raises(ValueError, match="not the plain encoding"):
        Form(bytes(data), joint_state())


def test_a_large_message_is_read(monkeypatch):
    """It may have up to one MiB. A reader stores eight forms of one length, and eight lengths."""
    monkeypatch.setattr(serialized_messages, "deserialize_message", lambda data, kind: "read")
    assert StateReader().read(bytes(1 << 20)) == "read"
    monkeypatch.undo()
    reader = StateReader()
    for name in "abcdefghij":
        reader.read(bytes(serialize_message(joint_state(names=(name, "x")))))
    assert [len(forms) for forms in reader._forms.values()] == [8]
    for k in range(2, 12):
        reader.read(bytes(serialize_message(joint_state(names=("a" * 8 * k, "x")))))
    assert len(reader._forms) == 8


def test_big_endian_bytes_are_left_to_rclpy(monkeypatch):
    """Every message is left to rclpy on a big-endian machine."""
    reader, data = StateReader(), bytes(serialize_message(joint_state()))
    monkeypatch.setattr(serialized_messages.sys, "byteorder", "big")
    reader.read(data)
    assert not reader._forms
    monkeypatch.undo()
    monkeypatch.setattr(
        serialized_messages, "deserialize_message", lambda data, kind: joint_state()
    )
    reader.read(b"\0\0" + data[2:])
    assert not reader._forms
    reader.read(data)
    assert reader._forms
