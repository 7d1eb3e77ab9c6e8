"""Torch tensors: gradients pass through every function that makes a tensor from tensors."""

from __future__ import annotations

import warnings
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import warpdyn as wd  # noqa: E402
from warpdyn.arrays import torch_arrays  # noqa: E402
from warpdyn.arrays.layout import padded_count  # noqa: E402
from warpdyn.arrays.protocol import Part  # noqa: E402
from warpdyn.arrays.reused_memory import MEMORY  # noqa: E402
from warpdyn.arrays.torch_arrays import LIBRARY, REUSED_FROM  # noqa: E402


def leaf(*shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=torch.float64, requires_grad=True)


def test_a_required_gradient_is_not_lost() -> None:
    """A tensor that requires a gradient is refused where none is computed. Under no_grad it is
    read."""
    x = leaf(2, 3)
    with pytest.raises(NotImplementedError, match=r"q requires a gradient.*q\.detach\(\)"):
        LIBRARY.view("q", x)
    with torch.no_grad():
        assert LIBRARY.view("q", x).address == x.data_ptr()
    assert LIBRARY.view("q", x.detach()).strides == (3, 1)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float16, torch.bool, torch.complex64])
def test_other_dtypes_are_refused(dtype: torch.dtype) -> None:
    """The message says which dtypes are accepted and which arrived."""
    with pytest.raises(TypeError, match=f"q must be float32 or float64, got {dtype}"):
        LIBRARY.view("q", torch.zeros(2, 3, dtype=dtype))


def test_gradients_pass_through_stacking() -> None:
    """The sum over all rows gives each value the gradient one for its own entry of each
    environment."""
    one, many = leaf(3), leaf(5, 3)
    rows = LIBRARY.stack_values([one, many, [1.0, 2.0, 3.0]], (3,), 5, torch.float64)
    assert rows.shape == (5, 3, 3) and tuple(rows.stride()) == (1, 3 * padded_count(5, False), 8)
    rows.sum().backward()
    assert torch.equal(one.grad, torch.full((3,), 5.0, dtype=torch.float64))
    assert torch.equal(many.grad, torch.ones(5, 3, dtype=torch.float64))
    assert LIBRARY.stack_values([one, one], (3,), None, np.float32).dtype == torch.float32


def test_gradients_pass_through_joining() -> None:
    """Columns are joined and picked, blocks are widened with zeros, and a number becomes a
    column."""
    x, y = leaf(4, 2), leaf(4)
    joined = LIBRARY.join_columns([Part(x, 2, False), Part(y, 1, True), Part(1.0, 1, True)], x)
    assert joined.shape == (4, 4)
    wide = LIBRARY.end_to_end([x, joined], (4,))
    assert wide.shape == (8, 4) and not wide[:4, 2:].any()
    total = wide.sum() + LIBRARY.pick_columns(x, [1, 1]).sum() + LIBRARY.as_column(y, x, (4,)).sum()
    total.backward()
    assert x.grad[:, 0].eq(2).all() and x.grad[:, 1].eq(4).all() and y.grad.eq(2).all()


def test_one_number_for_all_rows_has_a_gradient() -> None:
    """A tensor without dimensions is one number for every row."""
    t = leaf()
    LIBRARY.as_column(t, torch.zeros(6, 2, dtype=torch.float64), (6,)).sum().backward()
    assert t.grad == 6.0


