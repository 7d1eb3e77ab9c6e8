"""Messages as the bytes that travel: those of a robot differ in their numbers alone, so that what
stands around these is read and written once.

Making Python objects of a JointState with seven names costs more than all that the node does with
it. What is learnt of a message is held against rclpy's own reading and writing of it; where they
differ (another byte order, another encoding of an RMW), or where a publisher sends ever new forms,
rclpy reads and writes.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

ENCODING = b"\x00\x01"
"""First bytes of plain CDR with little-endian numbers, the only form that is read here."""
ORIGIN = 4
"""Length of the encoding's header; alignment counts from behind it."""
TEXTS = ORIGIN + 8
"""Offset at which a header's stamp ends and its frame begins."""
FORMS = 8
"""Number of forms of one length that are cached: arm and gripper may publish apart."""
LARGEST = 1 << 20
"""Bytes of a joint_states message beyond which it is none: room for some 20,000 joints [B]."""
STAMP = struct.Struct("<iI")


class Stamp(NamedTuple):
    """builtin_interfaces/Time, as far as it is read."""

    sec: int
    nanosec: int


class Header(NamedTuple):
    """std_msgs/Header, as far as it is read."""

    stamp: Stamp


class StateMessage(NamedTuple):
    """sensor_msgs/JointState, as far as it is read."""

    header: Header
    name: list[str]
    position: Sequence[float]
    velocity: Sequence[float]
    effort: Sequence[float]


class Form:
    """All of a JointState but its numbers: where these lie, and the bytes before them."""

    def __init__(self, data: bytes, message: JointState) -> None:
        """data: a message, of which `message` is rclpy's reading; ValueError where it is no plain
        CDR."""
        self.names = list(message.name)
        mask = bytearray()
        for begin, end in _texts(data):
            mask.extend(b"\0" * (begin - TEXTS - len(mask)) + b"\xff" * (end - begin))
        # What aligns the parts may hold anything: it is masked before the comparison.
        self._end = TEXTS + len(mask)
        self._mask = int.from_bytes(mask, "little")
        self._head = int.from_bytes(data[TEXTS : self._end], "little") & self._mask
        self._counts: list[tuple[int, bytes]] = []
        """Places of the arrays' lengths, and what stands there."""
        self._arrays: list[slice] = []
        at = self._end
        for _ in range(3):
            at = _aligned(at, 4)
            number = int.from_bytes(data[at : at + 4], "little")
            self._counts.append((at, data[at : at + 4]))
            at += 4
            if number:
                at = _aligned(at, 8)
            self._arrays.append(slice(at, at := at + 8 * number))
        read = self.read(data)
        if read is None or not _same(read, message):
            raise ValueError("not the plain encoding")

    def read(self, data: bytes) -> StateMessage | None:
        """A message of this form; None where it has another."""
        if int.from_bytes(data[TEXTS : self._end], "little") & self._mask != self._head:
            return None
        for at, count in self._counts:
            if data[at : at + 4] != count:
                return None
        first, second, third = self._arrays
        position, velocity = array("d", data[first]), array("d", data[second])
        # The NamedTuples' own constructors are Python functions; this one is not.
        header = tuple.__new__(Header, (tuple.__new__(Stamp, STAMP.unpack_from(data, ORIGIN)),))
        parts = (header, self.names, position, velocity, array("d", data[third]))
        return tuple.__new__(StateMessage, parts)


class StateReader:
    """joint_states of one topic, from their bytes."""

    def __init__(self) -> None:
        self._forms: dict[int, list[Form]] = {}
        """Forms by the message's length."""

    def read(self, data: bytes) -> StateMessage | JointState:
        """The message; rclpy raises where the bytes are none, ValueError where they are too many."""
        if len(data) > LARGEST:
            raise ValueError(f"joint_states of {len(data)} bytes; at most {LARGEST} are read")
        forms = self._forms.get(len(data), ())
        for form in forms:
            if (message := form.read(data)) is not None:
                return message
        plain = deserialize_message(data, JointState)
        readable = data[:2] == ENCODING and sys.byteorder == "little"
        if readable and len(forms) < FORMS and len(self._forms) < FORMS:
            with suppress(ValueError):  # rclpy goes on reading them
                self._forms.setdefault(len(data), []).append(Form(data, plain))
        return plain


