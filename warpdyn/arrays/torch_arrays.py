"""Torch tensors. Imported when the first one arrives; every operation keeps gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
import torch
import warp as wp
from torch.autograd import forward_ad

from . import layout
from .numpy_arrays import DOUBLE, SINGLE, LikeNumpy, check_unmasked
from .protocol import View, dtype_name, variable, wrong_dtype
from .reused_memory import MEMORY

transforms = torch._C._are_functorch_transforms_active
"""A function that is true if torch.func transforms the running code."""

followers = torch._C._len_torch_dispatch_stack
"""A function that counts the modes, such as a tracer's, that intercept operations on tensors."""

tracing = torch._C._is_tracing
"""A function that is true if `torch.jit.trace` records the running code."""

PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))
"""Types of tensors that consist only of numbers in memory, and possibly a gradient."""

DEVICES = ("cpu", "cuda")
"""Types of devices whose memory kernels can read."""

REUSED_FROM = 1 << 23
"""Size in bytes from which a result on the CPU lies in reused memory. Torch asks the C library,
which returns large pieces to the system when they are freed: to fill 64 MiB of a new tensor takes
24 ms, compared with 2.4 ms in reused memory. Smaller results take the same time either
way."""

KEPT_AS_LIKENESS = 256
"""Number of entries up to which a tensor is kept as a template for new ones."""


