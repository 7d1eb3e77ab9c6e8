"""A user's kernel has all features of warpdyn's functions."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Any

import numpy as np
import pytest
from devices import DeviceArray
from own_kernels import EXACT, SINGLE, arrays, falling, impedance
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.codegen.targets import write
from warpdyn.execution.batched import describe_call
from warpdyn.execution.launch import launch
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.robots import robot_names


@pytest.mark.parametrize("name", robot_names())
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_kernel_equals_its_oracle_on_every_bundled_robot(
    name: str, dtype: Any, device: str
) -> None:
    """The test covers arrays in rows and in columns."""
    model = wd.load_robot(name)
    frame, given = model.link_names[-1], arrays(model, 37, dtype)
    wanted = wd.oracle(impedance, model, *given, frame=frame)
    for layout in (np.ascontiguousarray, np.asfortranarray):
        placed = [DeviceArray(layout(x), device) for x in given]
        out = DeviceArray(layout(np.full(wanted.shape, np.nan, dtype)), device)
        impedance(model, *(p.array for p in placed), frame=frame, out=out.array)
        assert error(out.back().astype(float), wanted) < (EXACT if dtype == np.float64 else SINGLE)


def test_a_kernel_equals_numpy_on_the_public_functions() -> None:
    model = by_name("panda").model
    q, v, target = arrays(model, 12)
    J = wd.jacobian(model, q, frame="panda_hand")[:, :3]
    force = 400.0 * (target - wd.fk(model, q, frame="panda_hand")[:, :3, 3])
    force -= 40.0 * np.einsum("bij,bj->bi", J, v)
    wanted = wd.gravity_torques(model, q) + np.einsum("bij,bi->bj", J, force)
    assert np.allclose(impedance(model, q, v, target, frame="panda_hand"), wanted, atol=1e-10)


@pytest.mark.parametrize("name", ["panda", "quadruped"])
def test_a_kernel_of_one_function_has_the_functions_program(name: str) -> None:
    """So that it takes the same time."""
    model = wd.load_robot(name)
    s = states(model, 3)

    @wd.kernel
    def mine(robot: Any, q: Any, v: Any, a: Any) -> Any:
        return robot.rnea(q, v, a)

    codes = []
    for function in (mine, wd.rnea):
        call = describe_call(function, (model, s.q, s.v, s.a), {})
        codes.append(write(record_call(call, input_shapes(call), True), "same", True, "cpu").code)
    assert codes[0] == codes[1]


def test_options_are_constants_and_have_defaults() -> None:
    model = by_name("panda").model
    given = arrays(model, 5)
    soft, stiff = (
        impedance(model, *given, frame="panda_hand", stiffness=k) for k in (100.0, 400.0)
    )
    assert not np.allclose(soft, stiff)
    assert np.array_equal(stiff, impedance(model, *given, frame="panda_hand"))
    with pytest.raises(TypeError, match=r"missing a required (keyword-only )?argument: 'frame'"):
        impedance(model, *given)
    with pytest.raises(TypeError, match=r"option stiffness is a list.*put it before the \*"):
        impedance(model, *given, frame="panda_hand", stiffness=[1.0])
    with pytest.raises(TypeError, match="unexpected keyword argument 'frmae'"):
        impedance(model, *given, frame="panda_hand", frmae="panda_hand")
    with pytest.raises(TypeError, match="first argument must be a Model"):
        impedance(3, *given, frame="panda_hand")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"target must be \(B, 3\) = \(5, 3\), got \(5, 2\)"):
        impedance(model, given[0], given[1], given[2][:, :2], frame="panda_hand")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
def test_results_in_place_have_the_same_bits(dtype: Any, layout: Any) -> None:
    model = wd.load_robot("quadruped")
    s = states(model, 300)
    q, v = (layout(x.astype(dtype)) for x in (s.q, s.v))
    age = np.linspace(0, 1, 300).astype(dtype)
    wanted = falling(model, q, v, age)
    assert wanted.old.dtype == bool and wanted._fields == ("q", "v", "age", "old")
    assert np.array_equal(wanted.old, age > 0.5)
    old = np.empty(300, dtype)
    result = falling(model, q, v, age, out={"q": q, "v": v, "age": age, "old": old})
    assert result.q is q
    for got, x in zip((q, v, age, old), wanted, strict=True):
        assert np.array_equal(got, x)


def test_a_bound_kernel_continues_in_place() -> None:
    model = by_name("cartpole").model
    s = states(model, 20)
    q, v, age, old = s.q.copy(), s.v.copy(), np.zeros(20), np.zeros(20)
    run = wd.bind(falling, model, q, v, age, out={"q": q, "v": v, "age": age, "old": old})
    for _ in range(9):
        run()
    x, u, t = s.q, s.v, np.zeros(20)
    for _ in range(10):
        x, u, t, _ = falling(model, x, u, t)
    assert np.array_equal(q, x) and np.array_equal(v, u) and np.allclose(age, 0.1)


def test_out_by_name_must_have_all_results() -> None:
    model = by_name("cartpole").model
    s = states(model, 2)
    with pytest.raises(TypeError, match="an array for each result, q, v, age, old; got q"):
        falling(model, s.q, s.v, np.zeros(2), out={"q": s.q})


def test_derivatives_agree_with_each_other_and_with_differences() -> None:
    """vjp, jvp and derivatives."""
    model = by_name("ur5e").model
    q, v, target = arrays(model, 4)
    options = {"frame": "tool0" if "tool0" in model.link_names else model.link_names[-1]}
    w = np.random.default_rng(2).normal(size=v.shape)
    D = wd.derivatives(impedance, model, q, v, target, wrt="q", **options)
    assert np.allclose(
        wd.vjp(impedance, model, q, v, target, cotangents=w, wrt="q", **options),
        np.einsum("bij,bi->bj", D, w),
    )
    assert np.allclose(
        wd.jvp(impedance, model, q, v, target, tangents={"q": w}, **options),
        np.einsum("bij,bj->bi", D, w),
    )
    h = 1e-6
    ahead, back = (impedance(model, q + s * h * w, v, target, **options) for s in (1, -1))
    assert np.allclose(
        (ahead - back) / (2 * h), np.einsum("bij,bj->bi", D, w), rtol=1e-6, atol=1e-5
    )


def test_params_apply_to_every_method() -> None:
    model = by_name("panda").model
    q, v, target = arrays(model, 3)
    mass = np.array([0.5, 1.0, 2.0])
    params = model.params(mass={"panda_hand": mass})
    got = impedance(model, q, v, target, frame="panda_hand", params=params)
    still = impedance(model, q, v, target, frame="panda_hand")
    difference = wd.gravity_torques(model, q, params=params) - wd.gravity_torques(model, q)
    assert np.allclose(got - still, difference, atol=1e-10)


def test_a_kernel_called_in_a_kernel_is_inlined() -> None:
    @wd.kernel
    def damp(robot: Any, q: Any, v: Any, target: (3,), *, frame: str) -> Any:  # type: ignore[valid-type]
        return impedance(robot, q, v, target, frame=frame, stiffness=50.0) - 2.0 * v

    model = by_name("panda").model
    given = arrays(model, 3)
    whole = damp(model, *given, frame="panda_hand")
    part = impedance(model, *given, frame="panda_hand", stiffness=50.0)
    assert np.allclose(whole, part - 2 * given[1], atol=1e-12)


class Level(IntEnum):
    ONE = 1


def test_options_that_compare_equal_have_separate_programs() -> None:
    """True, 1, 1.0 and an enumeration's 1, 0.0 and -0.0, in tuples, and in cached calls."""

    given = [True, 1, 1.0, Level.ONE, np.float64(1.0), np.int64(1), 0.0, -0.0, np.float64(-0.0)]
    options = [(type(x), str(x)) for x in given]

    @wd.kernel
    def identify_type(robot: Any, x: (1,), *, s: Any) -> Any:  # type: ignore[valid-type]
        (first,) = s if isinstance(s, tuple) else (s,)
        return x * (10 + options.index((type(first), str(first))))

    model, x = wd.load_robot("cartpole"), np.ones((1, 1))
    for _ in range(4):
        for form in (lambda s: s, lambda s: (s,)):
            got = [float(identify_type(model, x, s=form(s))[0, 0]) for s in given]
            assert got == [10.0 + k for k in range(len(given))]