def test_a_large_tensor_reuses_the_memory_of_the_last_one() -> None:
    """Neither the tensor nor a view of it is in use then. Torch allocates smaller tensors."""
    MEMORY.clear()
    shape = (REUSED_FROM // 8, 2)
    first = LIBRARY.allocate("cpu", True, shape)
    where, view = first.data_ptr(), first[5:].t()
    assert where % 64 == 0 and first.dtype == torch.float32 and tuple(first.shape) == shape
    del first
    assert MEMORY.waiting_bytes == 0 and LIBRARY.maker("cpu", True, shape)().data_ptr() != where
    MEMORY.clear()
    del view
    assert LIBRARY.maker("cpu", True, shape)().data_ptr() == where
    MEMORY.clear()
    LIBRARY.allocate("cpu", True, (REUSED_FROM // 8, 1))
    assert MEMORY.waiting_bytes == 0


def test_a_template_of_large_tensors_is_small() -> None:
    """It is one number, expanded. A template of small tensors has their size."""
    for shape, entries in (((16, 16), 256), ((257,), 1)):
        maker = LIBRARY.maker("cpu", True, shape)
        assert isinstance(maker, partial)
        (template,) = maker.args
        assert template.untyped_storage().nbytes() == 4 * entries
        assert maker().shape == shape and maker().is_contiguous()


def test_gradients_of_large_results_are_not_overwritten() -> None:
    """Later calls do not use their memory. Results that were changed in place raise."""
    arm, count = wd.load_robot("ur5e"), REUSED_FROM // 24
    q = torch.full((count, 6), 0.3, requires_grad=True)
    torques, before, after = [], [], []
    for k in range(4):
        torques.append(wd.gravity_torques(arm, q * (k + 1)))
        (gradient,) = torch.autograd.grad(torques[-1].sum(), q)
        before.append(gradient[0].clone())
        after.append(gradient)
    for k, (gradient, row) in enumerate(zip(after, before, strict=True)):
        assert torch.equal(gradient, row.expand(count, 6))
        one = wd.gravity_torques(arm, torch.full((6,), 0.3 * (k + 1)))
        torch.testing.assert_close(torques[k][-1], one, rtol=1e-5, atol=1e-5)
    squared = torques[0] ** 2
    torques[0].detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        squared.sum().backward()


def test_errors_for_wrong_tensors_name_the_torch_conversion() -> None:
    """The tensors have half precision, are sparse, or have no numbers."""
    x = torch.ones(2, 3)
    with pytest.raises(
        TypeError, match=r"got torch\.float16; convert it \(q\.float\(\) or q\.double"
    ):
        LIBRARY.view("q", x.half())
    with pytest.raises(
        TypeError, match=r"^q is sparse \(torch\.sparse_coo\); pass q\.to_dense\(\)"
    ):
        LIBRARY.view("q", x.to_sparse())
    with pytest.raises(ValueError, match=r"^q is on the device 'meta'.*fill it"):
        LIBRARY.view("q", x.to("meta"))


def test_lazy_tensors_are_resolved_or_refused() -> None:
    """`resolve_lazy_view` returns the numbers that Torch shows, `view` refuses tensors without an
    address. Other tensors do not change."""
    z = torch.complex(torch.zeros(3, 2), torch.arange(6.0).reshape(3, 2))
    zeros = torch._efficientzerotensor((3, 2))
    for lazy in (z.conj().imag, z.mH.imag, zeros):
        assert not LIBRARY.sort(lazy) or not lazy.data_ptr()
        found = LIBRARY.resolve_lazy_view(lazy)
        assert torch.equal(found, lazy.clone()) and LIBRARY.view("q", found).shape == lazy.shape
        with pytest.raises((ValueError, NotImplementedError), match=r"^q is .*lazy"):
            LIBRARY.view("q", lazy)
        assert np.array_equal(LIBRARY.to_host(lazy), lazy.clone().numpy())
    assert LIBRARY.resolve_lazy_view(z.real) is not None
    x = torch.ones(2)
    assert LIBRARY.resolve_lazy_view(x) is x


def test_read_only_numbers_are_copied() -> None:
    """Torch has no read-only tensors, and warns about memory that it might write."""
    values = np.arange(3.0)
    values.setflags(write=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for found in (
            LIBRARY.convert_like(values, "float64", torch.zeros(1)),
            LIBRARY.from_host(values, "cpu"),
        ):
            assert found.tolist() == [0, 1, 2]
            found += 1
        array = torch.zeros(3)
        LIBRARY.write(array, values)
        LIBRARY.assign(array, slice(None), np.broadcast_to(values, (3,)))
    assert values.tolist() == [0, 1, 2] and array.tolist() == [0, 1, 2]


class StandInStream(NamedTuple):
    """A stand-in for a CUDA stream of Torch: its device and its handle."""

    device_index: int
    cuda_stream: int


@pytest.mark.parametrize("has_handles", [False, True])
def test_a_stream_is_wrapped_once(monkeypatch: pytest.MonkeyPatch, has_handles: bool) -> None:
    """Each call asks for the current stream. Warp makes an event for each wrapper, so each stream
    is wrapped only once. Stand-ins for Torch's stream objects differ at each call."""
    monkeypatch.setattr(torch_arrays, "_streams", {})
    wrapped: list[StandInStream] = []
    handle = [1]
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: StandInStream(0, handle[0]))
    monkeypatch.setattr(torch_arrays, "_handle", (lambda _: handle[0]) if has_handles else None)
    monkeypatch.setattr(torch_arrays.wp, "stream_from_torch", lambda x: wrapped.append(x) or x)
    first = [LIBRARY.stream("cuda:0") for _ in range(3)]
    handle[0] = 2
    second = LIBRARY.stream("cuda:0")
    handle[0] = 1
    assert LIBRARY.stream("cuda:0") is first[0] and first[0] is first[2] and second != first[0]
    assert wrapped == [(0, 1), (0, 2)]
    assert LIBRARY.stream("cpu") is None and LIBRARY.own_streams


def test_written_tensors_have_a_new_version() -> None:
    """Torch compares versions before a backward pass. A tensor of inference mode has none."""
    written, other = torch.zeros(3), torch.zeros(3)
    before = written._version, other._version
    with torch.inference_mode():
        unversioned = torch.zeros(3)
    LIBRARY.mark_written([written, unversioned])
    assert written._version > before[0] and other._version == before[1]


def test_a_traced_tensor_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LIBRARY.readable(torch.zeros(2))
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert not LIBRARY.readable(torch.zeros(2))


def test_finish_waits_for_the_tensors_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[str] = []

    def stream(device: str) -> Any:
        return SimpleNamespace(synchronize=lambda: waited.append(device))

    monkeypatch.setattr(torch.cuda, "current_stream", stream)
    LIBRARY.finish(torch.zeros(2))
    assert not waited
    LIBRARY.finish(SimpleNamespace(is_cuda=True, device="cuda:1"))
    assert waited == ["cuda:1"]


def test_a_transform_or_a_tangent_means_not_at_rest() -> None:
    """Each on its own is enough."""
    assert LIBRARY.at_rest()
    seen: list[bool] = []

    def note(x: torch.Tensor) -> torch.Tensor:
        seen.append(LIBRARY.at_rest())
        return x

    torch.func.vmap(note)(torch.zeros(3))
    with torch.autograd.forward_ad.dual_level():
        note(torch.zeros(3))
    assert seen == [False, False] and LIBRARY.at_rest()


def test_a_bound_call_keeps_the_memory_of_its_tensors() -> None:
    """A tensor that gets other memory leaves the old one to the call. Torch refuses to resize it,
    because the call would read, or write, memory that is free."""
    model = wd.load_robot("cartpole")
    q, out = torch.full((3, 2), 0.5, dtype=torch.float64), torch.zeros(3, 2, dtype=torch.float64)
    run = wd.bind(wd.gravity_torques, model, q, out=out)
    before, address = run().clone(), q.data_ptr()
    for tensor in (q, out):
        with pytest.raises(RuntimeError, match="not resizable"):
            tensor.resize_(1000, 1000)
        tensor.resize_(3, 2)  # Torch has changed the shape before it refused
    q.data = torch.zeros(3, 2, dtype=torch.float64)
    others = [torch.full((3, 2), 7.0, dtype=torch.float64) for _ in range(50)]
    assert torch.equal(run(), before)
    assert address not in [x.data_ptr() for x in others]
    assert LIBRARY.hold(9.81) == 9.81
