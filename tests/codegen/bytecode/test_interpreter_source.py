"""The interpreter's C++ source: it compiles on its own, and neither encoded nor altered programs
access memory outside their arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from sanitizers import clang, run_with_sanitizers

import warpdyn as wd
from warpdyn.codegen.bytecode.bytecode import Bytecode
from warpdyn.codegen.bytecode.encode import encode
from warpdyn.codegen.bytecode.instructions import OPERATIONS, WORDS
from warpdyn.codegen.bytecode.interpreter_source import ENTRY, interpreter_source
from warpdyn.codegen.source import Source
from warpdyn.codegen.targets import describe
from warpdyn.execution.compile.bytecode_checks import check
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call

HARNESS = """
#include <stdio.h>
// A file of cases, each a list of lengths and then the numbers; arrays of just these lengths.
static I64 word(FILE* f) { I64 x; if (fread(&x, 8, 1, f) != 1) __builtin_trap(); return x; }
template <class X> static X* array(FILE* f, I64 n) {
  X* const x = (X*)malloc(n * sizeof(X) + (n == 0));
  if (fread(x, sizeof(X), n, f) != (size_t)n) __builtin_trap();
  return x;
}
int main(int, char** names) {
  FILE* const f = fopen(names[1], "rb");
  for (I64 cases = word(f); cases > 0; --cases) {
    Bytecode p = {};
    const I64 code = word(f), constants = word(f), arrays = word(f), count = word(f);
    p.slots = word(f); p.counters = word(f); p.inputs = word(f); p.results = arrays - p.inputs;
    p.preloaded = word(f);
    p.code = array<Instruction>(f, code);
    p.constants = array<T>(f, constants);
    p.preload = array<int>(f, 2 * p.preloaded);
    Array* const each = (Array*)malloc(arrays * sizeof(Array));
    I64* const args = (I64*)malloc((4 + 5 * arrays) * 8);
    args[0] = 0; args[1] = count; args[2] = args[3] = 0;
    for (I64 n = 0; n < arrays; ++n) {
      const I64 size = word(f);
      const int* const slots = array<int>(f, size);
      const char* const still = array<char>(f, size / (8 / sizeof(T) * 4) + 5);
      each[n] = Array{4 + 5 * n, size, {size, 1, 1}, slots, still, -1};
      T* const memory = (T*)malloc(size * count * sizeof(T) + (size == 0));
      for (I64 k = 0; k < size * count; ++k) memory[k] = (T)(0.1 * (double)(k % 17) - 0.7);
      const I64 fields[] = {(I64)memory, size, 1, 0, 0};
      for (int k = 0; k < 5; ++k) args[4 + 5 * n + k] = fields[k];
      p.entries += size;
    }
    p.arrays = each;
    const I64 bounds[] = {(I64)&p};
    ENTRY(bounds, args);
  }
  return 0;
}
"""


def case(bytecode: Bytecode, count: int, dtype: type) -> bytes:
    """A program and the number of environments, in the format of the harness."""
    arrays = (*bytecode.inputs, *bytecode.results)
    words = [
        len(bytecode.code) // WORDS,
        len(bytecode.constants),
        len(arrays),
        count,
        bytecode.slots,
        bytecode.counters,
        len(bytecode.inputs),
        len(bytecode.preload) // 2,
    ]
    content = np.array(words, np.int64).tobytes() + bytecode.code.tobytes()
    content += np.array(bytecode.constants, dtype).tobytes()
    content += np.array(bytecode.preload, np.int32).tobytes()
    for array in arrays:
        content += np.array([len(array.slots)], np.int64).tobytes()
        content += np.array(array.slots, np.int32).tobytes()
        content += bytes(len(array.slots) // (8 // np.dtype(dtype).itemsize * 4) + 5)
    return content


def programs(single: bool) -> list[tuple[Bytecode, Source]]:
    """Programs of some functions: straight, with routines, and with loops."""
    model = wd.load_robot("cartpole")
    q = np.zeros((1, model.nv))
    calls = [
        wd.aba.describe(model, q, q, q),  # type: ignore[attr-defined]
        wd.rnea_derivatives.describe(model, q, q, q),  # type: ignore[attr-defined]
        wd.inverse_kinematics.describe(model, np.eye(4)[None], frame="pole"),  # type: ignore[attr-defined]
    ]
    made = []
    for call in calls:
        program = record_call(call, input_shapes(call), single)
        made.append((encode(program), describe(program, "fuzzed", single, "cpu")))
    return made


def alter(bytecode: Bytecode, draw: np.random.Generator) -> Bytecode:
    """The program with some integers of its code changed."""
    code = np.array(bytecode.code, np.int64)
    for _ in range(draw.integers(1, 4)):
        place = draw.integers(0, len(code) - WORDS)
        limit = len(OPERATIONS) if place % WORDS == 0 else bytecode.slots + 2
        code[place] = draw.integers(0, limit)
    fields = vars(bytecode) | {"code": type(bytecode.code)("i", code.tolist())}
    return Bytecode(**fields)


@clang
@pytest.mark.parametrize("single", [True, False])
def test_programs_access_only_their_own_memory(single: bool, tmp_path: Path) -> None:
    """The sanitizers for addresses and undefined behaviour check encoded programs, and altered
    programs that the checks accept."""
    dtype = np.float32 if single else np.float64
    draw = np.random.default_rng(4)
    cases: list[bytes] = []
    accepted = refused = 0
    for bytecode, source in programs(single):
        cases += [case(bytecode, count, dtype) for count in (1, 5, 33, 100)]
        for _ in range(300):
            wrong = alter(bytecode, draw)
            try:
                check(wrong, source)
            except ValueError:
                refused += 1
            else:
                accepted += not jumps(wrong, bytecode)
                cases += [case(wrong, 3, dtype)] if not jumps(wrong, bytecode) else []
    assert accepted > 100 and refused > 100
    run_sanitized(cases, single, tmp_path)


def jumps(wrong: Bytecode, right: Bytecode) -> bool:
    """True if an alteration concerns jumps or loops, which might then never end."""
    control = {k for k, name in enumerate(OPERATIONS) if name in CONTROL}
    a, b = (np.array(x.code).reshape(-1, WORDS) for x in (wrong, right))
    changed = (a != b).any(axis=1)
    return bool(
        np.isin(a[changed, 0], [*control]).any() or np.isin(b[changed, 0], [*control]).any()
    )


CONTROL = ("call", "back", "begin", "again", "skip_last", "skip_idle", "end_some")


def run_sanitized(cases: Sequence[bytes], single: bool, folder: Path) -> None:
    data = folder / "cases"
    data.write_bytes(np.array([len(cases)], np.int64).tobytes() + b"".join(cases))
    harness = HARNESS.replace("ENTRY", ENTRY)
    run_with_sanitizers(interpreter_source(single) + harness, folder, str(data))
