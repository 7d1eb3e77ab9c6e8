"""Python calls of a repeated call, counted with `sys.setprofile` in a process of its own. They are
bounds on work, not on time, so they do not depend on the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

COUNTS = """
import gc, json, sys
import numpy as np
import warpdyn as wd

gc.disable()  # what it frees would be counted, too

def python_calls(call):
    number = 0
    def count(frame, event, argument):
        nonlocal number
        number += event == "call"
    sys.setprofile(count)
    call()
    sys.setprofile(None)
    return number - 1  # without the lambda

def counts(function, model, *batches):
    found = {}
    for batch in batches:
        arrays = [np.zeros((batch, model.nv), np.float32) for _ in range(3)]
        function(model, *arrays)
        found[f"second of {batch}"] = python_calls(lambda: function(model, *arrays))
    for _ in range(20):
        function(model, *arrays)
    found["steady"] = python_calls(lambda: function(model, *arrays))
    return found

print(json.dumps([
    counts(wd.rnea, wd.load_robot("panda"), 8, 64),
    counts(wd.step, wd.load_robot("cartpole"), 8),
]))
"""


@pytest.fixture(scope="module")
def counts() -> list[dict[str, int]]:
    environment = {**os.environ, "WARPDYN_COMPILE": "wait"}
    command = [sys.executable, "-c", COUNTS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found: list[dict[str, int]] = json.loads(done.stdout)
    return found


def test_rnea_makes_few_python_calls(counts: list[dict[str, int]]) -> None:
    """The second call, the second call with another batch size, and the steady state."""
    rnea, _ = counts
    assert rnea["second of 8"] <= 150 and rnea["second of 64"] <= 100 and rnea["steady"] <= 2


def test_a_step_makes_few_python_calls(counts: list[dict[str, int]]) -> None:
    """The second step, and the steady state of three calls, one of which makes the record."""
    _, step = counts
    assert step["second of 8"] <= 250 and step["steady"] <= 3
