"""External forces on a robot, from its motion and its motors' torques."""

from __future__ import annotations

import math

from ...algorithms import momentum_observer as _observer
from ...arrays import A, Array
from ...execution.batched import batched
from ...execution.request.base_velocity import FORCE
from ...execution.request.call import Call, Forces, Gravity
from ...execution.request.inputs import ArgumentSpec
from ...model import Model
from ...model.params import Params
from ...model.reference_frames import Reference
from ..frame_options import of_link
from ..simulation.varied_numbers import for_all

STATE = ("momentum", "rate", "external")
"""Arrays that a momentum observer carries from one call to the next."""


@batched
def momentum_observer(
    model: Model,
    q: Array[A],
    v: Array[A],
    tau: Array[A],
    momentum: Array[A],
    rate: Array[A],
    external: Array[A],
    *,
    dt: float | Array[A] = 0.005,
    gain: float | Array[A] = 50.0,
    f_ext: Forces = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: tuple[Array[A], Array[A], Array[A]] | None = None,
) -> Call[tuple[A, A, A]]:
    """External joint forces by the generalised momentum observer: its state after a time `dt`.

    q: (B, nq).  v: (B, nv).  tau: (B, nv), motor torques [N, N·m], measured or commanded.
    momentum, rate, external: (B, nv), the results of the previous call; `out=` may be the same
    arrays. dt: the time since then [s], a number or (B,). Where it is 0 the observer starts at this
    state with `external` 0 and does not read the other two. gain: [1/s], a number or (B,).
    Returns momentum M v, rate tau + Cᵀ v - g + Jᵀ f_ext - `effect_torques`, and external (B, nv).
    `external` follows the external forces, except the known `f_ext`, like a first-order filter with
    time constant 1 / gain. For constant forces and a linearly changing rate this is exact for any
    dt. Nothing is differentiated and no mass matrix is inverted.
    De Luca and Mattone, Sensorless robot collision detection and hybrid force/motion control, ICRA
    2005; Haddadin, De Luca and Albu-Schäffer, Robot collisions: a survey, IEEE T-RO 33 (2017).

    >>> model = wd.load_robot("panda")
    >>> q, rest, tau = model.neutral, np.zeros(8), wd.gravity_torques(model, model.neutral) - 3.0
    >>> state = wd.momentum_observer(model, q, rest, tau, rest, rest, rest, dt=0.0)
    >>> for _ in range(100):
    ...     state = wd.momentum_observer(model, q, rest, tau, *state, dt=1e-3)
    >>> np.allclose(state[2], 3.0 * (1.0 - np.exp(-50.0 * 0.1)))
    True
    """
    return Call.of(
        _observer.momentum_observer,
        model,
        {
            "q": q,
            "v": v,
            "tau": tau,
            "momentum": momentum,
            "rate": rate,
            "external": external,
            "dt": for_all("dt", dt, q),
            "gain": for_all("gain", gain, q),
        },
        out=out,
        results=STATE,
        shapes={"dt": (1,), "gain": (1,)},
        forces=(gravity, f_ext),
        params=params,
        arguments=dict.fromkeys(("dt", "gain"), ArgumentSpec(plain=True, bound="at least 0")),
        local_only="wd.convert.velocity(model, q, v, ...) before it",
    )


@batched
def external_wrench(
    model: Model,
    q: Array[A],
    external: Array[A],
    *,
    frame: str,
    reference: Reference = "local_world_aligned",
    damping: float = 0.01,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Wrench on a link that explains external joint forces, if nothing touches the robot elsewhere.

    q: (B, nq).  external: (B, nv) [N, N·m], as from `momentum_observer`.  Returns (B, 6), force
    then moment [N, N·m]; reference: "local", about the link's origin in its axes, as `f_ext` takes
    it; "local_world_aligned", in the world's axes; "world", about the world's origin.
    Least squares of Jᵀ wrench = external, damped: (J Jᵀ + damping² 1) wrench = J external.
    Components that the joints do not feel, as in a singular configuration, are 0. A `damping` [m]
    that is small compared with the arm's length changes the other components little.
    Haddadin, De Luca and Albu-Schäffer, IEEE T-RO 33 (2017), section V.
    """
    if not 0.0 < damping < math.inf:
        raise ValueError(f"damping must be above 0 and finite, got {damping!r}")
    options = (*of_link(model, frame, reference), ("damping", float(damping)))
    return Call.of(
        _observer.external_wrench,
        model,
        {"q": q, "external": external},
        out=out,
        options=options,
        shapes={"out": (6,)},
        params=params,
        by_velocity={"external": FORCE},
    )
