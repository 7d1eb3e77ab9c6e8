"""Leading dimensions: (n,), (B, n) and (T, E, n) arrays, and one row next to many, give the same
results as single rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from array_kinds import LIBRARIES, host, make_array, usable
from robots import by_name

import warpdyn as wd
from warpdyn.execution.launch.batch_shape import all_in_rows, leading_shape
from warpdyn.execution.launch.launch import prepare
from warpdyn.execution.request.call import inputs_of

PANDA = by_name("panda").model
T, E = 3, 4
DRAW = np.random.default_rng(7)
Q = DRAW.uniform(-1, 1, (T, E, PANDA.nq))
V, A, W = DRAW.uniform(-1, 1, (3, T, E, PANDA.nv))
CLOSE = 1e-12
"""Relative to the largest entry, float64: rows are summed in another order."""


def rows(x: np.ndarray) -> np.ndarray:
    return x.reshape(T * E, *x.shape[2:])


def repeat_row(x: np.ndarray) -> np.ndarray:
    """One row for every environment."""
    return np.broadcast_to(x, (T, E, *x.shape)).copy()


def close(x: Any, y: Any) -> bool:
    return np.abs(x - y).max() <= CLOSE * max(np.abs(y).max(), 1.0)


WANTED = wd.rnea(PANDA, rows(Q), rows(V), rows(A)).reshape(V.shape)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("layout", ["rows", "environments_last"])
def test_trajectories_equal_their_rows_bit_for_bit(library: str, layout: str) -> None:
    """This holds in every library, also for a result of matrices."""
    usable(library)
    q, v, a = (make_array(library, x, layout=layout) for x in (Q, V, A))
    tau = wd.rnea(PANDA, q, v, a)
    assert tuple(tau.shape) == V.shape and np.array_equal(host(tau), WANTED)
    M = host(wd.crba(PANDA, q))
    assert np.array_equal(M, wd.crba(PANDA, rows(Q)).reshape(T, E, PANDA.nv, PANDA.nv))
    # A result is the next call's argument, without a copy.
    job = prepare(wd.rnea.describe(PANDA, q, tau, a))
    assert "v" not in job.copied


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("single", ["q", "v", "a", "va", "qv"])
def test_one_row_is_used_for_all_environments(library: str, single: str) -> None:
    """Every argument may be (n,) next to (T, E, n) and next to (B, n)."""
    usable(library)
    arrays = {"q": Q, "v": V, "a": A}
    spread = {n: repeat_row(x[1, 2]) if n in single else x for n, x in arrays.items()}
    wanted = wd.rnea(PANDA, *(rows(x) for x in spread.values())).reshape(V.shape)
    mixed = {n: x[1, 2] if n in single else x for n, x in arrays.items()}
    tau = wd.rnea(PANDA, *(make_array(library, x) for x in mixed.values()))
    assert np.array_equal(host(tau), wanted)
    flat = {n: x if n in single else rows(x) for n, x in mixed.items()}
    tau = wd.rnea(PANDA, *(make_array(library, x) for x in flat.values()))
    assert np.array_equal(host(tau), rows(wanted))
    assert close(wd.oracle(wd.rnea, PANDA, *mixed.values()), wanted)


@pytest.mark.parametrize("count", [1, 5, 333, 5000])
def test_one_row_is_used_for_large_batches(count: int) -> None:
    """They are larger than the cache and run on several threads, in float32, in columns and in
    rows."""
    q, v, a = (
        DRAW.uniform(-1, 1, (count, n)).astype(np.float32) for n in (PANDA.nq, *V.shape[-1:] * 2)
    )
    for turned in (q, np.asfortranarray(q)):
        wanted = wd.rnea(PANDA, turned, np.repeat(v[:1], count, 0), a)
        tau = wd.rnea(PANDA, turned, v[0], a)
        assert np.array_equal(tau, wanted) and tau.strides == wanted.strides
    wanted = wd.rnea(PANDA, np.repeat(q[:1], count, 0), v, a)
    assert np.array_equal(wd.rnea(PANDA, q[0], v, a), wanted)


def test_params_gravity_and_forces_may_have_leading_dimensions() -> None:
    """Everything that may vary: (T, E, ..), or one for all."""
    params = PANDA.params(mass={"panda_hand": rows(DRAW.uniform(0.5, 1, (T, E)))})
    led = params.replace(mass=params["mass"].reshape(T, E, 1))
    gravity, push = DRAW.uniform(-9, 9, (T, E, 3)), DRAW.uniform(-9, 9, (T, E, 6))
    wanted = wd.rnea(
        PANDA,
        rows(Q),
        rows(V),
        rows(A),
        params=params,
        gravity=rows(gravity),
        f_ext={"panda_hand": rows(push)},
    )
    tau = wd.rnea(PANDA, Q, V, A, params=led, gravity=gravity, f_ext={"panda_hand": push})
    assert np.array_equal(rows(tau), wanted)
    tau = wd.rnea(PANDA, Q, V, A, f_ext={"panda_hand": push[0, 0]})
    assert close(tau, wd.rnea(PANDA, Q, V, A, f_ext={"panda_hand": repeat_row(push[0, 0])}))


def test_only_arrays_without_a_single_stride_are_copied() -> None:
    """Parts and transposed arrays are read in place. A copy gives the same result."""
    wide = np.zeros((T, E, 2 * PANDA.nq))
    wide[..., ::2] = Q
    job = prepare(wd.rnea.describe(PANDA, wide[..., ::2], V, A))
    assert not job.copied and np.array_equal(wd.rnea(PANDA, wide[..., ::2], V, A), WANTED)
    turned = np.asfortranarray(Q)
    assert list(prepare(wd.rnea.describe(PANDA, turned, V, A)).copied) == ["q"]
    assert np.array_equal(wd.rnea(PANDA, turned, V, A), WANTED)


def test_out_and_bind_accept_leading_dimensions() -> None:
    """`out=` may be part of a larger array. A bound call reads new numbers."""
    whole = np.full((T, E, PANDA.nv + 2), np.nan)
    out = whole[..., 1:-1]
    assert wd.rnea(PANDA, Q, V, A, out=out) is out and np.array_equal(out, WANTED)
    assert np.isnan(whole[..., [0, -1]]).all()
    q = Q.copy()
    run = wd.bind(wd.rnea, PANDA, q, V[0, 0], A)
    q[:] = 0.1
    assert close(run(), wd.rnea(PANDA, q, repeat_row(V[0, 0]), A)) and run().shape == V.shape
    state = Q.copy()
    assert wd.integrate(PANDA, state, V, out=state) is state
    assert np.array_equal(state, wd.integrate(PANDA, Q, V))


def test_different_leading_dimensions_are_refused() -> None:
    """Memory that cannot be written, or has no stride from row to row, is refused, too."""
    with pytest.raises(ValueError, match=r"v must be \(\.\.\., nv\) = \(3, 4, 8\), got \(4, 8\)"):
        wd.rnea(PANDA, Q, V[0], A)
    with pytest.raises(ValueError, match=r"v must be \(B, nv\) = \(4, 8\), got \(3, 4, 8\)"):
        wd.rnea(PANDA, Q[0], V, A)
    with pytest.raises(ValueError, match=r"out must be \(3, 4, 8\), got \(12, 8\)"):
        wd.rnea(PANDA, Q, V, A, out=np.empty((T * E, PANDA.nv)))
    with pytest.raises(ValueError, match=r"out has leading dimensions .* pass a contiguous array"):
        wd.rnea(PANDA, Q, V, A, out=np.asfortranarray(V))
    with pytest.raises(
        ValueError, match=r"bind reads arrays in place.* a copy of q: one stride cannot .*; pass"
    ):
        wd.bind(wd.rnea, PANDA, np.asfortranarray(Q), V, A)
    q = Q.copy()
    with pytest.raises(ValueError, match="out shares memory with q"):
        wd.integrate(PANDA, q[0, 0], V, out=q)
    with pytest.raises(ValueError, match="Warp arrays have at most 4 dimensions"):
        wd.fk(PANDA, make_array("warp", Q))


def test_a_cotangent_of_one_robot_names_the_shape_that_it_needs() -> None:
    """The message gave what was left of the wrong array, such as (B, 4) for a pose (4, 4), and the
    name "seed 0:out" for a number."""
    q = Q[0, :3]
    rows = r'the cotangent of "out" must be shaped like that result, with a row .* \(3, \.\.\.\)'
    with pytest.raises(ValueError, match=rf"{rows}; got \(4, 4\)"):
        wd.vjp(wd.fk, PANDA, q, frame="panda_hand", cotangents=np.ones((4, 4)))
    with pytest.raises(ValueError, match=rf"{rows}; got \(8,\)"):
        wd.vjp(wd.gravity_torques, PANDA, q, cotangents=[1.0] * 8)
    with pytest.raises(TypeError, match='the cotangent or tangent of "out" must be a NumPy'):
        wd.vjp(wd.potential_energy, PANDA, q, cotangents=1.0)


@pytest.mark.parametrize("function", [wd.rnea, wd.aba], ids=lambda f: f.__name__)
def test_derivatives_have_the_leading_dimensions(function: Callable[..., Any]) -> None:
    """vjp, jvp and derivatives, of trajectories and next to single rows, are compared with the
    oracle."""
    for q, v, a in ((Q, V, A), (Q, V[0, 0], A), (Q[0, 0], V, A)):
        full = [x if x.ndim == 3 else repeat_row(x) for x in (q, v, a)]
        flat = [rows(x) for x in full]
        bars = wd.vjp(function, PANDA, q, v, a, cotangents=W)
        wanted = wd.vjp(function, PANDA, *flat, cotangents=rows(W))
        assert all(close(rows(x), y) for x, y in zip(bars, wanted, strict=True))
        moved = wd.jvp(function, PANDA, q, v, a, tangents={"v": W[0, 0]})
        u = rows(repeat_row(W[0, 0]))
        assert close(rows(moved), wd.jvp(function, PANDA, *flat, tangents={"v": u}))
        by_v = wd.derivatives(function, PANDA, q, v, a, wrt="v")
        assert close(rows(by_v), wd.derivatives(function, PANDA, *flat, wrt="v"))
    few = [x[:1, :2] for x in (Q, V, A)]
    bars = wd.vjp(function, PANDA, few[0], few[1][0, 0], few[2], cotangents=W[:1, :2])
    slow = wd.oracle(wd.vjp, function, PANDA, few[0], few[1][0, 0], few[2], cotangents=W[:1, :2])
    assert all(close(x, y) for x, y in zip(bars, slow, strict=True))


@pytest.mark.parametrize("single", ["q", "v", "tau", "none"])
@pytest.mark.parametrize("library", ["torch", "jax", "warp"])
def test_gradients_of_one_row_are_sums_over_the_batch(library: str, single: str) -> None:
    """They are those of forward dynamics of trajectories, inside Torch, JAX and a tape of Warp."""
    usable(library)
    arrays = {"q": Q, "v": V, "tau": A}
    mixed = {n: x[0, 0] if n == single else x for n, x in arrays.items()}
    bars = wd.vjp(wd.aba, PANDA, *mixed.values(), cotangents=W)
    wanted = [x.sum((0, 1)) if n == single else x for n, x in zip(mixed, bars, strict=True)]
    for got, want in zip(gradients(library, *mixed.values()), wanted, strict=True):
        assert np.shape(got) == want.shape and close(got, want)


def gradients(library: str, *arrays: np.ndarray) -> list[np.ndarray]:
    """Gradients of the sum of W times the accelerations."""
    if library == "torch":
        import torch

        tensors = [torch.tensor(x, requires_grad=True) for x in arrays]
        (wd.aba(PANDA, *tensors) * torch.tensor(W)).sum().backward()
        return [x.grad.numpy() for x in tensors]
    if library == "jax":
        import jax

        given = [make_array("jax", x) for x in arrays]
        loss = jax.grad(lambda *x: (wd.aba(PANDA, *x) * W).sum(), (0, 1, 2))
        compiled, plain = jax.jit(loss)(*given), loss(*given)
        assert all(
            close(np.asarray(x), np.asarray(y)) for x, y in zip(compiled, plain, strict=True)
        )
        return [np.asarray(x) for x in plain]
    import warp as wp

    placed = [wp.array(x, dtype=wp.float64, requires_grad=True) for x in arrays]
    with wp.Tape() as tape:
        out = wd.aba(PANDA, *placed)
    tape.backward(grads={out: wp.array(W, dtype=wp.float64)})
    return [x.grad.numpy() for x in placed]


def test_second_derivatives_of_one_row_equal_differences() -> None:
    """The row is next to a batch, inside Torch."""
    torch = pytest.importorskip("torch")
    model = by_name("double_pendulum").model
    q, v = (torch.tensor(x, requires_grad=True) for x in DRAW.uniform(-1, 1, (2, 2, 2, 2)))
    one = torch.tensor(DRAW.uniform(-1, 1, 2), requires_grad=True)

    def torque(q: Any, v: Any, a: Any) -> Any:
        return wd.rnea(model, q, v, a)

    assert torch.autograd.gradcheck(torque, (q, v, one))
    assert torch.autograd.gradgradcheck(torque, (q, one, v))


def test_vmap_accepts_single_rows() -> None:
    """JAX maps over one argument, and another is common to all."""
    jax = pytest.importorskip("jax")
    q, v, a = (make_array("jax", x) for x in (Q, V, A))
    mapped = jax.vmap(lambda q, v: wd.rnea(PANDA, q, v, a[0, 0]), (0, None))(q, v[0, 0])
    assert close(np.asarray(mapped), wd.rnea(PANDA, Q, V[0, 0], A[0, 0]))
    twice = jax.vmap(jax.vmap(lambda q, v: wd.rnea(PANDA, q, v, None)))(q, v)
    assert close(np.asarray(twice), wd.rnea(PANDA, Q, V, None))


def test_inverse_kinematics_accepts_trajectories() -> None:
    """There are (T, E, 4, 4) targets with one start for all, and one target for (T, E, nq) starts."""
    poses = wd.fk(PANDA, Q * 0.5, frame="panda_hand")
    found = wd.inverse_kinematics(PANDA, poses, frame="panda_hand", q0=PANDA.neutral)
    flat = wd.inverse_kinematics(PANDA, rows(poses), frame="panda_hand", q0=PANDA.neutral)
    assert found.q.shape == Q.shape and found.success.shape == (T, E)
    assert np.array_equal(rows(found.q), flat.q)
    found = wd.inverse_kinematics(PANDA, poses[0, 0], frame="panda_hand", q0=Q)
    flat = wd.inverse_kinematics(PANDA, poses[0, 0], frame="panda_hand", q0=rows(Q))
    assert found.q.shape == Q.shape and np.array_equal(rows(found.q), flat.q)


def test_the_first_array_with_leading_dimensions_decides() -> None:
    """It decides the leading dimensions of the call, also of the call in rows."""
    call = wd.rnea.describe(PANDA, Q[0, 0], V, A)
    shapes = {"q": Q[0, 0].shape, "v": V.shape, "a": A.shape}
    assert leading_shape(call, inputs_of(call), shapes) == ((T, E), "v")
    flat, lead = all_in_rows(call)
    assert lead == (T, E) and flat.arrays["q"] is call.arrays["q"]
    assert flat.arrays["v"].shape == (T * E, PANDA.nv)
    one = {n: s[-1:] for n, s in shapes.items()}
    assert leading_shape(call, inputs_of(call), one) == ((), "q")


def test_empty_trajectories_give_empty_results() -> None:
    """The leading dimensions are (0, E) and (T, 0)."""
    for lead in ((0, 3), (3, 0)):
        nothing = [np.zeros((*lead, n)) for n in (PANDA.nq, PANDA.nv, PANDA.nv)]
        assert wd.rnea(PANDA, *nothing).shape == (*lead, PANDA.nv)


@pytest.mark.parametrize("zero", [("v",), ("a",), ("v", "a")])
def test_none_inside_torch_means_zeros(zero: tuple[str, ...]) -> None:
    """None may be next to tensors that require a gradient, in vmap, and in torch.compile."""
    torch = pytest.importorskip("torch")
    model = wd.load_robot("double_pendulum")
    q = torch.as_tensor(Q[..., :2]).clone().requires_grad_()
    given = {"v": torch.as_tensor(V[..., :2]), "a": torch.as_tensor(A[..., :2])}
    v, a = (None if name in zero else x for name, x in given.items())
    w, b = (torch.zeros_like(x) if name in zero else x for name, x in given.items())

    def gradient(v: Any, a: Any, function: Callable[..., Any] = wd.rnea) -> np.ndarray:
        forces = function(model, q, v, a)
        return np.asarray(torch.autograd.grad(forces.square().sum(), q)[0])

    wanted = gradient(w, b)
    assert close(gradient(v, a), wanted)

    def inverse_dynamics(model: wd.Model, q: Any, v: Any, a: Any) -> Any:
        return wd.rnea(model, q, v, a)

    assert close(
        gradient(v, a, torch.compile(inverse_dynamics, fullgraph=True, backend="eager")), wanted
    )
    if len(zero) == 2:
        mapped = torch.func.vmap(lambda q: wd.rnea(model, q, None, None))(q.detach())
        assert close(np.asarray(mapped), wd.rnea(model, Q[..., :2].copy(), None, None))


def test_params_with_trajectories_name_the_remedy() -> None:
    """Params have rows, so (T, E, n) arrays next to Params that vary must be rows too."""
    params = wd.randomise(
        PANDA, E, mass=wd.random.scale(0.8, 1.2), gravity=wd.random.add(-0.1, 0.1), seed=1
    )
    with pytest.raises(
        ValueError, match=r"Params have one dimension of environments: .*params\[idx\]"
    ):
        wd.rnea(PANDA, Q, V, A, params=params)
    forces = wd.rnea(PANDA, rows(Q), rows(V), rows(A), params=params[np.tile(np.arange(E), T)])
    assert close(forces.reshape(T, E, -1)[1], wd.rnea(PANDA, Q[1], V[1], A[1], params=params))


@pytest.mark.parametrize(
    ("robot", "q", "hint"),
    [
        ("ur5e", (6, 7), "(B, 6), got (6, 7). ur5e has 6 coordinates (see model.q_names)."),
        (
            "quadruped",
            (2, 20),
            "(B, 19), got (2, 20). quadruped has 19 coordinates, the base's first (see model.q_names).",
        ),
        (
            "panda",
            (2, 9),
            "(B, 8), got (2, 9). panda has 8 coordinates: the mimic joint panda_finger_joint2 is not "
            "among them (see model.joint_names).",
        ),
    ],
)
def test_messages_on_wrong_widths_say_what_the_model_has(
    robot: str, q: tuple[int, ...], hint: str
) -> None:
    """A gravity or a batch of another length has no such hint."""
    model = wd.load_robot(robot)
    with pytest.raises(ValueError, match=f"^{re.escape(f'q must be (B, nq) = {hint}')}$"):
        wd.fk(model, np.zeros(q))
    for gravity in ((2, 2), (3, 3)):
        text = f"(B, 3) = (2, 3), got {gravity}; one array (3,) for all robots is accepted too."
        with pytest.raises(ValueError, match=f"^{re.escape(f'gravity must be {text}')}$"):
            wd.gravity_torques(model, np.zeros((2, model.nq)), gravity=np.zeros(gravity))
