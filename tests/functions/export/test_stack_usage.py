"""Stack usage of exported functions, as reported by gcc."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from cuda_on_host import needs_compiler

import warpdyn as wd
from warpdyn.functions.export.stack_usage import _deepest, _frame, stacks


@needs_compiler
@pytest.mark.parametrize("language", ["c++", "c"])
def test_stack_frames_are_summed(language) -> None:
    """A function that is split needs its workspace and its deepest part. A batch needs more."""
    text = wd.export(wd.load_robot("panda"), [wd.crba, wd.aba], language=language)
    found, by = stacks(text, ["crba", "aba"], "panda", language)
    assert "-O2" in by
    for one, many in found.values():
        assert 0 < one < many < 20_000
    assert found["aba"][0] > found["crba"][0]


OF_ABA = {
    ("panda::aba(const number*, number*)", False, "aba"): 272,
    ("panda::aba_batch(std::size_t, const number*, number*)", True, "aba_batch"): 1040,
    ("panda::detail::aba_part0(const V*, V*) [with V = double]", False, "aba_part0"): 616,
    ("panda::detail::aba_part1(const V*, V*) [with V = double]", False, "aba_part1"): 232,
    ("panda::detail::aba_part1(V*) [with V = __vector(2) double]", True, "aba_part1"): 600,
    ("panda::detail::aba_routine0(V*) [with V = double]", False, "aba_routine0"): 40,
    ("panda_aba_lanes_part0.constprop", True, "panda_aba_lanes_part0"): 1368,
    ("panda_aba_loop1.isra.0", False, "panda_aba_loop1"): 8,
}
OF_OTHERS = {
    ("panda::aba_derivatives(const number*, number*)", False, "aba_derivatives"): 5000,
    (
        "panda::detail::aba_derivatives_part0(V*) [with V = double]",
        False,
        "aba_derivatives_part0",
    ): 7000,
    ("panda::crba_batch(std::size_t, const number*)", True, "crba_batch"): 9000,
}
"""Lines of gcc, which of them are of lanes, the name in them, and their bytes."""


def test_the_stack_of_a_call_is_its_frame_and_the_largest_of_its_parts() -> None:
    """One robot and lanes are counted separately. Functions with a longer name do not count."""
    frames = []
    for (function, lanes, name), count in {**OF_OTHERS, **OF_ABA}.items():
        frames.append(_frame(f"robot.hpp:131:20:{function}\t{count}\tstatic"))
        assert frames[-1] == (name, lanes, count)
    operator = "robot.hpp:7:8:V operator*(V)"
    assert _frame(f"{operator}\t16\tstatic") == (operator, False, 16)
    for some in (frames, frames[::-1]):
        assert _deepest(some, "aba", lanes=False) == 272 + 40 + 8 + 616
        assert _deepest(some, "aba", lanes=True) == 1040 + 1368
        assert _deepest(some, "crba", lanes=True) == 9000
        assert _deepest(some, "crba", lanes=False) == 0


@needs_compiler
def test_an_exported_file_states_the_stack_usage(tmp_path: Path) -> None:
    """The comment of the function states the number of bytes."""
    text = wd.export(wd.load_robot("cartpole"), [wd.rnea], tmp_path / "cartpole.hpp")
    assert re.search(r"/// Stack: \d+ bytes, a batch \d+ \(g\+\+ [\d.]+ -O2, ", text)


def test_without_gcc_no_stack_usage_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing gcc is not an error. The rest of the file is the same."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert stacks("", ["rnea"], "panda", "c++") == ({}, "")


@needs_compiler
@pytest.mark.parametrize("language", ["c++", "c"])
def test_source_that_does_not_compile_has_no_stack_usage(
    language: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The compiler's message is not printed."""
    assert stacks("no program", ["rnea"], "panda", language) == ({}, "")
    assert capfd.readouterr() == ("", "")


def test_another_compiler_named_gcc_has_no_stack_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reports stacks, but does not answer the query of its version."""
    compiler = tmp_path / "gcc"
    usage = r"robot.h:1:1:panda_rnea\t16\tstatic\n"
    compiler.write_text(
        f"#!/bin/sh\ncase $* in *-dumpfull*) exit 1;; *-c*) printf '{usage}' > unit.su;; *) echo arm;; esac\n"
    )
    compiler.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(compiler))
    assert stacks("", ["rnea"], "panda", "c") == ({}, "")
    compiler.write_text(compiler.read_text().replace("exit 1", "echo 13.2"))
    assert stacks("", ["rnea"], "panda", "c") == ({"rnea": (16, 0)}, "gcc 13.2 -O2, arm")
