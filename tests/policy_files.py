"""Policy files for tests without training: one linear layer, and a task of a free base for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from fleets import LINK

import warpdyn as wd
from warpdyn import rl

TURNING = (
    f'<robot name="turning">{LINK.format("trunk")}{LINK.format("left")}{LINK.format("right")}'
    + "".join(
        f'<joint name="{side}_joint" type="revolute"><parent link="trunk"/><child link="{side}"/>'
        f'<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="{effort}" velocity="50"/></joint>'
        for side, effort in (("left", 20), ("right", 8))
    )
    + "</robot>"
)
"""Two links that turn on a trunk, a free one for a policy."""


class Turn(rl.Task):
    """The policy commands the joints. It observes all quantities of odometry, cmd_vel and joint
    states."""

    dt, substeps, seconds = 0.005, 4, 1.0
    drives = wd.PD(np.array([40.0, 30.0]), 2.0, effort=100.0)  # beyond the description's limits
    actions, largest_action = 2, 1.0
    scales = {"nothing": 1.0}  # noqa: RUF012
    commanded = "speeds"
    numbers = {"speeds_range": np.array([1.0, 0.5, 2.0])}  # noqa: RUF012

    def __init__(self) -> None:
        # Joints in another order than the description's, as another file of the robot may have them.
        right, left = (part for part in TURNING.split("<joint")[:0:-1])
        head = TURNING.split("<joint")[0]
        text = f"{head}<joint{right.replace('</robot>', '')}<joint{left}</robot>"
        self.model = wd.load_urdf(text, floating_base=True)

    def begin(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"q": self.model.neutral, "v": np.zeros(8), "speeds": np.zeros(3)}

    def control(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"targets": s.action}

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"q": s.q, "v": s.v, "speeds": s.speeds, "last": s.last_action}

    def reward(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"nothing": 0.0}


def turning_weights() -> np.ndarray:
    """(22, 2) weights. The right joint's target is a tenth of the forward command plus a tenth of
    the x position of odometry. The left joint's target is half of the turning command."""
    weights = np.zeros((9 + 8 + 3 + 2, 2))
    weights[0, 0], weights[17, 0], weights[19, 1] = 0.1, 0.1, 0.5
    return weights


def linear_policy(path: Path, weights: Any, **about: Any) -> Path:
    """Write a policy file that computes `observation @ weights`, weights (n, actions)."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    table = np.asarray(weights, dtype=np.float32)
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["envs", size])
        for name, size in zip(("observation", "action"), table.shape, strict=True)
    ]
    node = helper.make_node("MatMul", ["observation", "weights"], ["action"])
    named = [numpy_helper.from_array(table, "weights")]
    graph = helper.make_graph([node], "policy", ends[:1], ends[1:], named)
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    whole.ir_version = 10
    entry = whole.metadata_props.add()
    entry.key, entry.value = "warpdyn", json.dumps(about)
    onnx.save(whole, str(path))
    return path
