"""Keys of calls: equal for calls with the same launch, different for all others."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
from arm_calls import ARM, draw_states

from warpdyn.execution.repeat.call_key import Key, key_of, leaves, value_key

NAMES = ("model", "q", "v", "a")


def key(args: tuple[Any, ...], **kwargs: Any) -> Key | None:
    found = key_of(NAMES, args, kwargs)
    return None if found is None else found.key


def test_values_that_compare_equal_have_different_keys() -> None:
    """They differ by their types and the signs of zeros, at any depth. NaN has one key."""

    @dataclass(frozen=True)
    class Gain:
        value: Any

    values = [True, 1, 1.0, 1j, np.float64(1), np.float32(1), np.bool_(True)]
    values += [0, 0.0, -0.0, np.float64(0.0), np.float64(-0.0), complex(0.0, -0.0), 0j]
    for form in (lambda x: x, lambda x: (x,), lambda x: frozenset([(x,)]), Gain):
        keys = [value_key(form(x)) for x in values]
        assert len({*keys}) == len(values) and keys == [value_key(form(x)) for x in values]
    assert value_key(float("nan")) == value_key(float("nan"))
    zeros = [key((0.0,)), key((-0.0,))]
    assert zeros[0] != zeros[1]


def test_equal_values_of_different_types_are_different_calls() -> None:
    """1, 1.0 and True differ, and so do other options."""
    keys = [key((ARM,), **{"x": x}) for x in (1, 1.0, True, 0, False, "1", None, (1,), [1])]
    assert len(set(map(repr, keys))) == len(keys) == len(set(keys))
    q = draw_states(2, 0)[0]
    shapes = [q[:, :3], q[:1], q.T, np.asfortranarray(q), q.astype(float), q[::-1]]
    assert len({key((ARM, x)) for x in shapes}) == len(shapes)


def test_arrays_are_named_in_order_and_those_of_out_come_last() -> None:
    """Several arrays in one argument have their own names."""
    q, v, force, out = (np.zeros((3, 2)) for _ in range(4))
    params = ARM.params(mass={"forearm_link": np.ones(3)})
    words = {"out": out, "f_ext": {"hand": force}, "params": params, "gravity": [0.0, 0.0, -1.0]}
    found = key_of(NAMES, (ARM, q, v), words)
    assert found is not None
    assert found.names == ["q", "v", "hand", *params.arrays]
    wanted = [q, v, force, *params.arrays.values(), out]
    assert len(found.arrays) == len(wanted)
    assert all(x is y for x, y in zip(found.arrays, wanted, strict=True))


def test_parts_follow_their_container() -> None:
    q = np.zeros(3)
    found = leaves([("x", (q, [1, {"name": q}])), ("y", None)])
    assert [name for name, _, _ in found] == ["x", "x", "x", "x", "x", "name", "y"]
    assert [library is not None for _, _, library in found] == [0, 1, 0, 0, 0, 1, 0]


def test_unknown_types_have_no_key() -> None:
    """Unknown kinds, subclasses of lists, and records of arrays, whose numbers are checked at each
    call."""
    Record = namedtuple("Record", "x y")

    class Numbers(list):
        pass

    for x in (object(), {1, 2}, Numbers([1.0]), Record(np.zeros(3), 1.0), np.ma.array([1.0])):
        assert key((ARM, x)) is None
    assert key((ARM, Record(1.0, 2.0))) not in (None, key((ARM, (1.0, 2.0))))


def test_calls_that_differ_in_one_respect_have_different_keys() -> None:
    """Each pair of calls differs in the model, in the inputs that are given, or in the parts of an input."""
    q, v, a = draw_states(2, 0)
    other = ARM.with_friction(viscous=0.1)
    keys = [
        key((ARM, q, v)),
        key((other, q, v)),
        key((ARM, q, v, a)),
        key((ARM, q, v), out=a),
        key((ARM, q, v), a=a),
        key((ARM, q, v), f_ext={"forearm_link": a}),
        key((ARM, q, v), f_ext={"wrist_3_link": a}),
        key((ARM, q, v), f_ext={"wrist_3_link": a, "forearm_link": a}),
        key((ARM, q, v), f_ext=(a,)),
        key((ARM, q, v), f_ext=[a]),
        key((ARM, q, v), f_ext=(a, a)),
    ]
    assert None not in keys and len(set(keys)) == len(keys)
