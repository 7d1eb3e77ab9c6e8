"""A prepared launch: a kernel, the integers that describe its arrays, and its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any, Literal

from ...arrays import Array, Library, View
from ...arrays.layout import BLOCK, LOOP_BLOCK
from ...codegen.arguments import FIELDS, HEADER
from .. import threads
from ..compile.compiling import Kernel
from ..compile.kernel import Command, refuse_surplus
from ..config import config
from .native_threads import shared_launch

SECONDS_PER_OPERATION, SECONDS_PER_BYTE = 1.2e-11, 4e-11
"""Rough times for one environment on one core, to choose the number of threads for a batch."""

FIRST, COUNT, KEEP_CONSTANTS, STREAM = map(
    HEADER.index, ("first", "count", "keep_constants", "stream")
)
"""Position of each integer of a launch."""


Constants = Literal["each_run", "once"]
"""When a bound call writes constant entries of its results: at each run, or when it is bound."""


class BoundCall(partial):  # type: ignore[type-arg]  # in C, without another Python frame
    """A prepared call: calling it launches the kernel and returns the results."""

    held: Any = None
    """Objects that must live as long as the call."""

    def __repr__(self) -> str:
        return "<bound call of warpdyn>"

    def __reduce_ex__(self, _: Any) -> Any:
        """Refuse `copy` and `pickle`: the launch is bound to memory of this process."""
        raise TypeError(
            "a bound call cannot be pickled or copied: it launches a kernel of this process on the "
            "arrays that it was bound to; pickle the model and the arrays, and call wd.bind again"
        )


@dataclass
class Job:
    """A checked call, ready for launching: its kernel, the launch's integers, and its results."""

    kernel: Kernel
    arguments: list[int]
    count: int
    library: Library
    results: Sequence[Array]
    stream: Callable[[], Any] | None
    """A function that returns the CUDA stream of a launch, asked at each run; None for Warp's current
    stream."""
    keep: tuple
    """Arrays that must live as long as the launch."""
    sums: Mapping[int, tuple[tuple[int, ...], Any]]
    """Results that are cotangents of tables, by index: the table's shape, and the array for the sum
    over all environments, if there is one."""
    copied: Mapping[str, str]
    """Names of inputs of which a copy is read, and the reason."""
    inputs: Mapping[str, View]
    arrays: Mapping[str, Array]
    """The inputs by name: their locations, and the arrays."""
    out_views: Sequence[View]
    lead: tuple[int, ...]
    side_by_side: bool
    """True if entries of neighbouring environments are neighbours in new results."""
    past_cache_when_bound: int
    """The launch's integer `stream` once constant entries of results are left alone."""

    @property
    def single(self) -> bool:
        """True if its numbers are float32."""
        return next(iter(self.inputs.values())).single

    @property
    def seconds(self) -> float:
        """Estimated time on one core [s]."""
        source = self.kernel.source
        operations, size = source.operations, source.bytes
        return self.count * (operations * SECONDS_PER_OPERATION + size * SECONDS_PER_BYTE)

    @property
    def places(self) -> list[int]:
        """Positions of addresses among the arguments: those of the inputs, then those of the
        results."""
        number = len(self.inputs) + len(self.kernel.source.results)
        return list(range(len(HEADER), len(HEADER) + FIELDS * number, FIELDS))

    def with_addresses(self, addresses: Iterable[tuple[int, int]]) -> Job:
        """The same launch on other arrays, given by positions among the arguments, and
        addresses."""
        arguments = list(self.arguments)
        for place, address in addresses:
            arguments[place] = address
        return replace(self, arguments=arguments)

    def without_arrays(self) -> Job:
        """The same launch without the arrays."""
        return replace(self, results=(), keep=(), arrays={})

    def launch_once(self) -> None:
        kernel = self.kernel
        idle = kernel.idle
        launch, commands = self._prepare(kernel.command)
        if kernel.counts_calls:
            begun = perf_counter()
            launch()
            kernel.count_call(perf_counter() - begun)
        else:
            launch()
        idle += commands

    @property
    def is_for_cpu(self) -> bool:
        """True if the kernel is not compiled for the GPU yet, and the CPU may compute until it is
        (`cpu_stand_in`).

        Captures record launches, and sums of tables need the kernel's results, so both wait for the
        kernel.
        """
        kernel = self.kernel
        return (
            kernel.on_cuda
            and not kernel.loaded
            and config.compile_device == "cpu"
            and config.compile == "background"
            and not self.sums
            and not kernel.device.is_capturing
        )

    def clear(self, out: Any) -> None:
        """Fill the results with zeros, except arrays of the caller."""
        for result in self.results if out is None else ():
            self.library.write(result, 0.0)

    def user_result(self) -> Any:
        results = tuple([self.library.wrap_result(result) for result in self.results])
        if self.sums:
            results = tuple(
                self.library.sum_into_table(x, *self.sums[k]) if k in self.sums else x
                for k, x in enumerate(results)
            )
        return results if len(results) > 1 else results[0]

    def bind(self, constants: Constants = "each_run") -> Callable[[], Array]:
        """Launch once, and return a closure that launches again: with constant entries of results,
        or without them if nothing else writes them ("once")."""
        # A bound call reads the caller's arrays at each run, so it cannot use copies.
        for name, reason in self.copied.items():
            raise ValueError(
                f"bind reads arrays in place, but could only read a copy of {name}: {reason}; "
                "pass a contiguous array"
            )
        self.launch_once()
        self.kernel.compile_soon()
        if constants == "once":
            self.arguments[KEEP_CONSTANTS], self.arguments[STREAM] = 1, self.past_cache_when_bound
        launch, commands = self._prepare(self.kernel.new_command)
        # Results in place are the same arrays at each run, so the launch alone is enough.
        if self.library.in_place and not self.sums:
            result = self.user_result()
            if len(commands) == 1 and launch is commands[0].entry:
                bound = BoundCall(launch, result)
            else:

                def run_in_place(*surplus: Any) -> Array:
                    if surplus:
                        refuse_surplus(surplus)
                    launch()
                    return result

                bound = BoundCall(run_in_place)
            arrays = [*self.keep[0].values(), *self.results]
            bound.held = (self.keep, commands, [self.library.hold(x) for x in arrays])
            return bound

        def run(*surplus: Any) -> Array:
            if surplus:
                refuse_surplus(surplus)
            launch()
            return self.user_result()

        return BoundCall(run)

    def _prepare(self, command: Callable[[], Command]) -> tuple[Callable[[], None], list[Command]]:
        """Function that launches, and its commands: a single command, on native threads if the
        batch is large enough; a command for each slice if only Python threads exist."""
        number = self._threads()
        if not self.count:
            return lambda: None, []
        commands = [command()]
        self._set(commands, [(0, self.count)])
        if self.stream is not None:
            return partial(_run_on_stream, commands[0].run, self.stream), commands
        if number == 1:
            return commands[0].run, commands
        launch = shared_launch(commands[0], self.smallest_share(), number)
        if launch:
            return launch, commands
        of_slice = self.count / self.seconds * threads.PYTHONS_SLICE
        slices = threads.slices(self.count, number, self._block(), of_slice)
        commands += [command() for _ in slices[1:]]
        self._set(commands, slices)
        runs = [each.run for each in commands]
        return partial(threads.run_all, runs, min(len(runs), number)), commands

    def smallest_share(self) -> int:
        """Smallest number of environments for one native thread: whole blocks of about `threads.SLICE` seconds."""
        block = self._block()
        return max(1, round(self.count / self.seconds * threads.SLICE / block)) * block

    def _block(self) -> int:
        """Number of environments that a kernel computes together."""
        return LOOP_BLOCK if self.kernel.source.loops else BLOCK

    def _threads(self) -> int:
        """Number of threads for the batch."""
        if self.kernel.on_cuda or self.seconds < threads.ENOUGH:
            return 1
        return threads.get_num_threads()

    def _set(self, commands: Sequence[Command], slices: Sequence[tuple[int, int]]) -> None:
        for command, (first, number) in zip(commands, slices, strict=True):
            self.arguments[FIRST], self.arguments[COUNT] = first, number
            command.set(self.arguments)
            command.set_threads(number)


def _run_on_stream(run: Callable[[Any], None], stream: Callable[[], Any]) -> None:
    run(stream())
