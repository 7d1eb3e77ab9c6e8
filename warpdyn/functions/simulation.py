"""Simulation: steps of a robot on the ground, for all environments in one launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..algorithms import semi_implicit_step as _step
from ..algorithms.contact_rows import ContactPoint
from ..arrays import Array, views
from ..execution.batched import batched
from ..execution.call import Call, Forces, Gravity
from ..model import Model
from ..model.params import Params


class Step(NamedTuple):
    """What a step gives."""

    q: Array
    """(B, nq), quaternions of unit length."""
    v: Array
    """(B, nv)."""
    impulses: Array
    """(B, 3 points) of the contacts in the world's axes [N s]; what the next step begins with."""
    forces: Array
    """(B, 3 points), of the ground on the points, in the world's axes [N]."""


class PD(NamedTuple):
    """Drives of all joints, implicit in the step: torques kp (target - q) - kd v, at most `effort`.

    Numbers, or arrays (n,) or (B, n) for the joints' coordinates, a free base's left out.
    """

    kp: Any
    kd: Any
    target: Any
    effort: Any = float("inf")


@batched
def step(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    *,
    dt: float,
    points: Sequence[ContactPoint] = (),
    impulses: Array | None = None,
    control: PD | None = None,
    friction: Any = 0.8,
    stiffness: Any = 2e4,
    dissipation: Any = 0.02,
    push_out: Any = 1.0,
    substeps: int = 1,
    sweeps: int = 4,
    f_ext: Forces = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: tuple[Array, ...] | None = None,
) -> Call[Step]:
    """The state after `substeps` steps of `dt` seconds, on the ground z = 0; a `Step`.

    q: (B, nq).  v, tau: (B, nv); tau as `aba` takes it. points: spheres that touch the ground.
    impulses: (B, 3 points) of the step before, where the sweeps begin; None: at zero.
    control: drives that act beside tau. friction: coefficient of all points, or (B, points).
    stiffness [N/m], dissipation [s], push_out [m/s]: numbers, or (B,).
    Semi-implicit Euler; joint friction, limit springs and drives implicit; compliant contacts with
    Coulomb's cone by `sweeps` of block Gauss-Seidel; Castro, Permenter and Han, IEEE T-RO 39 (2023).
    """
    joints = model.nv - (6 if model.floating_base else 0)
    arrays: dict[str, Any] = {"q": q, "v": v, "tau": tau}
    count = len(points)
    more = {
        "impulses": (impulses if impulses is not None else (0.0,) * (3 * count), (3 * count,)),
        "friction": (_each(friction, count), (count,)),
        "stiffness": (_one("stiffness", stiffness, q), (1,)),
        "dissipation": (_one("dissipation", dissipation, q), (1,)),
        "push_out": (_one("push_out", push_out, q), (1,)),
    }
    if control is not None:
        for name in _step.Drive._fields:
            more[name] = (_each(getattr(control, name), joints), (joints,))
    scene = _step.Scene(
        tuple(more), tuple(ContactPoint(*point) for point in points), float(dt), substeps, sweeps
    )
    return Call(
        "step",
        model,
        (_step.simulation_step,),
        {**arrays, **{name: array for name, (array, _) in more.items()}},
        out=out,
        options=(("scene", scene),),
        results=Step._fields,
        shapes={
            **{name: shape for name, (_, shape) in more.items()},
            "q": (model.nq,),
            "v": (model.nv,),
            "forces": (3 * count,),
        },
        forces=True,
        gravity=gravity,
        f_ext=f_ext,
        params=params,
        local_only="a model of it",
        shared=tuple(more),
        named=Step,
    )


def _each(value: Any, count: int) -> Any:
    """A number for each of `count`, or an array of them."""
    return (float(value),) * count if isinstance(value, (int, float)) else value


def _one(name: str, value: Any, like: Any) -> Any:
    return (float(value),) if isinstance(value, (int, float)) else views.column(name, value, like)