def test_kernels_with_the_same_name_are_separate() -> None:
    """Also after a name is defined again."""
    model = by_name("cartpole").model
    q = np.ones((2, 2))

    def make_kernel(factor: float) -> Any:
        @wd.kernel
        def scale_coordinates(robot: Any, q: Any) -> Any:
            return factor * q

        return scale_coordinates

    first, second = make_kernel(2.0), make_kernel(3.0)
    assert np.array_equal(first(model, q), 2 * q) and np.array_equal(second(model, q), 3 * q)
    assert np.array_equal(first(model, q), 2 * q)


def test_shapes_are_given_by_annotations() -> None:
    """Numbers, sizes of the robot, Annotated, one array for all, numbers in place of arrays, and
    defaults.
    """

    @wd.kernel
    def combine(
        robot: Any,
        q: Any,
        gains: ("nv", 2),  # type: ignore[valid-type]  # noqa: F821, UP037
        table: Annotated[np.ndarray, wd.kernels.shared((4,))],
        scale: Annotated[float, ()],
        offset: (2,) = (0.5, 0.25),  # type: ignore[valid-type]
    ) -> Any:
        return scale * q @ gains + table[1] + np.stack(offset)

    model = by_name("cartpole").model
    draw = np.random.default_rng(0)
    q, gains, table = draw.normal(size=(3, 2)), draw.normal(size=(3, 2, 2)), draw.normal(size=4)
    wanted = np.einsum("bi,bij->bj", 2 * q, gains) + table[1] + [0.5, 0.25]
    assert np.allclose(combine(model, q, gains, table, 2.0), wanted)
    assert np.allclose(combine(model, q, gains, table, np.full(3, 2.0)), wanted)
    offset = draw.normal(size=(3, 2))
    got = combine(model, q, gains, np.tile(table, (3, 1)), 2.0, offset)
    assert np.allclose(got, wanted - [0.5, 0.25] + offset)
    assert np.allclose(combine(model, q[0], gains[0], table, 2.0), wanted[0])


