"""NumPy arrays next to Torch tensors and JAX arrays: the result is that of converted arrays.
Different dtypes are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import warp as wp

import warpdyn as wd

jax = pytest.importorskip("jax")

ARM = wd.load_robot("ur5e")
Q, V, A = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 5, 6)).astype(np.float32)
MASSES = np.linspace(1.0, 2.0, 5, dtype=np.float32)


def of_torch(x: Any) -> torch.Tensor:
    return torch.tensor(x, dtype=torch.float32)


def of_jax(x: Any) -> Any:
    return jax.numpy.asarray(x, np.float32)


LIBRARIES = pytest.mark.parametrize("of", [of_torch, of_jax])


@LIBRARIES
def test_results_equal_those_of_converted_arrays(of: Any) -> None:
    """Whichever array comes first. Also for gravity of each robot, forces and params, and in
    repeated calls."""
    kind = type(of(Q))
    params = ARM.params(mass={"forearm_link": MASSES})
    more = {"gravity": A[:, :3], "f_ext": {"wrist_3_link": V}, "params": params}
    by_hand = ARM.params(mass={"forearm_link": of(MASSES)})
    wanted = wd.rnea(
        ARM,
        *map(of, (Q, V, A)),
        gravity=of(A[:, :3]),
        f_ext={"wrist_3_link": of(V)},
        params=by_hand,
    )
    for _ in range(3):
        for arrays in ((of(Q), V, A), (Q, of(V), A), (Q, V, of(A))):
            found = wd.rnea(ARM, *arrays, **more)
            assert isinstance(found, kind) and found.dtype == wanted.dtype
            assert np.array_equal(found, wanted)


def test_torch_gradients_take_numpy_arrays_as_constants() -> None:
    """Only tensors have gradients."""
    v = of_torch(V).requires_grad_()
    wd.rnea(ARM, Q, v, A).sum().backward()
    w = of_torch(V).requires_grad_()
    wd.rnea(ARM, of_torch(Q), w, of_torch(A)).sum().backward()
    assert v.grad is not None and torch.equal(v.grad, w.grad)


def test_jax_gradients_take_numpy_arrays_as_constants() -> None:
    """The gradient inside jit equals that of a call with JAX arrays only."""
    found = jax.jit(jax.grad(lambda v: wd.rnea(ARM, Q, v, A).sum()))(of_jax(V))
    wanted = jax.grad(lambda v: wd.rnea(ARM, of_jax(Q), v, of_jax(A)).sum())(of_jax(V))
    assert np.array_equal(found, wanted)


@LIBRARIES
def test_vjp_accepts_numpys_cotangents(of: Any) -> None:
    """The results are arrays of the other library."""
    found = wd.vjp(wd.aba, ARM, of(Q), V, A, cotangents=Q)
    wanted = wd.vjp(wd.aba, ARM, *map(of, (Q, V, A)), cotangents=of(Q))
    for x, y in zip(found, wanted, strict=True):
        assert isinstance(x, type(of(Q))) and np.array_equal(x, y)


@pytest.mark.parametrize("of", [np.float32, np.float64, of_torch, of_jax])
def test_lists_take_the_dtype_and_library_of_the_arrays(of: Any) -> None:
    """Whichever argument is a list: of one robot, of each robot, or a force on a link."""
    arrays = [of(x) for x in (Q, V, A)]
    force, wrench = [0.0, 1, 2.5, 0, 0, 3], of(np.array([0.0, 1.0, 2.5, 0.0, 0.0, 3.0]))
    wanted = wd.rnea(ARM, *arrays, f_ext={"wrist_3_link": wrench})
    for k in range(3):
        mixed = [x.tolist() if n == k else x for n, x in enumerate(arrays)]
        found = wd.rnea(ARM, *mixed, f_ext={"wrist_3_link": force})
        assert type(found) is type(wanted) and found.dtype == wanted.dtype
        assert np.array_equal(found, wanted)
    one = wd.rnea(ARM, arrays[0], V[0].tolist(), [0.0] * 6)
    assert one.dtype == wanted.dtype and np.array_equal(
        one, wd.rnea(ARM, arrays[0], of(V[0]), of(np.zeros(6)))
    )


def test_a_simulation_takes_a_list_as_a_force() -> None:
    """Its arrays are float32."""
    one, other = (
        wd.Simulation(ARM, 2, points=[], f_ext={"wrist_3_link": force})
        for force in ([0.0, 1, 2.5, 0, 0, 3], np.float32([0.0, 1.0, 2.5, 0.0, 0.0, 3.0]))
    )
    one.step()
    other.step()
    assert np.array_equal(one.q, other.q)


@LIBRARIES
def test_other_mixtures_are_refused(of: Any) -> None:
    """Whole numbers, `out` of another library, arrays that are bound, and Warp's arrays."""
    with pytest.raises(TypeError, match="v must be float32 or float64, got int64"):
        wd.rnea(ARM, of(Q), V.astype(int), A)
    with pytest.raises(TypeError, match="out"):
        wd.rnea(ARM, of(Q), V, A, out=np.empty((5, 6), np.float32))
    with pytest.raises(TypeError, match="v is numpy; convert v to"):
        wd.bind(wd.rnea, ARM, of(Q), V, of(A))
    with pytest.raises(TypeError, match="q is warp, v is numpy; convert v to warp"):
        wd.rnea(ARM, wp.array(Q, dtype=wp.float32, device="cpu"), V, A)


