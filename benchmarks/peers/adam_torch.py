"""adam in Torch, on whole batches; gradients by torch.autograd."""

from __future__ import annotations

from collections.abc import Mapping

import adam
import numpy as np
import torch
from adam.pytorch import KinDynComputations

from ..algorithms import ALGORITHMS
from ..robots import Robot
from ..workload import cotangents
from . import PreparedRun
from .in_adam import GRAVITY, convert, function_of, inputs_of, joints_of

NAME, PACKAGES, DTYPE = "adam (Torch)", ("adam-robotics", "torch"), "float32"
LARGE_FROM, FEW = 12, 1024
"""Above `LARGE_FROM` joints, gradients need so much memory that batches have `FEW` robots. For other robots a batch
of 4,096 takes 0.7 to 0.95 of the time per robot of a batch of 1,024."""


def prepare(
    robot: Robot, algorithm: str, states: Mapping[str, np.ndarray], device: str
) -> PreparedRun:
    torch.set_num_threads(1)
    place = torch.device(device)
    K = KinDynComputations(
        robot.bare,
        joints_of(robot),
        device=place,
        dtype=torch.float32,
        gravity=torch.tensor(GRAVITY, dtype=torch.float32),
    )
    K.set_frame_velocity_representation(
        adam.Representations.BODY_FIXED_REPRESENTATION
        if robot.floating
        else adam.Representations.MIXED_REPRESENTATION
    )
    function, names, form = function_of(robot, algorithm, K, torch, torch.linalg.solve)
    few = dict(states)
    if ALGORITHMS[algorithm].gradient and robot.model.nv > LARGE_FROM:
        few = {name: values[:FEW] for name, values in states.items()}
    arrays = inputs_of(robot, few)
    given = [torch.tensor(arrays[name], dtype=torch.float32, device=place) for name in names]
    count, wait = len(few["q"]), torch.cuda.synchronize if place.type == "cuda" else lambda: None
    kept: list = []

    if ALGORITHMS[algorithm].gradient:
        wrt = [k for k, name in enumerate(names) if name in ("q", "v", "a", "tau")]
        for k in wrt:
            given[k].requires_grad_()
        weights = torch.tensor(
            cotangents(tuple(function(*given).shape[1:]), count), dtype=torch.float32, device=place
        )

        def run() -> None:
            kept[:] = torch.autograd.grad(function(*given), [given[k] for k in wrt], weights)
            wait()

        form = f"torch.autograd.grad of {form}, forward pass included"
    else:

        @torch.no_grad()
        def run() -> None:
            kept[:] = [function(*given)]
            wait()

    def answers() -> list[np.ndarray]:
        return [
            convert(robot, algorithm, few, x[:16].detach().cpu().double().numpy()) for x in kept
        ]

    return PreparedRun(run, count, answers, form)