def test_results_can_have_every_form() -> None:
    """A number, a tuple, a dictionary, integers, for one robot and many."""
    model = by_name("cartpole").model
    q = np.array([[0.3, -1.7], [2.5, 0.1]])

    @wd.kernel
    def number(robot: Any, q: Any) -> Any:
        return q @ q

    @wd.kernel
    def several(robot: Any, q: Any) -> Any:
        return q.sum(), np.outer(q, q), np.floor(q).astype(int), q[0] > 1, 4.0

    assert np.allclose(number(model, q), (q * q).sum(1)) and np.ndim(number(model, q[0])) == 0
    total, outer, whole, above, four = several(model, q)
    assert np.allclose(total, q.sum(1)) and np.allclose(outer, q[:, :, None] * q[:, None])
    assert whole.dtype == np.int32 and np.array_equal(whole, np.floor(q))
    assert (
        above.dtype == bool and np.array_equal(above, q[:, 0] > 1) and np.array_equal(four, [4, 4])
    )
    assert isinstance(several(model, q[0]), tuple)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lambda robot, q: None, "returned nothing"),
        (lambda robot, q: {"a b": q}, "must be words such as 'tau', got 'a b'"),
        (lambda robot, q: {}, "returned no results"),
        (lambda robot, q: [q, q[:1]], "not of one shape"),
        (lambda robot, q: "tau", "got str"),
    ],
)
def test_invalid_results_are_refused(text: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        wd.kernel(text)(by_name("cartpole").model, np.zeros((2, 2)))


def test_repeat_works_with_a_tuple_and_a_condition() -> None:
    """The state of wd.kernels.repeat is a tuple, and the loop ends by a condition."""
    model = by_name("double_pendulum").model

    @wd.kernel
    def roll_out(robot: Any, q: Any, v: Any) -> Any:
        def step(state: Any) -> Any:
            q, v, n = state
            v = v + 0.01 * robot.aba(q, v, np.zeros(robot.nv))
            return q + 0.01 * v, v, n + 1

        q, v, n = wd.kernels.repeat(20, step, (q, v, 0.0), until=lambda s: np.abs(s[1]).max() > 2.0)
        return {"q": q, "v": v, "n": n.astype(int)}

    s = states(model, 9)
    v = 0.4 * s.v
    got = roll_out(model, s.q, v)
    for k in range(9):
        x, u, n = s.q[k], v[k], 0
        while n < 20:
            u = u + 0.01 * wd.aba(model, x, u, np.zeros(2))
            x, n = x + 0.01 * u, n + 1
            if np.abs(u).max() > 2.0:
                break
        assert got.n[k] == n and np.allclose(got.q[k], x) and np.allclose(got.v[k], u)
    assert len(set(got.n.tolist())) > 1


def test_kernels_accept_leading_dimensions() -> None:
    """(T, E, n), and one row for all. Environments are numbered through all of them."""

    @wd.kernel
    def number_environments(robot: Any, q: Any, target: (3,), age: ()) -> Any:  # type: ignore[valid-type]
        return np.concatenate([q + target[:2] + age, np.stack([robot.env])])

    model = by_name("cartpole").model
    q, age = np.random.default_rng(0).normal(size=(4, 5, 2)), np.arange(20.0).reshape(4, 5)
    target = np.array([1.0, 2.0, 3.0])
    got = number_environments(model, q, target, age)
    assert got.shape == (4, 5, 3) and np.array_equal(got[..., 2], age)
    assert np.allclose(got[..., :2], q + target[:2] + age[..., None])
    assert np.array_equal(
        number_environments(model, q[0, 0], np.tile(target, (7, 1)), 0.0)[:, 2], range(7)
    )


@pytest.mark.compiled
def test_a_long_kernel_gives_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """The warning gives the number of operations and the remedy, before it compiles for minutes."""

    @wd.kernel
    def long(robot: Any, q: Any) -> Any:
        for _ in range(30):
            q = np.sin(q) * q + 1.0
        return q

    monkeypatch.setattr(launch, "LONG", 0.1)
    expected = r"kernel long for cartpole has 1\d\d operations.* s, once.*wd\.kernels\.repeat"
    with pytest.warns(UserWarning, match=expected):
        long(by_name("cartpole").model, np.zeros((1, 2)))


def test_derivatives_of_a_kernel_that_returns_a_dictionary_are_tuples() -> None:
    """They are ordered by its inputs and have no names."""
    model = by_name("panda").model
    q = states(model, 2).q

    @wd.kernel
    def twice(robot: Any, q: Any) -> Any:
        return {"double": 2 * q, "square": q * q}

    w, u = np.ones_like(q), np.ones_like(q)
    bar = wd.oracle(wd.vjp, twice, model, q, cotangents=(w, w))
    assert np.allclose(bar, 2 + 2 * q)
    along = wd.oracle(wd.jvp, twice, model, q, tangents={"q": u})
    assert np.allclose(along[0], 2) and np.allclose(along[1], 2 * q)


def test_derivatives_by_empty_arrays_have_their_shape() -> None:
    """Cotangents, tangents and gradients of an array (B, 0, 3), also in chained calls."""
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    jnp, model = jax.numpy, by_name("double_pendulum").model

    @wd.kernel
    def halves(robot: Any, q: Any, empty: (0, 3), pairs: (2, 3)):  # type: ignore[valid-type]
        return {"a": 0.5 * q + pairs.sum(), "b": 0.5 * empty}

    q, empty, pairs = np.ones((4, 2)), np.zeros((4, 0, 3)), np.ones((4, 2, 3))
    bars = wd.vjp(halves, model, q, empty, pairs, cotangents=(q, empty), wrt=("q", "empty"))
    assert bars[0] == pytest.approx(0.5 * q) and bars[1].shape == (4, 0, 3)
    moved = wd.jvp(halves, model, q, empty, pairs, tangents={"q": q, "empty": empty})
    a, b = moved
    assert a == pytest.approx(0.5 * q) and b.shape == (4, 0, 3)

    inputs = [torch.from_numpy(x).requires_grad_() for x in (q, empty, pairs)]
    first = halves(model, *inputs)
    second = halves(model, first.a, first.b, inputs[2])
    second.a.sum().backward()
    assert [tuple(x.grad.shape) for x in inputs] == [(4, 2), (4, 0, 3), (4, 2, 3)]
    assert inputs[0].grad.numpy() == pytest.approx(0.25 * q)

    def total(q: Any, empty: Any) -> Any:
        found = halves(model, q, empty, jnp.asarray(pairs))
        return halves(model, found.a, found.b, jnp.asarray(pairs)).a.sum()

    gradients = jax.grad(total, (0, 1))(jnp.asarray(q), jnp.asarray(empty))
    assert [x.shape for x in gradients] == [(4, 2), (4, 0, 3)]


@wd.kernel
def product(robot, x: (), y: ()):
    return x * y


@pytest.mark.parametrize(
    "number", [2, 2.0, *(kind(2) for kind in (np.float16, np.float32, np.float64, np.int32))]
)
def test_a_number_can_be_given_for_all_environments(number: Any) -> None:
    """Python's or NumPy's, of any type. The result has the dtype of the arrays."""
    found = product(wd.load_robot("cartpole"), np.arange(3, dtype=np.float32), number)
    assert found.dtype == np.float32 and found.tolist() == [0.0, 2.0, 4.0]
