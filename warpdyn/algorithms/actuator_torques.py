"""Joint forces of actuators."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..algebra.scalar import Scalar, maximum, minimum
from ..model.tree import Tree


def actuator_torques(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], control: Sequence[Scalar]
) -> list[Scalar]:
    """Joint forces tau that the robot's actuators produce at these controls.

    q: nq [m, rad].  v: nv.  control: one for each actuator.  Returns nv [N, N·m].
    MuJoCo's documentation, Computation, actuator model: force p = gain(l, l̇) u + bias(l, l̇) along
    a length l, joint forces Rᵀ p with moment arms R = ∂l/∂q. Control, force, and the total force on
    a joint are each clamped to their bounds.
    """
    pushed: list[Scalar] = [0.0] * len(tree.driven)
    for actuator, u in zip(tree.actuators, control, strict=True):
        length: Scalar = actuator.constant
        rate: Scalar = 0.0
        for k, arm in actuator.arms:
            joint = tree.driven[k]
            length = length + (q[joint.q_index] * joint.ratio + joint.offset) * arm
            rate = rate + v[joint.v_index] * (joint.ratio * arm)
        gain, bias = (x + y * length + z * rate for x, y, z in (actuator.gain, actuator.bias))
        force = _clamp(gain * _clamp(u, actuator.controls) + bias, actuator.forces)
        for k, arm in actuator.arms:
            pushed[k] = pushed[k] + force * arm
    tau: list[Scalar] = [0.0] * tree.nv
    for joint, force in zip(tree.driven, pushed, strict=True):
        held = _clamp(force, (-joint.effort, joint.effort))
        tau[joint.v_index] = tau[joint.v_index] + held * joint.ratio
    return tau


def _clamp(x: Scalar, bounds: tuple[float, float]) -> Scalar:
    low, high = bounds
    x = maximum(x, low) if math.isfinite(low) else x
    return minimum(x, high) if math.isfinite(high) else x
