"""Arrays of a library that have the same numbers in unusual memory layouts.

A layout takes float64 numbers (.., n) and the name of a dtype and returns an array of NumPy, Torch or
JAX. `LAYOUTS` has an entry for each that tells whether a call must refuse it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import torch

Numbers = np.ndarray
Make = Callable[[Numbers, str], Any]


class Layout(NamedTuple):
    """A function that makes an array, and the array's properties."""

    make: Make
    refused: bool = False
    """True if every call must refuse this layout."""
    zero: bool = False
    """True if the layout replaces the numbers by zeros."""
    spread: bool = False
    """True if all rows are equal to the first one."""
    other_dtype: bool = False
    """True if the array has the other dtype, which a call must refuse next to any other layout."""


class SubArray(np.ndarray):
    """A user's subclass of np.ndarray."""


def plain(x: Numbers, dtype: str) -> np.ndarray:
    return np.array(x, dtype, order="C")


def fortran(x: Numbers, dtype: str) -> np.ndarray:
    return np.array(x, dtype, order="F")


def environments_last(x: Numbers, dtype: str) -> np.ndarray:
    """[n, B] memory with a larger leading dimension."""
    wide = np.full((*x.shape[1:], len(x) + 3), np.nan, dtype)
    wide[..., : len(x)] = np.moveaxis(x, 0, -1)
    return np.moveaxis(wide[..., : len(x)], -1, 0)


def stepped(x: Numbers, dtype: str) -> np.ndarray:
    wide = np.full((2 * len(x), *x.shape[1:-1], 3 * x.shape[-1]), np.nan, dtype)
    wide[::2, ..., 1::3] = x
    return wide[::2, ..., 1::3]


def reversed_rows(x: Numbers, dtype: str) -> np.ndarray:
    return np.array(x[::-1], dtype)[::-1]


def reversed_columns(x: Numbers, dtype: str) -> np.ndarray:
    return np.array(x[..., ::-1], dtype)[..., ::-1]


def offset(x: Numbers, dtype: str) -> np.ndarray:
    """Memory that starts one number after the allocator's alignment."""
    memory = np.full(x.size + 1, np.nan, dtype)
    memory[1:] = x.ravel()
    return memory[1:].reshape(x.shape)


def part(x: Numbers, dtype: str) -> np.ndarray:
    """Columns of a wider array."""
    wide = np.full((*x.shape[:-1], x.shape[-1] + 5), np.nan, dtype)
    wide[..., 2 : 2 + x.shape[-1]] = x
    return wide[..., 2 : 2 + x.shape[-1]]


def spread(x: Numbers, dtype: str) -> np.ndarray:
    return np.broadcast_to(np.array(x[0], dtype), x.shape)


def read_only(x: Numbers, dtype: str) -> np.ndarray:
    array = plain(x, dtype)
    array.setflags(write=False)
    return array


def of_a_class(x: Numbers, dtype: str) -> np.ndarray:
    return plain(x, dtype).view(SubArray)


def unmasked(x: Numbers, dtype: str) -> np.ndarray:
    return np.ma.masked_array(plain(x, dtype))


