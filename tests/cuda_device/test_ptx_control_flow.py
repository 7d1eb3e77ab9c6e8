"""Branches, loops, functions and barriers: lanes of a warp diverge and reconverge."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_device.ptx_kernels import PtxKernel, compute, counters, kernel_text, library


def steps_of_collatz(number: int) -> int:
    steps = 0
    while number != 1:
        number = 3 * number + 1 if number % 2 else number // 2
        steps += 1
    return steps


COLLATZ = """mov.u32 %y, 0;
    $loop:
    setp.eq.u32 %p0, %x0, 1;
    @%p0 bra $end;
    and.b32 %r0, %x0, 1;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 bra $even;
    mad.lo.u32 %x0, %x0, 3, 1;
    bra.uni $next;
    $even:
    shr.u32 %x0, %x0, 1;
    $next:
    add.u32 %y, %y, 1;
    bra.uni $loop;
    $end:"""


def test_each_lane_follows_its_own_branches() -> None:
    """Loops have different lengths, with a branch inside."""
    numbers = np.arange(1, 200)
    found = compute(COLLATZ, "u32", ("u32", numbers))
    assert found.tolist() == [steps_of_collatz(int(number)) for number in numbers]


def test_lanes_reconverge_after_a_branch() -> None:
    """Code after both branches runs once for the warp, not once for each branch."""
    branch = """and.b32 %r0, %x0, 1;
        setp.eq.u32 %p0, %r0, 0;
        @%p0 bra $even;
        add.u32 %y, %x0, 1;
        bra.uni $after;
        $even:
        add.u32 %y, %x0, 2;
        $after:"""
    after = "add.u32 %y, %y, 1;\n" * 100
    used = {}
    for name, numbers in {"together": np.zeros(32), "apart": np.arange(32)}.items():
        library().emulated_cuda_measure(1)
        start = counters()["instructions"]
        compute(branch + after, "u32", ("u32", numbers))
        used[name] = counters()["instructions"] - start
        library().emulated_cuda_measure(0)
    assert used["together"] < used["apart"] <= used["together"] + 3


def test_guarded_instructions_run_without_branches() -> None:
    body = """setp.lt.u32 %p0, %x0, 10;
        mov.u32 %y, 1;
        @%p0 mov.u32 %y, 2;
        @!%p0 add.u32 %y, %y, 5;
        @%p0 bra $end;
        add.u32 %y, %y, 100;
        $end:"""
    found = compute(body, "u32", ("u32", np.arange(20)))
    assert found.tolist() == [2] * 10 + [106] * 10


FUNCTIONS = """.func (.param .b32 result) square(.param .b32 number) {
        .reg .b32 %r<3>; .reg .pred %p;
        ld.param.u32 %r1, [number];
        setp.gt.u32 %p, %r1, 100;
        @%p bra $large;
        mul.lo.u32 %r2, %r1, %r1;
        st.param.b32 [result], %r2;
        ret;
        $large:
        st.param.b32 [result], 1;
        ret;
    }
    .func (.param .b32 result) twice(.param .b32 number) {
        .reg .b32 %r<3>;
        ld.param.u32 %r1, [number];
        {
            .param .b32 given; .param .b32 made;
            st.param.b32 [given], %r1;
            call.uni (made), square, (given);
            ld.param.b32 %r2, [made];
        }
        add.u32 %r2, %r2, %r2;
        st.param.b32 [result], %r2;
        ret;
    }"""


def test_shared_memory_of_a_function_is_the_same_at_each_call() -> None:
    """The second call reads the values that the first one has written, and 40 KiB are allocated
    once."""
    function = """.func (.param .b32 result) exchange(.param .b32 number) {
        .reg .b32 %r<3>;
        .shared .align 4 .b8 memory[40960];
        ld.shared.u32 %r2, [memory+8];
        ld.param.u32 %r1, [number];
        st.shared.u32 [memory+8], %r1;
        st.param.b32 [result], %r2;
        ret;
    }"""
    call = """{
        .param .b32 given; .param .b32 made;
        st.param.b32 [given], %x;
        call.uni (made), exchange, (given);
        ld.param.b32 %y, [made];
    }"""
    body = f""".reg .b32 %x, %y; .reg .b64 %at;
        mov.u32 %x, 5; {call} mov.u32 %x, 6; {call}
        st.global.u32 [%a0], %y;"""
    found = PtxKernel(kernel_text(1, body, before=function))(np.zeros(1, np.uint32), threads=1)
    assert found.tolist() == [5]


def test_functions_can_be_called() -> None:
    """They may call each other, return early, be guarded, and have registers of the same names."""
    body = """.reg .b32 %r<8>; .reg .b64 %at; .reg .pred %p;
        mov.u32 %r1, 7;
        mov.u32 %r2, 1000;
        setp.ne.u32 %p, %thread, 3;
        {
            .param .b32 given; .param .b32 made;
            st.param.b32 [given+0], %thread;
            st.param.b32 [made], 0;
            @%p call (made), twice, (given);
            ld.param.b32 %r2, [made+0];
        }
        add.u32 %r2, %r2, %r1;
        mad.wide.u32 %at, %thread, 4, %a0;
        st.global.u32 [%at], %r2;"""
    found = PtxKernel(kernel_text(1, body, FUNCTIONS))(
        np.zeros(128, np.uint32), threads=128, block=64
    )
    expected = [7 if k == 3 else 7 + 2 * (k * k if k <= 100 else 1) for k in range(128)]
    assert found.tolist() == expected


def test_registers_of_an_inner_scope_hide_outer_ones() -> None:
    """They hide outer ones of the same name until the scope ends."""
    body = """mov.u32 %y, 5;
        {
            .reg .b32 %y, %inner;
            mov.u32 %y, 6;
            mov.u32 %inner, %y;
            add.u32 %r0, %inner, %y;
        }
        add.u32 %y, %y, %r0;"""
    assert compute(body, "u32", ("u32", [0])).tolist() == [17]


def test_barriers_synchronise_a_block() -> None:
    """Numbers move through shared memory around the block 20 times. Blocks do not wait for each
    other."""
    body = """.shared .align 4 .b8 row[512];
        .reg .b32 %at, %from, %n, %round; .reg .pred %more; .reg .b64 %to;
        shl.b32 %at, %t, 2;
        add.u32 %from, %at, 4;
        and.b32 %from, %from, 511;
        mov.u32 %n, %thread;
        mov.u32 %round, 0;
        $again:
        st.shared.u32 [%at], %n;
        barrier.sync 0;
        ld.shared.u32 %n, [%from];
        bar.sync 0;
        add.u32 %round, %round, 1;
        setp.lt.u32 %more, %round, 20;
        @%more bra $again;
        mad.wide.u32 %to, %thread, 4, %a0;
        st.global.u32 [%to], %n;"""
    found = PtxKernel(kernel_text(1, body))(np.zeros(256, np.uint32), threads=256, block=128)
    assert np.array_equal(
        found.reshape(2, 128), np.roll(np.arange(256).reshape(2, 128), -20, axis=1)
    )


def test_a_barrier_may_be_in_both_branches_and_ignores_ended_threads() -> None:
    """Lanes of one warp may arrive from different branches."""
    body = """.shared .align 4 .u32 sum;
        .reg .b32 %bit, %n; .reg .pred %p, %first; .reg .b64 %to;
        setp.eq.u32 %first, %t, 0;
        @%first st.shared.u32 [sum], 0;
        bar.sync 0;
        setp.ge.u32 %p, %t, 60;
        @%p ret;
        and.b32 %bit, %t, 1;
        setp.eq.u32 %p, %bit, 0;
        @%p bra $even;
        red.shared.add.u32 [sum], 1;
        bar.sync 0;
        bra.uni $after;
        $even:
        red.shared.add.u32 [sum], 100;
        bar.sync 0;
        $after:
        ld.shared.u32 %n, [sum];
        mad.wide.u32 %to, %thread, 4, %a0;
        st.global.u32 [%to], %n;"""
    found = PtxKernel(kernel_text(1, body))(np.zeros(64, np.uint32), threads=64, block=64)
    assert found.tolist() == [30 * 101] * 60 + [0] * 4


@pytest.mark.parametrize("barrier", ["", "bar.sync 0;"])
def test_the_order_of_warps_shows_a_missing_barrier(barrier: str) -> None:
    """Each warp reads what the other one has written. Only with a barrier both orders give the same
    results."""
    body = f""".shared .align 4 .b8 row[256];
        .reg .b32 %at, %from, %n; .reg .b64 %to;
        shl.b32 %at, %t, 2;
        xor.b32 %from, %at, 128;
        st.shared.u32 [%at], %thread;
        {barrier}
        ld.shared.u32 %n, [%from];
        bar.sync 1, 64;
        mad.wide.u32 %to, %thread, 4, %a0;
        st.global.u32 [%to], %n;"""
    kernel, found = PtxKernel(kernel_text(1, body)), []
    for is_so in (0, 1):
        library().emulated_cuda_last_warp_first(is_so)
        found.append(kernel(np.zeros(64, np.uint32), threads=64, block=64))
    library().emulated_cuda_last_warp_first(0)
    expected = np.arange(64) ^ 32
    assert np.array_equal(*found) == bool(barrier)
    assert all(np.array_equal(each, expected) for each in found) == bool(barrier)


def test_a_barrier_may_be_for_some_warps_only() -> None:
    """Barrier 1 is for 64 threads, so the third warp does not take part."""
    body = """.shared .align 4 .u32 number;
        .reg .b32 %n; .reg .pred %p; .reg .b64 %to;
        setp.ge.u32 %p, %t, 64;
        @%p ret;
        setp.eq.u32 %p, %t, 63;
        @%p st.shared.u32 [number], 9;
        bar.sync 1, 64;
        ld.shared.u32 %n, [number];
        mad.wide.u32 %to, %thread, 4, %a0;
        st.global.u32 [%to], %n;"""
    found = PtxKernel(kernel_text(1, body))(np.zeros(96, np.uint32), threads=96, block=96)
    assert found.tolist() == [9] * 64 + [0] * 32


def test_lanes_wait_for_each_other_at_a_shuffle() -> None:
    """Odd lanes arrive later from a loop. The shuffle includes all 32 lanes."""
    body = """and.b32 %r0, %x0, 1;
        setp.eq.u32 %p0, %r0, 0;
        mov.u32 %r1, 0;
        mov.u32 %r2, %x0;
        @%p0 bra $shuffle;
        bra.uni $slow;
        $shuffle:
        shfl.sync.bfly.b32 %y, %r2, 1, 31, 0xffffffff;
        bra.uni $end;
        $slow:
        add.u32 %r1, %r1, 1;
        add.u32 %r2, %r2, 100;
        setp.lt.u32 %p1, %r1, 3;
        @%p1 bra $slow;
        bra.uni $shuffle;
        $end:"""
    found = compute(body, "u32", ("u32", np.arange(32)))
    numbers = np.arange(32) + 300 * (np.arange(32) % 2)
    assert np.array_equal(found, numbers[np.arange(32) ^ 1])


def test_a_warp_barrier_may_be_in_both_branches() -> None:
    """Lanes after bar.warp.sync read what others have written before it."""
    body = """.shared .align 4 .b8 row[128];
        .reg .b32 %at, %other, %bit, %n; .reg .pred %odd; .reg .b64 %to;
        shl.b32 %at, %t, 2;
        xor.b32 %other, %at, 4;
        and.b32 %bit, %t, 1;
        setp.ne.u32 %odd, %bit, 0;
        @%odd bra $odd;
        st.shared.u32 [%at], %t;
        bar.warp.sync 0xffffffff;
        ld.shared.u32 %n, [%other];
        bra.uni $end;
        $odd:
        add.u32 %n, %t, 1000;
        st.shared.u32 [%at], %n;
        bar.warp.sync 0xffffffff;
        ld.shared.u32 %n, [%other];
        $end:
        mad.wide.u32 %to, %thread, 4, %a0;
        st.global.u32 [%to], %n;"""
    found = PtxKernel(kernel_text(1, body))(np.zeros(32, np.uint32), threads=32, block=32)
    expected = [(k ^ 1) + (0 if k % 2 else 1000) for k in range(32)]
    assert found.tolist() == expected


@pytest.mark.parametrize(
    "instruction, reason",
    [
        ("wgmma.fence.sync.aligned;", "wgmma.fence"),
        ("add.f16 %x0, %x0, %x0;", "does not know this instruction: add.f16"),
        ("bra $nowhere;", "no label $nowhere"),
        ("mov.u32 %nothing, 1;", "operand not understood: %nothing"),
        ("add.u32 %x0, %a0, 1;", "register %a0 is too wide"),
    ],
)
def test_unknown_instructions_are_refused_by_name(instruction: str, reason: str) -> None:
    """The refusal comes when the kernel is loaded, not when it runs."""
    with pytest.raises(ValueError, match="error 218") as refused:
        compute(instruction + " mov.u32 %y, 0;", "u32", ("u32", [0]))
    assert reason in str(refused.value)
