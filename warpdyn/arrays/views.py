"""NumPy, Torch, Warp and JAX arrays at the edge: where they lie, and new ones of the same kind.

Nothing is imported that the caller has not imported: a library is recognised by the module of the array's type.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np
import warp as wp

Array = Any
"""A NumPy, Torch, Warp or JAX array."""

ALIGNMENT = 64
"""Bytes: a cache line, and a vector of lanes."""

LINES_OF_PAGE = 4096 // ALIGNMENT


class View(NamedTuple):
    """Where an array lies. Strides in elements; `single` for float32, not for float64; `device` as Warp names it."""

    kind: str
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    single: bool
    device: str


def view(name: str, array: Array) -> View:
    """Look at an argument; TypeError says what kinds and dtypes are taken."""
    if type(array) is np.ndarray:
        return _numpy_view(name, array)
    library = type(array).__module__.partition(".")[0]
    if library == "torch":
        return _torch_view(name, array)
    if library == "warp" and isinstance(array, wp.array):
        return _warp_view(name, array)
    if library in ("jaxlib", "jax"):
        return _numpy_view(name, _jax_on_cpu(name, array))._replace(kind="jax")
    if isinstance(array, np.ndarray):
        return _numpy_view(name, array)
    raise TypeError(
        f"{name} must be a NumPy, Torch, Warp or JAX array of float32 or float64, got {type(array).__name__}"
    )


def _wrong_dtype(name: str, dtype: object) -> TypeError:
    return TypeError(
        f"{name} must be float32 or float64, got {dtype}; convert it (for NumPy: {name}.astype(np.float32))"
    )


_SINGLE = {np.dtype(np.float32): True, np.dtype(np.float64): False}


def _numpy_view(name: str, array: np.ndarray) -> View:
    single = _SINGLE.get(array.dtype)
    if single is None:
        raise _wrong_dtype(name, array.dtype)
    size = 4 if single else 8
    try:
        address = ctypes.addressof(
            ctypes.c_char.from_buffer(array.data)
        )  # four times as fast, where it can be
    except (TypeError, ValueError, BufferError):
        address = array.__array_interface__["data"][0]
    strides = array.strides
    together = address  # its low bits are those of all of them
    for stride in strides:
        together |= stride
    if together & (size - 1):
        raise ValueError(
            f"{name} is not aligned to whole {array.dtype} elements (a field of a structured array?); pass a copy"
        )
    return View("numpy", address, array.shape, tuple([s // size for s in strides]), single, "cpu")


def _torch_view(name: str, tensor: Any) -> View:
    import torch

    if tensor.dtype is not torch.float32 and tensor.dtype is not torch.float64:
        raise _wrong_dtype(name, tensor.dtype)
    if tensor.requires_grad and torch.is_grad_enabled():
        raise NotImplementedError(
            f"{name} requires a gradient, and this call gives none; pass {name}.detach(), or call under torch.no_grad()"
        )
    device = (
        "cpu" if tensor.device.type == "cpu" else f"{tensor.device.type}:{tensor.device.index or 0}"
    )
    return View(
        "torch",
        tensor.data_ptr(),
        tuple(tensor.shape),
        tensor.stride(),
        tensor.dtype is torch.float32,
        device,
    )


def _warp_view(name: str, array: Any) -> View:
    if array.dtype not in (wp.float32, wp.float64):
        raise _wrong_dtype(name, getattr(array.dtype, "__name__", array.dtype))
    size = 4 if array.dtype is wp.float32 else 8
    strides = tuple([s // size for s in array.strides])
    return View("warp", array.ptr or 0, array.shape, strides, size == 4, array.device.alias)


def _jax_on_cpu(name: str, array: Any) -> np.ndarray:
    if not hasattr(array, "devices") or isinstance(array, sys.modules["jax"].core.Tracer):
        raise TypeError(
            f"{name} is traced by JAX (inside jit, grad or vmap): the call's first array must be one of JAX's too "
            "(jnp.asarray), and bind takes none that are traced"
        )
    if any(d.platform != "cpu" for d in array.devices()):
        raise ValueError(
            f"{name} is a JAX array on {array.devices()}; warpdyn takes JAX arrays on the CPU only, so far"
        )
    return np.from_dlpack(array)


def padded(count: int, single: bool) -> int:
    """Leading dimension for `count` environments side by side: an odd number of cache lines, and no multiple of eight
    pages where that is 32 or more.

    Rows an even number of lines apart share fewer of the cache's sets, a power of two the fewest: all links of a
    7-joint arm, 16,384 environments, take 33 ns each to write with rows 64 KiB apart, and 15 with a line between; with
    65,408 environments, rows 512 bytes beside a multiple of 4 KiB, 33 and 14. The same of pages in the table of
    translations: the gradient of a 32-joint robot's rnea, 218 rows 256 KiB and a line apart, takes 132 ns, 113 with
    three pages more between them, and 113 with few environments (one core, AVX-512; one page more is worse for
    stores).
    """
    per_line = ALIGNMENT // (4 if single else 8)
    lines = -(-count // per_line) | 1
    pages = lines // LINES_OF_PAGE
    if pages >= 32 and pages % 8 == 0:
        lines += 3 * LINES_OF_PAGE
    return lines * per_line


def empty(
    kind: str, device: str, single: bool, count: int, shape: Sequence[int], side_by_side: bool
) -> Array:
    """A new (count, *shape) array; `side_by_side`: entries of neighbouring environments are neighbours in memory."""
    if side_by_side:
        lead = padded(count, single)
        memory = _allocate(kind, device, single, (*shape, lead))
        return _environment_first(kind, memory, count)
    return _allocate(kind, device, single, (count, *shape))


def first_of(kind: str, array: Array) -> Array:
    """The part of a (1, *shape) array that belongs to its only environment, in the same memory."""
    if kind == "numpy" or kind == "jax":
        return array[0, ...]
    return (
        array if kind == "warp" and array.ndim == 1 else array[0]
    )  # Warp has no array without dimensions


def _allocate(kind: str, device: str, single: bool, shape: tuple[int, ...]) -> Array:
    if kind == "torch":
        import torch

        return torch.empty(shape, dtype=torch.float32 if single else torch.float64, device=device)
    if kind == "warp":
        return wp.empty(shape, dtype=wp.float32 if single else wp.float64, device=device)
    dtype = np.dtype(np.float32 if single else np.float64)
    if prod(shape) < 1024:  # alignment is for streaming stores
        return np.empty(shape, dtype)
    raw = np.empty(prod(shape) * dtype.itemsize + ALIGNMENT, np.uint8)
    start = -raw.__array_interface__["data"][0] % ALIGNMENT
    return raw[start : start + prod(shape) * dtype.itemsize].view(dtype).reshape(shape)


def _environment_first(kind: str, memory: Array, count: int) -> Array:
    last = memory.ndim - 1
    if kind == "torch":
        return memory[..., :count].permute(last, *range(last))
    if kind == "warp":
        size = memory.strides[-1]
        return wp.array(
            ptr=memory.ptr,
            shape=(count, *memory.shape[:-1]),
            strides=(size, *memory.strides[:-1]),
            dtype=memory.dtype,
            device=memory.device,
            deleter=_keep(memory),
        )
    return memory[..., :count].transpose(last, *range(last))


def _keep(memory: Any) -> Any:
    """A deleter that keeps the memory's owner alive as long as the view."""

    def deleter(pointer: int, size: int, owner: Any = memory) -> None:
        del owner

    return deleter


