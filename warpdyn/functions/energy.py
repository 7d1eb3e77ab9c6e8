"""Kinetic, potential and mechanical energy, and the power of contacts."""

from __future__ import annotations

from ..algorithms import energy as _energy
from ..arrays import A, Array
from ..execution.batched import batched
from ..execution.request.call import Call, Forces, Gravity
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
    """Kinetic energy vᵀ M(q) v / 2, including that of the rotors (armature).

    q: (B, nq) [m, rad].  v: (B, nv).  Returns (B,) [J]; a scalar for one robot.  RBDA 2.67, summed
    over the bodies.
    """
    return Call.of(_energy.kinetic_energy, model, {"q": q, "v": v}, out=out, params=params)


@batched
def potential_energy(
    model: Model,
    q: Array[A],
    *,
    gravity: Gravity = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Potential energy of gravity, -sum of m g · c over all links, including links fixed to the
    world.

    q: (B, nq) [m, rad].  Returns (B,) [J]; zero for mass at the world's origin. Its gradient is
    `gravity_torques`.
    gravity: as in `rnea`.  Springs are not included.
    """
    return Call.of(
        _energy.potential_energy, model, {"q": q}, out=out, forces=(gravity, None), params=params
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
    """Sum of kinetic and potential energy, constant if no force but gravity acts.

    q: (B, nq) [m, rad].  v: (B, nv).  Returns (B,) [J].  gravity: as in `rnea`.
    """
    return Call.of(
        _energy.mechanical_energy,
        model,
        {"q": q, "v": v},
        out=out,
        forces=(gravity, None),
        params=params,
    )


@batched
def contact_power(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    a: Array[A] | None,
    tau: Array[A],
    *,
    f_ext: Forces = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Power that contacts give the robot, v · (rnea(q, v, a) - tau): the power of all forces on it
    except the joint forces `tau`, gravity, the friction and springs of the model, and `f_ext`.

    q: (B, nq) [m, rad].  v, a, tau: (B, nv).  Returns (B,) [W]; above 0 where contacts drive the
    robot, below 0 where they take energy from it: sliding, a push against the motion. A contact
    that does not move gives none. For a log, the result is only as good as `tau` and the model:
    effects that the model lacks (gear friction, a payload) appear in it.
    This power, tau · v and the power of the model's friction and springs add up to the rate of
    `mechanical_energy`.
    f_ext: known forces, as in `rnea`.  gravity: as in `rnea`.
    Featherstone, Rigid Body Dynamics Algorithms (2008), section 2.4 and equation 3.1.
    """
    return Call.of(
        _energy.contact_power,
        model,
        {"q": q, "v": v, "a": a, "tau": tau},
        out=out,
        forces=(gravity, f_ext),
        params=params,
    )
