"""A robot on soft ground as a differential equation, for your own integrators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...algorithms.simulation.contact_rows import ContactPoint
from ...algorithms.simulation.smooth_dynamics import state_derivative as _state_derivative
from ...arrays import Array
from ...execution.batched import batched
from ...execution.request.base_velocity import ACCELERATION
from ...execution.request.call import Call, Forces, Gravity
from ...execution.request.inputs import PLAIN
from ...model import Model
from ...model.params import Params
from ..manifold import checked_baumgarte
from .drives import PD, drive_arrays
from .ground import FLAT, Ground, SoftGround, exponents_of
from .point_checks import checked_points, refusing_for_explicit_forces
from .step_options import StepOptions, contact_arrays


class StateDerivative(NamedTuple):
    """Rates of a state."""

    q: Array
    """(B, nq), as in `configuration_rate`."""
    v: Array
    """(B, nv): the acceleration."""
    deformation: Array
    """(B, points, 3), in the world's axes [m/s]."""
    forces: Array
    """(B, points, 3) of the ground on the points, in the world's axes [N]."""


@batched
def state_derivative(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    *,
    targets: Array | None = None,
    control: PD | None = None,
    points: Sequence[ContactPoint] = (),
    deformation: Array | None = None,
    ground: Ground | SoftGround = FLAT,
    baumgarte: float = 0.0,
    f_ext: Forces = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: tuple[Array, ...] | None = None,
) -> Call[StateDerivative]:
    """Rates of a robot's state under drives, joint effects and soft contacts, all explicit forces.

    q: (B, nq) [m, rad].  v: (B, nv).  tau: (B, nv).  Returns a `StateDerivative`: q, v,
    deformation, forces.
    `step` with integrator="rk4" integrates these rates, and its arguments are the same.
    deformation: (B, points, 3) of the ground at the points [m]; None: zero. ground: a `SoftGround`
    if there are points. baumgarte: as in `configuration_rate`.
    For a robot with closed loops the acceleration is that of `wd.loops.dynamics`. The error of your
    integrator opens the loops, and `wd.loops.close` closes them.
    RBDA section 7.3 for the acceleration (`aba`); Hunt-Crossley contacts.
    """
    options = StepOptions(
        targets=targets,
        control=control,
        points=points,
        deformation=deformation,
        ground=ground,
        f_ext=f_ext,
        gravity=gravity,
        params=params,
        out=out,
    )
    touching = checked_points(model, points)
    if touching and not options.is_soft:
        raise TypeError(
            "contacts of wd.Ground are implicit and have no forces at a state: with points= ground "
            f"must be wd.SoftGround(...), got {type(ground).__name__}"
        )
    shaped = contact_arrays(model, touching, options, q)
    shaped |= drive_arrays(model, control, targets)
    shape = (len(touching), 3)
    return Call(
        "state_derivative",
        model,
        (_state_derivative,),
        {"q": q, "v": v, "tau": tau, **{name: array for name, (array, _) in shaped.items()}},
        out=out,
        options=(
            ("arrays", tuple(shaped)),
            ("points", touching),
            ("exponents", exponents_of(ground)),
            ("baumgarte", checked_baumgarte(baumgarte)),
        ),
        results=("q_rate", "acceleration", "deformation_rate", "forces"),
        shapes={
            **{name: shape for name, (_, shape) in shaped.items()},
            "deformation_rate": shape,
            "forces": shape,
        },
        forces=(gravity, f_ext),
        params=params,
        refuse=refusing_for_explicit_forces(touching),
        by_velocity={"acceleration": ACCELERATION},
        arguments={n: PLAIN for n in shaped if n not in ("deformation", "targets")},
        named=StateDerivative,
    )
