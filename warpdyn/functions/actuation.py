"""Joint forces of a robot's actuators from their controls."""

from __future__ import annotations

from ..algorithms import actuator_torques as _actuator_torques
from ..arrays import A, Array
from ..execution.batched import batched
from ..execution.request.base_velocity import FORCE
from ..execution.request.call import Call
from ..model import Model


@batched
def actuator_torques(
    model: Model, q: Array[A], v: Array[A] | None, control: Array[A], *, out: Array[A] | None = None
) -> Call[A]:
    """Joint forces that the actuators of an MJCF file produce for these controls.

    q: (B, nq) [m, rad].  v: (B, nv).  control: (B, number of `model.actuators`), in their order and
    units: positions of position servos, velocities of velocity servos, forces of motors before
    their gears.  Returns tau: (B, nv) [N, N·m].
    Each actuator's force is gain times control plus bias, along a joint or a fixed tendon; the
    control, the force and the sum of the forces on a joint (`effort_limit`) are clamped to their
    bounds, as in MuJoCo (its documentation, Computation, actuator model).
    """
    if not model.actuators:
        raise ValueError(
            f"{model.name} has no actuators: they come with MJCF files; give joint forces to a step, "
            "or wd.PD"
        )
    return Call.of(
        _actuator_torques.actuator_torques,
        model,
        {"q": q, "v": v, "control": control},
        out=out,
        shapes={"control": (len(model.actuators),)},
        by_velocity={"out": FORCE},
    )
