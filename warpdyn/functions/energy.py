"""Kinetic, potential and mechanical energy."""

from __future__ import annotations

from typing import Any

from ..algorithms import energy as _energy
from ..arrays import Array
from ..execution.call import Call, Gravity
from ..execution.launch import batched
from ..model import Model


@batched
def kinetic_energy(
    model: Model, q: Array, v: Array, *, params: Any = None, out: Array | None = None
) -> Any:
    """Kinetic energy vᵀ M(q) v / 2, that of the rotors (armature) included.

    q: (B, nq) [m, rad].  v: (B, nv).  Returns (B,) [J]; a scalar for one robot.  RBDA 2.67, summed over the bodies.
    """
    return Call(
        "kinetic_energy", model, (_energy.kinetic_energy,), {"q": q, "v": v}, out, params=params
    )


@batched
def potential_energy(
    model: Model, q: Array, *, gravity: Gravity = None, params: Any = None, out: Array | None = None
) -> Any:
    """Potential energy of gravity, -sum of m g · c over all links, root-fixed ones included.

    q: (B, nq) [m, rad].  Returns (B,) [J]; zero for mass at the world's origin. Its gradient is `gravity_torques`.
    gravity: as in `rnea`.  Springs at the limits (`Model.with_limit_springs`) are not in it.
    """
    text = (_energy.potential_energy,)
    return Call(
        "potential_energy", model, text, {"q": q}, out, forces=True, gravity=gravity, params=params
    )


@batched
def mechanical_energy(
    model: Model,
    q: Array,
    v: Array,
    *,
    gravity: Gravity = None,
    params: Any = None,
    out: Array | None = None,
) -> Any:
    """Kinetic and potential energy together, constant where no force but gravity acts.

    q: (B, nq) [m, rad].  v: (B, nv).  Returns (B,) [J].  gravity: as in `rnea`.
    """
    text, arrays = (_energy.mechanical_energy,), {"q": q, "v": v}
    return Call(
        "mechanical_energy", model, text, arrays, out, forces=True, gravity=gravity, params=params
    )
