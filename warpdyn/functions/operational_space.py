"""Dynamics as a frame of the robot feels them: task-space inertia, bias and the inverse that goes with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..algorithms import operational_space as _operational_space
from ..algorithms.aba import generic_configurations
from ..algorithms.jacobian import REFERENCES, jacobian
from ..arrays import Array
from ..batch import batched
from ..call import Call, Forces, Gravity, tree_of
from ..description import ModelError
from ..model import Model
from .dynamics import refuse_unmoved


@batched
def operational_space(
    model: Model,
    q: Array,
    v: Array,
    *,
    frame: str,
    reference: str = "local_world_aligned",
    f_ext: Forces = None,
    gravity: Gravity = None,
    params: Any = None,
    out: tuple[Array, Array, Array] | None = None,
) -> Any:
    """Inertia, bias force and dynamically consistent inverse of a frame: Λ A + bias = force on the frame.

    q: (B, nq) [m, rad].  v: (B, nv).  Returns Λ: (B, 6, 6), bias: (B, 6) and J̄: (B, nv, 6), in the order linear, then
    angular, in `reference` as for `jacobian`. A is the rate of the frame's velocity J v: its spatial acceleration, in
    "local_world_aligned" the acceleration of its origin.
    Λ = (J M⁻¹ Jᵀ)⁻¹.  J̄ = M⁻¹ Jᵀ Λ.  bias = J̄ᵀ h - Λ J̇ v, with h all that zero acceleration takes: centrifugal and
    Coriolis forces (Khatib's mu), gravity (his p), f_ext and joint effects; `gravity=(0, 0, 0)` leaves mu. With
    tau = Jᵀ force, `aba` gives the frame the acceleration A.
    Khatib, A Unified Approach for Motion and Force Control of Robot Manipulators, IEEE J. Robotics and Automation RA-3
    (1987), equations 49 to 51.
    Raises ModelError where the frame cannot move in all six directions. At singular configurations Λ is infinite.
    """
    return _call(
        model,
        _operational_space.operational_space,
        {"q": q, "v": v},
        out,
        frame,
        reference,
        results=("inertia", "bias", "inverse"),
        forces=True,
        gravity=gravity,
        f_ext=f_ext,
        params=params,
    )


@batched
def operational_space_inertia(
    model: Model,
    q: Array,
    *,
    frame: str,
    reference: str = "local_world_aligned",
    params: Any = None,
    out: Array | None = None,
) -> Any:
    """Inertia that a frame opposes to forces on it, Λ = (J M⁻¹ Jᵀ)⁻¹.

    q: (B, nq) [m, rad].  Returns (B, 6, 6), symmetric; linear, then angular, in `reference` as for `jacobian`.
    Khatib (1987), equation 49.  Raises ModelError where the frame cannot move in all six directions.
    """
    return _call(model, _operational_space.operational_space_inertia, {"q": q}, out, frame, reference, params=params)


@batched
def dynamically_consistent_inverse(
    model: Model,
    q: Array,
    *,
    frame: str,
    reference: str = "local_world_aligned",
    params: Any = None,
    out: Array | None = None,
) -> Any:
    """Inverse of a frame's Jacobian of least kinetic energy, J̄ = M⁻¹ Jᵀ Λ: J J̄ = 1.

    q: (B, nq) [m, rad].  Returns (B, nv, 6).  Joint forces (1 - Jᵀ J̄ᵀ) tau do not accelerate the frame.
    reference: as for `jacobian`.  Khatib (1987), equation 51.
    """
    return _call(
        model, _operational_space.dynamically_consistent_inverse, {"q": q}, out, frame, reference, params=params
    )


def _call(
    model: Model, text: Callable[..., Any], arrays: dict[str, Array], out: Any, frame: str, reference: str, **more: Any
) -> Call:
    model.link_index(frame)
    aliases = {"body": "local", "inertial": "world", "mixed": "local_world_aligned"}
    chosen = aliases.get(reference, reference)
    if chosen not in REFERENCES:
        raise ValueError(f"reference must be one of {', '.join((*REFERENCES, *aliases))}; got {reference!r}")
    options = (("frame", frame), ("reference", chosen))
    return Call(text.__name__, model, (text,), arrays, out, options, refuse=partial(_refuse_held, frame=frame), **more)


def _refuse_held(model: Model, frame: str) -> None:
    """Raise where M is singular, or the joints cannot move the frame in all six directions wherever they stand."""
    refuse_unmoved(model)
    tree = tree_of(model)
    rank = 0
    for q in generic_configurations(tree) if tree.nv else ():
        rank = max(rank, int(np.linalg.matrix_rank(np.array(jacobian(tree, q, frame, "local")), 1e-9)))
    if rank < 6:
        raise ModelError(
            f'{model.name}: its joints move link "{frame}" in {rank} of 6 directions, so it has no 6 by 6 inertia; '
            "take the rows of jacobian that you need and mass_matrix_inverse"
        )
