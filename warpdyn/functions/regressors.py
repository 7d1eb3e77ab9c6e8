"""Joint forces and energies as matrices times the links' inertial parameters (`wd.inertial`).

The parameters of a link are m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz: mass, first moment, and
second moment about the **origin of the link's frame**, in its axes.
`inertial_parameters(model).ravel()` is the vector pi of all links in the order of
`model.link_names`. A column of zeros belongs to a parameter that has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algorithms import regressors as _regressors
from ..arrays import A, Array
from ..execution.batched import batched
from ..execution.request.base_velocity import FORCE, UNCHANGED
from ..execution.request.call import Call, Gravity
from ..model import Model
from ..model.names import check_names
from ..model.params import Params


@batched
def joint_torque_regressor(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    a: Array[A] | None,
    *,
    links: Sequence[str] | None = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """The matrix Y(q, v, a) with `rnea(q, v, a)` = Y pi, except for armature, which is not a
    parameter of a link.

    q: (B, nq) [m, rad].  v, a: (B, nv).  Returns (B, nv, 10 nlinks); with `links=[...]` only the
    columns of these links, in this order.  `gravity` as in `rnea`.
    Atkeson, An and Hollerbach, Int. J. Robotics Research 5 (1986).
    """
    named = model.link_names if links is None else tuple(check_names(links))
    model.link_indices(named)
    return Call.of(
        _regressors.joint_torque_regressor,
        model,
        {"q": q, "v": v, "a": a},
        out=out,
        options=(("links", named),),
        forces=(gravity, None),
        shapes={"out": (model.nv, 10 * len(named))},
        params=params,
        by_velocity={"out": FORCE + UNCHANGED},
    )


@batched
def kinetic_energy_regressor(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """The row K(q, v) with kinetic energy K pi [J], except for that of armatures.

    q: (B, nq).  v: (B, nv).  Returns (B, 10 nlinks): for each link v·v / 2, v × ω, and products of
    ω, with the velocity v of its origin in its own axes.
    Siciliano et al., Robotics: Modelling, Planning and Control (2009), section 7.2.2.
    """
    return Call.of(
        _regressors.kinetic_energy_regressor,
        model,
        {"q": q, "v": v},
        out=out,
        options=(("links", model.link_names),),
        params=params,
    )


@batched
def potential_energy_regressor(
    model: Model,
    q: Array[A],
    *,
    gravity: Gravity = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """The row U(q) with potential energy U pi [J], zero at the world's origin; links fixed to the
    world are included.

    q: (B, nq).  Returns (B, 10 nlinks): for each link -g·p, -Rᵀ g, and six zeros.  `gravity` as in
    `rnea`.
    Siciliano et al. (2009), section 7.2.2.
    """
    return Call.of(
        _regressors.potential_energy_regressor,
        model,
        {"q": q},
        out=out,
        options=(("links", model.link_names),),
        forces=(gravity, None),
        params=params,
    )