class NumbersWriter:
    """A message in which a stamp and one array of doubles change from time to time, and nothing
    else. What it writes is for `publish`: bytes, or the message itself."""

    def __init__(self, message: Any, field: str, count: int) -> None:
        """field: the array's; count: how many numbers it has."""
        self._message, self._field = message, field
        self._stamped = hasattr(message, "header")
        self._known = False
        trial = np.random.default_rng(0).standard_normal((2, count))
        stamps = Time(sec=0x12345678, nanosec=0x2468ACE), Time()
        first = self._plain(trial[0], stamps[0])
        at = first.find(trial[0].tobytes()) if count else -1
        if at > 0:
            self._encoding = first[:ORIGIN]
            self._before = first[ORIGIN + 8 * self._stamped : at]
            self._after = first[at + 8 * count :]
            again = self._bytes(trial[1], stamps[1])
            as_first = self._bytes(trial[0], stamps[0]) == first
            self._known = as_first and self._equal(again, trial[1], stamps[1])

    def written(self, numbers: np.ndarray, stamp: Any = None) -> Any:
        """The message with these numbers, and this stamp (`sec`, `nanosec`) where it has one."""
        if self._known:
            return self._bytes(numbers, stamp)
        self._fill(numbers, stamp)
        return self._message

    def _bytes(self, numbers: np.ndarray, stamp: Any) -> bytes:
        stamped = STAMP.pack(stamp.sec, stamp.nanosec) if self._stamped else b""
        return b"".join((self._encoding, stamped, self._before, numbers.tobytes(), self._after))

    def _fill(self, numbers: np.ndarray, stamp: Any) -> None:
        setattr(self._message, self._field, array("d", numbers.tobytes()))
        if self._stamped:
            self._message.header.stamp = Time(sec=stamp.sec, nanosec=stamp.nanosec)

    def _plain(self, numbers: np.ndarray, stamp: Any) -> bytes:
        self._fill(numbers, stamp)
        return bytes(serialize_message(self._message))

    def _equal(self, data: bytes, numbers: np.ndarray, stamp: Any) -> bool:
        """True if rclpy reads from these bytes what it would have written."""
        self._fill(numbers, stamp)
        return bool(deserialize_message(data, type(self._message)) == self._message)


def _aligned(at: int, size: int) -> int:
    return at + (ORIGIN - at) % size


def _texts(data: bytes) -> Iterator[tuple[int, int]]:
    """Begin and end of the parts between a JointState's stamp and its numbers: the frame, the
    number of names, the names, each text with its length before it."""

    def text(at: int) -> tuple[int, int]:
        at = _aligned(at, 4)
        return at, at + 4 + int.from_bytes(data[at : at + 4], "little")

    frame = text(TEXTS)
    yield frame
    at = _aligned(frame[1], 4)
    yield at, at + 4
    number = int.from_bytes(data[at : at + 4], "little")
    at += 4
    for _ in range(number):
        if at > len(data):
            raise ValueError("not the plain encoding")
        name = text(at)
        yield name
        at = name[1]


def _same(read: StateMessage, message: JointState) -> bool:
    """True if two readings are the same, number by number; not a number is itself."""
    pairs = ((getattr(read, part), getattr(message, part)) for part in StateMessage._fields[2:])
    stamp = read.header.stamp == (message.header.stamp.sec, message.header.stamp.nanosec)
    return stamp and all(x.tobytes() == array("d", y).tobytes() for x, y in pairs)
