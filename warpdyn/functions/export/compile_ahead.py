"""Kernels compiled before they are needed, from a list of functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Literal, get_args

from ...arrays import Array, views
from ...arrays.libraries import library_for
from ...codegen.targets import target_of
from ...execution.batched import Function, describe_call
from ...execution.compile.compiling import Kernel, load_all
from ...execution.compile.kernel_cache import start_kernel_cache
from ...execution.fast_paths import compile_c_functions
from ...execution.launch.launch import prepare
from ...execution.request.call import Call, derive, inputs_of, result_names
from ...model import Model
from ...model.model import check_model

Precision = Literal["float32", "float64"]
"""Dtypes that kernels can be compiled for."""

DTYPES = get_args(Precision)


def compile(
    model: Model,
    calls: Iterable[Callable[..., Any]],
    *,
    dtype: Precision = "float32",
    device: str = "cpu",
    gradients: str | Sequence[str] = (),
) -> int:
    """Compile the kernels of these functions into the cache, on all cores; returns the number of
    kernels that were not there yet.

    calls: functions, and `functools.partial(wd.jacobian, frame="hand")` for one with options. A
    partial gives every argument except the arrays; zeros stand for these.
    dtype: "float32" or "float64", the dtype of the arrays in later calls.
    gradients: names of the inputs that will require a gradient in Torch or JAX, such as "q" or
    ("q", "v"). The kernels of `backward` for these inputs are compiled too. Later calls must
    require gradients of exactly these inputs, because each choice of inputs is another kernel.

    `wd.kernels.compiling` takes the calls of a script instead of a list. A second call of this
    function with the same list only checks the caches.
    """
    check_model(model)
    if callable(calls):
        raise TypeError(f"calls must be a list: wd.kernels.compile(model, [{calls!r}])")
    asked = list(calls)
    check_gradients(model, asked, gradients, zeros_of(dtype, device))
    kernels = [
        kernel
        for each in asked
        for kernel in kernels_of(model, each, dtype=dtype, device=device, gradients=gradients)
    ]
    compile_c_functions(kernels)
    return load_all(list(dict.fromkeys(kernels)))


def check_gradients(
    model: Model,
    calls: Iterable[Callable[..., Any]],
    gradients: str | Sequence[str],
    zeros: Callable[..., Array],
) -> None:
    """Raise if an input in `gradients` is an input of none of the calls."""
    named = {gradients} if isinstance(gradients, str) else set(gradients)
    known = {x for each in calls for x in inputs_of(call_on_zeros(model, each, zeros))}
    if named - known:
        raise ValueError(
            f"none of these calls has an input {', '.join(sorted(named - known))} to be "
            f"differentiated by; they have {', '.join(sorted(known))}"
        )


def zeros_of(dtype: Precision, device: str) -> Callable[..., Array]:
    """Function that makes an array of zeros for one environment, from the shape of its slice."""
    start_kernel_cache()
    if dtype not in DTYPES:
        raise ValueError(f'dtype must be "float32" or "float64", got {dtype!r}')
    library = library_for(device)

    def zeros(*shape: int) -> Array:
        array = views.empty(library, device, dtype == "float32", 1, shape, False)
        library.write(array, 0.0)
        return array

    return zeros


def kernels_of(
    model: Model,
    function: Callable[..., Any],
    *,
    dtype: Precision,
    device: str,
    gradients: str | Sequence[str] = (),
) -> list[Kernel]:
    """The kernel of a function, and the kernel of its gradient; recorded, not compiled."""
    zeros = zeros_of(dtype, device)
    call = call_on_zeros(model, function, zeros)
    kernels = forms_of(call)
    named = (gradients,) if isinstance(gradients, str) else tuple(gradients)
    inputs = inputs_of(call)
    by = [name for name in inputs if name in named]
    if not by or call.repeats:
        return kernels
    results = [zeros(*shape) for shape in kernels[0].source.results.values()]
    seeds = dict(zip(result_names(call), results, strict=True))
    solution = results[0] if call.solves and not call.derivatives else None
    return [*kernels, *forms_of(derive(call, "vjp", by, seeds, solution))]


def forms_of(call: Call[Any]) -> list[Kernel]:
    """The kernels of a call: on a GPU that for few environments, and that for many, if it is another
    one."""
    few = prepare(call).kernel
    if not few.on_cuda:
        return [few]
    many = prepare(call, target_of("cuda")).kernel
    return [few] if many.source.code == few.source.code else [few, many]


def call_on_zeros(
    model: Model, function: Callable[..., Any], zeros: Callable[..., Array]
) -> Call[Any]:
    """The call of a function, or of a partial function, with zeros for its missing arrays."""
    before: tuple[Any, ...] = ()
    options: dict[str, Any] = {}
    whole: Any = function
    if isinstance(whole, partial):
        function, before, options = whole.func, whole.args, whole.keywords
    # A function that takes a function, such as `derivatives`, has the arrays of its first argument.
    inner: Any = before[0] if before else function
    if not isinstance(function, Function) or not getattr(inner, "of_a_model", False):
        raise TypeError(
            "calls must hold functions of a model, such as wd.rnea or "
            'functools.partial(wd.jacobian, frame="hand"), '
            f"got {getattr(inner, '__name__', inner)!r} (wd.kernels.compiling compiles any calls)"
        )
    parameters = list(inspect.signature(inner).parameters.values())[1:]
    arrays = [
        zeros(*inner.argument_shape(model, each.name, options))
        for each in parameters
        if each.default is each.empty
        and each.kind is each.POSITIONAL_OR_KEYWORD
        and each.name not in options
    ]
    try:
        return describe_call(function, (*before, model, *arrays), options)
    except (TypeError, ValueError) as error:
        name = f"wd.{function.__name__}"
        raise type(error)(
            f"{error}; pass the arguments that cannot be zero: functools.partial({name}, ...)"
        ) from error
