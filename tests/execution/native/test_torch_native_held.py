"""Which references a call by tensors in one C function holds and releases, during the call and
after it."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any
from weakref import ref

import pytest
from native_calls import forget, in_c, natively, node_in_c, nothing_known_of, set_in_c
from torch_calls import (
    ARM,
    FUNCTIONS,
    a_model_stays_as_long_as_its_graphs,
    asking,
    draw_tensors,
    gradients,
    plan_of,
    same,
)

import warpdyn as wd
from warpdyn.execution.native import native_call
from warpdyn.execution.repeat.planned_call import MISS

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    with nothing_known_of(*FUNCTIONS):
        yield


def test_changed_and_freed_tensors_raise_torchs_errors() -> None:
    for _ in range(3):
        x = asking(3, 14)
        moved = x[0] * 1.0
        tau = wd.rnea(ARM, moved, *x[1:])
        gradients(tau, x, retain_graph=True)
    moved.add_(1.0)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            tau.sum().backward(retain_graph=True)
    tau = natively(wd.rnea, ARM, x[0] * 1.0, *x[1:])
    tau.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        tau.sum().backward()


def test_reference_counts_do_not_change() -> None:
    """Those of arguments, results, the plan and None are compared after many passes."""
    x, plain = asking(3, 12), draw_tensors(3, 13)
    some = [x[0].detach(), *x[1:]]
    w = torch.ones(3, 2, dtype=torch.float64)
    for _ in range(4):
        for each in (x, some):
            torch.autograd.grad(wd.rnea(ARM, *each), each[1:], w)
        wd.rnea(ARM, *plain)
    plans = in_c(wd.rnea)
    held = (
        *x,
        *plain,
        w,
        ARM,
        *plans,
        MISS,
        wd.rnea,
        *(p.words for p in plans),
    )
    gc.collect()
    before = [sys.getrefcount(y) for y in held]
    for _ in range(200):
        for each in (x, some):
            bars = torch.autograd.grad(wd.rnea(ARM, *each), each[1:], w)
        result = wd.rnea(ARM, *plain)
        assert natively(wd.rnea, ARM, plain[0]) is MISS
    assert sys.getrefcount(result) == 2 and [sys.getrefcount(y) for y in bars] == [3, 3]
    del result, bars, each
    gc.collect()
    for y, count in zip(held, before, strict=True):
        assert abs(sys.getrefcount(y) - count) <= 1


OF_NONE = """
import gc, sys
import torch, warpdyn as wd
arm, w = wd.load_robot("cartpole"), torch.ones(3, 2)
x = [torch.rand(3, 2, requires_grad=True) for _ in range(3)]
some, plain = [x[0].detach(), *x[1:]], [y.detach() for y in x]
def passes(number):
    for _ in range(number):
        for each in (x, some):
            torch.autograd.grad(wd.rnea(arm, *each), each[1:], w)
        wd.rnea(arm, *plain)
        wd.rnea._calls.entry((arm, plain[0]), {})
    gc.collect()
    return [sys.getrefcount(x) for x in (None, torch.Tensor)]
before = passes(20)
print(len(wd.rnea._calls._calls_in_c.plans), *(abs(x - y) <= 10 for x, y in zip(passes(200), before)))
"""


def test_reference_counts_of_shared_objects_do_not_change() -> None:
    """None and the class of tensors, in a process that has no other users of them. One wrong count
    in each of 200 passes would be seen."""
    done = subprocess.run([sys.executable, "-c", OF_NONE], capture_output=True, text=True)
    assert done.stdout == "3 True True\n", done.stderr


def test_a_failed_allocation_is_an_error() -> None:
    """This holds forward and backward. The results that were made before are freed."""
    x = asking(3, 6)
    made: list[Any] = []

    def failing() -> Any:
        raise MemoryError("no more")

    def first() -> Any:
        made.append(ref(y := torch.empty(3, 2, dtype=torch.float64)))
        return y

    for _ in range(2):
        wd.rnea(ARM, *x)
    plan = plan_of(wd.rnea)
    fresh, plan.forward.result_makers[:] = plan.forward.result_makers[:], [failing]
    set_in_c(wd.rnea, native_call._plan((), plan, (ARM, *x), {}))
    with pytest.raises(MemoryError, match="no more"):
        natively(wd.rnea, ARM, *x)
    plan.forward.result_makers[:] = fresh
    again = native_call._plan((), plan, (ARM, *x), {})
    assert again is not None
    set_in_c(wd.rnea, again)
    w = torch.ones(3, 2, dtype=torch.float64)
    with torch.no_grad():
        plan.adjoint(ARM, x, (w,))
        (known,) = plan._adjoints.values()
        known.result_makers[:2] = [first, failing]
        node_in_c(plan).words[3] = 0
        node_in_c(plan).know(known, x, (w,), plan._order)
    with pytest.raises(MemoryError, match="no more"):
        torch.autograd.grad(natively(wd.rnea, ARM, *x), x, w)
    assert len(made) == 1 and made[0]() is None


def test_a_plan_survives_its_removal_during_a_run() -> None:
    """Python code makes the result, and may remove the plan."""
    q, v, a = asking(3, 13)
    for _ in range(3):
        wanted = gradients(wd.rnea(ARM, q, v, a), [q, v, a])
    plan = plan_of(wd.rnea)
    fresh = plan.forward.result_makers[0]

    def making() -> Any:
        forget(wd.rnea)
        gc.collect()
        return fresh()

    plan.forward.result_makers[:] = [making]
    again = native_call._plan((), plan, (ARM, q, v, a), {})
    assert again is not None
    set_in_c(wd.rnea, again)
    del plan, again
    result = natively(wd.rnea, ARM, q, v, a)
    gc.collect()
    assert same(tuple(gradients(result, [q, v, a])), tuple(wanted))


def test_plans_are_removed_with_the_model_and_its_graphs() -> None:
    a_model_stays_as_long_as_its_graphs(partial(natively, wd.aba))
    assert not in_c(wd.aba)
