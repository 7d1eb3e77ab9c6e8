"""A user's kernel in a command line: its name, its options, and arrays to run it on."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..execution.request.call import Call
from ..model import Model
from ..model.names import ModelError
from ..user_kernels.loading import in_one_line, line_in, load_kernel, missing_options, read_options
from ..user_kernels.own_kernel import OwnKernel
from ..user_kernels.signature import NEEDED
from .command_line import UserError, find_frame, find_modules_here, user_errors
from .workload import ARGUMENTS, Memory, Workload, furthest_link, random_states

STATES = ("q", "v", "a", "tau")
"""Arrays with random states like those of the algorithms, also for names that start with them:
q_wanted, v0."""


@dataclass(frozen=True)
class ChosenKernel:
    """A kernel with its options, for a robot."""

    text: str
    """Its name in the command line."""
    kernel: OwnKernel
    model: Model
    options: dict[str, Any]

    @classmethod
    def of(cls, text: str, args: argparse.Namespace, model: Model) -> ChosenKernel:
        """The kernel `file.py:name` or `package.module:name` with the options of `--option`."""
        find_modules_here()
        with user_errors(ValueError, ImportError):
            kernel = load_kernel(text)
        return cls(text, kernel, model, options_of(kernel, args, model))

    @property
    def label(self) -> str:
        """Its name in tables; with its file if an algorithm has the same name."""
        name = self.kernel.__name__
        return Path(self.text).name if name in ARGUMENTS else name

    @property
    def inputs(self) -> list[str]:
        """Names of its arrays without a default."""
        return [n for n, each in self.kernel.signature.arrays.items() if each.default is None]

    @property
    def shared_names(self) -> list[str]:
        """Names of those arrays of which one serves all robots."""
        declared = self.kernel.signature.arrays
        return [n for n in self.inputs if declared[n].serves_all and declared[n].shape]

    def with_options(self) -> partial[Any]:
        """The kernel with its options, for compiling."""
        return partial(self.kernel, **self.options)

    def describe_call(self, arrays: Sequence[Any]) -> Call[Any]:
        """Its call on arrays; a mistake in the kernel is a `UserError`."""
        with self.mistakes():
            return self.kernel.describe(self.model, *arrays, **self.options)

    def arrays(self, count: int) -> list[np.ndarray]:
        """Arrays for `count` robots, float64: configurations within limits, velocities,
        accelerations and efforts like those for the algorithms, and other arrays uniform in (-1,
        1)."""
        draw, drawn, result = np.random.default_rng(1), dict.fromkeys(STATES, 0), []
        for name in self.inputs:
            each = self.kernel.signature.arrays[name]
            shape, kind = each.sizes(self.model), kind_of(name)
            if name in self.shared_names:
                result.append(draw.uniform(-1.0, 1.0, shape))
            elif kind and each.shape == ("nq" if kind == "q" else "nv",):
                result.append(random_states(self.model, count, seed=drawn[kind])[kind])
                drawn[kind] += 1
            else:
                result.append(draw.uniform(-1.0, 1.0, (count, *shape)))
        return result

    def workload(self, count: int, memory: Memory) -> Workload:
        """The kernel on arrays for `count` robots, with arrays for its results."""
        shared = [name in self.shared_names for name in self.inputs]
        inputs = [
            memory.array_of(x[None])[0] if for_all else memory.array_of(x)
            for x, for_all in zip(self.arrays(count), shared, strict=True)
        ]
        call = self.describe_call(inputs)
        out = tuple(memory.empty(count, call.shapes[name]) for name in call.results)
        return Workload(
            self.model,
            self.label,
            tuple(inputs),
            out if len(out) > 1 else out[0],
            self.options,
            self.kernel,
            tuple(shared),
        )

    @contextmanager
    def mistakes(self) -> Iterator[None]:
        """A block in which errors of the kernel and of its arguments become one line."""
        try:
            yield
        except (UserError, ModelError, MemoryError):
            raise
        except Exception as error:
            file = Path(inspect.getfile(self.kernel.text))
            theirs = line_in(error, file) is not None
            if not theirs and not isinstance(error, (TypeError, ValueError)):
                raise
            message = in_one_line(error, file) if theirs else str(error)
            raise UserError(" ".join(message.split())) from error

    def about(self) -> str:
        """Description of its figures in a sentence."""
        chosen = {n: x for n, x in self.kernel.signature.defaults.items() if x is not NEEDED}
        options = ", ".join(f"{n} = {x!r}" for n, x in {**chosen, **self.options}.items())
        others = [n for n in self.inputs if not kind_of(n)]
        drawn = f"; {', '.join(others)} drawn from (-1, 1)" if others else ""
        return f"{self.label}: {self.text}{f', {options}' if options else ''}{drawn}."


def own_kernel(args: argparse.Namespace, model: Model) -> ChosenKernel | None:
    """The kernel of `--kernel`; None without it."""
    if args.kernel is None:
        if args.option:
            raise UserError("--option is for a kernel of your own: --kernel my.py:impedance")
        return None
    return ChosenKernel.of(args.kernel, args, model)


def options_of(kernel: OwnKernel, args: argparse.Namespace, model: Model) -> dict[str, Any]:
    """Options by name, from `--option NAME=VALUE ...`.

    By default the frame is the link of `--frame`, or else the furthest one.
    """
    defaults, name = kernel.signature.defaults, kernel.__name__
    with user_errors(ValueError):
        options = read_options(kernel, args.option or ())
    if "frame" in defaults and "frame" not in options:
        frame = find_frame(args, model)
        if frame or defaults["frame"] is NEEDED:
            options["frame"] = frame or furthest_link(model)
    missing = missing_options(kernel, options)
    if missing:
        shown = " ".join(f"{n}=..." for n in missing)
        raise UserError(f"{name} needs its options: --option {shown}")
    return options


def reads_frame(function: Any) -> bool:
    """True if a function is a user's kernel with the option frame, which `--frame` sets."""
    return isinstance(function, OwnKernel) and "frame" in function.signature.defaults


def kind_of(name: str) -> str:
    """The kind of state of an array by its name: q, v, a, tau, or an empty string."""
    stem = name.partition("_")[0].rstrip("0123456789")
    return stem if stem in STATES else ""
