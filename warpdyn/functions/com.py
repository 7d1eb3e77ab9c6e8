"""Centre of mass of the robot, of a part of it, and of each link.

Every link of the description counts, including links fixed to the world. `subtree="link"` restricts
the sum to that link and its descendants. Positions, velocities and accelerations are those of a
point, in the world frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..algorithms import com as _com
from ..arrays import A, Array
from ..execution.batched import batched
from ..execution.request.base_velocity import BIAS, COLUMNS
from ..execution.request.call import Call
from ..model import Model
from ..model.names import ModelError
from ..model.params import Params
from ..model.structure import Structure


@batched
def com(
    model: Model,
    q: Array[A],
    *,
    subtree: str | None = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Centre of mass in the world, sum of m_i c_i / m.

    q: (B, nq) [m, rad].  Returns (B, 3) [m].
    subtree: a link, to count only that link and its descendants instead of the whole robot.
    Raises ModelError if the counted links have no mass.

    >>> model = wd.load_robot("panda")
    >>> q = wd.random_configuration(model, 100)
    >>> masses = [link.mass for link in model.links]
    >>> np.allclose(wd.com(model, q), np.average(wd.link_coms(model, q), 1, masses))
    True
    """
    return _call(_com.com, model, {"q": q}, subtree=subtree, out=out, params=params)


@batched
def com_velocity(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    subtree: str | None = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Velocity of the centre of mass in the world: linear momentum / m, J v.

    q: (B, nq).  v: (B, nv).  Returns (B, 3) [m/s]. subtree: as in `com`.
    """
    return _call(
        _com.com_velocity, model, {"q": q, "v": v}, subtree=subtree, out=out, params=params
    )


@batched
def com_acceleration(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    a: Array[A] | None,
    *,
    subtree: str | None = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Acceleration of the centre of mass in the world, without gravity: J a + J' v.

    q: (B, nq).  v, a: (B, nv).  Returns (B, 3) [m/s²]. subtree: as in `com`.
    """
    return _call(
        _com.com_acceleration,
        model,
        {"q": q, "v": v, "a": a},
        subtree=subtree,
        out=out,
        params=params,
    )


@batched
def com_bias_acceleration(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    subtree: str | None = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """J' v, the acceleration of the centre of mass that is due to the velocities alone.

    q: (B, nq).  v: (B, nv).  Returns (B, 3) [m/s²]. subtree: as in `com`.
    """
    return _call(
        _com.com_bias_acceleration,
        model,
        {"q": q, "v": v},
        subtree=subtree,
        out=out,
        params=params,
        by_velocity={"out": BIAS},
        rate_of=_com.com_jacobian,
    )


@batched
def com_jacobian(
    model: Model,
    q: Array[A],
    *,
    subtree: str | None = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Jacobian of the centre of mass: J v is its velocity in the world.

    q: (B, nq).  Returns (B, 3, nv). subtree: as in `com`.
    The linear rows of the centroidal momentum matrix over m: Orin, Goswami and Lee, Autonomous
    Robots 35, 2013.
    """
    return _call(
        _com.com_jacobian,
        model,
        {"q": q},
        subtree=subtree,
        out=out,
        params=params,
        by_velocity={"out": COLUMNS},
    )


@batched
def link_coms(
    model: Model, q: Array[A], *, params: Params | None = None, out: Array[A] | None = None
) -> Call[A]:
    """Centre of mass of each link in the world, as the description places it. Links without mass
    are included.

    q: (B, nq).  Returns (B, nlinks, 3) [m] in the order of `model.link_names`.
    """

    return Call.of(
        _com.link_coms,
        model,
        {"q": q},
        out=out,
        options=(("links", model.link_names),),
        params=params,
    )


def _refuse_massless(model: Structure, subtree: str | None) -> None:
    if not any(
        model.link(name).mass for name in _links_of_subtree(model, subtree) or model.link_names
    ):
        what = "no link" if subtree is None else f'neither link "{subtree}" nor a descendant'
        raise ModelError(f"{model.name}: {what} has mass, so there is no centre of mass")


def _call(
    algorithm: Callable[..., Any],
    model: Model,
    arrays: Mapping[str, Array[A] | None],
    subtree: str | None,
    out: Array[A] | None,
    params: Params | None,
    **more: Any,
) -> Call[A]:
    """Call of the algorithm over the counted links."""
    return Call.of(
        algorithm,
        model,
        arrays,
        out=out,
        options=(("links", _links_of_subtree(model, subtree)),),
        refuse=lambda model: _refuse_massless(model, subtree),
        params=params,
        **more,
    )


def _links_of_subtree(model: Structure, subtree: str | None) -> tuple[str, ...] | None:
    """Names of the counted links, in the order of the model; None for all links."""
    if subtree is None:
        return None
    model.link_index(subtree)
    counted = {subtree}
    for joint in model.joints:  # parents come before their children
        if joint.parent in counted:
            counted.add(joint.child)
    return tuple(name for name in model.link_names if name in counted)
