"""Programs written as C++ in another process."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.codegen.targets import write
from warpdyn.execution.compile.cache import source_of_json
from warpdyn.execution.compile.writer_process import write_in_child
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording.program import Program


def program(name: str) -> Program:
    model = wd.load_robot("quadruped")
    q, v = wd.random_configuration(model, 1, seed=0), np.zeros((1, model.nv))
    call = getattr(wd, name).describe(model, q, v, v)
    return record_call(call, input_shapes(call), True)


@pytest.mark.parametrize("name", ["rnea", "rnea_derivatives"])
def test_the_source_equals_that_of_this_process(name: str) -> None:
    """Every character is the same, for programs with and without routines."""
    recorded = program(name)
    content = write_in_child(recorded, name, True, "cpu", 1)
    assert content is not None
    assert source_of_json(content) == write(recorded, name, True, "cpu")


def test_no_source_is_returned_if_no_process_can_be_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An application that embeds Python writes sources in its own process, and so does one with
    WARPDYN_COMPILE_IN_CHILD=0."""
    recorded = program("rnea")
    monkeypatch.setenv("WARPDYN_COMPILE_IN_CHILD", "0")
    assert write_in_child(recorded, "rnea", True, "cpu", 1) is None
    monkeypatch.delenv("WARPDYN_COMPILE_IN_CHILD")
    monkeypatch.setattr(sys, "executable", "/usr/bin/true")
    assert write_in_child(recorded, "rnea", True, "cpu", 1) is None
