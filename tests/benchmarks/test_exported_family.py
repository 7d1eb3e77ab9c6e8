"""Every function that needs no library, exported without one: the oracle's results, and no compiler
warning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from exported_code import WARNINGS, compiler

import warpdyn as wd
from benchmarks import exported_family as family
from warpdyn.cli.workload import random_states
from warpdyn.codegen import portable
from warpdyn.codegen.exported_header import library_functions_of
from warpdyn.codegen.portable_style import Style
from warpdyn.execution.batched import FUNCTIONS
from warpdyn.functions.export.exporting import header_of

PART = 60
"""Statements of a function here, so that short programs are cut as those of large robots are."""

BOUND = {"float64": 1e-12, "float32": 2e-5}
"""Errors by the largest number of a result (a tenth of them is what large robots have)."""

TABLES = "-Wno-unused-const-variable"
"""A robot's constants stand in the file itself here, not in a header, and nothing reads them."""

BUILDS = [("float64", "g++", "-O0"), ("float32", "clang++", "-O0")]


def robot() -> wd.Model:
    """A free base with an arm that has a hinge and a slide."""
    made, inertia = wd.ModelBuilder("small"), np.diag([0.02, 0.03, 0.04])
    for name, mass in (("base", 2.0), ("arm", 1.0), ("hand", 0.5)):
        made.add_link(name, mass=mass, com=(0.05, 0.02, -0.1), inertia=inertia)
    made.add_joint(
        "hinge", "revolute", "base", "arm", (0.1, 0, 0.2), axis=(0, 1, 0), lower=-2, upper=2
    )
    made.add_joint(
        "slide", "prismatic", "arm", "hand", (0, 0.1, 0), axis=(0, 0, 1), lower=-1, upper=1
    )
    return made.build(floating_base=True)


@pytest.mark.parametrize(("dtype", "which", "level"), BUILDS)
def test_functions_exported_without_a_library_agree_with_the_oracle(
    dtype: str, which: str, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are in one header, for one robot and for rows. Functions that need more than states are
    left out."""
    compiler("c++", family.COMPILERS.index(which))
    monkeypatch.setitem(family.FRAMES, "small", "")
    monkeypatch.setattr(portable, "PART", PART)
    monkeypatch.setattr(family, "OPTIONS", (*family.OPTIONS, *WARNINGS, TABLES))
    monkeypatch.setattr(family, "PERTURBED", 0)
    monkeypatch.setattr(
        family,
        "header_of",
        lambda m, f, s: header_of(m, f, Style(s.language, s.single, s.prefix, libm=False)),
    )
    model, left = robot(), dict[str, str]()
    states = {k: x.astype(dtype) for k, x in random_states(model, family.ROWS).items()}
    every = list(family.cases(model, states, dtype, list(FUNCTIONS), left))
    cases = [x for x in every if not library_functions_of([x.function])]
    source = tmp_path / "small.cpp"
    source.write_text(family.source_of(model, cases, dtype == "float32"))
    _, errors = family.errors_of(source, cases, which, level)
    assert len(errors) >= 40
    beyond = {name: x for name, x in errors.items() if not x <= BOUND[dtype]}
    assert not beyond
