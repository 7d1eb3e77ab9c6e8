"""Check that each joint can carry the payload in the present pose."""

from __future__ import annotations

import numpy as np

from warpdyn.execution.oracle import oracle
from warpdyn.functions.kinematics import fk, jacobian
from warpdyn.model import Model

from ..commands.torque_output import TorqueOutput
from ..settings.node_settings import Settings
from ..settings.parameter import per_joint
from ..states.joint_states import JointStates


def payload_torques(model: Model, settings: Settings, q: np.ndarray) -> np.ndarray:
    """Torques (nv,) that hold the payload alone at q (nq,) [N, N·m]. Nothing is compiled."""
    link = settings.payload_link
    if not settings.payload_mass:  # settings with a mass have a link
        return np.zeros(model.nv)
    J = oracle(jacobian, model, q, frame=link, reference="local_world_aligned")
    turn = oracle(fk, model, q, frame=link)[:3, :3]
    weight = settings.payload_mass * np.array(settings.gravity)
    moment = np.cross(turn @ settings.payload_com, weight)
    return -np.asarray(J).T @ np.concatenate([weight, moment])


def overload(model: Model, settings: Settings, states: JointStates, output: TorqueOutput) -> str:
    """A message with the joints whose effort limits the payload's weight alone exceeds, with
    torque, limit and remedy; empty if there are none, or before the first state.

    A joint that may send nothing (`effort_limit_scale` or its `torque_scale` is 0) is left out.
    """
    if settings.policy or not settings.payload_mass or not np.isfinite(states.arrived):
        return ""
    joints = output.joints
    scale = per_joint("torque_scale", settings.torque_scale, len(joints))
    torque = scale * payload_torques(model, settings, states.q)[model.v_indices(joints)]
    _, limit = output.limits_for(settings)
    heavy = [
        f"{joint} {abs(t):.4g} of {most:.4g}"
        for joint, t, most in zip(joints, torque, limit, strict=True)
        if 0.0 < most < abs(t)
    ]
    if not heavy:
        return ""
    return (
        f"the weight of payload.mass {settings.payload_mass:g} kg alone exceeds effort limits where the "
        f"robot is now: {', '.join(heavy)} N*m. Check payload.mass and payload.com"
    )
