"""Derivatives of dynamics as matrices, and of any function as products with vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

from ..algorithms import aba_derivatives as _aba_derivatives
from ..algorithms import rnea_derivatives as _rnea_derivatives
from ..arrays import A, Array
from ..execution.batched import batched, describe_call
from ..execution.dispatch import carry_out
from ..execution.request.call import Call, Forces, Gravity, derive, inputs_of, result_names
from ..model import Model
from ..model.params import Params
from .unmoved_joints import refuse_unmoved


@batched
def rnea_derivatives(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    a: Array[A] | None,
    *,
    f_ext: Forces = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: tuple[Array[A], Array[A], Array[A]] | None = None,
) -> Call[tuple[A, A, A]]:
    """Derivatives of inverse dynamics with respect to position, velocity and acceleration.

    q: (B, nq) [m, rad].  v, a: (B, nv).  `f_ext`, `gravity` as in `rnea`; forces on links move with
    their links.
    Returns dtau_dq, dtau_dv, dtau_da = M: (B, nv, nv) each; row i for tau[i], column k for
    coordinate k.
    Derivatives by q are over the tangent space: column k is the change per step along v's
    coordinate k. For a base the step is in its own frame.
    Singh, Russell and Wensing, IEEE RA-L 7 (2022); Carpentier and Mansard, RSS 2018.
    """
    square = (model.nv, model.nv)
    names = ("by_q", "by_v", "by_a")
    return Call.of(
        _rnea_derivatives.rnea_derivatives,
        model,
        {"q": q, "v": v, "a": a},
        out=out,
        forces=(gravity, f_ext),
        results=names,
        shapes=dict.fromkeys(names, square),
        params=params,
        local_only="derivatives(wd.rnea, model, q, v, a, wrt=...)",
    )


@batched
def aba_derivatives(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    tau: Array[A],
    *,
    f_ext: Forces = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: tuple[Array[A], Array[A], Array[A], Array[A]] | None = None,
) -> Call[tuple[A, A, A, A]]:
    """Forward dynamics and its derivatives with respect to position, velocity and joint force.

    q: (B, nq) [m, rad].  v: (B, nv).  tau: (B, nv) [N, N·m].  `f_ext`, `gravity` as in `aba`.
    Returns qdd (B, nv), as `aba`, and dqdd_dq, dqdd_dv, dqdd_dtau = M⁻¹: (B, nv, nv) each.
    Derivatives by q are over the tangent space, as in `rnea_derivatives`.
    d qdd = -M⁻¹ d rnea at a = qdd; Carpentier and Mansard, RSS 2018, equation 12.
    """
    names = ("by_q", "by_v", "by_tau")
    return Call.of(
        _aba_derivatives.aba_derivatives,
        model,
        {"q": q, "v": v, "tau": tau},
        out=out,
        forces=(gravity, f_ext),
        refuse=refuse_unmoved,
        results=("qdd", *names),
        shapes=dict.fromkeys(names, (model.nv, model.nv)),
        params=params,
        local_only="derivatives(wd.aba, model, q, v, tau, wrt=...)",
    )


@overload
def vjp(
    function: Callable[..., Any],
    model: Model | Array[A],
    *arrays: Array[A],
    cotangents: Array[A] | tuple[Array[A], ...],
    wrt: str,
    solution: Array[A] | None = None,
    out: Array[A] | tuple[Array[A], ...] | None = None,
    **options: Any,
) -> A: ...
@overload
def vjp(
    function: Callable[..., Any],
    model: Model | Array[A],
    *arrays: Array[A],
    cotangents: Array[A] | tuple[Array[A], ...],
    wrt: Sequence[str] | None = None,
    solution: Array[A] | None = None,
    out: Array[A] | tuple[Array[A], ...] | None = None,
    **options: Any,
) -> A | tuple[A, ...]: ...
@batched
def vjp(
    function: Callable[..., Any],
    model: Model | Array[A],
    *arrays: Array[A],
    cotangents: Array[A] | tuple[Array[A], ...],
    wrt: str | Sequence[str] | None = None,
    solution: Array[A] | None = None,
    out: Array[A] | tuple[Array[A], ...] | None = None,
    **options: Any,
) -> Call[A | tuple[A, ...]]:
    """Vector-Jacobian product of any warpdyn function: cotangents of its inputs from the cotangents
    of its results.

    `vjp(wd.rnea, model, q, v, a, cotangents=w)` gives (wᵀ dtau/dq, wᵀ dtau/dv, wᵀ dtau/da), with w
    (B, nv) shaped like tau and results shaped like the inputs. Derivatives by q are taken by its
    entries (7 for a free base), as in automatic differentiation. `cotangents` is a tuple if the
    function has several results.
    wrt: names of inputs ("q", "v", "gravity", "f_ext:link", "params:mass" ..) instead of all array
    arguments. Gravity and external forces count if they are arguments.
    solution: the result of `aba` or `solve`, if you have it; otherwise it is computed first.
    Reverse mode on the recorded program (Griewank and Walther, Evaluating Derivatives, section
    3.2). `aba` uses the implicit rule, with multipliers M⁻¹ w.

    >>> model = wd.load_robot("panda")
    >>> q = wd.random_configuration(model, 100)
    >>> by_q = wd.vjp(wd.potential_energy, model, q, cotangents=np.ones(100))
    >>> np.allclose(by_q, wd.gravity_torques(model, q))
    True
    """
    call = describe_call(function, (model, *arrays), options)
    if call.solves and solution is None:
        solution = carry_out(call)
    names = result_names(call)
    if not isinstance(cotangents, tuple):
        cotangents = (cotangents,)
    if len(cotangents) != len(names):
        raise ValueError(
            f"cotangents must be {len(names)} arrays, for {', '.join(names)}; got {len(cotangents)}"
        )
    seeds = dict(zip(names, cotangents, strict=True))
    return derive(call, "vjp", _inputs_to_differentiate(call, wrt), seeds, solution, out)


@overload
def jvp(
    function: Callable[..., Array],
    model: Model | Array[A],
    *arrays: Array[A],
    tangents: Mapping[str, Array[A]],
    solution: Array[A] | None = None,
    out: Array[A] | tuple[Array[A], ...] | None = None,
    **options: Any,
) -> A: ...
@overload
def jvp(
    function: Callable[..., Any],
    model: Model | Array[A],
    *arrays: Array[A],
    tangents: Mapping[str, Array[A]],
    solution: Array[A] | None = None,
    out: Array[A] | tuple[Array[A], ...] | None = None,
    **options: Any,
) -> A | tuple[A, ...]: ...
@batched
def jvp(
    function: Callable[..., Any],
    model: Model | Array[A],
    *arrays: Array[A],
    tangents: Mapping[str, Array[A]],
    solution: Array[A] | None = None,
    out: Array[A] | tuple[Array[A], ...] | None = None,
    **options: Any,
) -> Call[A | tuple[A, ...]]:
    """Jacobian-vector product of any warpdyn function: tangents of its results from the tangents of
    its inputs.

    `jvp(wd.rnea, model, q, v, a, tangents={"v": u})` gives dtau/dv u. Names, q and `solution` as in
    `vjp`.
    Forward mode on the recorded program (Griewank and Walther, section 3.1).
    """
    call = describe_call(function, (model, *arrays), options)
    if call.solves and solution is None:
        solution = carry_out(call)
    if not isinstance(tangents, Mapping):
        raise TypeError(
            'tangents must be a mapping by name, such as {"q": dq}, '
            f"got {type(tangents).__name__}"
        )
    names, inputs = _inputs_to_differentiate(call, tuple(tangents)), inputs_of(call)
    for name, u in tangents.items():
        shape = inputs[name].shape
        if hasattr(u, "shape") and tuple(u.shape[len(u.shape) - len(shape) :]) != shape:
            got = tuple(u.shape)
            raise ValueError(
                f"the tangent of {name} must be shaped like it, {shape} for each robot; got {got}"
            )
    return derive(call, "jvp", names, tangents, solution, out)


@overload
def derivatives(
    function: Callable[..., Array],
    model: Model | Array[A],
    *arrays: Array[A],
    wrt: str = "q",
    out: Array[A] | tuple[Array[A], ...] | None = None,
    **options: Any,
) -> A: ...
@overload
def derivatives(
    function: Callable[..., Any],
    model: Model | Array[A],
    *arrays: Array[A],
    wrt: str | Sequence[str] = "q",
    out: Array[A] | tuple[Array[A], ...] | None = None,
    **options: Any,
) -> A | tuple[A, ...]: ...
@batched
def derivatives(
    function: Callable[..., Any],
    model: Model | Array[A],
    *arrays: Array[A],
    wrt: str | Sequence[str] = "q",
    out: Array[A] | tuple[Array[A], ...] | None = None,
    **options: Any,
) -> Call[A | tuple[A, ...]]:
    """The whole Jacobian of any warpdyn function, with one more dimension at the end for the input
    `wrt`.

    `derivatives(wd.com, model, q)` is (B, 3, nv): derivatives with respect to q are over the tangent
    space of nv dimensions, as in `rnea_derivatives`. Other inputs have one column for each entry.
    The result is a tuple if `wrt` names several inputs or the function has several results: all
    results for the first input, then for the next.
    Forward mode along each coordinate; operations that do not depend on a coordinate cost nothing.

    >>> model = wd.load_robot("panda")
    >>> q = wd.random_configuration(model, 100)
    >>> np.allclose(wd.derivatives(wd.com, model, q), wd.com_jacobian(model, q))
    True
    """
    call = describe_call(function, (model, *arrays), options)
    return derive(
        replace(call, solves=None), "columns", _inputs_to_differentiate(call, wrt), out=out
    )


def _inputs_to_differentiate(call: Call, wrt: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names of the inputs of the derivative; None means all of them."""
    names = tuple(inputs_of(call))
    chosen = names if wrt is None else (wrt,) if isinstance(wrt, str) else tuple(wrt)
    for name in chosen:
        if name not in names:
            raise ValueError(
                f"{call.name} was given no input array {name!r}; it has {', '.join(names)}"
            )
    return chosen
