"""Task-space dynamics of a frame: inertia, bias force and the dynamically consistent inverse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..algorithms import operational_space as _operational_space
from ..algorithms.aba import generic_configurations
from ..algorithms.frames import PARTS, Part
from ..algorithms.jacobian import jacobian
from ..arrays import A, Array
from ..execution.batched import batched
from ..execution.request.base_velocity import UNCHANGED, VELOCITY
from ..execution.request.call import Call, Forces, Gravity
from ..execution.request.evaluate import tree_of
from ..model import Model
from ..model.names import ModelError
from ..model.params import Params
from ..model.reference_frames import Reference
from .frame_options import of_link
from .unmoved_joints import refuse_unmoved


@batched
def operational_space(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    frame: str,
    reference: Reference = "local_world_aligned",
    part: Part = "both",
    f_ext: Forces = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: tuple[Array[A], Array[A], Array[A]] | None = None,
) -> Call[tuple[A, A, A]]:
    """Inertia, bias force and dynamically consistent inverse of a frame: Λ A + bias = force on the
    frame.

    q: (B, nq) [m, rad].  v: (B, nv).  Returns Λ: (B, 6, 6), bias: (B, 6) and J̄: (B, nv, 6), in the
    order linear, then angular; reference, part: as for `jacobian`; a part has three directions
    instead of six.
    A is the rate of the frame's velocity J v: its spatial acceleration, in "local_world_aligned"
    the acceleration of its origin.
    Λ = (J M⁻¹ Jᵀ)⁻¹.  J̄ = M⁻¹ Jᵀ Λ.  bias = J̄ᵀ h - Λ J̇ v, with h all joint forces at zero
    acceleration: centrifugal and Coriolis forces (Khatib's mu), gravity (his p), f_ext and joint
    effects. With `gravity=(0, 0, 0)` only mu remains of the first two. With tau = Jᵀ force, `aba`
    gives the frame the acceleration A.
    Khatib, A Unified Approach for Motion and Force Control of Robot Manipulators, IEEE J. Robotics
    and Automation RA-3 (1987), on redundant manipulators.
    Raises ModelError if the frame cannot move in all these directions. At singular configurations Λ
    is infinite.
    """
    return _call(
        model,
        _operational_space.operational_space,
        {"q": q, "v": v},
        out=out,
        where=(frame, reference, part),
        results=("inertia", "bias", "inverse"),
        forces=(gravity, f_ext),
        params=params,
        by_velocity={"inverse": VELOCITY + UNCHANGED},
    )


@batched
def operational_space_inertia(
    model: Model,
    q: Array[A],
    *,
    frame: str,
    reference: Reference = "local_world_aligned",
    part: Part = "both",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Apparent inertia of a frame against forces on it, Λ = (J M⁻¹ Jᵀ)⁻¹.

    q: (B, nq) [m, rad].  Returns (B, 6, 6), symmetric; linear, then angular; reference, part: as
    for `jacobian`.
    Khatib (1987).  Raises ModelError if the frame cannot move in all these directions.
    """
    return _call(
        model,
        _operational_space.operational_space_inertia,
        {"q": q},
        out=out,
        where=(frame, reference, part),
        params=params,
    )


@batched
def dynamically_consistent_inverse(
    model: Model,
    q: Array[A],
    *,
    frame: str,
    reference: Reference = "local_world_aligned",
    part: Part = "both",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Inverse of a frame's Jacobian with least kinetic energy, J̄ = M⁻¹ Jᵀ Λ: J J̄ = 1.

    q: (B, nq) [m, rad].  Returns (B, nv, 6).  Joint forces (1 - Jᵀ J̄ᵀ) tau do not accelerate the
    frame.
    reference, part: as for `jacobian`.  Khatib (1987).
    """
    return _call(
        model,
        _operational_space.dynamically_consistent_inverse,
        {"q": q},
        out=out,
        where=(frame, reference, part),
        params=params,
        by_velocity={"out": VELOCITY + UNCHANGED},
    )


def _call(
    model: Model,
    algorithm: Callable[..., Any],
    arrays: Mapping[str, Array[A] | None],
    *,
    out: Any,
    where: tuple[str, Reference, Part],
    **more: Any,
) -> Call[Any]:
    """Call of the algorithm for a frame; `where`: the frame, the reference, the part."""
    frame, reference, part = where
    return Call.of(
        algorithm,
        model,
        arrays,
        out=out,
        options=of_link(model, frame, reference, part),
        refuse=partial(_refuse_held, frame=frame, part=part),
        **more,
    )


def _refuse_held(model: Model, frame: str, part: Part) -> None:
    """Raise if M is singular, or if the joints cannot move the frame in all directions in any
    configuration."""
    refuse_unmoved(model)
    tree, rank = tree_of(model), 0
    for q in generic_configurations(tree):
        J = np.array(jacobian(tree, q, frame, "local", part=part))
        rank = max(rank, int(np.linalg.matrix_rank(J, 1e-9)))
    needed = PARTS[part].stop - PARTS[part].start
    if rank < needed:
        raise ModelError(
            f'{model.name}: its joints move link "{frame}" in {rank} of {needed} directions, so it has no {needed} by '
            f'{needed} inertia; ask for a part of its velocity (part="linear" or "angular"), or take the rows of '
            "jacobian that you need and mass_matrix_inverse"
        )
