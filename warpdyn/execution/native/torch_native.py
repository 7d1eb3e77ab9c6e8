"""Calls with tensors from Python to a kernel in one C function, and both passes of calls that Torch
differentiates.

The C functions (`codegen/native_call.h`) read tensors through Torch's C interface, which is stable
between versions. `_cdata` of a Python object is the address of its tensor. If it is not, or if
Torch has no such interface, the C functions are not used. Torch's Python functions allocate results
and save tensors for a backward pass, so that tools that trace these functions see the usual calls.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Any

import torch
from torch.autograd import forward_ad
from torch.autograd.function import FunctionCtx

from ...arrays.torch_arrays import LIBRARY as TORCH
from ...arrays.torch_arrays import followers, tracing, transforms
from ..autodiff.torch_hooks import apply_directly, replace_backward
from ..repeat.planned_call import DifferentiatedPlan, LaunchPlan
from ..run_once import run_once
from .c_functions import (
    OPERANDS,
    Words,
    address,
    interpreter,
    launch_words,
    methods,
    new_function,
    words_of,
)
from .versions import is_tested, version_of

MOST = 8
"""Number of backward passes of a call that the C function knows; others use the Python way."""

_adding = Lock()

_ASKED = ("dtype", "device_type", "layout", "dim", "sizes", "strides", "data_ptr")
_CPU, _STRIDED = 0, 0

_TRACING = "_ZN5torch3jit6tracer15getTracingStateEv"
"""`torch::jit::tracer::getTracingState()`: a reference to a shared pointer, which is null while
`torch.jit.trace` records nothing."""


@cache
def _library() -> ctypes.CDLL | None:
    """Torch's C interface; None without it."""
    try:
        library = ctypes.CDLL(torch._C.__file__)
        for name in _ASKED:
            getattr(library, f"aoti_torch_get_{name}")
        library.aoti_torch_grad_mode_is_enabled.restype = ctypes.c_bool
        getattr(library, _TRACING).restype = ctypes.POINTER(ctypes.c_void_p)
    except (OSError, AttributeError):
        return None
    return library


def _property(name: str, x: torch.Tensor) -> int | None:
    """A property of a tensor from the C interface; None if the interface fails."""
    found = ctypes.c_int64()
    failed = getattr(_library(), f"aoti_torch_get_{name}")(
        ctypes.c_void_p(id(x) + object.__basicsize__), ctypes.byref(found)
    )
    return None if failed else found.value


def _numbers(name: str, x: torch.Tensor) -> list[int]:
    where = _property(name, x)
    return [*(ctypes.c_int64 * x.ndim).from_address(where)] if where else []


_WORDS = 23
"""Number of 64-bit words at the beginning of a C++ tensor of Torch that are searched for its keys.
The smallest known structure has 24."""


@cache
def _keys() -> tuple[int, int] | None:
    """Position of the dispatch keys in a C++ tensor of Torch, in words of 64 bits, and the keys of
    a plain tensor; None if they are not found."""
    with torch.inference_mode(False):
        x, z = torch.zeros((4, 3)), torch.zeros((4, 3), dtype=torch.complex64)
        lazy = (z.conj().imag, torch._efficientzerotensor((4, 3)), torch._to_functional_tensor(x))
        others = (torch.nn.Parameter(x), x.T[1:], x.double(), torch.zeros(2, requires_grad=True))
    try:
        keys = [torch._C._dispatch_keys(each).raw_repr() for each in (x, *lazy, *others)]
    except AttributeError:
        return None
    plain = keys[0]
    at = set(range(_WORDS))
    for each, key in zip((x, *lazy, *others), keys, strict=True):
        words = (ctypes.c_uint64 * _WORDS).from_address(each._cdata)
        at &= {k for k, word in enumerate(words) if word == key}
    extra = [key & ~plain for key in keys]
    # Each kind of lazy tensor must have a key that no plain tensor has.
    if len(at) != 1 or not all(extra[1:4]) or any(extra[4:]):
        return None
    return at.pop(), plain


def _as_expected() -> bool:
    """True if Torch's C interface reports the same about tensors as Python does."""
    if object.__basicsize__ != 16 or _library() is None or _keys() is None:
        return False
    codes = set()
    for kind in (torch.float32, torch.float64):
        x = torch.zeros((4, 3), dtype=kind)
        for each in (x, x.T[1:, ::2], x[:1, 0].expand(5, 1), torch.nn.Parameter(x), x[0] * 2.0):
            if ctypes.c_int64.from_address(id(each) + object.__basicsize__).value != each._cdata:
                return False
            found = (_property("dim", each), _numbers("sizes", each), _numbers("strides", each))
            if found != (each.ndim, [*each.shape], [*each.stride()]):
                return False
            if _property("data_ptr", each) != each.data_ptr():
                return False
            if _property("device_type", each) != _CPU or _property("layout", each) != _STRIDED:
                return False
            codes.add((kind, _property("dtype", each)))
        if getattr(_library(), _TRACING)()[0] is not None and not tracing():
            return False
        context: Any = FunctionCtx()
        context.save_for_backward(x)
        if context.to_save != (x,):
            return False
    return len(codes) == 2 and len({code for _, code in codes}) == 2


