"""pytorch_kinematics: batched kinematics in Torch; gradients by torch.autograd."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytorch_kinematics as pk
import torch

from warpdyn.cli.workload import furthest_link

from ..algorithms import ALGORITHMS
from ..robots import Robot
from ..workload import cotangents
from . import CannotDo, PreparedRun

NAME, PACKAGES, DTYPE = "pytorch_kinematics", ("pytorch_kinematics", "torch"), "float32"


def prepare(
    robot: Robot, algorithm: str, states: Mapping[str, np.ndarray], device: str
) -> PreparedRun:
    torch.set_num_threads(1)
    plain = ALGORITHMS[algorithm].of or algorithm
    if plain not in ("fk", "fk_frame", "jacobian"):
        raise CannotDo("kinematics only")
    if robot.floating:
        raise CannotDo("no free base")
    frame, links, count = furthest_link(robot.model), list(robot.model.link_names), len(states["q"])
    place = torch.device(device)
    whole = pk.build_chain_from_urdf(robot.bare.encode()).to(dtype=torch.float32, device=place)
    chain = pk.SerialChain(whole, frame) if plain != "fk" else whole
    order = [robot.model.v_names.index(name) for name in chain.get_joint_parameter_names()]
    q = torch.tensor(states["q"][:, order], dtype=torch.float32, device=place)
    wait = torch.cuda.synchronize if place.type == "cuda" else lambda: None
    kept: list = []

    def function(q: torch.Tensor) -> torch.Tensor:
        if plain == "jacobian":
            return chain.jacobian(q)
        if plain == "fk_frame":
            return chain.forward_kinematics(q, end_only=True).get_matrix()
        poses = chain.forward_kinematics(q)
        return torch.stack([poses[name].get_matrix().expand(len(q), 4, 4) for name in links], dim=1)

    form = {"jacobian": "SerialChain.jacobian", "fk_frame": "SerialChain.forward_kinematics"}.get(
        plain, "Chain.forward_kinematics, stacked"
    )
    if ALGORITHMS[algorithm].gradient:
        q.requires_grad_()
        weights = torch.tensor(
            cotangents(tuple(function(q).shape[1:]), count), dtype=torch.float32, device=place
        )

        def run() -> None:
            kept[:] = torch.autograd.grad(function(q), [q], weights)
            wait()

        form = f"torch.autograd.grad of {form}, forward pass included"
    else:

        @torch.no_grad()
        def run() -> None:
            kept[:] = [function(q)]
            wait()

    def answers() -> list[np.ndarray]:
        found = kept[0][:16].detach().cpu().double().numpy()
        if plain == "jacobian" or ALGORITHMS[algorithm].gradient:
            whole = np.zeros((*found.shape[:-1], robot.model.nv))
            whole[..., order] = found
            found = whole
        return [found]

    return PreparedRun(run, count, answers, form)
