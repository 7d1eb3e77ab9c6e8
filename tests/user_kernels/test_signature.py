"""What a signature says of a kernel, and what it cannot say."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.user_kernels.signature import SharedArray, by_name, read_signature, shared, table


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        *((name, ("nq",)) for name in ("q", "q0", "q_next")),
        *((name, ("nv",)) for name in ("v", "v_wanted", "a", "b", "tau", "qd", "ddq")),
        *((name, None) for name in ("target", "qx", "vx", "table")),
    ],
)
def test_names_say_widths(name: str, shape: Any) -> None:
    assert by_name(name) == shape


def test_annotations_say_shapes() -> None:
    """Tuples, text, Annotated, shared; sizes of the robot."""

    def text(
        robot, q, a: (3,), b: Annotated[np.ndarray, ("nv", 6)], c: shared((2,)), d: (), *, k=1
    ):  # type: ignore
        pass

    arrays = read_signature(text).arrays
    assert [p.shape for p in arrays.values()] == [("nq",), (3,), ("nv", 6), (2,), ()]
    assert arrays["c"].serves_all and not arrays["a"].serves_all
    assert isinstance(shared((2,)), SharedArray)
    model = wd.load_robot("cartpole")
    assert arrays["b"].sizes(model) == (2, 6)
    assert read_signature(text).defaults == {"k": 1}
    assert next(iter(read_signature(text).call.parameters)) == "model"
    assert [
        p.name for p in read_signature(text).call.parameters.values() if p.kind is p.KEYWORD_ONLY
    ] == [
        "k",
        "params",
        "out",
    ]


@pytest.mark.parametrize(
    ("shape", "default", "good"),
    [
        ((3, 4), inspect.Parameter.empty, True),
        ((3,), inspect.Parameter.empty, False),
        ((2, 3, 4), inspect.Parameter.empty, False),
        ((3, 4), 0.0, False),
    ],
)
def test_a_table_has_rows_and_columns_and_no_default(
    shape: tuple[int, ...], default: Any, good: bool
) -> None:
    def text(robot: Any, q: Any, heights: Any = default) -> None:
        pass

    text.__annotations__["heights"] = table(shape)
    text.__defaults__ = () if default is inspect.Parameter.empty else (default,)  # type: ignore
    if good:
        array = read_signature(text).arrays["heights"]
        assert array.table and array.shape == shape and array.default is None
    else:
        with pytest.raises(TypeError, match="the table 'heights' has rows and columns, and no"):
            read_signature(text)


def test_help_shows_the_kernels_own_signature() -> None:
    @wd.kernel
    def f(robot: Any, q: Any, *, gain: float = 2.0) -> Any:
        """Twice q."""
        return gain * q

    assert f.__doc__ == "Twice q." and f.__name__ == "f"
    assert list(inspect.signature(f).parameters) == ["model", "q", "gain", "params", "out"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lambda: 1, "first argument is the robot"),
        (lambda *, q: 1, "first argument is the robot"),
        (lambda robot, target: 1, r"shape of 'target' is not known; say it: target: \(3,\)"),
        (lambda robot, q, out: 1, "the argument 'out' needs another name"),
        (lambda robot, *q: 1, r"a kernel has no \*q"),
        (lambda robot, q, **k: 1, r"a kernel has no \*k"),
    ],
)
def test_signatures_that_are_none(text: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        wd.kernel(text)


def test_sizes_that_are_none() -> None:
    def text(robot, x: ("nonsense",)):  # type: ignore  # noqa: F821, UP037
        pass

    text.__annotations__["x"] = ("nonsense",)
    with pytest.raises(TypeError, match="whole numbers or nq, nv, nlinks, got 'nonsense'"):
        read_signature(text)
    text.__annotations__["x"] = "(undefined,)"
    with pytest.raises(TypeError, match=r"annotation .* cannot be evaluated"):
        read_signature(text)
