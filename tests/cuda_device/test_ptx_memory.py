"""Loads, stores and atomics in every memory space, and module variables."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_device.ptx_kernels import (
    NUMPY_TYPES,
    UPDATES,
    PtxKernel,
    compute,
    kernel_text,
    some_numbers,
)


@pytest.mark.parametrize("kind", ["u8", "s8", "u16", "s16", "u32", "s32"])
def test_narrow_numbers_in_wide_registers(kind: str) -> None:
    """A load sign-extends signed types, and a store keeps the low bits."""
    numbers = np.resize(some_numbers(kind), 64)
    size = numbers.itemsize
    body = f""".reg .b64 %at, %number;
        mad.wide.u32 %at, %thread, {size}, %a0;
        ld.global.{kind} %number, [%at];
        mad.wide.u32 %at, %thread, 8, %a1;
        st.global.u64 [%at], %number;
        mad.wide.u32 %at, %thread, {size}, %a2;
        st.global.{kind} [%at], %number;"""
    _, wide, narrow = PtxKernel(kernel_text(3, body))(
        numbers, np.zeros(64, np.int64), np.zeros_like(numbers), threads=64, block=32
    )
    assert np.array_equal(wide, numbers.astype(np.int64))
    assert np.array_equal(narrow, numbers)


@pytest.mark.parametrize("count, kind", [(2, "f32"), (4, "f32"), (2, "f64"), (4, "u8"), (2, "u64")])
def test_vector_loads_and_stores(count: int, kind: str) -> None:
    """One instruction moves two or four numbers, and a result may be unused."""
    numbers = np.arange(32 * count).astype(NUMPY_TYPES[kind])
    width = numbers.itemsize * count
    letter = ".f" if kind[0] == "f" else ".b"
    names = [f"%n{k}" for k in range(count)]
    listed, reversed_ = ", ".join(names), ", ".join(reversed(names))
    body = f""".reg .b64 %at;
        .reg {letter}{max(8 * numbers.itemsize, 16)} %n<{count}>;
        mad.wide.u32 %at, %thread, {width}, %a0;
        ld.global.v{count}.{kind} {{{listed}}}, [%at];
        mad.wide.u32 %at, %thread, {width}, %a1;
        st.global.v{count}.{kind} [%at+0], {{{reversed_}}};
        ld.global.v2.{kind} {{_, %n0}}, [%at];"""
    _, found = PtxKernel(kernel_text(2, body))(
        numbers, np.zeros_like(numbers), threads=32, block=32
    )
    assert np.array_equal(found.reshape(32, count), numbers.reshape(32, count)[:, ::-1])


def test_addresses_have_registers_and_offsets() -> None:
    """An offset may be negative."""
    body = """.reg .b64 %at; .reg .f64 %n;
        mad.wide.u32 %at, %thread, 8, %a0;
        ld.global.f64 %n, [%at+-16];
        st.global.f64 [%at+8], %n;"""
    text = kernel_text(1, "add.u64 %a0, %a0, 16;" + body)
    numbers = np.arange(4.0)
    found = PtxKernel(text)(numbers, threads=1, block=1)
    assert found.tolist() == [0, 1, 2, 0]


def test_each_thread_has_its_own_local_memory() -> None:
    """It is accessed by name, by address and by generic address."""
    body = """.local .align 8 .b8 depot[16];
        .reg .b64 %local, %generic; .reg .b32 %n;
        mov.u64 %local, depot;
        cvta.local.u64 %generic, %local;
        st.local.u32 [%local+4], %x0;
        st.local.u32 [depot+8], 5;
        ld.u32 %n, [%generic+4];
        ld.local.u32 %y, [%local+8];
        add.u32 %y, %y, %n;"""
    found = compute(body, "u32", ("u32", np.arange(100)))
    assert np.array_equal(found, np.arange(100) + 5)


def test_module_kernel_and_dynamic_shared_memory() -> None:
    """Each block has its own, and its threads see each other's numbers."""
    before = """.shared .align 4 .b8 of_module[256];
        .extern .shared .align 16 .b8 dynamic[];"""
    body = """.shared .align 8 .b8 of_kernel[512];
        .reg .b32 %four, %other, %at, %n<3>; .reg .b64 %eight, %generic, %to, %m;
        shl.b32 %four, %t, 2;
        xor.b32 %other, %four, 252;
        mov.u32 %at, of_module;
        add.u32 %at, %at, %four;
        st.shared.u32 [%at], %thread;
        mov.u64 %generic, of_kernel;
        cvta.shared.u64 %generic, %generic;
        mul.wide.u32 %eight, %t, 8;
        add.u64 %generic, %generic, %eight;
        cvt.u64.u32 %m, %thread;
        st.u64 [%generic], %m;
        mov.u32 %at, dynamic;
        add.u32 %at, %at, %four;
        st.shared.u32 [%at], %thread;
        bar.sync 0;
        mov.u32 %at, of_module;
        add.u32 %at, %at, %other;
        ld.shared.u32 %n0, [%at];
        mov.u32 %at, dynamic;
        add.u32 %at, %at, %other;
        ld.shared.u32 %n1, [%at];
        cvta.to.shared.u64 %m, %generic;
        ld.shared.u64 %m, [%m];
        cvt.u32.u64 %n2, %m;
        mad.lo.u32 %n0, %n1, 1000, %n0;
        mad.lo.u32 %n0, %n2, 1000000, %n0;
        mad.wide.u32 %to, %thread, 4, %a0;
        st.global.u32 [%to], %n0;"""
    kernel = PtxKernel(kernel_text(1, body, before))
    found = kernel(np.zeros(128, np.uint32), threads=128, block=64, shared=256)
    thread = np.arange(128)
    other = thread // 64 * 64 + 63 - thread % 64
    assert np.array_equal(found, other + 1000 * other + 1000000 * thread)