@lru_cache(maxsize=64)
def numbers(kind: str, device: str, single: bool, values: tuple[float, ...]) -> Array:
    """Plain numbers as an array of the given kind, to be read only; kept, so that a repeated call allocates nothing."""
    host = np.asarray(values, dtype=np.float32 if single else np.float64)
    if kind == "torch":
        import torch

        return torch.as_tensor(host, device=device)
    if kind == "warp":
        return wp.array(host, dtype=wp.float32 if single else wp.float64, device=device)
    return sys.modules["jax"].numpy.asarray(host) if kind == "jax" else host


def column(name: str, value: Any, like: Array) -> Array:
    """A number for each row of `like`, as (B, 1), or (1,) for one robot: from (B,) or one number, without a copy."""
    library, rows = type(like).__module__.partition(".")[0], tuple(like.shape[:-1])
    if not isinstance(value, (int, float)) and not hasattr(value, "shape"):
        raise TypeError(
            f"{name} must be a number, or an array of one for each row, got {type(value).__name__}"
        )
    plain = isinstance(value, (int, float)) or getattr(value, "ndim", 1) == 0
    if not plain and tuple(value.shape) != rows:
        raise ValueError(
            f"{name} must be a number, or one for each row: {rows}, got {tuple(value.shape)}"
        )
    if library == "torch":
        import torch

        given = (
            torch.as_tensor(value, dtype=like.dtype, device=like.device).expand(rows)
            if plain
            else value
        )
        return given[..., None]
    if library == "warp":
        one = (
            numbers("warp", like.device.alias, like.dtype is wp.float32, (float(value),))
            if plain
            else value
        )
        size = one.strides[-1]
        strides = (0 if plain else size, size)[-len(rows) - 1 :]
        return wp.array(
            ptr=one.ptr,
            shape=(*rows, 1),
            strides=strides,
            dtype=one.dtype,
            device=one.device,
            deleter=_keep(one),
        )
    if library in ("jax", "jaxlib"):
        jnp = sys.modules["jax"].numpy
        return jnp.broadcast_to(jnp.asarray(value, like.dtype) if plain else value, rows)[..., None]
    return (np.broadcast_to(np.asarray(value, like.dtype), rows) if plain else value)[..., None]


