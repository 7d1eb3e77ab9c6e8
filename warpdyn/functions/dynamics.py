"""Inverse and forward dynamics, their terms, the mass matrix and its inverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ..algorithms import aba as _aba
from ..algorithms import bias_forces as _bias_forces
from ..algorithms import coriolis as _coriolis
from ..algorithms import crba as _crba
from ..algorithms import gravity_torques as _gravity_torques
from ..algorithms import mass_matrix_inverse as _mass_matrix_inverse
from ..algorithms import passive_forces as _passive_forces
from ..algorithms import rnea as _rnea
from ..algorithms.long_chains.chain_rows import is_long_chain
from ..arrays import A, Array
from ..execution.batched import batched
from ..execution.request.base_velocity import ACCELERATION, BIAS_FORCE, FORCE, RATE, VELOCITY
from ..execution.request.call import Call, Forces, Gravity, Solves
from ..execution.request.evaluate import tree_of
from ..model import Model
from ..model.params import Params
from .unmoved_joints import refuse_unmoved


@batched
def rnea(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    a: Array[A] | None,
    *,
    f_ext: Forces = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Inverse dynamics: joint forces that produce the acceleration `a`, tau = M(q) a + C(q, v) v +
    g(q) - Jᵀ f_ext, plus the torques of joint effects (`effect_torques`): friction, springs and
    compensated weight, if the model has them.

    q: (B, nq) [m, rad].  v, a: (B, nv) [m/s, rad/s; m/s², rad/s²].  Returns tau: (B, nv) [N, N·m].
    A floating base comes first: its twist, acceleration (derivative of that twist) and wrench in
    its own frame.
    f_ext: {link: (B, 6)} or (B, nlinks, 6), forces on links: force then torque about the link
    origin, in the link frame.
    gravity: (3,) or (B, 3) acceleration of free fall in the world [m/s²]; default (0, 0, -9.81).
    With `v` and `a` zero the result compensates gravity. None stands for zero, here and in every
    function with a `v` or an `a`. It is a constant, which shortens the program.
    Recursive Newton-Euler; Featherstone, Rigid Body Dynamics Algorithms (2008), table 5.1.

    >>> model = wd.load_robot("panda")
    >>> q = wd.random_configuration(model, 100)
    >>> rest = np.zeros((100, model.nv))
    >>> np.allclose(wd.rnea(model, q, rest, rest), wd.gravity_torques(model, q))
    True
    """
    return Call.of(
        _rnea.rnea,
        model,
        {"q": q, "v": v, "a": a},
        out=out,
        forces=(gravity, f_ext),
        params=params,
        by_velocity={"out": FORCE},
    )


@batched
def crba(
    model: Model, q: Array[A], *, params: Params | None = None, out: Array[A] | None = None
) -> Call[A]:
    """Joint-space inertia matrix M(q), symmetric and positive definite.

    q: (B, nq) [m, rad].  Returns M: (B, nv, nv) [kg, kg·m, kg·m²], both triangles.
    Composite-rigid-body algorithm; RBDA table 6.2.

    >>> model = wd.load_robot("panda")
    >>> M = wd.crba(model, wd.random_configuration(model, 100))
    >>> M.shape, np.allclose(M, M.transpose(0, 2, 1))
    ((100, 8, 8), True)
    """
    return Call.of(
        _crba.crba,
        model,
        {"q": q},
        out=out,
        shapes={"out": (model.nv, model.nv)},
        params=params,
        by_velocity={"out": FORCE + FORCE},
    )