def test_module_variables_are_initialised_and_persistent() -> None:
    """They have initial values, zeros, or addresses of other variables, and keep their values
    between launches."""
    before = """.const .align 4 .f32 factors[3] = {0f3F800000, 0f40000000, 0f40400000};
        .global .align 4 .b8 bytes[8] = {1, 2, 3, 4, 255};
        .global .align 8 .u64 pointer = bytes;
        .global .u32 calls;
        .global .f64 half = 0d3FE0000000000000;"""
    body = """.reg .b32 %n; .reg .b64 %at; .reg .f32 %f; .reg .f64 %d;
        ld.const.f32 %f, [factors+8];
        cvt.rzi.u32.f32 %n, %f;
        st.global.u32 [%a0], %n;
        ld.global.u64 %at, [pointer];
        ld.global.u32 %n, [%at];
        st.global.u32 [%a0+4], %n;
        ld.global.u8 %n, [bytes+4];
        st.global.u32 [%a0+8], %n;
        atom.global.add.u32 %n, [calls], 1;
        st.global.u32 [%a0+12], %n;
        ld.global.f64 %d, [half];
        cvt.rzi.u32.f64 %n, %d;
        cvt.rpi.u32.f64 %n, %d;
        st.global.u32 [%a0+16], %n;"""
    kernel = PtxKernel(kernel_text(1, body, before))
    for call in range(3):
        found = kernel(np.zeros(5, np.uint32), threads=1, block=1)
        assert found.tolist() == [3, 0x04030201, 255, call, 1]


def test_parameters_can_be_read_by_address() -> None:
    """A kernel may take the address of a parameter, for example of an array in it."""
    body = """.reg .b64 %at, %n, %to;
        mov.b64 %at, p0;
        ld.param.u64 %to, [%at];
        ld.param.u64 %n, [%at+8];
        st.global.u64 [%to], %n;"""
    found = PtxKernel(kernel_text(2, body))(
        np.zeros(1, np.uint64), np.zeros(1, np.uint64), threads=1, block=1
    )
    assert found[0] > 0


