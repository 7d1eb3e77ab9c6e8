"""Processes that share one training run, started by `torchrun`: each has its own environments, and
all train one policy."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed

from ..execution.threads import get_num_threads, set_num_threads
from ..model.old_members import OldMember
from .task import TaskError

VARIABLES = ("WORLD_SIZE", "RANK", "LOCAL_WORLD_SIZE", "LOCAL_RANK")
"""Environment variables that torchrun sets in each process."""


class ProcessLostError(TaskError):
    """Another process of the training has ended, so this one cannot continue."""


@dataclass(frozen=True)
class Processes:
    """This process among all processes of a training run; by default there is only one.

    count: number of processes on all machines. rank: the index of this process. here, rank_here:
    the same on this machine only.
    """

    count: int = 1
    rank: int = 0
    here: int = 1
    rank_here: int = 0

    @classmethod
    def of_torchrun(cls, variables: Mapping[str, str] = os.environ) -> Processes:
        """Processes from the environment's `variables`; a single process if one of them is
        missing."""
        if not all(name in variables for name in VARIABLES):
            return cls()
        return cls(*(int(variables[name]) for name in VARIABLES))

    @property
    def first(self) -> bool:
        """True if this is the one process that prints and writes files."""
        return self.rank == 0

    def device(self, name: str) -> str:
        """The device of this process of the given kind; each process has its own GPU."""
        if self.count == 1 or name.partition(":")[0] != "cuda":
            return name
        if self.here > (gpus := torch.cuda.device_count()):
            raise TaskError(
                f"a training on GPUs needs one for each process, got {self.here} processes on a "
                f"machine with {gpus}; start torchrun with --nproc-per-node {max(gpus, 1)}, or "
                "train with --device cpu"
            )
        return f"cuda:{self.rank_here}"

    def meet(self, device: str) -> None:
        """Wait for the other processes, and set up their communication for `total` and the other
        methods.

        On the CPU the processes of a machine share its cores.
        """
        if self.count == 1 or torch.distributed.is_initialized():
            return
        if device.startswith("cuda"):
            torch.cuda.set_device(device)
        backend = "cpu:gloo,cuda:nccl" if device.startswith("cuda") else "gloo"
        try:
            torch.distributed.init_process_group(backend)
        except (RuntimeError, ValueError) as error:
            why = str(error).partition("\n")[0]
            raise TaskError(
                f"the {self.count} processes of torchrun cannot connect: {why}"
            ) from None
        if device == "cpu":
            set_num_threads(max(1, get_num_threads() // self.here))
        atexit.register(torch.distributed.destroy_process_group)

    def rsl_rl_config(self) -> dict[str, int] | None:
        """The configuration `multi_gpu` of rsl_rl 5, whose algorithms then average their gradients.

        Its runner needs GPUs. Its algorithms accept any device that torch.distributed supports.
        """
        if self.count == 1:
            return None
        ranks = {"global_rank": self.rank, "local_rank": self.rank_here}
        return ranks | {"world_size": self.count}

    of_rsl_rl = OldMember("of_rsl_rl", "rsl_rl_config")

    def total(self, x: torch.Tensor) -> torch.Tensor:
        """The sum of all processes' `x`, in place."""
        if self.count > 1:
            with self.together():
                torch.distributed.all_reduce(x)
        return x

    def of_all(self, x: Any) -> list[Any]:
        """The values of `x` in all processes, by rank, in every process."""
        if self.count == 1:
            return [x]
        every: list[Any] = [None] * self.count
        with self.together():
            torch.distributed.all_gather_object(every, x)
        return every

    def of_first(self, x: Any) -> Any:
        """The first process's value of `x`."""
        if self.count == 1:
            return x
        one = [x]
        with self.together():
            torch.distributed.broadcast_object_list(one, src=0)
        return one[0]

    @contextmanager
    def together(self) -> Iterator[None]:
        """A block that waits for the other processes, and reports in one line if one has ended."""
        try:
            yield
        except RuntimeError as error:
            # Gloo raises a plain RuntimeError, NCCL a class of torch.distributed.
            if self.count == 1 or not _of_connection(error):
                raise
            raise ProcessLostError(
                f"another of the {self.count} processes has ended, and a training needs all; start "
                "it again, it goes on from its last checkpoint"
            ) from None


def _of_connection(error: RuntimeError) -> bool:
    """True if another process, not this one, caused the error."""
    words = ("gloo", "Connection", "Socket", "NCCL")
    return isinstance(error, torch.distributed.DistError) or any(w in str(error) for w in words)
