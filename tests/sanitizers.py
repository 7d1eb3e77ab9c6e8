"""C++ of warpdyn, compiled and run with Clang's address and undefined behaviour sanitizers."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest


def has_sanitizers() -> bool:
    """True if clang++ finds its address sanitizer."""
    if shutil.which("clang++") is None:
        return False
    name = f"libclang_rt.asan-{platform.machine()}.a"
    command = ["clang++", f"--print-file-name={name}"]
    return Path(
        subprocess.run(command, capture_output=True, text=True).stdout.strip()
    ).is_absolute()


clang = pytest.mark.skipif(not has_sanitizers(), reason="needs clang++ and its sanitizers")

OLD_CLANG = """
#if !__has_builtin(__builtin_elementwise_fma)
static float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
template <class X> X __builtin_elementwise_fma(X a, X b, X c) {
  for (unsigned l = 0; l < sizeof(X) / sizeof(a[0]); ++l) a[l] = fused(a[l], b[l], c[l]);
  return a;
}
#endif
#if !__has_builtin(__builtin_elementwise_sqrt)
template <class X> X __builtin_elementwise_sqrt(X a) {
  for (unsigned l = 0; l < sizeof(X) / sizeof(a[0]); ++l) a[l] = __builtin_sqrt(a[l]);
  return a;
}
#endif
"""
"""Builtins that Warp's Clang has, for an older one."""


def run_with_sanitizers(code: str, folder: Path, *arguments: str) -> None:
    """Compile a program without optimization and run it. An error of the sanitizers fails the
    test."""
    source, program = folder / "sanitized.cpp", folder / "sanitized"
    source.write_text(OLD_CLANG + code)
    flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-sanitize=alignment"]
    # Clang 14 with the sanitizers misaligns vectors of AVX-512 on the stack.
    target = ["-march=native"] + ["-mno-avx512f"] * (platform.machine() == "x86_64")
    command = ["clang++", "-std=c++17", "-O0", *target, "-w", *flags, str(source)]
    built = subprocess.run([*command, "-o", str(program)], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[:2000]
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}
    ran = subprocess.run(
        [str(program), *arguments], capture_output=True, text=True, env=environment
    )
    assert ran.returncode == 0, ran.stderr[:4000]
