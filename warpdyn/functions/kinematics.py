"""Poses, velocities and Jacobians of frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algorithms import fk as _fk
from ..algorithms import jacobian as _jacobian
from ..arrays import Array
from ..batch import batched
from ..call import Call
from ..model import Model


@batched
def fk(
    model: Model, q: Array, *, frame: str | None = None, frames: Sequence[str] | None = None, out: Array | None = None
) -> Any:
    """Forward kinematics: poses of links in the world.

    q: (B, nq) [m, rad].
    Returns homogeneous matrices, link frame to world: (B, nlinks, 4, 4) in the order of `model.link_names`;
    with `frames=[...]` (B, len(frames), 4, 4); with `frame="name"` (B, 4, 4).
    Craig, Introduction to Robotics, section 3.2.
    """
    if frame is not None and frames is not None:
        raise ValueError("give frame= (one name) or frames= (a list of names), not both")
    names = model.link_names if frames is None else tuple(frames)
    if isinstance(frames, str) or not names:
        raise ValueError(f'frames must be a list of link names, got {frames!r}; for one frame use frame="name"')
    names = names if frame is None else (frame,)
    model.link_indices(names)
    text = _fk.fk if frame is None else _fk.fk_of_one
    return Call("fk" if frame is None else "fk_of_one", model, (text,), {"q": q}, out, (("frames", names),))


@batched
def jacobian(
    model: Model, q: Array, *, frame: str, reference: str = "local_world_aligned", out: Array | None = None
) -> Any:
    """Geometric Jacobian of a link: J v is its spatial velocity, linear part first.

    q: (B, nq) [m, rad].  Returns J: (B, 6, nv).
    reference: "local" (origin and axes of the link), "world" (origin and axes of the world) or "local_world_aligned"
    (origin of the link, axes of the world); aliases "body", "inertial", "mixed".
    RBDA section 3.3 (v = J q'); Lynch and Park, Modern Robotics, section 5.1.
    """
    model.link_index(frame)
    aliases = {"body": "local", "inertial": "world", "mixed": "local_world_aligned"}
    chosen = aliases.get(reference, reference)
    if chosen not in _jacobian.REFERENCES:
        raise ValueError(f"reference must be one of {', '.join((*_jacobian.REFERENCES, *aliases))}; got {reference!r}")
    options = (("frame", frame), ("reference", chosen))
    return Call("jacobian", model, (_jacobian.jacobian,), {"q": q}, out, options)
