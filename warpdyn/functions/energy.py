"""Kinetic, potential and mechanical energy."""

from __future__ import annotations

from ..algorithms import energy as _energy
from ..arrays import A, Array
from ..execution.base_velocity import CONFIGURATION, VELOCITY
from ..execution.batched import batched
from ..execution.call import Call, Gravity
from ..model import Model
from ..model.params import Params


@batched
def kinetic_energy(
    model: Model,
    q: Array[A],
    v: Array[A],
    *,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Kinetic energy vᵀ M(q) v / 2, that of the rotors (armature) included.

    q: (B, nq) [m, rad].  v: (B, nv).  Returns (B,) [J]; a scalar for one robot.  RBDA 2.67, summed
    over the bodies.
    """
    return Call(
        "kinetic_energy",
        model,
        (_energy.kinetic_energy,),
        {"q": q, "v": v},
        out=out,
        params=params,
        by_velocity={"q": CONFIGURATION, "v": VELOCITY},
    )


@batched
def potential_energy(
    model: Model,
    q: Array[A],
    *,
    gravity: Gravity = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Potential energy of gravity, -sum of m g · c over all links, root-fixed ones included.

    q: (B, nq) [m, rad].  Returns (B,) [J]; zero for mass at the world's origin. Its gradient is
    `gravity_torques`.
    gravity: as in `rnea`.  Springs at the limits (`Model.with_limit_springs`) are not in it.
    """
    algorithm = (_energy.potential_energy,)
    return Call(
        "potential_energy",
        model,
        algorithm,
        {"q": q},
        out=out,
        forces=True,
        gravity=gravity,
        params=params,
        by_velocity={"q": CONFIGURATION},
    )


@batched
def mechanical_energy(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    gravity: Gravity = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Kinetic and potential energy together, constant where no force but gravity acts.

    q: (B, nq) [m, rad].  v: (B, nv).  Returns (B,) [J].  gravity: as in `rnea`.
    """
    algorithm, arrays = (_energy.mechanical_energy,), {"q": q, "v": v}
    return Call(
        "mechanical_energy",
        model,
        algorithm,
        arrays,
        out=out,
        forces=True,
        gravity=gravity,
        params=params,
        by_velocity={"q": CONFIGURATION, "v": VELOCITY},
    )