@LIBRARIES
@pytest.mark.parametrize("wide", ("numpy", "other"))
def test_dtypes_must_be_the_same(of: Any, wide: str) -> None:
    """float64 next to float32 is refused in both directions, by the name of the argument, in first
    and repeated calls and in differentiated ones."""
    with jax.enable_x64(True):
        double = Q.astype(np.float64)
        host, others = (double, of(Q)) if wide == "numpy" else (Q, of_wide(of))
        kinds = ("float64", "float32") if wide == "numpy" else ("float32", "float64")
        refused = (
            rf"NumPy's {kinds[0]}, next to \w+'s {kinds[1]}; convert it \(\.astype\(np.{kinds[1]}"
        )
        for _ in range(4):
            for arrays, name in (((others, host, others), "v"), ((host, others, others), "q")):
                with pytest.raises(TypeError, match=f"one dtype: {name} is {refused}"):
                    wd.rnea(ARM, *arrays)
            for more, name in (
                ({"gravity": host[:, :3]}, "gravity"),
                ({"f_ext": {"wrist_3_link": host}}, "f_ext:wrist_3_link"),
                (
                    {"params": ARM.params(mass={"forearm_link": host[:, 0] ** 2})},
                    r"mass \(params\)",
                ),
            ):
                with pytest.raises(TypeError, match=f"one dtype: {name} is {refused}"):
                    wd.rnea(ARM, others, others, others, **more)
            wd.rnea(ARM, others, others, others, gravity=host[0, :3])  # plain numbers
        with pytest.raises(TypeError, match="one dtype: the cotangent"):
            wd.vjp(wd.rnea, ARM, others, others, others, cotangents=host)


def of_wide(of: Any) -> Any:
    return (
        torch.tensor(Q, dtype=torch.float64) if of is of_torch else jax.numpy.asarray(Q, np.float64)
    )


@LIBRARIES
def test_masked_arrays_are_refused(of: Any) -> None:
    """A masked array with masked entries is refused, as in a call on NumPy arrays."""
    masked = np.ma.masked_array(V, mask=V > 0.5)
    for _ in range(4):
        with pytest.raises(TypeError, match=r"^v is a masked array with"):
            wd.rnea(ARM, of(Q), masked, of(A))
    unmasked = np.ma.masked_array(V)
    assert np.array_equal(wd.rnea(ARM, of(Q), unmasked, A), wd.rnea(ARM, of(Q), V, A))
