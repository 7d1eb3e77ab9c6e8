"""Counters of kernels on request: instructions, divergent branches, and memory sectors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from cuda_device.ptx_kernels import PtxKernel, counters, kernel_text, library


@contextmanager
def measure_counters() -> Iterator[dict[str, int]]:
    """The counters that change within the block, filled in at its end."""
    changed: dict[str, int] = {}
    before = counters()
    library().emulated_cuda_measure(1)
    yield changed
    library().emulated_cuda_measure(0)
    changed |= {name: n - before[name] for name, n in counters().items()}


COPY = """.reg .b64 %at; .reg .b32 %n;
    mul.wide.u32 %at, %thread, {stride};
    add.u64 %at, %a0, %at;
    ld.global.u32 %n, [%at+{offset}];
    st.global.u32 [%at+{offset}], %n;"""


@pytest.mark.parametrize(
    "stride, offset, sectors",
    [(4, 0, 4), (4, 16, 5), (8, 0, 8), (32, 0, 32), (28, 0, 28), (0, 0, 1)],
)
def test_memory_sectors_are_counted(stride: int, offset: int, sectors: int) -> None:
    """A warp moves sectors of 32 bytes: 4 for contiguous numbers, and one for each lane at
    distances of 32 bytes."""
    kernel = PtxKernel(kernel_text(1, COPY.format(stride=stride, offset=offset)))
    with measure_counters() as changed:
        kernel(np.zeros(64 * 32, np.uint8), threads=64, block=64)
    for kind in ("load", "store"):
        assert changed[f"{kind}_requests"] == 2
        assert changed[f"{kind}_bytes"] == 2 * 128
    # The second warp's numbers follow the first one's, at a sector boundary or inside one.
    first, second = (
        len({(stride * lane + offset + byte) // 32 for lane in lanes for byte in range(4)})
        for lanes in (range(32), range(32, 64))
    )
    assert first == sectors
    assert changed["load_sectors"] == changed["store_sectors"] == first + second


def test_generic_addresses_count_only_if_they_are_global() -> None:
    """A function that gets an address does not know its space."""
    body = """.reg .b64 %at; .reg .b32 %n;
        .shared .align 4 .b8 ours[128];
        mov.u64 %at, ours;
        cvta.shared.u64 %at, %at;
        st.u32 [%at], %t;
        mul.wide.u32 %at, %thread, 4;
        add.u64 %at, %a0, %at;
        ld.u32 %n, [%at];
        st.u32 [%at], %n;"""
    kernel = PtxKernel(kernel_text(1, body))
    with measure_counters() as changed:
        kernel(np.zeros(32, np.uint32), threads=32, block=32)
    for kind in ("load", "store"):
        assert [changed[f"{kind}_{what}"] for what in ("requests", "sectors", "bytes")] == [
            1,
            4,
            128,
        ]


def test_instructions_and_branches_are_counted() -> None:
    """An instruction counts once for its warp, and once for each of its lanes."""
    body = """.reg .pred %p; .reg .b32 %n;
        setp.lt.u32 %p, %t, 10;
        @%p bra $end;
        mov.u32 %n, 1;
        $end:"""
    kernel = PtxKernel(kernel_text(0, body))
    with measure_counters() as changed:
        kernel.launch(threads=32, block=32)
    assert changed["kernels_run"] == changed["warps"] == 1
    before = 4 + 2  # reading special registers, and the product; the comparison, and the branch
    assert changed["instructions"] == before + 1 + 1
    # Ten lanes take the branch, the others move; all 32 return.
    assert changed["lane_instructions"] == 5 * 32 + 10 + 22 + 32
    assert changed["divergent_branches"] == 1


def test_nothing_is_counted_without_a_request() -> None:
    before = counters()
    PtxKernel(kernel_text(0, "")).launch(threads=32, block=32)
    after = counters()
    assert after["instructions"] == before["instructions"]
    assert after["launches"] == before["launches"] + 1
