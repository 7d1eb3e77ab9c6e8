"""Plans of repeated calls: arrays with the same kinds, shapes and strides need no second check.

Checking a call and preparing its launch takes many times as long as launching it for one robot. The
result of the checks is remembered for all that it depends on: dtype, shape and strides of arrays,
and values of other arguments. The next such call only reads the addresses of its arrays.

These calls are checked each time: calls whose arrays are traced or have to be copied, calls that a
`wp.Tape` records, and calls with arguments of unknown kinds, or with arrays in records such as
`Ground`, whose numbers are checked. `torch_remembered` handles calls that Torch differentiates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial, reduce
from math import prod
from operator import or_
from typing import Any, NamedTuple, Protocol
from weakref import ref

from ...arrays import Array, views
from ...arrays.libraries import known
from ...arrays.overlap import extent
from ..compile.kernel import Command
from ..config import config
from ..launch.job import Job
from ..request.call import Call
from ..threads import ENOUGH

MOST_KEPT = 1024
"""Largest count of numbers that a plan keeps itself, such as those of gravity."""

MISS: Any = object()
"""Returned instead of a result if the call has to be checked."""


class PlannedCall(Protocol):
    """Plan of a repeated call."""

    @property
    def counts_calls(self) -> bool:
        """True while its runs are counted, until its kernel is compiled."""

    def run(self, arrays: Sequence[Array]) -> Any:
        """The results for arrays of the same kinds; `MISS` if they cannot be used."""


class Pair(NamedTuple):
    """Two arrays that must not overlap, except as they did at first: their indices, and the range
    of bytes of each from its address."""

    one: int
    other: int
    low: int
    high: int
    other_low: int
    other_high: int
    between: int | None
    """The allowed offset from one address to the other, if they overlap."""


class LaunchPlan:
    """Plan of a call that its library does not differentiate: its launch, on other arrays of the
    same kinds."""

    def __init__(
        self,
        call: Call,
        job: Job,
        arrays: Sequence[Array],
        read: Sequence[str],
        forget: Callable[[object], Any],
    ):
        """read: the name of the input for each of the caller's arrays; those of `out` follow.
        forget: called when a model is freed, so that its kernels can be freed too."""
        source, library = job.kernel.source, job.library
        # Weak references, so that a plan does not keep its model alive.
        self.models: list[ref[Any]] = [ref(call.model, forget)]
        if call.params is not None and call.params.model is not call.model:
            self.models.append(ref(call.params.model, forget))
        self.library, self.named, self.lead = library, call.named, job.lead
        self.read = list(read)
        self.job = job.without_arrays()
        own = set(job.arrays).difference(read)
        # In Python 3.11 a comprehension is a function call of Python; `map` is none.
        self.kept = [*map(job.arrays.__getitem__, own)]
        """Arrays that the plan holds itself, such as numbers for gravity."""
        places = job.places
        inputs = dict(zip(job.inputs, places, strict=False))
        results = places[len(inputs) :]
        self.places = [inputs[name] for name in read]
        """Positions of the arrays' addresses among the arguments."""
        self.unaligned = (4 if job.single else 8) - 1
        self.outs: list[int] = []
        """Indices of the results among the arrays; [] if they are new arrays."""
        self.pairs: list[Pair] = []
        self.allowed_addresses: list[int] | None = None
        """Latest addresses of arrays at which all pairs are allowed."""
        self.result_makers: list[Callable[[], Array]] = []
        if call.out is None:
            self.places += results
            self.result_makers = [_maker(job, shape) for shape in source.results.values()]
        else:
            self.outs = [_number(x, arrays, len(read)) for x in job.results]
            self.places += [results[self.outs.index(k)] for k in range(len(read), len(arrays))]
            self.pairs = _pairs(job, read, self.outs)
        self.small = job.seconds < ENOUGH or job.kernel.on_cuda
        """True if it is never divided among threads."""
        self.merges_dimensions = call.out is None and job.side_by_side and len(job.lead) > 1
        """True if the leading dimensions of new arrays are merged into one."""
        self.idle: list[Command] = []

    @property
    def counts_calls(self) -> bool:
        """True while its runs are counted, until its kernel is compiled."""
        return self.job.kernel.counts_calls and config.compile == "background"

    def run(self, arrays: Sequence[Array]) -> Any:
        """The results for arrays of the same kinds; `MISS` if they cannot be used."""
        addresses = self.addresses(arrays)
        if addresses is MISS:
            return MISS
        return self.user_result(self.launch(addresses, arrays))

    def addresses(self, arrays: Sequence[Array]) -> Any:
        """Addresses of arrays of the same kinds; `MISS` if they cannot be used."""
        library = self.library
        if not library.at_rest():
            return MISS
        for model in self.models:
            if model() is None:
                return MISS
        try:
            addresses = [*map(library.address, arrays)]
        except RuntimeError:  # the array has no memory
            return MISS
        if reduce(or_, addresses) & self.unaligned or not all(
            addresses
        ):  # 0: the array has no memory
            return MISS
        if self.outs:
            if not library.writable([arrays[k] for k in self.outs]):
                return MISS
            if addresses != self.allowed_addresses:
                if not all(_is_allowed(x, addresses) for x in self.pairs):
                    return MISS
                self.allowed_addresses = addresses
        return addresses

    def launch(self, addresses: list[int], arrays: Sequence[Array]) -> list[Array]:
        """The results for arrays at these addresses."""
        library = self.library
        if self.outs:
            outs = [arrays[k] for k in self.outs]
        else:
            outs = [make() for make in self.result_makers]
            addresses += map(library.address, outs)
        if self.small:
            try:
                command = self.idle.pop()
            except IndexError:
                command = self.job.kernel.new_command()
                command.set(self.job.arguments)
                command.set_threads(self.job.count)
            arguments = command.arguments
            for place, x in zip(self.places, addresses, strict=True):
                arguments[place] = x
            if self.job.stream is None:
                command.run()
            else:
                command.run(self.job.stream())
            self.idle.append(command)
            if self.job.kernel.counts_calls:
                self.job.kernel.count_call()
        else:
            self.job.with_addresses(zip(self.places, addresses, strict=True)).launch_once()
        if self.outs:
            library.mark_written(outs)
        elif self.merges_dimensions:
            outs = [library.with_leading(x, 1, self.lead) for x in outs]
        return outs

    def user_result(self, results: Sequence[Array]) -> Any:
        """The results in the form that the user receives."""
        if self.named is not None:
            return self.named(*results)
        return tuple(results) if len(results) > 1 else results[0]


