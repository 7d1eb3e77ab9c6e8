"""Bit instructions compared with Python's integers: logic, shifts, fields, counts, permuted
bytes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from cuda_device.ptx_kernels import compute, pairs, some_numbers

LOGIC: dict[str, Callable[[int, int], int]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


@pytest.mark.parametrize("kind", ["b16", "b32", "b64"])
@pytest.mark.parametrize("name", LOGIC)
def test_logic(name: str, kind: str) -> None:
    a, b = pairs(kind)
    found = compute(f"{name}.{kind} %y, %x0, %x1;", kind, (kind, a), (kind, b))
    assert found.tolist() == [
        LOGIC[name](x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]


@pytest.mark.parametrize("kind", ["b16", "b32", "b64"])
def test_not(kind: str) -> None:
    a = some_numbers(kind)
    assert np.array_equal(compute(f"not.{kind} %y, %x0;", kind, (kind, a)), ~a)
    assert np.array_equal(compute(f"cnot.{kind} %y, %x0;", kind, (kind, a)), a == 0)


COUNTS = np.array([0, 1, 5, 15, 16, 31, 32, 33, 63, 64, 100, 2**31, 2**32 - 1], dtype=np.uint32)


@pytest.mark.parametrize("kind", ["b16", "b32", "b64", "u32", "s16", "s32", "s64"])
def test_shifts(kind: str) -> None:
    """A shift beyond the width gives zero, or the sign for an arithmetic shift right."""
    bits = int(kind[1:])
    a = np.repeat(some_numbers(kind, 20), COUNTS.size)
    counts = np.resize(COUNTS, a.size)
    if kind[0] == "b":
        found = compute(f"shl.{kind} %y, %x0, %x1;", kind, (kind, a), ("u32", counts))
        expected = [
            x << n & (1 << bits) - 1 if n < bits else 0
            for x, n in zip(a.tolist(), counts.tolist(), strict=True)
        ]
        assert found.tolist() == expected
    found = compute(f"shr.{kind} %y, %x0, %x1;", kind, (kind, a), ("u32", counts))
    assert found.tolist() == [
        x >> min(n, bits) for x, n in zip(a.tolist(), counts.tolist(), strict=True)
    ]


@pytest.mark.parametrize("wraps", [True, False])
@pytest.mark.parametrize("direction", ["l", "r"])
def test_funnel_shift(direction: str, wraps: bool) -> None:
    """The result is 32 bits of the 64 bits in two registers."""
    low = np.repeat(some_numbers("b32", 20), COUNTS.size)
    high = np.roll(low, COUNTS.size)
    counts = np.resize(COUNTS, low.size)
    mode = "wrap" if wraps else "clamp"
    body = f"shf.{direction}.{mode}.b32 %y, %x0, %x1, %x2;"
    found = compute(body, "b32", ("b32", low), ("b32", high), ("b32", counts))
    expected = []
    for a, b, n in zip(low.tolist(), high.tolist(), counts.tolist(), strict=True):
        n = n % 32 if wraps else min(n, 32)
        both = b << 32 | a
        expected.append((both << n >> 32 if direction == "l" else both >> n) % 2**32)
    assert found.tolist() == expected


FIELDS = [
    (0, 0),
    (0, 1),
    (0, 32),
    (3, 5),
    (20, 40),
    (31, 1),
    (33, 3),
    (60, 10),
    (70, 2),
    (255, 255),
]


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_extract_field(kind: str) -> None:
    bits = int(kind[1:])
    a = np.repeat(some_numbers(kind, 20), len(FIELDS))
    positions, lengths = np.resize(np.array(FIELDS, np.uint32), (a.size, 2)).T
    found = compute(
        f"bfe.{kind} %y, %x0, %x1, %x2;", kind, (kind, a), ("u32", positions), ("u32", lengths)
    )
    expected = []
    for x, position, length in zip(a.tolist(), positions.tolist(), lengths.tolist(), strict=True):
        pattern = x % (1 << bits)
        top = min(position + length - 1, bits - 1)
        sign = pattern >> top & 1 if kind[0] == "s" and length else 0
        field = 0
        for k in range(bits):
            inside = k < length and position + k < bits
            field |= (pattern >> (position + k) & 1 if inside else sign) << k
        expected.append(field - (1 << bits) if kind[0] == "s" and field >> (bits - 1) else field)
    assert found.tolist() == expected


@pytest.mark.parametrize("kind", ["b32", "b64"])
def test_insert_field(kind: str) -> None:
    bits = int(kind[1:])
    a = np.repeat(some_numbers(kind, 20), len(FIELDS))
    b = np.roll(a, 5 * len(FIELDS))
    positions, lengths = np.resize(np.array(FIELDS, np.uint32), (a.size, 2)).T
    body = f"bfi.{kind} %y, %x0, %x1, %x2, %x3;"
    found = compute(body, kind, (kind, a), (kind, b), ("u32", positions), ("u32", lengths))
    expected = []
    for x, y, position, length in zip(
        a.tolist(), b.tolist(), positions.tolist(), lengths.tolist(), strict=True
    ):
        mask = (((1 << length) - 1) << position) % (1 << bits)
        expected.append(y & ~mask | x << position & mask)
    assert found.tolist() == expected


@pytest.mark.parametrize("kind", ["b32", "b64"])
def test_counts_of_bits(kind: str) -> None:
    bits = int(kind[1:])
    a = some_numbers(kind)
    found = compute(f"popc.{kind} %y, %x0;", "u32", (kind, a))
    assert found.tolist() == [x.bit_count() for x in a.tolist()]
    found = compute(f"clz.{kind} %y, %x0;", "u32", (kind, a))
    assert found.tolist() == [bits - x.bit_length() for x in a.tolist()]
    found = compute(f"brev.{kind} %y, %x0;", kind, (kind, a))
    assert found.tolist() == [int(f"{x:0{bits}b}"[::-1], 2) for x in a.tolist()]


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_highest_bit(kind: str) -> None:
    """The result for a negative number is its highest zero bit.

    It is all ones if no bit is found.
    """
    a = some_numbers(kind)
    found = compute(f"bfind.{kind} %y, %x0;", "u32", (kind, a))
    lengths = [(~x if x < 0 else x).bit_length() for x in a.tolist()]
    assert found.tolist() == [n - 1 if n else 2**32 - 1 for n in lengths]
    found = compute(f"bfind.shiftamt.{kind} %y, %x0;", "u32", (kind, a))
    bits = int(kind[1:])
    assert found.tolist() == [bits - n if n else 2**32 - 1 for n in lengths]


def test_permuted_bytes() -> None:
    a, b = pairs("b32")
    digits = np.resize(some_numbers("b32", seed=3), a.size)
    found = compute("prmt.b32 %y, %x0, %x1, %x2;", "b32", ("b32", a), ("b32", b), ("b32", digits))
    expected = []
    for x, y, choice in zip(a.tolist(), b.tolist(), digits.tolist(), strict=True):
        pieces = (y << 32 | x).to_bytes(8, "little")
        made = []
        for k in range(4):
            digit = choice >> 4 * k & 15
            byte = pieces[digit & 7]
            made.append((255 if byte & 128 else 0) if digit & 8 else byte)
        expected.append(int.from_bytes(bytes(made), "little"))
    assert found.tolist() == expected


@pytest.mark.parametrize("table", [0x80, 0x96, 0xE8, 0xCA, 0x01])
def test_logic_of_three(table: int) -> None:
    a, b = pairs("b32")
    c = np.resize(some_numbers("b32", seed=3), a.size)
    body = f"lop3.b32 %y, %x0, %x1, %x2, {table};"
    found = compute(body, "b32", ("b32", a), ("b32", b), ("b32", c))
    expected = []
    for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
        rows = [(x >> k & 1) << 2 | (y >> k & 1) << 1 | (z >> k & 1) for k in range(32)]
        expected.append(sum((table >> row & 1) << k for k, row in enumerate(rows)))
    assert found.tolist() == expected
