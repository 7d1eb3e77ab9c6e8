"""Differentiated calls if JAX or Torch lack something: another path gives the same numbers, or
refuses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.execution.repeat.call_cache import MISS

jax = pytest.importorskip("jax")
torch = pytest.importorskip("torch")

from warpdyn.execution.autodiff import (  # noqa: E402
    jax_gradients,
    torch_gradients,
)

MODEL = wd.load_robot("cartpole")
Q = np.random.default_rng(0).uniform(-1, 1, (3, 2)).astype(np.float32)


@pytest.fixture
def without_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs of earlier calls are forgotten."""
    monkeypatch.setattr(jax_gradients, "_programs", jax_gradients.WeakKeyDictionary())


def test_registration_fails_if_xla_rejects_the_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registration fails, too, if Warp has no handler."""
    register = jax_gradients._register_handler.__wrapped__

    def reject(*_: object, **__: object) -> None:
        raise RuntimeError("another version")

    with monkeypatch.context() as patch:
        patch.setattr(jax_gradients, "handler", lambda: None)
        assert register() is False
    with monkeypatch.context() as patch:
        patch.setattr(jax.ffi, "register_ffi_target", reject)
        assert register() is False
    with monkeypatch.context() as patch:
        patch.setattr(jax.ffi, "register_ffi_target", lambda *_, **__: None)
        assert register() is True


@pytest.mark.parametrize("change", ["handler", "debug", "gpu"])
def test_other_paths_give_the_same_numbers(
    change: str, without_programs: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python computes if XLA takes no handler or in debug mode, a jitted function on a GPU."""
    x = [jax.numpy.asarray(Q) for _ in range(3)]

    def total(q: Any) -> Any:
        return wd.rnea(MODEL, q, *x[1:]).sum()

    wanted = jax.grad(total)(x[0])
    jax_gradients._programs.clear()
    if change == "handler":
        monkeypatch.setattr(jax_gradients, "_register_handler", lambda: False)
    if change == "debug":
        monkeypatch.setattr(wd.config, "debug", True)
    if change == "gpu":
        jits: list[Any] = []
        made = jax_gradients._jit
        monkeypatch.setattr(jax_gradients, "is_elsewhere", lambda _: True)
        monkeypatch.setattr(jax_gradients, "_jit", lambda each: jits.append(each) or made(each))
    found = jax.grad(total)(x[0])
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-6)
    assert change != "gpu" or jits


def test_traced_arrays_must_have_one_dtype() -> None:
    """The message names the array of another dtype and the remedy."""
    with jax.enable_x64(True):
        q, v = jax.numpy.asarray(Q), jax.numpy.asarray(Q, dtype="float64")
        with pytest.raises(TypeError) as refused:
            jax.jit(lambda q: wd.rnea(MODEL, q, v, v))(q)
        said = "all arrays of a call must be of one dtype: q is float32, v is float64; convert v to float32"
        assert str(refused.value) == said
    whole = jax.numpy.zeros((3, 2), dtype="int32")
    with pytest.raises(TypeError, match=r"v\.astype\(jnp\.float32\)"):
        jax.jit(lambda q: wd.rnea(MODEL, q, whole, q))(jax.numpy.asarray(Q))


def test_a_cached_call_of_xla_ends_with_its_models() -> None:
    """Its results are one array, a tuple, or have names."""
    known = jax_gradients.KnownByXla.__new__(jax_gradients.KnownByXla)
    results: list[int] = [1]
    known.program = lambda *_: results  # type: ignore[assignment]
    models: list[Any] = [lambda: MODEL]
    known.known = SimpleNamespace(models=models, named=None)  # type: ignore[assignment]
    assert known.run([]) == 1
    results.append(2)
    assert known.run([]) == (1, 2)
    known.known.named = lambda *x: ["named", *x]
    assert known.run([]) == ["named", 1, 2]
    models.append(lambda: None)
    assert known.run([]) is MISS