class DifferentiatedPlan(ABC):
    """Plan of a call that its library differentiates."""

    forward: LaunchPlan
    solves: bool
    """True if the call solves a system, so that its backward pass reads the solution."""

    @property
    def counts_calls(self) -> bool:
        """True while its runs are counted, until its kernel is compiled."""
        return self.forward.counts_calls

    on_adjoint: Callable[..., None] | None = None
    """Called with each new plan of a backward pass, its arrays, cotangents and order of results."""

    @abstractmethod
    def adjoint(
        self, model: Any, arrays: Sequence[Any], cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        """Cotangents of the arrays; None for arrays that need none."""


def plan_launch(
    call: Call,
    job: Job,
    arrays: Sequence[Array],
    names: Sequence[str],
    forget: Callable[[object], Any],
) -> LaunchPlan | None:
    """The plan of calls like this one; None if an array is not read or written directly.

    arrays, names: of the call's `CallKey`. forget: called when a model is freed.
    """
    if job.copied or job.sums or job.is_for_cpu:
        return None
    kinds = set(map(type, arrays))
    if not job.count or len(set(map(known.__getitem__, kinds)) | {job.library}) > 1:
        return None
    if len(arrays) - len(names) != (0 if call.out is None else len(job.results)):
        return None
    places: dict[int, list[int]] = {}
    """Position of each of the caller's arrays among the arguments, by its identity."""
    for k in range(len(names)):
        places.setdefault(id(arrays[k]), []).append(k)
    read: dict[int, str] = {}
    own = 0
    for name, x in job.arrays.items():
        same = places.get(id(x), [])
        if len(same) > 1:  # one array in several places is identified by its name
            same = [k for k in same if names[k] == name]
            if len(same) != 1:
                return None
        if same:
            read[same[0]] = name
        else:
            own += prod(job.inputs[name].shape)
    if own > MOST_KEPT:
        return None
    # An array that is not read directly may have values that must be checked.
    if sorted(read) != [*range(len(names))]:
        return None
    return LaunchPlan(call, job, arrays, [read[k] for k in range(len(names))], forget)


def _maker(job: Job, shape: tuple[int, ...]) -> Callable[[], Array]:
    """Function that makes a new result, with the leading dimensions of the call unless entries of
    neighbouring environments are neighbours."""
    device = job.kernel.device.alias
    if job.side_by_side:
        return partial(views.empty, job.library, device, job.single, job.count, shape, True)
    return job.library.maker(device, job.single, (*job.lead, *shape))


def _number(array: Array, arrays: Sequence[Array], first: int) -> int:
    """Index of an array among the arrays from `first` on."""
    return next(k for k in range(first, len(arrays)) if arrays[k] is array)


def _pairs(job: Job, read: Sequence[str], outs: Sequence[int]) -> list[Pair]:
    """Pairs of each result with each array that is read, and with each other result."""
    seen = [(k, job.inputs[name]) for k, name in enumerate(read)]
    pairs = []
    for k, v in zip(outs, job.out_views, strict=True):
        low, high = (x - v.address for x in extent(v))
        for other, u in seen:
            other_low, other_high = (x - u.address for x in extent(u))
            pair = Pair(k, other, low, high, other_low, other_high, None)
            if not _is_allowed(pair, {k: v.address, other: u.address}):
                pair = pair._replace(between=u.address - v.address)
            pairs.append(pair)
        seen.append((k, v))
    return pairs


def _is_allowed(pair: Pair, addresses: Any) -> bool:
    """True if two arrays at these addresses do not overlap, or overlap as they did at first."""
    one, other, low, high, other_low, other_high, between = pair
    a, b = addresses[one], addresses[other]
    return a + high <= b + other_low or b + other_high <= a + low or b - a == between
