"""Exported headers compiled into libraries, and called on NumPy arrays."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

COMPILERS = {"c++": ("g++", "clang++"), "c": ("gcc", "clang")}
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")


def compiler(language: str, which: int) -> str:
    """The name of gcc's or clang's compiler. The test is skipped if it is not installed."""
    name = COMPILERS[language][which]
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name} here")
    return name


class CompiledHeader:
    """A header's functions. Each `name` comes with the C names of its arrays, results last."""

    def __init__(
        self,
        folder: Path,
        text: str,
        functions: Mapping[str, Sequence[str]],
        *,
        namespace: str,
        language: str = "c++",
        which: int = 0,
        options: Sequence[str] = ("-O2",),
        single: bool = False,
        before: Sequence[str] = (),
    ) -> None:
        header = folder / f"{namespace}.{'hpp' if language == 'c++' else 'h'}"
        header.write_text(text)
        real = "float" if single else "double"
        apart, outside = ("::", 'extern "C" ') if language == "c++" else ("_", "")
        lines = [f'#include "{header.name}"']
        for name, arrays in functions.items():
            pointers = ", ".join(
                f"{'' if k == len(arrays) - 1 else 'const '}{real} *{x}"
                for k, x in enumerate(arrays)
            )
            for suffix, first, count in (("", "", ""), ("_batch", "size_t n, ", "n, ")):
                declared = f"{outside}void x_{name}{suffix}({first}{pointers});"
                lines += [
                    declared,
                    f"{declared[:-1]} {{ {namespace}{apart}{name}{suffix}({count}{', '.join(arrays)}); }}",
                ]
        source = folder / f"{namespace}.{'cpp' if language == 'c++' else 'c'}"
        source.write_text("\n".join(lines) + "\n")
        library = folder / f"{namespace}.so"
        standard = "-std=c++17" if language == "c++" else "-std=c99"
        command = [*before, compiler(language, which), standard, *WARNINGS, *options]
        command += ["-shared", "-fPIC", str(source), "-o", str(library)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr[:3000]
        self.library = ctypes.CDLL(str(library))

    def one_by_one(
        self, name: str, inputs: Sequence[np.ndarray], shape: tuple[int, ...]
    ) -> np.ndarray:
        """The results of the one-robot function, row by row."""
        out = np.full((len(inputs[0]), *shape), np.nan, inputs[0].dtype)
        for k in range(len(out)):
            rows = [np.ascontiguousarray(x[k]) for x in inputs]
            self.library[f"x_{name}"](*[ctypes.c_void_p(x.ctypes.data) for x in (*rows, out[k])])
        return out

    def batch(self, name: str, inputs: Sequence[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
        """The results of the batch function."""
        out = np.full((len(inputs[0]), *shape), np.nan, inputs[0].dtype)
        arrays = [ctypes.c_void_p(x.ctypes.data) for x in (*inputs, out)]
        self.library[f"x_{name}_batch"](ctypes.c_size_t(len(out)), *arrays)
        return out
