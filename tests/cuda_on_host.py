"""CUDA's form of a program on the host. It is plain C++, built by g++ and run one thread after the
other."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from warpdyn.codegen.cuda import CudaThread
from warpdyn.codegen.source import Source
from warpdyn.codegen.targets import describe
from warpdyn.recording.program import Program

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")

EXTRA_THREADS = 3
"""Threads beyond the environments, which must touch nothing."""

HOST = """
#include <cmath>
#define __shared__ static
static void __syncwarp() {{}}
static const struct {{ int x; }} threadIdx {{0}}, blockDim {{1}};
#include <cstring>
static float __int_as_float(int bits) {{ float x; std::memcpy(&x, &bits, 4); return x; }}
static double __longlong_as_double(long long bits) {{ double x; std::memcpy(&x, &bits, 8); return x; }}
struct Args {{ const long long* at; long long operator[](int i) const {{ return at[i]; }} }};
static void thread(const Args args, const int tid) {{
{code}
}}
extern "C" void launch(const long long* at, int threads) {{
  for (int tid = 0; tid < threads; ++tid) thread({{at}}, tid);
}}
"""


def write_in_one_warp(program: Program, name: str, single: bool) -> Source:
    """CUDA's form for blocks of one warp. The host runs one thread after the other, so no warp can
    wait for another one."""
    described = describe(program, name, single, "cuda")
    return replace(described, code=CudaThread(program, single).source())


def fields(array: np.ndarray) -> list[int]:
    """Address and strides in elements: environment, then up to three more."""
    strides = [s // array.itemsize for s in array.strides]
    return [array.ctypes.data, *strides, *[0] * (4 - len(strides))]


def table_fields(table: np.ndarray) -> list[int]:
    """Address, rows and columns, and the strides of both."""
    return [table.ctypes.data, *table.shape, *(s // table.itemsize for s in table.strides)]


def run(
    source: Source,
    arrays: Mapping[str, np.ndarray],
    *outs: np.ndarray,
    folder: Path,
    keep_constants: bool = False,
) -> None:
    """Build a source and start more threads than there are environments in `outs`. Input arrays
    that the source takes by value are passed by value."""
    assert source.warps == 1, "the host runs blocks of one warp (write_in_one_warp)"
    file, library = folder / f"{source.name}.cpp", folder / f"{source.name}.so"
    file.write_text(HOST.format(code=source.code))
    subprocess.run(
        ["g++", "-O0", "-std=c++17", "-fPIC", "-shared", "-o", library, file], check=True
    )
    count = len(outs[0])
    arguments = [0, count, int(keep_constants), 0]
    for name in source.inputs:
        arguments += (table_fields if name in source.tables else fields)(arrays[name])
    for array in outs:
        arguments += fields(array)
    for name in source.numbers:
        bits = np.int32 if arrays[name].itemsize == 4 else np.int64
        arguments += arrays[name].view(bits).tolist()
    packed = (ctypes.c_longlong * len(arguments))(*arguments)
    ctypes.CDLL(str(library)).launch(packed, count + EXTRA_THREADS)
