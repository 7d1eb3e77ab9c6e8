"""Coordinates by name, in every array library, with any leading dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import warp as wp
from robots import Robot, by_name
from states import states

import warpdyn as wd
from warpdyn.arrays.libraries import library_of
from warpdyn.functions import coordinates as named

MODELS = ("quadruped_floating", "panda", "planar", "free_inside_wxyz", "mimic_branches")


def in_torch(x: Any) -> Any:
    return pytest.importorskip("torch").tensor(x)


def in_jax(x: Any) -> Any:
    jax = pytest.importorskip("jax")
    return jax.numpy.asarray(x)


def in_warp(x: Any) -> Any:
    return wp.array(x, device="cpu")


MAKERS: dict[str, Callable[[Any], Any]] = {
    "numpy": np.asarray,
    "torch": in_torch,
    "jax": in_jax,
    "warp": in_warp,
}


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    return MAKERS[request.param]


def numbers(x: Any) -> np.ndarray:
    return x.numpy() if library_of(x).name in ("torch", "warp") else np.asarray(x)


def test_pack_inverts_unpack(robot: Robot) -> None:
    """The test covers one robot, a batch, and more leading dimensions."""
    model, s = robot.model, states(robot.model, 6)
    if not model.nq:
        return
    for lead in ((), (6,), (2, 3)):
        for pack, unpack, values in (
            (named.pack_q, named.unpack_q, s.q),
            (named.pack_v, named.unpack_v, s.v),
        ):
            given = values[0] if lead == () else values.reshape(*lead, -1)
            parts = unpack(model, given)
            assert list(parts) == list(model.coordinates)
            assert np.array_equal(pack(model, parts), given)


@pytest.mark.parametrize("name", MODELS)
def test_coordinates_work_in_every_library(name: str, make) -> None:
    """Split, selected, unpacked and packed: the same kind of array, dtype and numbers."""
    model, s = by_name(name).model, states(by_name(name).model, 5)
    q, v = s.q.astype(np.float32), s.v.astype(np.float32)
    base, joints = named.split_q(model, make(q))
    packed = named.pack_q(model, joints, base=base)
    assert type(packed) is type(make(q)) and packed.dtype == make(q).dtype
    assert np.array_equal(numbers(packed), q)
    assert (base is None) == (not model.floating_base)
    if base is not None:
        assert np.array_equal(numbers(base), q[:, :7])
    parts = named.unpack_v(model, make(v))
    assert np.array_equal(numbers(named.pack_v(model, parts)), v)
    some = list(reversed(model.joint_names))[:3]
    assert np.array_equal(
        numbers(named.select_q(model, make(q), some)), q[:, model.q_indices(some)]
    )
    assert np.array_equal(
        numbers(named.select_v(model, make(v), some)), v[:, model.v_indices(some)]
    )
    one = named.pack_v(model, named.unpack_v(model, make(v[0])))
    assert np.array_equal(numbers(one).reshape(-1), v[0])


def test_missing_coordinates_come_from_the_default(make) -> None:
    """The default is broadcast and converted to the dtype of the given values."""
    model = by_name("quadruped_floating").model
    some = model.joint_names[2]
    values = np.linspace(-1, 1, 4, dtype=np.float32)
    q = named.pack_q(model, {some: make(values)}, default=model.neutral)
    wanted = np.tile(model.neutral.astype(np.float32), (4, 1))
    wanted[:, model.q_indices([some])[0]] = values
    assert q.dtype == make(values).dtype and np.array_equal(numbers(q), wanted)


def test_plain_numbers_become_float64_arrays() -> None:
    """Numbers and lists become NumPy arrays, and several are broadcast."""
    model = by_name("panda").model
    q = named.pack_q(model, dict.fromkeys(model.joint_names, 0.25))
    assert q.dtype == np.float64 and np.array_equal(q, np.full(model.nq, 0.25))
    q = named.pack_q(
        model,
        {model.joint_names[0]: [0.1, 0.2], model.joint_names[1]: 1},
        default=model.neutral.tolist(),
    )
    assert q.shape == (2, model.nq) and q[1, 0] == 0.2 and q[0, 1] == 1.0
    assert np.array_equal(named.pack_q(model, [0.5] * model.nq), np.full(model.nq, 0.5))


def test_torch_differentiates_and_jax_traces_through_coordinates() -> None:
    """The test uses torch.autograd and jax.jit."""
    model = by_name("panda").model
    torch = pytest.importorskip("torch")
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    named.pack_q(model, {model.joint_names[1]: x}, default=model.neutral)[:, 1].sum().backward()
    assert torch.equal(x.grad, torch.ones(3, dtype=torch.float64))
    jax = pytest.importorskip("jax")
    packed = jax.jit(
        lambda y: named.pack_q(model, {model.joint_names[1]: y}, default=model.neutral)
    )(1.5)
    assert packed[1] == 1.5 and packed[0] == 0.0


def test_missing_names_and_wrong_widths_are_refused() -> None:
    """Missing or unknown names, widths, and a base that is missing or not expected."""
    model, fixed = by_name("quadruped_floating").model, by_name("panda").model
    q = states(model, 2).q
    with pytest.raises(ValueError, match=r"floating_base, .* missing: add them, or give default="):
        named.pack_q(model, {model.joint_names[0]: 0.0})
    with pytest.raises(KeyError, match="no moving joint named 'knee'"):
        named.pack_q(model, {"knee": 0.0}, default=model.neutral)
    with pytest.raises(ValueError, match=r"q must be an array \(\.\.\., 19\), got \(2, 18\)"):
        named.unpack_q(model, q[:, 1:])
    with pytest.raises(ValueError, match="has a floating base: give its 7 coordinates"):
        named.pack_q(model, q[:, 7:])
    with pytest.raises(ValueError, match="has no floating base"):
        named.pack_q(fixed, np.zeros(9), base=np.zeros(7))
    with pytest.raises(ValueError, match=r"floating_base must be \(\.\.\., 7\), got \(2, 6\)"):
        named.pack_q(model, {}, base=q[:, :6], default=model.neutral)
    with pytest.raises(ValueError, match=r"joints must be \(\.\.\., 12\), got \(2, 11\)"):
        named.pack_q(model, q[:, 8:], base=q[:, :7])
    with pytest.raises(ValueError, match="an array has all joints"):
        named.pack_q(model, q[:, 7:], base=q[:, :7], default=model.neutral)
    for pack, which, width in ((named.pack_q, "q", 19), (named.pack_v, "v", 18)):
        for default in (q[:, : width - 1], [0.0] * (width + 1), 0.0):
            wrong = rf"^default must be an array \(\.\.\., {width}\), got .* \(see model.{which}_names\)$"
            with pytest.raises(ValueError, match=wrong):
                pack(model, {model.joint_names[0]: 0.0}, default=default)
    with pytest.raises(ValueError, match="Warp arrays are not broadcast"):
        named.pack_q(model, in_warp(q[:, 7:]), base=in_warp(q[:1, :7]))


@pytest.mark.parametrize("which", ["q", "v"])
def test_each_function_checks_its_model_and_the_width(which: str) -> None:
    """The message names the model's names of the columns."""
    model = wd.load_robot("double_pendulum")
    pack, unpack, split, select = (
        getattr(named, f"{name}_{which}") for name in ("pack", "unpack", "split", "select")
    )
    calls: dict[Any, tuple[Any, ...]] = {pack: (), unpack: (), split: (), select: (["elbow"],)}
    for function, more in calls.items():
        with pytest.raises(TypeError, match="the first argument must be a Model"):
            function("panda", np.zeros(2), *more)
    for function in (unpack, split, select):
        wrong = rf"^{which} must be an array \(\.\.\., 2\), got \(3,\) \(see model.{which}_names\)$"
        with pytest.raises(ValueError, match=wrong):
            function(model, np.zeros(3), *calls[function])
    base, joints = split(model, np.arange(2.0))
    assert base is None and np.array_equal(joints, [0.0, 1.0])


def test_coordinates_that_are_no_numbers_are_refused() -> None:
    """None was NaN in q."""
    model = wd.load_robot("double_pendulum")
    for joints in ({"shoulder": None, "elbow": 0.0}, {"shoulder": 0.0, "elbow": "1"}, [0.0, None]):
        with pytest.raises(TypeError, match=r"^(shoulder|elbow|joints) must be numbers, got"):
            wd.convert.pack_q(model, joints)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"^default must be numbers, got"):
        wd.convert.pack_q(model, {"elbow": 0.0}, default=[None, 0.0])