class TorchArrays(LikeNumpy):
    """Torch, on the CPU and on CUDA devices."""

    name, array_type, operations = "torch", torch.Tensor, torch
    edge = "torch"
    takes_numpy = native = own_streams = True

    def view(self, name: str, array: torch.Tensor) -> View:
        # Every tensor that a kernel could misread is refused here, because a kernel sees only an
        # address and strides.
        if array.dtype is not torch.float32 and array.dtype is not torch.float64:
            raise wrong_dtype(name, array.dtype, "{0}.float() or {0}.double()")
        if array.layout is not torch.strided:
            raise TypeError(f"{name} is sparse ({array.layout}); pass {variable(name)}.to_dense()")
        if array.requires_grad and torch.is_grad_enabled():
            raise NotImplementedError(
                f"{name} requires a gradient, but this call computes none; "
                f"pass {variable(name)}.detach(), or call under torch.no_grad()"
            )
        where, single = array.device, array.dtype is torch.float32
        if where.type not in DEVICES:
            raise ValueError(
                f"{name} must be on the CPU or a CUDA device, got a tensor on {where.type!r}; "
                f"pass {name}.cpu()"
                if where.type != "meta"
                else f"{name} is on the device 'meta', where tensors have shapes but no numbers; "
                f"make it with torch.empty_like({name}, device='cpu') and fill it"
            )
        if array.is_neg():
            raise ValueError(
                f"{name} is a lazy view: its memory holds the negated numbers (an imaginary part of "
                f"a conjugate); pass {variable(name)}.resolve_neg()"
            )
        device = "cpu" if where.type == "cpu" else f"{where.type}:{where.index or 0}"
        try:
            address = array.data_ptr()
        except RuntimeError:
            address = 0
        if not address and array.numel():
            raise NotImplementedError(_without_memory(name, array))
        return View(self, address, tuple(array.shape), array.stride(), single, device)

    def resolve_lazy_view(self, array: torch.Tensor) -> torch.Tensor:
        # `view` refuses a functionalised tensor without memory.
        lazy = array.is_neg() or array._is_zerotensor()  # type: ignore[attr-defined]
        return array.clone() if lazy else array

    def hold(self, array: Any) -> Any:
        # A NumPy array of the storage: `resize_` is then an error of Torch, and `set_` and `.data =`
        # leave the memory to the bound call.
        if not isinstance(array, torch.Tensor):
            return array
        same = array.detach()
        return same.numpy() if same.device.type == "cpu" else same

    def sort(self, array: torch.Tensor) -> tuple[Any, ...]:
        # Tensors without memory, such as lazy zeros, have the address 0
        # (`execution/repeat/planned_call`).
        if type(array) not in PLAIN or array.is_neg() or not (array.is_cpu or array.is_cuda):
            return ()
        followed = array.requires_grad and torch.is_grad_enabled()
        return array.dtype, array.shape, array.stride(), array.device, followed

    def differentiates(self, arrays: Sequence[Any]) -> bool:
        return torch.is_grad_enabled() and any(
            isinstance(x, torch.Tensor) and x.requires_grad for x in arrays
        )

    # Not wrapped in a Python function, which would take as long as the call itself.
    address = staticmethod(torch.Tensor.data_ptr)  # type: ignore[assignment]

    def maker(self, device: str, single: bool, shape: tuple[int, ...]) -> Callable[[], Any]:
        if _is_reused(device, single, shape):
            return partial(self.allocate, device, single, shape)
        # A template makes a tensor in half the time of `torch.empty`, which reads sizes, dtype and
        # device. A template for larger ones is one number expanded in C order, which takes a tenth
        # more time.
        if prod(shape) <= KEPT_AS_LIKENESS:
            return partial(torch.empty_like, self.allocate(device, single, shape))
        return partial(torch.empty_like, self.allocate(device, single, (1,)).expand(shape))

    def at_rest(self) -> bool:
        return not (followers() or transforms() or forward_ad._current_level >= 0 or tracing())

    def mark_written(self, arrays: Sequence[torch.Tensor]) -> None:
        # A backward pass that reads the old numbers then raises.
        for each in arrays:
            if not each.is_inference():
                torch.autograd.graph.increment_version(each)

    def allocate(self, device: str, single: bool, shape: tuple[int, ...]) -> torch.Tensor:
        if _is_reused(device, single, shape):
            return torch.from_numpy(MEMORY.array(shape, SINGLE if single else DOUBLE))
        dtype = torch.float32 if single else torch.float64
        return torch.empty(shape, dtype=dtype, device=device)

    def environment_first(self, memory: torch.Tensor, count: int) -> torch.Tensor:
        last = memory.ndim - 1
        return memory[..., :count].permute(last, *range(last))

    def first_of(self, array: torch.Tensor) -> torch.Tensor:
        return array[0]

    def from_host(self, host: np.ndarray, device: str) -> torch.Tensor:
        return _tensor(host, device=device)

    def to_host(self, array: torch.Tensor) -> np.ndarray:
        return self.resolve_lazy_view(array.detach()).cpu().numpy()

    def write(self, array: torch.Tensor, values: np.ndarray | float) -> None:
        array.copy_(_tensor(values))

    def assign(self, array: torch.Tensor, where: Any, values: Any) -> None:
        with torch.no_grad():
            array[_index(where, array)] = self.convert_like(values, array.dtype, array)

    def cast(self, array: torch.Tensor, dtype: str) -> torch.Tensor:
        return array.to(getattr(torch, dtype))

    def convert_like(self, values: Any, dtype: Any, like: torch.Tensor) -> torch.Tensor:
        kind = dtype if isinstance(dtype, torch.dtype) else getattr(torch, dtype_name(dtype))
        return _tensor(values, dtype=kind, device=like.device)

    def rows(self, array: torch.Tensor, index: Any) -> torch.Tensor:
        if isinstance(index, (int, slice)):
            return array[index]
        index = torch.as_tensor(index, device=array.device)
        return array.movedim(0, -1)[..., index].contiguous().movedim(-1, 0)

    def replace_rows(self, array: torch.Tensor, mask: Any, rows: torch.Tensor) -> torch.Tensor:
        mask = torch.as_tensor(mask, device=array.device)
        # Masked assignment would wait for a transfer to the host.
        return array.copy_(torch.where(mask.reshape(-1, *[1] * (array.ndim - 1)), rows, array))

    def move_to(self, array: torch.Tensor, dtype: str, device: Any) -> torch.Tensor:
        where, kind = array.device if device is None else device, getattr(torch, dtype)
        if array.ndim > 1 and array.stride(0) == 1:
            return array.movedim(0, -1).to(where, kind).movedim(-1, 0)
        return array.to(where, kind)

    def readable(self, array: torch.Tensor) -> bool:
        # A tracer's tensors have no numbers. This comes first, because a tracer cannot follow the
        # second question.
        if torch.compiler.is_compiling():
            return False
        return not torch._C._functorch.is_functorch_wrapped_tensor(array)

    def sum_into_table(
        self, shares: torch.Tensor, shape: tuple[int, ...], out: Any
    ) -> torch.Tensor:
        each = shares.reshape(-1, 3).double()
        row, column = (
            each[:, k + 1].nan_to_num(0.0).clamp(0, n - 1).long() for k, n in enumerate(shape)
        )
        total = each.new_zeros(shape).flatten()
        total = total.index_add_(0, row * shape[1] + column, each[:, 0]).reshape(shape)
        return total.to(shares.dtype) if out is None else out.copy_(total)

    def pad_with_zeros(self, array: torch.Tensor, more: Sequence[int]) -> torch.Tensor:
        ends = [n for behind in reversed(more) for n in (0, behind)]
        return torch.nn.functional.pad(array, ends)

    def stack_values(
        self, values: Sequence[Any], shape: tuple[int, ...], count: int | None, dtype: Any
    ) -> torch.Tensor:
        like = next(x for x in values if isinstance(x, torch.Tensor))
        arrays = [self.convert_like(x, dtype, like) for x in values]
        if count is None:
            return torch.stack(arrays)
        rows = [torch.broadcast_to(x, (count, *shape)).movedim(0, -1) for x in arrays]
        memory = torch.stack(rows)  # copied, not written into, so that gradients pass
        spare = layout.padded_count(count, memory.dtype is torch.float32) - count
        whole = self.pad_with_zeros(memory, [0] * (memory.ndim - 1) + [spare])
        return self.environment_first(whole, count)

    def functional(self, array: torch.Tensor) -> bool:
        return array.requires_grad

    def on_cuda(self, array: torch.Tensor) -> bool:
        return array.is_cuda

    def row_index(self, where: Any, like: torch.Tensor) -> Any:
        index = _tensor(where, device=like.device)
        kept = index.dtype in (torch.bool, torch.int32, torch.int64)
        return wp.from_torch(index if kept else index.long())

    def finish(self, array: torch.Tensor) -> None:
        if array.is_cuda:
            torch.cuda.current_stream(array.device).synchronize()

    def stream(self, device: str) -> Any:
        if device == "cpu":
            return None
        if _handle is not None:
            index = int(device[len("cuda:") :])
            found = _streams.get((index, _handle(index)))
            if found is not None:
                return found
        return _warp_stream(torch.cuda.current_stream(device))