def masked(x: Numbers, dtype: str) -> np.ndarray:
    mask = np.zeros(x.shape, bool)
    mask.flat[x.size // 2] = True
    return np.ma.masked_array(plain(x, dtype), mask=mask)


def misaligned(x: Numbers, dtype: str) -> np.ndarray:
    memory = np.zeros(x.nbytes + 1, np.uint8)[1 : 1 + x.size * np.dtype(dtype).itemsize]
    array = memory.view(dtype).reshape(x.shape)
    array[...] = x
    return array


def swapped(x: Numbers, dtype: str) -> np.ndarray:
    return plain(x, dtype).astype(np.dtype(dtype).newbyteorder())


def tensor(make: Make, x: Numbers, dtype: str) -> torch.Tensor:
    """Tensor over the memory of a NumPy layout."""
    return torch.from_numpy(make(x, dtype))


def spread_tensor(x: Numbers, dtype: str) -> torch.Tensor:
    return torch.tensor(np.array(x[0], dtype)).expand(x.shape)


def imaginary(x: Numbers, dtype: str) -> torch.Tensor:
    """Tensor with the negation bit."""
    numbers = torch.tensor(np.array(x, dtype))
    return torch.complex(torch.zeros_like(numbers), -numbers).conj().imag


def of_an_adjoint(x: Numbers, dtype: str) -> torch.Tensor:
    """Tensor with the negation bit, whose last dimensions are transposed in memory."""
    numbers = torch.tensor(np.array(x, dtype)).transpose(-1, -2).contiguous()
    return torch.complex(torch.zeros_like(numbers), -numbers).mH.imag


def offset_imaginary(x: Numbers, dtype: str) -> torch.Tensor:
    wide = np.concatenate([x[:1], x, x[:1]])
    return imaginary(wide, dtype)[1:-1]


def lazy_zeros(x: Numbers, dtype: str) -> torch.Tensor:
    return torch._efficientzerotensor(tuple(x.shape), dtype=getattr(torch, dtype))


def parameter(x: Numbers, dtype: str) -> torch.Tensor:
    return torch.nn.Parameter(torch.tensor(plain(x, dtype)), requires_grad=False)


def of_inference(x: Numbers, dtype: str) -> torch.Tensor:
    with torch.inference_mode():
        return torch.tensor(plain(x, dtype))


def functional(x: Numbers, dtype: str) -> torch.Tensor:
    return torch._to_functional_tensor(torch.tensor(plain(x, dtype)))


def half(x: Numbers, dtype: str) -> torch.Tensor:
    return torch.tensor(x, dtype=torch.float16)


def other(dtype: str) -> str:
    return "float32" if dtype == "float64" else "float64"


def sparse(x: Numbers, dtype: str) -> torch.Tensor:
    return torch.tensor(plain(x, dtype)).to_sparse()


def without_numbers(x: Numbers, dtype: str) -> torch.Tensor:
    return torch.tensor(plain(x, dtype)).to("meta")


def of_jax(x: Numbers, dtype: str) -> Any:
    return jnp.asarray(plain(x, dtype))


def turned_in_jax(x: Numbers, dtype: str) -> Any:
    return jnp.moveaxis(jnp.asarray(np.ascontiguousarray(np.moveaxis(x, 0, -1)), dtype), -1, 0)


OF_NUMPY = {
    each.__name__: each
    for each in (
        plain,
        fortran,
        environments_last,
        stepped,
        reversed_rows,
        reversed_columns,
        offset,
        part,
        read_only,
        of_a_class,
        unmasked,
    )
}
WRITABLE = ("plain", "fortran", "environments_last", "stepped", "offset", "part")
"""Layouts of arrays that can hold results, for one leading dimension."""

LAYOUTS: dict[str, dict[str, Layout]] = {
    "numpy": {
        **{name: Layout(make) for name, make in OF_NUMPY.items()},
        "spread": Layout(spread, spread=True),
        "other_dtype": Layout(lambda x, dtype: plain(x, other(dtype)), other_dtype=True),
        "masked": Layout(masked, refused=True),
        "misaligned": Layout(misaligned, refused=True),
        "swapped": Layout(swapped, refused=True),
        "half": Layout(lambda x, _: x.astype(np.float16), refused=True),
        "whole": Layout(lambda x, _: x.astype(np.int64), refused=True),
    },
    "torch": {
        **{name: Layout(partial(tensor, OF_NUMPY[name])) for name in WRITABLE},
        "spread": Layout(spread_tensor, spread=True),
        "imaginary": Layout(imaginary),
        "of_an_adjoint": Layout(of_an_adjoint),
        "offset_imaginary": Layout(offset_imaginary),
        "lazy_zeros": Layout(lazy_zeros, zero=True),
        "parameter": Layout(parameter),
        "of_inference": Layout(of_inference),
        "numpy": Layout(plain),
        "other_numpy": Layout(lambda x, dtype: plain(x, other(dtype)), other_dtype=True),
        "other_dtype": Layout(
            lambda x, dtype: torch.tensor(plain(x, other(dtype))), other_dtype=True
        ),
        "functional": Layout(functional, refused=True),
        "half": Layout(half, refused=True),
        "sparse": Layout(sparse, refused=True),
        "without_numbers": Layout(without_numbers, refused=True),
    },
    "jax": {
        "plain": Layout(of_jax),
        "turned": Layout(turned_in_jax),
        "numpy": Layout(plain),
        "other_numpy": Layout(lambda x, dtype: plain(x, other(dtype)), other_dtype=True),
        "other_dtype": Layout(lambda x, dtype: of_jax(x, other(dtype)), other_dtype=True),
        "half": Layout(lambda x, _: jnp.asarray(x, jnp.float16), refused=True),
    },
}
