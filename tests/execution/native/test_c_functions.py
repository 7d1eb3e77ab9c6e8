"""C functions of a header, for the memory layout of objects that they expect."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from native_calls import nothing_known_of, plans_of

import warpdyn as wd
from warpdyn.execution.native import c_functions
from warpdyn.execution.native import c_functions as chosen
from warpdyn.execution.native.c_functions import (
    address,
    interpreter,
    launch_words,
    methods,
    new_function,
    words_of,
)
from warpdyn.execution.repeat.planned_call import MISS

ARM = wd.load_robot("ur5e")


def test_objects_have_the_memory_layout_of_the_header(monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds in this interpreter. An interpreter of another name is refused."""
    assert c_functions._as_expected()
    monkeypatch.setattr(sys.implementation, "name", "pypy")
    assert not c_functions._as_expected()


def test_words_keep_the_objects_at_their_addresses_alive() -> None:
    inner = words_of([1, 2, 3])
    outer = words_of([address(inner)], inner, "name")
    assert outer.held[0] is inner and outer.held[1] == "name"
    assert outer.dtype == np.int64 and outer[0] == inner.__array_interface__["data"][0]


def test_a_function_keeps_its_words_alive() -> None:
    """It is compiled once. Without a plan it returns MISS."""
    found = methods()
    assert found is not None and found is methods()
    assert found.call.function and found.forward.function and found.backward.function
    words = words_of([*interpreter(None), 0])
    before = sys.getrefcount(words)
    function = new_function(found.call, words)
    assert sys.getrefcount(words) == before + 1
    assert function((1, 2), {"a": 3}) is MISS
    del function
    assert sys.getrefcount(words) == before


def plan_of(function: Any, **options: Any) -> Any:
    """The plan of a repeated call."""
    with nothing_known_of(function):
        for _ in range(3):
            function(ARM, np.zeros((5, 6)), **options)
        (plan,) = plans_of(function).values()
    return plan


def test_words_of_a_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command, then numbers, then a maker and a place for each result, the bounds and the
    integers of the launch."""
    plan = plan_of(wd.pose_and_jacobian, frame="tool0")
    job = plan.job
    words = launch_words(plan)
    assert words is not None
    command, *makers = words.held
    bounds, number = [*command.bounds], len(job.arguments)
    head = [command.address, 7, len(bounds), number, False, False, 2]
    places = [x for pair in zip(map(id, makers), job.places[1:], strict=True) for x in pair]
    assert words.tolist() == [*head, *places, *bounds, *job.arguments]
    assert makers == plan.result_makers and len(makers) == 2
    for bound, is_long in ((job.seconds, 0), (np.nextafter(job.seconds, 0.0), 1)):
        monkeypatch.setattr(c_functions, "LONG", bound)
        assert launch_words(plan)[4] == is_long  # type: ignore[index]
    plan.library = "another"
    assert launch_words(plan)[5] == 1  # type: ignore[index]


def test_a_call_that_needs_more_than_a_launch_has_no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has more results than the C function takes, runs on threads, merges dimensions, or its
    kernel has no C function."""
    plan = plan_of(wd.pose_and_jacobian, frame="tool0")
    monkeypatch.setattr(c_functions, "OPERANDS", 2)
    assert launch_words(plan) is not None
    monkeypatch.setattr(c_functions, "OPERANDS", 1)
    assert launch_words(plan) is None
    monkeypatch.setattr(c_functions, "OPERANDS", 2)
    for name, value in (("small", False), ("merges_dimensions", True)):
        with monkeypatch.context() as patch:
            patch.setattr(plan, name, value)
            assert launch_words(plan) is None
    assert launch_words(plan) is not None
    bare: Any = SimpleNamespace(address=None)
    plan.job.kernel = SimpleNamespace(new_command=lambda: bare)
    assert launch_words(plan) is None


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.OPERANDS == 16
    assert chosen.LONG == 1e-05
    assert chosen._FASTCALL == 128
