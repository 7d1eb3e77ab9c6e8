"""lanes.h, compiled on its own for float and double; and the text that Python writes around a
program."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import warp as wp
from sanitizers import clang, run_with_sanitizers

import warpdyn as wd
from warpdyn.codegen import headers, lanes
from warpdyn.codegen.source import Source
from warpdyn.execution.compile.kernel import KernelCommand, compile_kernel

HEADERS = Path(wd.__file__).parent / "codegen"

SINE = {"float32": 1.2e-7, "float64": 3e-16}
"""Absolute error of sine and cosine that the design allows."""

LIBRARY = 4
"""Units in the last place by which exp, log and atan2 of two libraries may differ."""

FUNCTIONS = """
const T* const x = (const T*)args[4];
T* const out = (T*)args[9];
const I64 count = args[1];
for (I64 k = 0; k < count; k += N) {
  const V angle = Lanes::load(x + k, 0);
  V sine, cosine;
  Lanes::sincos(angle, sine, cosine);
  const V results[] = {sine, cosine, Lanes::exp(angle * T(1e-5)), Lanes::log(angle * angle),
                       Lanes::atan2(angle, Lanes::all(2)), Lanes::fma(angle, angle, Lanes::all(1))};
  for (int i = 0; i < 6; ++i) Lanes::store(out + i * count + k, results[i], i % 2);
}
"""

TRANSPOSES = """
const T* const x = (const T*)args[4];
T* const out = (T*)args[9];
V square[N], rows[Q];
VH halves[Q];
for (int i = 0; i < N; ++i) square[i] = *(const V*)(x + i * N);
for (int i = 0; i < Q; ++i) rows[i] = square[i];
for (int i = 0; i < Q; ++i) halves[i] = *(const VH*)(x + i * 2 * Q);
Lanes::transpose(square);
Lanes::transpose_halves(halves);
Lanes::transpose_quarters(rows);
for (int i = 0; i < N; ++i) *(V*)(out + i * N) = square[i];
for (int i = 0; i < Q; ++i) *(V*)(out + (N + i) * N) = rows[i];
for (int i = 0; i < Q; ++i) *(VH*)(out + (N + Q) * N + i * 2 * Q) = halves[i];
"""

MOVES = """
const int n = (int)args[0], here = (int)args[1];
const bool dense = args[2] & 1, compare = args[2] & 2;
const T* const x = (const T*)args[4];
T* const out = (T*)args[9];
V tile[1024];
I64 offset[1024];
int place[1024];
char still[128] = {};
still[2] = still[3] = still[5] = (char)args[3];
for (int k = 0; k < n; ++k) { offset[k] = k; place[k] = k * N; }
Lanes::gather(tile, x, n, offset, n, here, dense);
Lanes::scatter((const T*)tile, out, n, offset, place, still, n, here, dense, false, args[3] == 1, compare, nullptr);
"""


IN_THEIR_MEMORY = """
#include <stdlib.h>
#include <sys/mman.h>
template <class X> static X* array(I64 n) { return (X*)aligned_alloc(64, (n * sizeof(X) + 63) / 64 * 64); }
static void move(int n, int here, bool dense, bool keep, bool compare) {
  T *x = (T*)malloc(n * here * sizeof(T)), *out = (T*)malloc(n * here * sizeof(T));
  for (int k = 0; k < n * here; ++k) { x[k] = T(k); out[k] = T(-1); }
  V* tile = array<V>(n);
  I64* offset = (I64*)malloc(n * sizeof(I64));
  int* place = (int*)malloc(n * sizeof(int));
  char* still = (char*)calloc(n / (2 * Q) + 1, 1);
  for (int k = 0; k < n; ++k) { offset[k] = k; place[k] = k * N; }
  Lanes::gather(tile, x, n, offset, n, here, dense);
  Lanes::scatter((const T*)tile, out, n, offset, place, still, n, here, dense, false, keep, compare, nullptr);
  for (int k = 0; k < n * here; ++k) if (out[k] != x[k]) abort();
  if (compare && dense && here == N && n >= N) {
    const size_t bytes = n * N * sizeof(T);
    T* same = (T*)mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int k = 0; k < n * N; ++k) same[k] = x[k];
    if (n == N) mprotect(same, bytes, PROT_READ);  // only whole lines, none at the end of a row
    else same[n * N - 1] = same[0] = T(-1);
    Lanes::scatter((const T*)tile, same, n, offset, place, still, n, here, dense, false, keep, true, nullptr);
    for (int k = 0; k < n * N; ++k) if (same[k] != x[k]) abort();
    munmap(same, bytes);
  }
  free(x); free(out); free(tile); free(offset); free(place); free(still);
}
int main() {
  const int rows[] = {1, 3, N};
  const int lengths[] = {1, Q - 1, Q, Q + 1, N - 1, N, N + 1, N + 3, 3 * N, 3 * N + Q, 64 * N};
  for (int n : lengths)
    for (int here : rows)
      for (int kind = 0; kind < 8; ++kind) move(n, here, kind % 2, kind / 2 % 2, kind / 4);
}
"""
"""Rows that are moved between arrays and a tile of exactly their size. Whole lines that do not change
are not written: their memory can only be read."""


@pytest.fixture(params=["whole", "narrow"])
def width(request: pytest.FixtureRequest) -> str:
    """Vectors of a cache line, or of half of one."""
    return request.param


def lanes_of(width: str, dtype: np.dtype) -> int:
    """Number of lanes in a vector."""
    return headers.lane_count(dtype == np.float32) // (1 + (width == "narrow"))


@pytest.fixture
def alone(width: str, dtype: np.dtype, tmp_path: Path) -> Callable[..., Callable[..., np.ndarray]]:
    """Compile the header with some statements after it, and run them on an array. The compiler is
    the clang inside Warp, which is available wherever kernels are."""

    def compile_statements(statements: str) -> Callable[..., np.ndarray]:
        digest = hashlib.sha256()
        for header in ("lanes.h", "transposes.h"):
            # That clang has the library's functions, but no system headers.
            text = (HEADERS / header).read_text().replace("#include <math.h>", "")
            (tmp_path / header).write_text(text)
            digest.update(text.encode())
        source = Source(
            name="lanes_alone",
            code=f"// {digest.hexdigest()}\n"  # Warp knows a kernel by its text, not by what that includes
            f"#define WARPDYN_FLOAT {int(dtype == np.float32)}\n"
            f"#{'define' if width == 'narrow' else 'undef'} WARPDYN_NARROW\n"
            f'#include "{tmp_path / "lanes.h"}"\n'
            f"{statements}"
            "#undef WARPDYN_FLOAT\n#undef WARPDYN_NARROW\n",
            inputs={"x": ()},
            results={"out": ()},
            operations=0,
            bytes=0,
            target="cpu",
        )
        command = KernelCommand(compile_kernel(source), wp.get_device("cpu"), source.layout.length)

        def run(x: np.ndarray, size: int, *numbers: int) -> np.ndarray:
            x, out = np.ascontiguousarray(x, dtype), np.full(size + 16, np.nan, dtype)
            begin = (
                -out.ctypes.data % 64
            ) // out.itemsize  # stores past the cache want whole lines
            out = out[begin : begin + size]
            ahead = [*numbers, *[0] * (4 - len(numbers))]
            command.set([*ahead, x.ctypes.data, *[0] * 4, out.ctypes.data, *[0] * 4])
            command.run()
            return out

        return run

    return compile_statements


def test_functions_of_the_header_are_accurate(alone: Callable, dtype: np.dtype) -> None:
    """Sine and cosine have the design's error, near zero and far from it. The others equal those of
    the library."""
    draw = np.random.default_rng(0)
    near, far = draw.uniform(-4, 4, 160), draw.uniform(-1e6, 1e6, 160)
    x = np.concatenate([near, far, np.arange(1, 33) * np.pi / 2]).astype(dtype)
    out = alone(FUNCTIONS)(x, 6 * len(x), 0, len(x)).reshape(6, len(x)).astype(np.longdouble)
    y = x.astype(np.longdouble)
    assert np.abs(out[0] - np.sin(y)).max() <= SINE[str(dtype)]
    assert np.abs(out[1] - np.cos(y)).max() <= SINE[str(dtype)]
    scaled = (x * dtype.type(1e-5)).astype(np.longdouble)
    squared = (x * x).astype(np.longdouble)
    wanted = [np.exp(scaled), np.log(squared), np.arctan2(y, 2), y * y + 1]
    for found, expected in zip(out[2:], wanted, strict=True):
        assert np.all(
            np.abs(found - expected) <= LIBRARY * np.spacing(np.abs(expected), dtype=dtype)
        )


def test_transposes_of_the_header_transpose(alone: Callable, width: str, dtype: np.dtype) -> None:
    """N vectors as a square, and squares of Q that are adjacent in Q vectors or half lines."""
    n, q = lanes_of(width, dtype), 16 // dtype.itemsize
    x = np.arange(n * n, dtype=dtype).reshape(n, n)
    out = alone(TRANSPOSES)(x, n * n + q * n + 2 * q * q)
    square, rows, halves = np.split(out, [n * n, n * n + q * n])
    np.testing.assert_array_equal(square.reshape(n, n), x.T)
    for found, given in ((rows, x[:q]), (halves, x.reshape(-1, 2 * q)[:q])):
        for block in range(given.shape[1] // q):
            columns = slice(block * q, (block + 1) * q)
            np.testing.assert_array_equal(
                found.reshape(given.shape)[:, columns], given[:, columns].T
            )


def test_scattering_inverts_gathering(alone: Callable, width: str, dtype: np.dtype) -> None:
    """Rows have any length, blocks may be incomplete, and moves are transposed or entry by
    entry."""
    n, q, move = lanes_of(width, dtype), 16 // dtype.itemsize, alone(MOVES)
    lengths = (1, q - 1, q, n - 1, n, n + 1, n + 3, 3 * n, 3 * n + n // 2, 64 * n)
    for length in lengths:
        for here, dense in (
            (n, 1),
            (n, 3),
            (n, 0),
            (3, 1),
        ):  # 3: dense, and only changes are written
            x = np.random.default_rng(length).normal(size=(n, length)).astype(dtype)
            out = move(x, n * length, length, here, dense).reshape(n, length)
            np.testing.assert_array_equal(out[:here], x[:here])
            assert np.isnan(out[here:]).all()


@clang
def test_moves_access_only_their_own_memory(width: str, dtype: np.dtype, tmp_path: Path) -> None:
    """Neither arrays nor tiles nor vectors of a few rows are accessed after their ends."""
    single = int(dtype == np.float32)
    narrow = "#define WARPDYN_NARROW\n" if width == "narrow" else ""
    header = f'{narrow}#define WARPDYN_FLOAT {single}\n#include "{HEADERS / "lanes.h"}"\n'
    run_with_sanitizers(header + IN_THEIR_MEMORY, tmp_path)


def test_constants_that_are_kept_are_not_scattered(
    alone: Callable, width: str, dtype: np.dtype
) -> None:
    """Rows of any length, also with starts 4,096 bytes apart. There half a line may be skipped,
    otherwise a whole vector. Other zeros are written without reading the tile."""
    n, move = lanes_of(width, dtype), alone(MOVES)
    half, page = 32 // dtype.itemsize, 4096 // dtype.itemsize
    constants, zeros = 1, 3
    for length in (8 * half, 9 * half, page):
        x = np.random.default_rng(length).normal(size=(n, length)).astype(dtype)
        for kind, left in ((0, None), (constants, np.nan), (zeros, 0)):
            out = move(x, n * length, length, n, 1, kind).reshape(n, length)
            expected = x.copy()
            if left is not None:
                expected[:, 2 * half : 4 * half] = left
                if length == page or width == "narrow":
                    expected[:, 5 * half : 6 * half] = left
            np.testing.assert_array_equal(out, expected)


def test_a_vector_is_a_cache_line() -> None:
    """Sixteen floats or eight doubles fill 64 bytes."""
    assert (
        headers.lane_count(True) * 4 == headers.lane_count(False) * 8 == headers.VECTOR_BYTES == 64
    )


@pytest.mark.parametrize("single", [True, False])
def test_a_frame_contains_its_pieces_in_order(single: bool) -> None:
    """Members and parts are inside struct Lanes, the body follows it, and no macro of the header is
    left."""
    text = lanes.frame(
        single, ahead=4, members=["  MEMBER"], parts=["  PART0", "  PART1"], body="BODY"
    )
    inside, after = text.split("\n};\n")
    assert inside.endswith("\n\n  MEMBER\n\n  PART0\n  PART1")
    assert after == "BODY\n#undef WARPDYN_APART\n#undef WARPDYN_UNROLL\n"
    assert ("::expf(" in text) is single and ("::exp(" in text) is not single
    assert "AHEAD = 4 * N" in text and "$" not in text and "///" not in text
    left = {line.split()[0] for line in text.splitlines() if line.startswith("#")}
    assert left <= {"#define", "#undef", "#pragma", "#ifdef", "#else", "#endif"}
    assert text.count("#ifdef") == text.count("#ifdef WARPDYN_NARROW") == text.count("#else")
    assert "define WARPDYN_NARROW" not in text


def test_a_frame_of_narrow_vectors_defines_and_undefines_its_macro() -> None:
    """It applies only if the processor has no registers of a cache line. Later code in the same
    file is not affected."""
    text = lanes.frame(True, ahead=4, members=[], parts=[], body="BODY", narrow=True)
    assert text.startswith("\n#ifndef __AVX512F__\n#define WARPDYN_NARROW\n#endif\n")
    assert text.endswith("\n#undef WARPDYN_NARROW\n")


def test_a_constant_has_one_place_in_the_table() -> None:
    """The same number has the same entry, in the order of first use. The table ends with a zero."""
    constants = lanes.Constants(False)
    written = [constants(x) for x in (2.5, 0.1, 2.5)]
    assert written == [f"Lanes::all(constants[{k}])" for k in (0, 1, 0)]
    assert "table[] = {2.5, 0.10000000000000001, 0.0};" in constants.declaration


@wd.kernel
def angle_and_rows(robot, y: (), x: (), rows: (5,)):
    return np.arctan2(y, x), rows * x, np.array([-0.0, x])[0]


@pytest.mark.parametrize("mode", ["wait", "never"])
def test_zeros_keep_their_sign_in_every_lane(
    mode: str, dtype: np.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zero is alone, last in an incomplete block, or common to all environments, compiled and
    interpreted. `arctan2(-0, -1)` is -pi."""
    monkeypatch.setattr(wd.config, "compile", mode)
    robot = wd.load_robot("cartpole")
    for size in (1, 3, 16, 20):
        minus = np.full(size, -1, dtype)
        for y in (np.full(size, -0.0, dtype), np.array(-0.0, dtype)):
            for rows in (np.zeros((size, 5), dtype), np.zeros((size, 10), dtype)[:, ::2]):
                angle, negative, constant = angle_and_rows(robot, y, minus, rows)
                assert (angle < -3).all()
                assert np.signbit(negative).all()
                assert not np.signbit(constant).any()


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert headers.VECTOR_BYTES == 64
