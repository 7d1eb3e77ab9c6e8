"""Names, shapes and types of a kernel's results."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.recording.graph import Graph
from warpdyn.recording.recorder import input_symbols
from warpdyn.user_kernels.conditions import less
from warpdyn.user_kernels.refusals import RecordingError
from warpdyn.user_kernels.results import as_lists, describe_results, entries_by_name
from warpdyn.user_kernels.values import of


def test_results_have_the_form_of_the_returned_value() -> None:
    x = of(np.array(input_symbols(Graph(), "q", 2), dtype=object))
    one, pair, named = (describe_results("f", r) for r in (x, (x, 1.0), {"a": x, "b": x[0] > 0}))
    assert [r.form for r in (one, pair, named)] == ["one", "tuple", "dictionary"]
    assert list(one.by_name) == ["out"] and list(pair.by_name) == ["out0", "out1"]
    assert named.by_name["a"].shape == (2,) and named.by_name["b"] == ((), "bool")
    assert describe_results("f", x.astype(int)).by_name["out"].kind == "int"
    assert describe_results("f", of(less(1.0, x.entries[0]))).by_name["out"].kind == "bool"
    assert as_lists(entries_by_name("f", (1.0, np.eye(2)))) == (1.0, [[1.0, 0.0], [0.0, 1.0]])


def test_results_are_returned_in_the_form_of_the_kernel() -> None:
    named = describe_results("f", {"a": np.zeros(2), "b": np.array([True])})
    convert, plain = named.result_maker("f", True), named.result_maker("f", False)
    assert convert is not None and plain is not None
    a, b = np.zeros((3, 2)), np.array([[1.0], [0.0], [1.0]])
    assert convert(a, b)._fields == ("a", "b") and convert(a, b).b.dtype == bool
    assert plain(a, b).b is b
    assert describe_results("f", np.zeros(2)).result_maker("f", True) is None


def test_out_is_given_by_name_or_in_order() -> None:
    named = describe_results("f", {"a": np.zeros(2), "b": 1.0})
    a, b = np.zeros(2), np.zeros(())
    assert (
        named.arrays_of_out({"b": b, "a": a}) == (a, b)
        or named.arrays_of_out({"b": b, "a": a})[0] is a
    )
    assert named.arrays_of_out(None) is None
    with pytest.raises(TypeError, match="each result, a, b; got c"):
        named.arrays_of_out({"c": a})


def test_names_of_results_are_those_of_the_kernel() -> None:
    """Those of a dictionary or a named tuple. The results of a lambda are `Results`."""
    Pair = namedtuple("Pair", ["first", "second"])
    made = describe_results("f", Pair(np.zeros(2), 1.0))
    assert made.form == "dictionary" and list(made.by_name) == ["first", "second"]
    for kernel, name in (("f", "f"), ("<lambda>", "Results")):
        maker = made.result_maker(kernel, True)
        assert maker is not None and type(maker(1, 2)).__name__ == name
    for name in ("a b", "_a", 3, "1a"):
        with pytest.raises(RecordingError) as refused:
            describe_results("f", {name: 1.0})
        wanted = f"f: names of results must be words such as 'tau', got {name!r}"
        assert str(refused.value) == wanted
    for returned, words in ((None, "nothing; it must return its result"), ((), "no results")):
        with pytest.raises(RecordingError, match=f"^f returned {words}$"):
            describe_results("f", returned)
    with pytest.raises(RecordingError, match=r"^f: its result out1: .*got str"):
        describe_results("f", (1.0, "tau"))
    assert list(entries_by_name("f", (1.0, 2.0))) == ["out0", "out1"]


def test_results_are_bool_int_or_float() -> None:
    """Conditions are bool, with numbers among them float, and whole numbers int."""
    mixed = [True, 2.0]
    kinds = {"bool": [True, False], "float": mixed, "int": of(np.ones(2)).astype(int)}
    for kind, values in kinds.items():
        assert describe_results("f", values).by_name["out"].kind == kind
    assert describe_results("f", np.zeros((0, 2))).by_name["out"] == ((0, 2), "float")
    assert describe_results("f", np.zeros((1, 2, 3))).by_name["out"].shape == (1, 2, 3)
    one = describe_results("f", [True]).result_maker("f", True)
    assert one is not None and one(np.ones((2, 1))).dtype == bool
    two = describe_results("f", ([True], 1.0)).result_maker("f", True)
    assert two is not None and isinstance(two(np.ones((2, 1)), np.ones(2)), tuple)
    whole = describe_results("f", (kinds["int"], 1.0)).result_maker("f", True)
    assert whole is not None and [x.dtype for x in whole(np.ones(2), np.ones(2))] == ["i4", "f8"]
    out = np.ones(2)
    assert describe_results("f", {"a": 1.0}).arrays_of_out({"a": out}) is out


def test_results_with_four_dimensions_are_refused() -> None:
    with pytest.raises(RecordingError, match="three dimensions at most"):
        describe_results("f", np.zeros((1, 1, 1, 1)))


def test_a_single_condition_is_returned_as_bool() -> None:
    """Calls, bound calls and the oracle are tested."""
    model = wd.load_robot("double_pendulum")
    q = np.array([[1.0, 2.0], [-3.0, 0.5], [0.1, 0.2]])

    @wd.kernel
    def twice(robot: Any, q: Any) -> Any:
        return {"twice": 2.0 * q}

    @wd.kernel
    def positive(robot: Any, q: Any) -> Any:
        return q.sum() > 0.0

    for made in (twice(model, q), wd.bind(twice, model, q)(), wd.oracle(twice, model, q)):
        assert made._fields == ("twice",) and np.array_equal(made.twice, 2 * q)
    for found in (positive(model, q), wd.bind(positive, model, q)()):
        assert found.dtype == bool and found.tolist() == [True, False, True]


@pytest.mark.parametrize(
    "make",
    [lambda x: np.concatenate([x, x]), lambda x: x[:2], lambda x: x.sum(), lambda x: x[None]],
    ids=["larger", "smaller", "a number", "a row"],
)
def test_a_result_named_like_an_array_has_its_shape(make: Any) -> None:
    """The launch would cut it, or read beyond it."""

    @wd.kernel
    def change(robot: Any, x: (3,)) -> Any:  # type: ignore[valid-type]
        return {"y": x, "x": make(x)}

    x = np.arange(6.0).reshape(2, 3)
    with pytest.raises(RecordingError, match=r"its result 'x' has the shape .*, and the array 'x'"):
        change(wd.load_robot("cartpole"), x)
