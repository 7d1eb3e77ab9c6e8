"""Python calls of a repeated call, counted with `sys.setprofile`.

The counts are bounds on work, not on time: they do not depend on the machine.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from native_calls import forget

import warpdyn as wd

PANDA, CARTPOLE = (
    wd.load_robot(name).with_armature(0.375) for name in ("panda", "cartpole")
)  # equal to no other test's model: a kernel of an equal one is found by comparing the two


def python_calls(call: Callable[[], Any]) -> int:
    """Number of Python functions entered, without the lambda of the test."""
    number = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal number
        number += event == "call"

    gc.collect()  # else what other tests have left is freed in between, by Python functions
    gc.disable()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
        gc.enable()
    return number - 1


def test_calls_of_rnea() -> None:
    """The second call, the second call with another batch size, and the steady state."""
    arrays = {batch: [np.zeros((batch, PANDA.nv), np.float32) for _ in "qva"] for batch in (8, 64)}
    forget(wd.rnea)
    wd.rnea(PANDA, *arrays[8])
    assert python_calls(lambda: wd.rnea(PANDA, *arrays[8])) <= 150
    wd.rnea(PANDA, *arrays[64])
    assert python_calls(lambda: wd.rnea(PANDA, *arrays[64])) <= 100
    for _ in range(20):
        wd.rnea(PANDA, *arrays[64])
    assert python_calls(lambda: wd.rnea(PANDA, *arrays[64])) <= 2


def test_calls_of_a_step() -> None:
    q, v, tau = (np.zeros((8, CARTPOLE.nv), np.float32) for _ in range(3))
    forget(wd.step)
    wd.step(CARTPOLE, q, v, tau)
    assert python_calls(lambda: wd.step(CARTPOLE, q, v, tau)) <= 250
    for _ in range(20):
        wd.step(CARTPOLE, q, v, tau)
    assert python_calls(lambda: wd.step(CARTPOLE, q, v, tau)) <= 3  # one makes the record