_handle = getattr(torch._C, "_cuda_getCurrentRawStream", None)
"""A function that returns the handle of the current stream of a device, by its index, in a tenth of the
time of `torch.cuda.current_stream`, which makes objects; None in a Torch without it."""

_streams: dict[tuple[int, int], Any] = {}
"""Warp's wrappers of Torch's streams, by device and handle. Warp makes a CUDA event for each new
wrapper. Torch takes its streams from a pool that lives as long as the process, so there are few."""


def _warp_stream(stream: Any) -> Any:
    key = stream.device_index, stream.cuda_stream
    found = _streams.get(key)
    if found is None:
        found = _streams[key] = wp.stream_from_torch(stream)
    return found


def _tensor(values: Any, **kind: Any) -> torch.Tensor:
    """Any values as a tensor. Read-only NumPy arrays are copied: Torch would warn about them."""
    if isinstance(values, np.ndarray):
        check_unmasked("an array", values)
        if not values.flags.writeable:
            values = values.copy()
    return torch.as_tensor(values, **kind)


def _without_memory(name: str, array: torch.Tensor) -> str:
    """The reason why a tensor with numbers has no address."""
    if array._is_zerotensor():  # type: ignore[attr-defined]
        return f"{name} is a tensor of lazy zeros, without memory; pass {name}.clone()"
    if torch._is_functional_tensor(array):
        return (
            f"{name} is a functionalised tensor (torch.func.functionalize), whose memory this call "
            "cannot read or write; call it outside"
        )
    return (
        f"{name} has no memory: torch.func or a tracer of Torch's stands for it, or its storage was "
        "resized to 0 bytes, which this call cannot follow; call it outside, or on a tensor with "
        "numbers"
    )


def _is_reused(device: str, single: bool, shape: tuple[int, ...]) -> bool:
    """True if a result lies in reused memory; otherwise Torch allocates it."""
    return device == "cpu" and prod(shape) * (4 if single else 8) >= REUSED_FROM


def _index(where: Any, array: torch.Tensor) -> Any:
    """An index of rows in a form that the array accepts."""
    return where if isinstance(where, slice) else torch.as_tensor(where, device=array.device)


LIBRARY = TorchArrays()