@pytest.mark.parametrize("space", ["global", "shared", "generic"])
@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64", "f32", "f64"])
def test_atomic_updates(kind: str, space: str) -> None:
    """All threads update one number. No update is lost, and each thread gets the value before its
    own update."""
    numbers = np.arange(1, 65).astype(NUMPY_TYPES[kind])
    bits, size = 8 * numbers.itemsize, numbers.itemsize
    register = f".{kind}" if kind[0] == "f" else f".b{bits}"
    for name, update in UPDATES.items():
        if kind[0] == "f" and name != "add":
            continue
        untyped = f"b{bits}" if name in ("and", "or", "xor") else kind
        where = {"global": "%a1", "generic": "%a1", "shared": "place"}[space]
        dot = "" if space == "generic" else f".{space}"
        body = f""".shared .align 8 .b8 place[8];
            .reg .b64 %at; .reg {register} %n, %old;
            .reg .pred %first;
            setp.eq.u32 %first, %t, 0;
            ld.global.{kind} %n, [%a1];
            @%first st.shared.{kind} [place], %n;
            bar.sync 0;
            mad.wide.u32 %at, %thread, {size}, %a0;
            ld.global.{kind} %n, [%at];
            atom{dot}.{name}.{untyped} %old, [{where}], %n;
            st.global.{kind} [%at], %old;
            red{dot}.{name}.{untyped} [{where}], %n;
            bar.sync 0;
            ld.shared.{kind} %n, [place];
            @%first st.global.{kind} [%a2], %n;"""
        start = np.array([3], dtype=numbers.dtype)
        old, total, copied = PtxKernel(kernel_text(3, body))(
            numbers, start, np.zeros_like(start), threads=64, block=64
        )
        every = np.concatenate([start, np.repeat(numbers, 2)])
        assert (copied if space == "shared" else total)[0] == update.reduce(every), name
        assert old[0] == 3


def test_atomic_exchange_compare_and_wrapping_counters() -> None:
    """One of 64 threads gets the old number.

    `cas` replaces only the expected value. `inc` and `dec` wrap around.
    """
    body = """.reg .b32 %old; .reg .b64 %at;
        mad.wide.u32 %at, %thread, 4, %a0;
        atom.global.exch.b32 %old, [%a1], %thread;
        st.global.u32 [%at], %old;
        atom.global.cas.b32 %old, [%a1+4], 7, %thread;
        atom.global.inc.u32 %old, [%a1+8], 9;
        atom.global.dec.u32 %old, [%a1+12], 9;"""
    start = np.array([1000, 7, 0, 0], dtype=np.uint32)
    old, found = PtxKernel(kernel_text(2, body))(
        np.zeros(64, np.uint32), start, threads=64, block=64
    )
    assert sorted([*old.tolist(), int(found[0])]) == [*range(64), 1000]
    assert found[1] == 0
    assert found[2] == 64 % 10 and found[3] == (-64) % 10


def test_isspacep_identifies_the_memory_space() -> None:
    """It distinguishes global, local and shared memory."""
    body = """.local .align 4 .b8 mine[4];
        .shared .align 4 .b8 ours[4];
        .reg .b64 %at<3>;
        cvta.to.global.u64 %at0, %a0;
        mov.u64 %at1, mine;
        cvta.local.u64 %at1, %at1;
        mov.u64 %at2, ours;
        cvta.shared.u64 %at2, %at2;
        mov.u32 %y, 0;
        isspacep.global %p0, %at0;
        @%p0 or.b32 %y, %y, 1;
        isspacep.local %p0, %at1;
        @%p0 or.b32 %y, %y, 2;
        isspacep.shared %p0, %at2;
        @%p0 or.b32 %y, %y, 4;
        isspacep.global %p0, %at1;
        @%p0 or.b32 %y, %y, 8;
        isspacep.shared %p0, %at0;
        @%p0 or.b32 %y, %y, 16;"""
    assert compute(body, "u32", ("u32", [0, 0])).tolist() == [7, 7]
