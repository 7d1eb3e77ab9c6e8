"""Policies for tests, without training: one layer, as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np


def linear_policy(path: Path, weights: Any, **about: Any) -> Path:
    """A file of the policy that gives `observation @ weights`, weights (n, actions)."""
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
