"""Communication between the lanes of a warp, and special registers, compared with a model of a warp
in Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from cuda_device.ptx_kernels import UPDATES, PtxKernel, compute, kernel_text

LANES = 32
NUMBERS = np.arange(64, dtype=np.uint32) * 3 + 100  # two warps
ALL = "0xffffffff"


def source_lane(mode: str, lane: int, distance: int, clamp: int, segment: int) -> int | None:
    """The lane from which a lane reads, by the table of PTX's manual. None means its own number."""
    first, last = lane & segment, (lane & segment) | (clamp & ~segment)
    source = {
        "up": lane - distance,
        "down": lane + distance,
        "bfly": lane ^ distance,
        "idx": first | (distance & ~segment),
    }[mode]
    inside = source >= last if mode == "up" else source <= last
    return source if inside else None


@pytest.mark.parametrize("segment", [0, 0b11000, 0b10000])
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffles(mode: str, segment: int) -> None:
    """They act on the warp, or on parts of 8 or 16 lanes. The predicate says whether the source
    lane was inside."""
    clamp = 0 if mode == "up" else 31
    for distance in (0, 1, 5, 8, 17, 31):
        body = f"""shfl.sync.{mode}.b32 %y|%p0, %x0, {distance}, {segment << 8 | clamp}, {ALL};
            @!%p0 add.u32 %y, %y, 10000;"""
        found = compute(body, "u32", ("u32", NUMBERS))
        for thread in range(64):
            lane, warp = thread % LANES, thread - thread % LANES
            source = source_lane(mode, lane, distance, clamp, segment)
            expected = NUMBERS[thread] + 10000 if source is None else NUMBERS[warp + source]
            assert found[thread] == expected, (thread, distance)


def test_shuffle_with_a_distance_for_each_lane() -> None:
    distances = np.random.default_rng(0).integers(0, 32, 64, dtype=np.uint32)
    body = f"shfl.sync.idx.b32 %y, %x0, %x1, 31, {ALL};"
    found = compute(body, "u32", ("u32", NUMBERS), ("u32", distances))
    assert np.array_equal(found, NUMBERS[np.arange(64) // 32 * 32 + distances])


VOTES: dict[str, Callable[[np.ndarray], bool]] = {
    "all": lambda yes: bool(yes.all()),
    "any": lambda yes: bool(yes.any()),
    "uni": lambda yes: bool(yes.all() or not yes.any()),
}


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("name", VOTES)
def test_votes(name: str, negated: bool) -> None:
    for yes in (np.zeros(64), np.ones(64), np.arange(64) % 2, np.arange(64) == 40):
        sign = "!" if negated else ""
        body = f"""setp.ne.u32 %p0, %x0, 0;
            vote.sync.{name}.pred %p1, {sign}%p0, {ALL};
            selp.u32 %y, 1, 0, %p1;"""
        found = compute(body, "u32", ("u32", yes))
        for warp in (yes[:32], yes[32:]):
            expected = VOTES[name]((warp == 0) if negated else (warp != 0))
            assert np.all(found[:32] == expected)
            found = found[32:]


def test_ballot_of_the_active_lanes() -> None:
    """Only the lanes that took a branch vote there. activemask has these lanes."""
    body = """and.b32 %r0, %x0, 3;
        setp.eq.u32 %p0, %r0, 1;
        mov.u32 %y, 0;
        @!%p0 bra $after;
        and.b32 %r1, %x0, 4;
        setp.ne.u32 %p1, %r1, 0;
        vote.sync.ballot.b32 %y, %p1, 0x22222222;
        activemask.b32 %r2;
        xor.b32 %y, %y, %r2;
        $after:"""
    found = compute(body, "u32", ("u32", np.arange(32)))
    there = [lane for lane in range(32) if lane % 4 == 1]
    expected = sum(1 << lane for lane in there) ^ sum(1 << lane for lane in there if lane & 4)
    assert found.tolist() == [expected if lane in there else 0 for lane in range(32)]


@pytest.mark.parametrize("name", ["add", "min", "max", "and", "or", "xor"])
def test_reductions(name: str) -> None:
    kind = "u32" if name in ("add", "min", "max") else "b32"
    found = compute(f"redux.sync.{name}.{kind} %y, %x0, {ALL};", "u32", ("u32", NUMBERS))
    reduce = UPDATES[name].reduce
    assert found.tolist() == [reduce(NUMBERS[:32])] * 32 + [reduce(NUMBERS[32:])] * 32


def test_lanes_with_the_same_number() -> None:
    numbers = np.arange(32, dtype=np.uint32) % 5
    found = compute(f"match.any.sync.b32 %y, %x0, {ALL};", "u32", ("u32", numbers))
    masks = [sum(1 << k for k in range(32) if numbers[k] == number) for number in numbers]
    assert found.tolist() == masks
    body = f"match.all.sync.b32 %y|%p0, %x0, {ALL}; @%p0 add.u32 %y, %y, 0;"
    assert not compute(body, "u32", ("u32", numbers)).any()
    assert np.all(compute(body, "u32", ("u32", np.full(32, 7))) == 2**32 - 1)


def test_special_registers() -> None:
    """They are thread, block, lane and warp numbers, and masks of lower and higher lanes."""
    names = (
        "%tid.x",
        "%ctaid.x",
        "%ntid.x",
        "%nctaid.x",
        "%laneid",
        "%lanemask_lt",
        "%lanemask_ge",
    )
    stores = "\n".join(
        f"mov.u32 %number, {name}; st.global.u32 [%at+{4 * k}], %number;"
        for k, name in enumerate(names)
    )
    body = f""".reg .b32 %number; .reg .b64 %at;
        mad.wide.u32 %at, %thread, {4 * len(names)}, %a0;
        {stores}"""
    made = PtxKernel(kernel_text(1, body))(
        np.zeros((96, len(names)), np.uint32), threads=96, block=48
    )
    threads, lanes = np.arange(96) % 48, np.arange(96) % 48 % 32
    below = (1 << lanes.astype(np.int64)) - 1
    expected = (threads, np.arange(96) // 48, 48, 2, lanes, below, 2**32 - 1 - below)
    for column, numbers in zip(made.T, expected, strict=True):
        assert np.array_equal(column, np.broadcast_to(numbers, 96))