def test_results_have_no_tangents_if_no_input_has() -> None:
    """No array of the call moves: no result does."""
    q = torch.zeros((2, 2))
    call = wd.rnea.describe(MODEL, q, q, q)  # type: ignore[attr-defined]
    operation = SimpleNamespace(names=("q", "v"), shapes=((2,), (2,)), batch_shape=lambda _: (2,))
    context = SimpleNamespace(operation=operation)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            torch_gradients._CallNode, "_call", staticmethod(lambda _: (call, None, [q, q]))
        )
        assert torch_gradients._CallNode.jvp(context, None, None, None) == (None,)


def test_results_in_place_are_marked_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch then knows about the change of a single array or of several."""
    q = torch.zeros((2, 2))
    marked: list[Any] = []
    monkeypatch.setattr(type(torch_gradients.TORCH), "mark_written", lambda _, x: marked.append(x))
    out = torch.zeros((2, 2))
    job: Any = SimpleNamespace(user_result=lambda: "results")
    for given, wanted in ((out, (out,)), ((out,), (out,)), ([out], [out])):
        call = wd.rnea.describe(MODEL, q, q, q, out=given)  # type: ignore[attr-defined]
        assert torch_gradients.run(call, lambda _: job) == "results"
        assert len(marked[-1]) == 1 and marked[-1][0] is wanted[0]
    call = wd.rnea.describe(MODEL, q, q, q)  # type: ignore[attr-defined]
    assert torch_gradients.run(call, lambda _: job) == "results" and len(marked) == 3
    moving = q.clone().requires_grad_()
    with pytest.raises(TypeError, match=r"out= cannot take part in a gradient; leave it out"):
        wd.rnea(MODEL, moving, q, q, out=out)


@pytest.mark.parametrize("array", ["numbers", "rows"])
def test_traced_calls_accept_plain_numbers_and_refuse_rows_of_other_libraries(array: str) -> None:
    """Plain numbers become tensors. The message names the rows."""
    q = torch.zeros((2, 2))
    gravity = np.array([0.0, 0.0, -1.0], np.float32)
    call = wd.rnea.describe(MODEL, q, q, q, gravity=gravity)  # type: ignore[attr-defined]
    names = ("q", "v", "a")
    operation = torch_gradients.Operation(call, lambda _: None, names)
    given: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            torch_gradients.torch.ops.warpdyn, "launch", lambda *x: given.append(x) or [q]
        )
        if array == "numbers":
            assert torch_gradients.launch_by_operator(operation, [q, q, q]) == (q,)
            ((program, arrays),) = given
            assert program.startswith("rnea of cartpole ") and len(arrays) == 4
            assert arrays[3].dtype == torch.float32 and arrays[3].tolist() == [0.0, 0.0, -1.0]
        else:
            rows = np.tile(gravity, (2, 1))
            call = wd.rnea.describe(MODEL, q, q, q, gravity=rows)  # type: ignore[attr-defined]
            operation = torch_gradients.Operation(call, lambda _: None, names)
            with pytest.raises(TypeError) as refused:
                torch_gradients.launch_by_operator(operation, [q, q, q])
            assert str(refused.value) == (
                "all arrays of a call must be of one library: gravity is not a Torch tensor; convert it"
            )


def test_torchs_compiler_gets_records_and_a_message_about_out() -> None:
    """The substitute for a call gives the same record, and refuses `out=` in a complete sentence."""
    q = torch.zeros((2, 2))
    torch_gradients.prepare(type(wd.rnea))
    found = torch_gradients.traceable_call(wd.rnea, (MODEL, q, q), {"a": None, "out": None})
    assert torch.allclose(found, wd.rnea(MODEL, q, q, None))
    with pytest.raises(TypeError) as refused:
        torch_gradients.traceable_call(wd.rnea, (MODEL, q, q, q), {"out": q})
    assert str(refused.value) == (
        "out= cannot take part in torch.compile; leave it out, or call under torch.no_grad()"
    )
    end = torch_gradients.traceable_call(wd.step, (MODEL, q, q, q), {"dt": 0.01})
    expected = wd.step(MODEL, q, q, q, dt=0.01)
    assert type(end) is type(expected) and torch.allclose(end.q, expected.q)