@batched
def aba(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    tau: Array[A],
    *,
    f_ext: Forces = None,
    gravity: Gravity = None,
    method: Literal["auto", "aba", "crba"] = "auto",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Forward dynamics: accelerations that the joint forces `tau` produce, the inverse of `rnea`.

    q: (B, nq) [m, rad].  v: (B, nv).  tau: (B, nv) [N, N·m].  Returns a: (B, nv) [m/s², rad/s²];
    `f_ext`, `gravity` and joint effects as in `rnea`.
    method: "aba", the articulated-body algorithm, RBDA table 7.1; "crba", M a = tau - h factorised
    over the tree, RBDA chapter 6; "auto", whichever gives the shorter program for the robot.
    Raises ModelError if a joint moves no inertia, because its acceleration is then not defined.

    >>> model = wd.load_robot("panda")
    >>> q, v, a = (wd.random_configuration(model, 100, seed=k) for k in range(3))
    >>> np.allclose(wd.aba(model, q, v, wd.rnea(model, q, v, a)), a)
    True
    """
    algorithms: dict[str, tuple[Callable[..., Any], ...]] = {
        "aba": (_aba.aba,),
        "crba": (_aba.forward_dynamics_crba,),
    }
    tree = tree_of(model)
    algorithms["auto"] = algorithms["aba"] + algorithms["crba"]
    if tree.ties_bodies:
        algorithms["auto"] = algorithms["crba"]
    elif is_long_chain(tree):
        algorithms["auto"] = algorithms["aba"]
    # With "auto" both algorithms are candidates, and the shorter program is taken. Articulated
    # bodies cannot represent mimic joints or tendon armature, so these robots have one candidate
    # only. For long chains the articulated bodies are always shorter.
    if method not in algorithms:
        raise ValueError(f'method must be "auto", "aba" or "crba", got {method!r}')
    if method == "aba" and tree_of(model).ties_bodies:
        raise ValueError(
            f"{model.name} has mimic joints, or tendons with armature, which articulated bodies cannot have; "
            'use "auto" or "crba"'
        )
    return Call(
        "aba" if method == "auto" else f"aba_by_{method}",
        model,
        algorithms[method],
        {"q": q, "v": v, "tau": tau},
        out=out,
        forces=(gravity, f_ext),
        refuse=refuse_unmoved,
        solves=Solves(_rnea.rnea, "a", "tau", _crba.crba),
        params=params,
        by_velocity={"out": ACCELERATION},
    )


@batched
def gravity_torques(
    model: Model,
    q: Array[A],
    *,
    f_ext: Forces = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Joint forces that hold the robot still, g(q) - Jᵀ f_ext.

    q: (B, nq) [m, rad].  Returns (B, nv) [N, N·m].  `f_ext`, `gravity` as in `rnea`.
    `rnea` with v and a zero, without springs and compensated weight (`effect_torques`). RBDA section
    5.3.

    >>> model = wd.load_robot("panda")
    >>> q = wd.random_configuration(model, 100)
    >>> np.allclose(wd.gravity_torques(model, q, gravity=(0, 0, 0)), 0)
    True
    """
    return Call.of(
        _gravity_torques.gravity_torques,
        model,
        {"q": q},
        out=out,
        forces=(gravity, f_ext),
        params=params,
        by_velocity={"out": FORCE},
    )


@batched
def bias_forces(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    f_ext: Forces = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Joint forces at zero acceleration, h = C(q, v) v + g(q) - Jᵀ f_ext.

    q: (B, nq) [m, rad].  v: (B, nv).  Returns (B, nv) [N, N·m].  `f_ext`, `gravity` as in `rnea`.
    tau = M a + h + `effect_torques`: h does not include joint effects. RBDA 6.2.

    >>> model = wd.load_robot("panda")
    >>> q = wd.random_configuration(model, 100)
    >>> rest = np.zeros((100, model.nv))
    >>> np.allclose(wd.bias_forces(model, q, rest), wd.gravity_torques(model, q))
    True
    """
    return Call.of(
        _bias_forces.bias_forces,
        model,
        {"q": q, "v": v},
        out=out,
        forces=(gravity, f_ext),
        params=params,
        rate_of=_crba.crba,
        by_velocity={"out": BIAS_FORCE},
    )


@batched
def effect_torques(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    gravity: Gravity = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Joint forces needed to overcome friction and springs, less the compensated weight; zero unless
    the model has such joint effects.

    q: (B, nq) [m, rad].  v: (B, nv).  Returns (B, nv) [N, N·m], positive in the direction of
    motion: tau = M a + h + this.
    For a joint at rate r: viscous * r + coulomb * sign(r), spring * (position - rest), and beyond a
    limit stiffness * (position - limit) + damping * r, minus the weight that gravity compensation
    bears.
    For a ball joint, position - rest is the rotation vector from rest, in the rotated frame.
    See `Model.with_friction`, `with_springs`, `with_limit_springs`, `with_gravity_compensation`.
    """
    return Call(
        "effect_torques",
        model,
        (_passive_forces.passive_forces,),
        {"q": q, "v": v},
        out=out,
        forces=(gravity, None),
        params=params,
        by_velocity={"out": FORCE},
    )


@batched
def coriolis_matrix(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """C(q, v), with C v the velocity-product forces and dM/dt = C + Cᵀ (so that dM/dt - 2 C is
    skew-symmetric).

    q: (B, nq) [m, rad].  v: (B, nv).  Returns (B, nv, nv).
    Several matrices have these two properties. This one is built from the Christoffel symbols, like
    Pinocchio's computeCoriolisMatrix.
    Echeandia and Wensing, Numerical Methods to Compute the Coriolis Matrix and Christoffel Symbols
    for Rigid-Body Systems, ASME J. Computational and Nonlinear Dynamics 16 (2021), algorithm 1.
    """
    return Call(
        "coriolis_matrix",
        model,
        (_coriolis.coriolis,),
        {"q": q, "v": v},
        out=out,
        shapes={"out": (model.nv, model.nv)},
        params=params,
        rate_of=_crba.crba,
        by_velocity={"out": FORCE + RATE},
    )


@batched
def mass_matrix_inverse(
    model: Model, q: Array[A], *, params: Params | None = None, out: Array[A] | None = None
) -> Call[A]:
    """M(q)⁻¹, symmetric and positive definite.

    q: (B, nq) [m, rad].  Returns (B, nv, nv), both triangles.
    M = Lᵀ D L without fill-in beyond the tree's branches, RBDA table 6.3, and L⁻¹ D⁻¹ L⁻ᵀ.
    Raises ModelError if a joint moves no inertia.
    """
    return Call.of(
        _mass_matrix_inverse.mass_matrix_inverse,
        model,
        {"q": q},
        out=out,
        refuse=refuse_unmoved,
        shapes={"out": (model.nv, model.nv)},
        params=params,
        by_velocity={"out": VELOCITY + VELOCITY},
    )


@batched
def solve(
    model: Model,
    q: Array[A],
    b: Array[A],
    *,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """x with M(q) x = b, without forming M⁻¹.

    q: (B, nq) [m, rad].  b: (B, nv) [N, N·m].  Returns x: (B, nv) [m/s², rad/s²], the acceleration
    that b alone produces. `out` may be `b` itself.
    M = Lᵀ D L factorised over the tree, RBDA tables 6.3 and 6.4, or articulated bodies at rest in
    free fall, RBDA table 7.1, whichever gives the shorter program. Raises ModelError if a joint
    moves no inertia.
    """
    algorithms: tuple[Callable[..., Any], ...] = (_mass_matrix_inverse.solve,)
    if not tree_of(model).ties_bodies:
        algorithms += (_mass_matrix_inverse.solve_articulated,)
    return Call(
        "solve",
        model,
        algorithms,
        {"q": q, "b": b},
        out=out,
        over={"out": "b"},
        refuse=refuse_unmoved,
        solves=Solves(_mass_matrix_inverse.product, "x", "b", _crba.crba),
        params=params,
        by_velocity={"b": FORCE, "out": VELOCITY},
    )
