"""Inverse and forward dynamics, and the mass matrix."""

from __future__ import annotations

from typing import Any

from ..algorithms import aba as _aba
from ..algorithms import crba as _crba
from ..algorithms import rnea as _rnea
from ..arrays import Array
from ..batch import batched
from ..call import Call, Forces, Gravity, Solves, tree_of
from ..description import ModelError
from ..model import BASE_JOINT, Model


@batched
def rnea(
    model: Model,
    q: Array,
    v: Array,
    a: Array,
    *,
    f_ext: Forces = None,
    gravity: Gravity = None,
    out: Array | None = None,
) -> Any:
    """Inverse dynamics: joint forces that produce the acceleration `a`, tau = M(q) a + C(q, v) v + g(q) - Jᵀ f_ext.

    q: (B, nq) [m, rad].  v, a: (B, nv) [m/s, rad/s; m/s², rad/s²].  Returns tau: (B, nv) [N, N·m].
    A floating base comes first: its twist, acceleration (derivative of that twist) and wrench in its own frame.
    f_ext: {link: (B, 6)} or (B, nlinks, 6), forces on links: force then torque about the link origin, in the link
    frame.
    gravity: (3,) or (B, 3) acceleration of free fall in the world [m/s²]; default (0, 0, -9.81).
    With `v` and `a` zero it is what compensates gravity.
    Recursive Newton-Euler; Featherstone, Rigid Body Dynamics Algorithms (2008), table 5.1.
    """
    return Call("rnea", model, (_rnea.rnea,), {"q": q, "v": v, "a": a}, out, forces=True, gravity=gravity, f_ext=f_ext)


@batched
def crba(model: Model, q: Array, *, out: Array | None = None) -> Any:
    """Joint-space inertia matrix M(q), symmetric and positive definite.

    q: (B, nq) [m, rad].  Returns M: (B, nv, nv) [kg, kg·m, kg·m²], both triangles.
    Composite-rigid-body algorithm; RBDA table 6.2.
    """
    return Call("crba", model, (_crba.crba,), {"q": q}, out, shapes={"out": (model.nv, model.nv)})


@batched
def aba(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    *,
    f_ext: Forces = None,
    gravity: Gravity = None,
    out: Array | None = None,
) -> Any:
    """Forward dynamics: accelerations that the joint forces `tau` produce, the inverse of `rnea`.

    q: (B, nq) [m, rad].  v: (B, nv).  tau: (B, nv) [N, N·m].  Returns a: (B, nv) [m/s², rad/s²]; `f_ext`, `gravity` as
    in `rnea`.
    Raises ModelError where a joint moves no inertia: its acceleration is not defined.
    Articulated-body algorithm, RBDA table 7.1, or M a = tau - h factorised over the tree (RBDA chapter 6), whichever is
    the shorter program for the robot.
    """
    texts = (_aba.aba,) if tree_of(model).shares_coordinates else (_aba.aba, _aba.forward_dynamics_crba)
    return Call(
        "aba",
        model,
        texts,
        {"q": q, "v": v, "tau": tau},
        out,
        forces=True,
        gravity=gravity,
        f_ext=f_ext,
        refuse=_refuse_unmoved,
        solves=Solves(_rnea.rnea, "a", "tau", _crba.crba),
    )


def _refuse_unmoved(model: Model) -> None:
    joint = _aba.unmoved_joint(tree_of(model))
    if joint is not None:
        remedy = "give the links beyond it mass and inertia"
        if joint != BASE_JOINT:
            remedy += f', or add rotor inertia: model.with_armature({{"{joint}": 1e-4}})'
        raise ModelError(
            f'{model.name}: joint "{joint}" moves no inertia, so forward dynamics is not defined; {remedy}'
        )
