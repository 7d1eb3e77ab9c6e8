"""The cache of a function's calls: called once, planned, in C."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arm_calls import ARM, draw_states
from native_calls import in_c, natively, nothing_known_of, plans_of

import warpdyn as wd
from warpdyn.execution.repeat import call_cache
from warpdyn.execution.repeat import call_cache as chosen
from warpdyn.execution.repeat.call_cache import CallCache, unknown
from warpdyn.execution.repeat.planned_call import MISS


def test_a_call_is_checked_twice_then_planned_then_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """The results have the same bits."""
    with nothing_known_of(wd.rnea):
        monkeypatch.setattr(call_cache, "RUNS_IN_PYTHON", 3)
        x = draw_states(4, 1)
        wanted = wd.rnea(ARM, *x)
        states = []
        for _ in range(6):
            states.append((len(plans_of(wd.rnea)), len(in_c(wd.rnea))))
            assert np.array_equal(wd.rnea(ARM, *x), wanted)
        assert states == [(0, 0), (1, 0), (1, 0), (1, 0), (1, 1), (1, 1)]
        assert np.array_equal(natively(wd.rnea, ARM, *x), wanted)


class InC:
    """Calls in C that note what is asked of them."""

    def __init__(self, cache: CallCache):
        self.cache, self.keys = cache, []

    def add(self, key: Any, plan: Any, args: Any, kwargs: Any) -> None:
        self.keys.append(key)

    def forget(self, key: Any) -> None:
        self.keys.remove(key)

    def clear(self) -> None:
        self.keys.clear()


class Plan:
    counts_calls = False

    def run(self, arrays: Any) -> Any:
        return "result"


def cache_of(function: Any, made: list[InC]) -> CallCache:
    def calls_in_c(cache: CallCache) -> InC:
        made.append(InC(cache))
        return made[-1]

    return CallCache(inspect.signature(function), calls_in_c)


def call_through(cache: CallCache, *args: Any, **kwargs: Any) -> Any:
    key = cache.key_of(args, kwargs)
    assert key is not None
    result = cache.run(key, args, kwargs)
    if result is MISS:
        cache.remember(key, args, kwargs, lambda names, forget: Plan())
    return result


def test_a_call_moves_to_c_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_cache, "RUNS_IN_PYTHON", 2)
    made: list[InC] = []
    cache = cache_of(lambda q: None, made)
    assert [call_through(cache, 1.0) for _ in range(6)] == [MISS, MISS, *["result"] * 4]
    assert len(made) == 1 and len(made[0].keys) == 1
    key = cache.key_of((1.0,), {})
    assert key is not None
    cache.forget(key.key)
    assert not made[0].keys and call_through(cache, 1.0) is MISS


def test_a_call_without_a_plan_is_a_miss() -> None:
    cache = cache_of(lambda q: None, [])
    key = cache.key_of((1.0,), {})
    assert key is not None and cache.entry is unknown and unknown((), {}) is MISS
    for _ in range(3):  # such a call never has a plan
        cache.remember(key, (1.0,), {}, lambda names, forget: None)
        assert cache.run(key, (1.0,), {}) is MISS


def test_the_size_of_a_cache_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_cache, "MOST", 4)
    cache = cache_of(lambda q: None, [])
    for k in range(20):
        for _ in range(3):
            call_through(cache, k)
    assert len(cache._plans) <= 4 and len(cache._seen_once) <= 4 and len(cache._runs_left) <= 4
    cache.clear()
    assert not cache._plans and not cache._seen_once and not cache._runs_left


def test_further_positional_arguments_have_the_last_name() -> None:
    cache = cache_of(lambda first, *arrays: None, [])
    found = cache.key_of((1.0, np.zeros(2), np.ones(2), np.ones(3)), {})
    assert found is not None and found.names == ["arrays"] * 3


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.MOST == 512
    # Fixtures of other tests change it while they are open, so the file is read.
    assert "\nRUNS_IN_PYTHON = 8\n" in Path(chosen.__file__).read_text()