@cache
def torch_words() -> Words | None:
    """Addresses of Torch's functions for the C functions; None if they cannot be used."""
    library, keys = _library(), _keys()
    if not is_tested("torch", version_of(torch.__version__)):
        return None
    if library is None or keys is None or not _as_expected():
        return None
    names = [*(f"aoti_torch_get_{x}" for x in _ASKED), "aoti_torch_grad_mode_is_enabled", _TRACING]
    asked = [ctypes.cast(getattr(library, x), ctypes.c_void_p).value or 0 for x in names]
    objects = (torch.Tensor, torch.nn.Parameter, True, torch.Tensor.data_ptr)
    objects += (followers, transforms, forward_ad)  # type: ignore[assignment]
    attributes = ("requires_grad", "_current_level", "to_save", "saved_tensors", "known_by")
    held = [*objects, *map(sys.intern, attributes), _unknown]
    return words_of([*asked, _CPU, _STRIDED, *keys, *map(id, held)], *held)


def tensor_words(x: torch.Tensor, place: int) -> list[int] | None:
    """A tensor as an operand of a call, by the position of its address among a launch's
    arguments."""
    sort = TORCH.sort(x)
    if torch_words() is None or not sort:
        return None
    return [1, _property("dtype", x) or 0, sort[-1], place, x.ndim, *x.shape, *x.stride()]


class Node:
    """A call that Torch differentiates, in the form that the C functions read."""

    def __init__(self, known: Any, launch: Words, solves: bool):
        """known: object that runs a backward pass that the C functions do not know."""
        forward: LaunchPlan = known.forward
        places = forward.places[: len(forward.read)]
        self.words = words_of(
            [address(launch), len(places), solves, 0, *[0] * MOST, *places], launch, known
        )

    @property
    def number(self) -> int:
        """Number of known backward passes."""
        return int(self.words[3])

    def know(
        self,
        known: LaunchPlan,
        kept: Sequence[torch.Tensor],
        cotangents: Sequence[torch.Tensor],
        order: Sequence[int | None],
    ) -> None:
        """Add a backward pass. order: of `DifferentiatedCall`."""
        launch = launch_words(known)
        if launch is None or max(len(kept), len(cotangents)) > OPERANDS:
            return
        places = known.places
        cotangents_at = list(zip(cotangents, places[len(kept) :], strict=False))
        words = [address(launch), len(cotangents), len(kept), len(order)]
        for x, place in (*cotangents_at, *zip(kept, places, strict=False)):
            array = tensor_words(x, place)
            if array is None:
                return
            words += array
        adjoint = words_of([*words, *(-1 if k is None else k for k in order)], launch, known)
        with _adding:
            if self.number < MOST:
                self.words.held += (adjoint,)
                self.words[4 + self.number] = address(adjoint)
                self.words[3] += 1


def _unknown(ctx: Any, *cotangents: torch.Tensor) -> Any:
    """Backward pass that the C function does not know, or that is differentiated itself."""
    words, model = ctx.known_by
    known = words.held[1]
    return None, *known.adjoint(model, ctx.saved_tensors, cotangents)


class _NativelyRepeatedCallNode(torch.autograd.Function):
    """A repeated call as a node of Torch's graph, whose passes are C functions."""

    backward = staticmethod(_unknown)


@run_once
def apply() -> Any:
    """Torch's function that makes such a node, without its check for transforms; None without the C
    functions."""
    compiled, words = methods(), torch_words()
    if compiled is None or words is None:
        return None
    told = words_of(interpreter(words), words)
    _NativelyRepeatedCallNode.forward = staticmethod(new_function(compiled.forward, told))  # type: ignore[assignment]
    method = ctypes.pythonapi.PyInstanceMethod_New
    method.restype, method.argtypes = ctypes.py_object, [ctypes.py_object]
    passed = method(new_function(compiled.backward, told))
    if not replace_backward(_NativelyRepeatedCallNode, passed):
        return None
    return apply_directly(_NativelyRepeatedCallNode)


def node_of(plan: DifferentiatedPlan, launch: Words) -> tuple[Any, Words] | None:
    """Torch's function that makes a node of a call, and the node's data; None if there is none.

    launch: of the forward pass.
    """
    make = apply()
    if make is None:
        return None
    node = Node(plan, launch, plan.solves)
    plan.on_adjoint = node.know
    return make, node.words
