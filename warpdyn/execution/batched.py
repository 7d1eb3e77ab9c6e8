"""Public functions that users call, bind and inspect.

A function in `warpdyn.functions` returns a `Call`, which names the algorithm and its arrays.
`batched` turns it into the `Function` that users call. `bind` prepares the same call for tight
loops.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType, MethodType
from typing import Any, Generic, ParamSpec, TypeVar, get_args, overload

from ..arrays.libraries import library_of
from ..model import Model
from ..model.model import check_model
from .autodiff.torch_hooks import replace_when_compiled
from .compile.compiling import collecting
from .config import config
from .dispatch import carry_out, in_one_library, plan_gradients, plan_of
from .fast_paths import calls_in_c
from .launch.job import BoundCall, Constants, Job
from .launch.launch import launch_call, prepare
from .public_functions import FUNCTIONS
from .repeat.call_cache import CallCache
from .repeat.planned_call import MISS, PlannedCall, plan_launch
from .request.call import Call
from .request.inputs import CONFIGURATIONS

P = ParamSpec("P")
R = TypeVar("R")


class Function(Generic[P, R]):
    """A public function: `describe` returns its computation as a `Call`, and calling the function
    runs it.

    It has the name, docstring and signature of `describe`, with the result type that users receive.
    """

    of_a_model: bool
    """True if its first argument is a model; other functions take poses, or another function."""

    __name__: str
    __qualname__: str

    def __init__(self, describe: Callable[P, Call[R]]):
        functools.update_wrapper(self, describe)
        self.describe = describe
        signature = inspect.signature(describe)
        self.of_a_model = next(iter(signature.parameters), "") == "model"
        self.__signature__ = signature.replace(return_annotation=_result(signature))
        self._calls = CallCache(signature, calls_in_c)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The result, for arrays of any supported library."""
        plain = not (config.debug or collecting())
        if plain:
            known: R = self._calls.entry(args, kwargs)
            if known is not MISS:
                return known
        # The argument is nearly always a model, and `isinstance` is cheaper than the check.
        if self.of_a_model and not (args and isinstance(args[0], Model)):
            check_first_argument(args, kwargs)
        seen = self._calls.key_of(args, kwargs) if plain else None
        if seen is None:
            return carry_out(self.describe(*args, **kwargs))
        results: R = self._calls.run(seen, args, kwargs)
        if results is not MISS:
            return results
        call = in_one_library(self.describe(*args, **kwargs))
        library = library_of(next(iter(call.arrays.values())))
        if library.edge is not None and not library.at_rest():
            return carry_out(call)
        if library.differentiates(seen.arrays):
            results = carry_out(call)
            plan: Any = plan_gradients(library, call, launch_call, seen.arrays)
        else:
            job = launch_call(call)
            if call.out is not None:
                library.mark_written(job.results)
            results = call.user_result(job.user_result())
            plan = partial(_plan_of_call, call, job, seen.arrays)
        self._calls.remember(seen, args, kwargs, plan)
        return results

    def argument_shape(
        self, model: Model, name: str, options: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[int, ...]:
        """Shape of one environment's slice of an argument: configurations, poses, times, forces on
        the `points` of the options, controls of actuators; nv for all other arguments."""
        if name in CONFIGURATIONS:
            return (model.nq,)
        shapes = {"targets": (4, 4), "t": (), "forces": (len(options.get("points", ())), 3)}
        return {**shapes, "control": (len(model.actuators),)}.get(name, (model.nv,))

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Behave like a function in a class body, so that `help` and `inspect` treat it as one."""
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> str:
        """Pickle by name, like a function."""
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<function {self.__module__}.{self.__qualname__}>"


def _plan_of_call(
    call: Call, job: Job, arrays: Sequence[Any], names: Sequence[str], forget: Callable[[Any], Any]
) -> PlannedCall | None:
    """The plan of a call whose launch is known; None if it has to be checked each time."""
    known = plan_launch(call, job, arrays, names, forget)
    return None if known is None else plan_of(known)


def _traceable_call(self: Function, *args: Any, **kwargs: Any) -> Any:
    """Substitute for `Function.__call__` that Torch's compiler follows; nothing else calls it."""
    from .autodiff import torch_gradients

    torch_gradients.prepare(type(self))
    return torch_gradients.traceable_call(self, args, kwargs)


replace_when_compiled(Function.__call__, _traceable_call)


def _result(signature: inspect.Signature) -> Any:
    """R in a signature's `-> Call[R]`; a string if annotations are not evaluated."""
    returned = signature.return_annotation
    if isinstance(returned, str):
        return returned.removeprefix("Call[").removesuffix("]")
    return returned


PACKAGE = __name__.partition(".")[0] + "."


def batched(describe: Callable[P, Call[R]]) -> Callable[P, R]:
    """The `Function` that runs the calls of `describe`.

    A type checker sees a plain function. It then keeps the array type that arguments and results
    have in common (`arrays.A`), which `Function[P, R]` would lose.
    """
    function = Function(describe)
    first = next(iter(inspect.signature(describe).parameters), "")
    if first != "function" and describe.__module__.startswith(PACKAGE):
        FUNCTIONS.setdefault(function.__name__, function)
    return function


@overload
def bind(
    function: Callable[..., R], *args: Any, constants: Constants, **kwargs: Any
) -> Callable[[], R]: ...
@overload
def bind(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Callable[[], R]: ...
def bind(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[[], Any]:
    """Prepare a call once: after `run = bind(wd.rnea, model, q, v, a, out=tau)`, `run()` launches
    it without any check.

    Each run uses the same arrays; change their contents in place between runs. On a GPU it is
    launched on the stream that is current at the run, so that a graph capture records it. Returns
    a callable that returns the result array.

    constants: when constant entries of the result (structural zeros) are written. "each_run": the
    result is complete after each run, whatever was written into its array before. "once": they are
    written when binding, and `run` leaves them alone. This saves the memory traffic of the zeros
    (four fifths of the humanoid's mass matrix). It is correct only if nothing else writes the
    array: no other bound call, no `out=`, no assignment.

    >>> model = wd.load_robot("panda")
    >>> q = wd.random_configuration(model, 100)
    >>> run = wd.bind(wd.gravity_torques, model, q)
    >>> q[:] = model.neutral  # in place: it is read at each run
    >>> np.allclose(run(), wd.gravity_torques(model, q))
    True
    """
    parameters = getattr(function, "__signature__", inspect.Signature()).parameters
    constants: Constants = "each_run"
    if "constants" not in parameters:  # any other value is an option of the function itself
        constants = kwargs.pop("constants", constants)
    if constants not in get_args(Constants):
        raise ValueError(f'constants must be "each_run" or "once", got {constants!r}')
    call = describe_call(function, args, kwargs)
    _refuse_lists(call)
    return _bind(call, None, constants)


def _refuse_lists(call: Call) -> None:
    """Raise if a bound call would read a list once, although it may change between runs."""
    for name, array in call.arrays.items():
        if isinstance(array, (list, tuple)) and name not in call.arguments:
            raise TypeError(
                f"bind reads {name} at each run, so it must be an array, got a "
                f"{type(array).__name__}; use np.array({name}, dtype=float)"
            )


def bind_single(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Callable[[], R]:
    """`bind` for one environment on the CPU, in a loop with other work: it uses a scalar kernel,
    which does not slow the processor down (`codegen/scalar_kernel.py`)."""
    return _bind(describe_call(function, args, kwargs), "scalar")


def _bind(call: Call, target: str | None, constants: Constants = "each_run") -> Callable[[], Any]:
    job = prepare(call, target)
    if target is not None and (job.count != 1 or job.kernel.on_cuda):
        raise ValueError(
            f"bind_single is for one environment on the CPU, got {job.count} on {job.kernel.device}"
        )
    run: Callable[[], Any] = job.bind(constants)
    return (
        run if call.named is None else BoundCall(lambda *surplus: call.user_result(run(*surplus)))
    )


def check_first_argument(args: tuple, kwargs: dict[str, Any]) -> None:
    """Raise if the first argument is not a model."""
    check_model(args[0] if args else kwargs.get("model"))


def describe_call(function: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Call:
    """The call of a public function with these arguments."""
    if not isinstance(function, Function):
        name = getattr(function, "__name__", type(function).__name__)
        raise TypeError(
            "the first argument must be one of warpdyn's batched functions, such as wd.rnea, "
            f"got {name}"
        )
    if function.of_a_model:
        check_first_argument(args, kwargs)
    return function.describe(*args, **kwargs)
