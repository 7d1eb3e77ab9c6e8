"""Whether a model and parameters fit each other, found without compiling a kernel."""

from __future__ import annotations

from collections import Counter

import numpy as np

from warpdyn import Model

from .collision import CollisionGuard
from .external_torques import check_felt
from .friction_compensation import FrictionCompensation
from .joint_limits import JointLimits
from .joint_states import JointStates
from .law import Law
from .payload import Payload
from .policy_law import check_joints, loaded
from .setpoint import Setpoint
from .settings import Settings
from .state import State
from .torque_output import TorqueOutput, command_joints


def check_robot(model: Model, settings: Settings) -> None:
    """ValueError when no robot of this model can be made with these settings. Nothing is
    compiled."""
    state, counts = State.of_robots(model, 1).row(0), Counter[str]()
    read = JointStates(model, settings, state, counts).joints
    commanded = command_joints(settings, read)
    output = TorqueOutput(model, commanded, settings)
    JointLimits(model, commanded).change(settings, output.effort_limit)
    Setpoint(model, read, commanded, counts).change(settings)
    payload = Payload(model, settings)
    if settings.law:
        gravity = np.tile(np.array(settings.gravity), (1, 1))
        Law(model, settings, State.of_robots(model, 1), gravity, payload)
    FrictionCompensation(model, settings, State.of_robots(model, 1))
    if settings.feels:
        check_felt(model, settings)
        CollisionGuard(commanded, model.v_indices(commanded), settings)
    if settings.policy:
        check_joints(model, loaded(settings.policy, settings.policy_task)[1], settings)
