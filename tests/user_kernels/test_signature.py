"""Information in a kernel's signature, and signatures that are refused."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.user_kernels.signature import (
    NEEDED,
    RESERVED,
    ArrayArgument,
    SharedArray,
    Table,
    by_name,
    of_shapes,
    read_signature,
    shared,
    table,
)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        *((name, ("nq",)) for name in ("q", "q0", "q_next")),
        *((name, ("nq",)) for name in ("q12", "q1", "q_a_b")),
        *((name, ("nv",)) for name in ("v", "v_wanted", "a", "b", "tau", "qd", "ddq")),
        *((name, ("nv",)) for name in ("dq", "qdd", "torque", "torques", "velocity")),
        *((name, ("nv",)) for name in ("acceleration", "v2", "tau12_max", "velocity_last")),
        *((name, None) for name in ("target", "qx", "vx", "table", "ab", "q1_a", "my_q", "Q")),
    ],
)
def test_names_determine_widths(name: str, shape: Any) -> None:
    assert by_name(name) == shape


def test_annotations_determine_shapes() -> None:
    """Tuples, text, Annotated, shared, and sizes of the robot."""

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


def test_help_shows_the_signature_of_the_kernel() -> None:
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
        (lambda q, v: 1, "first argument is the robot"),
        (lambda robot, target: 1, r"shape of 'target' is not known; annotate it: target: \(3,\)"),
        (lambda robot, q, out: 1, "the argument 'out' needs another name"),
        (lambda robot, *q: 1, r"a kernel has no \*q"),
        (lambda robot, q, **k: 1, r"a kernel has no \*k"),
    ],
)
def test_invalid_signatures_are_refused(text: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        wd.kernel(text)


@pytest.mark.parametrize("name", RESERVED)
@pytest.mark.parametrize("place", ["array", "option", "mapping"])
def test_reserved_names_are_refused(name: str, place: str) -> None:
    """Arrays and options are refused. The message lists all reserved names."""
    kind = inspect.Parameter.KEYWORD_ONLY if place == "option" else POSITIONAL
    with pytest.raises(TypeError) as refused:
        if place == "mapping":
            of_shapes("f", {name: (3,)})
        else:
            read_signature(with_parameters("robot", inspect.Parameter(name, kind)))
    assert str(refused.value) == (
        f"f: the argument {name!r} needs another name; out, params, model, env are reserved for the caller"
    )


POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


def with_parameters(*parameters: Any) -> Any:
    """A function `f` with these parameters."""

    def f(*_: Any, **__: Any) -> None: ...

    f.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(p, POSITIONAL) if isinstance(p, str) else p for p in parameters]
    )
    return f


def test_the_robot_must_be_a_positional_parameter() -> None:
    """If it is positional only, so is the model. It cannot be a keyword or variadic."""
    kinds = inspect.Parameter
    for kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD):
        call = read_signature(with_parameters(kinds("robot", kind), "q")).call
        assert call.parameters["model"].kind is kind
    for kind in (kinds.KEYWORD_ONLY, kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD):
        with pytest.raises(TypeError) as refused:
            read_signature(with_parameters(kinds("robot", kind)))
        wanted = "f: a kernel's first argument is the robot: def f(robot, q, ...)"
        assert str(refused.value) == wanted


def test_anything_else_than_a_function_is_refused() -> None:
    with pytest.raises(TypeError, match=r"wd\.kernel takes a function .*, got Model"):
        wd.kernel(wd.load_robot("cartpole"))


def test_messages_about_shapes_are_complete() -> None:
    """Missing shapes and invalid sizes, with what to write instead."""
    with pytest.raises(TypeError) as refused:
        of_shapes("f", {"x": None})  # type: ignore[dict-item]
    assert str(refused.value) == (
        "f: the shape of 'x' is not known; annotate it: x: (3,) for three numbers of each environment, "
        '("nv", 6), () for one number'
    )
    for size in (-1, 1.5, "nw"):
        with pytest.raises(TypeError) as refused:
            of_shapes("f", {"x": (2, size)})  # type: ignore[dict-item]
        wanted = f"f: sizes of 'x' are whole numbers or nq, nv, nlinks, got {size!r}"
        assert str(refused.value) == wanted
    assert of_shapes("f", {"x": (0, "nlinks")}).arrays["x"].shape == (0, "nlinks")


def test_signatures_are_read_from_mappings() -> None:
    """Arrays of every form, without options. A list is accepted as a shape."""
    shapes = {"q": None, "x": [2, 3], "t": table([4, 5]), "c": shared((2,))}  # type: ignore
    found = of_shapes("f", shapes)  # type: ignore[arg-type]
    assert found.arrays == {
        "q": ArrayArgument(("nq",), False, None, False),
        "x": ArrayArgument((2, 3), False, None, False),
        "t": ArrayArgument((4, 5), False, None, True),
        "c": ArrayArgument((2,), True, None, False),
    }
    assert found.defaults == {} and isinstance(table((4, 5)), Table)
    assert list(found.call.parameters) == ["model", "q", "x", "t", "c", "params", "out"]


def test_defaults_of_arrays_and_options_are_read() -> None:
    """A default of an array is a constant. An option without one is required."""

    def text(robot: Any, q: Any, gain: Any = None, *, a: int, b: int = 2) -> int:
        return 0

    text.__annotations__["gain"] = ()
    found = read_signature(text)
    assert found.arrays["gain"] == ArrayArgument((), False, (None,), False)
    assert found.arrays["q"].default is None
    assert found.defaults == {"a": NEEDED, "b": 2}
    assert found.call.return_annotation is inspect.Signature.empty
    assert found.call.parameters["params"].default is found.call.parameters["out"].default is None


def test_invalid_sizes_are_refused() -> None:
    def text(robot, x: ("nonsense",)):  # type: ignore  # noqa: F821, UP037
        pass

    text.__annotations__["x"] = ("nonsense",)
    with pytest.raises(TypeError, match="whole numbers or nq, nv, nlinks, got 'nonsense'"):
        read_signature(text)
    text.__annotations__["x"] = "(undefined,)"
    with pytest.raises(TypeError, match=r"annotation .* cannot be evaluated"):
        read_signature(text)