def kind_of(like: Array | None, dtype: Any, device: Any) -> tuple[str, str, bool]:
    """Library, device and precision of a new array: those of `like`; else NumPy, or Warp where a device is named."""
    kind, where, single = "numpy", "cpu", False
    if like is not None:
        v = view("like", like)
        kind, where, single = v.kind, v.device, v.single
        if device is not None and str(device) != where:
            raise ValueError(f"like= lies on {where}, not on {device}; give one of the two")
    elif device is not None:
        kind, where = "warp", wp.get_device(str(device)).alias
    if dtype is not None:
        name = getattr(dtype, "__name__", str(dtype)).rpartition(".")[2]
        if name not in ("float32", "float64"):
            raise TypeError(f"dtype must be float32 or float64, got {dtype}")
        single = name == "float32"
    return kind, where, single


def on_host(array: Any) -> np.ndarray:
    """Any array, or plain numbers, as float64 NumPy."""
    if hasattr(array, "detach"):  # a Torch tensor, perhaps one that requires a gradient
        array = array.detach().cpu()
    return np.asarray(array.numpy() if hasattr(array, "numpy") else array, dtype=float)


def handed_back(kind: str, result: Array) -> Array:
    """A result as its caller's library wants it: JAX computes in NumPy memory and gets its own array."""
    return sys.modules["jax"].numpy.asarray(result) if kind == "jax" else result


def cast(array: Array, dtype: str) -> Array:
    """The numbers as "bool" or "int32"."""
    library = type(array).__module__.partition(".")[0]
    if library == "torch":
        import torch

        return array.to(getattr(torch, dtype))
    if library == "warp":
        result = wp.empty(array.shape, dtype=getattr(wp, dtype), device=array.device)
        wp.utils.array_cast(array, result)
        return result
    return array.astype(dtype)


def check_writable(out: Array, v: View) -> None:
    """Refuse an `out` that cannot be written, or whose entries share memory."""
    if v.kind == "jax":
        raise TypeError("JAX arrays cannot be written in place; leave out= away and use the result")
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise ValueError("out is read-only")
    reach = 0  # elements between the first entry and the last of the dimensions seen so far, innermost first
    for stride, size in sorted(
        (abs(stride), size) for stride, size in zip(v.strides, v.shape, strict=True)
    ):
        if size > 1 and stride <= reach and 0 not in v.shape:
            kind = "a broadcast dimension (stride 0)" if stride == 0 else "rows that overlap"
            raise ValueError(f"out has {kind}: its entries share memory; pass an array of its own")
        reach += (size - 1) * stride


def overlapping(v: View, others: Mapping[str, View]) -> str | None:
    """The first of the others that may touch the same memory; columns and rows of one larger array are told apart."""
    low, high = _extent(v.address, v.shape, v.strides, v.single)
    for name, other in others.items():
        other_low, other_high = _extent(other.address, other.shape, other.strides, other.single)
        if (
            low < other_high
            and other_low < high
            and v.device == other.device
            and not _interleaved(v, other)
        ):
            return name
    return None


def _interleaved(a: View, b: View) -> bool:
    """Whether the rows of each lie between those of the other."""
    step = a.strides[0] * (4 if a.single else 8)
    if len(a.shape) < 2 or step <= 0 or a.strides[0] != b.strides[0]:
        return False
    a_low, a_high = _extent(a.address, a.shape[1:], a.strides[1:], a.single)
    b_low, b_high = _extent(b.address, b.shape[1:], b.strides[1:], b.single)
    start = (b_low - a_low) % step
    return a_high - a_low <= start and start + b_high - b_low <= step


def _extent(
    address: int, shape: Sequence[int], strides: Sequence[int], single: bool
) -> tuple[int, int]:
    """First byte and the byte after the last."""
    low, high = 0, 1
    for n, stride in zip(shape, strides, strict=True):
        if n == 0:
            return address, address
        if stride < 0:
            low += (n - 1) * stride
        else:
            high += (n - 1) * stride
    size = 4 if single else 8
    return address + low * size, address + high * size


def stream(kind: str, device: str) -> Any:
    """The CUDA stream that the caller's library works on; None for Warp's own."""
    if kind == "torch" and device != "cpu":
        import torch

        return wp.stream_from_torch(torch.cuda.current_stream(device))
    return None
