"""Closed loops: errors, Jacobian, dynamics, and configurations in which they are closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..algorithms.closed_loops import loop_closure as _closure
from ..algorithms.closed_loops import loop_dynamics as _dynamics
from ..algorithms.closed_loops import loop_equations as _loops
from ..arrays import A, Array, views
from ..arrays.protocol import dtype_name
from ..execution.batched import batched
from ..execution.request.base_velocity import ACCELERATION, COLUMNS, FORCE, UNCHANGED
from ..execution.request.call import Call, Forces, Gravity, ResultCheck
from ..execution.request.evaluate import tree_of
from ..model import Model
from ..model.names import check_names, count_with_noun
from ..model.params import Params
from ..model.structure import start_of
from .unmoved_joints import refuse_unmoved
from .whole_numbers import whole_number

TOLERANCE = {"float32": 1e-5, "float64": 1e-9}
"""Largest error of a closed loop [m, rad]."""

LISTED = 8
"""Largest number of environments that an error names."""

RANK = 1e-6
"""Singular values below this share of the largest one count as zero: redundant rows."""


class LoopDynamics(NamedTuple):
    """Accelerations of a closed mechanism, and the forces of its loops."""

    acceleration: Array
    """(B, nv) [m/s², rad/s²]."""
    loop_forces: Array
    """(B, loops, 6): the force of each loop on its second link at its point, and its moment, in the
    world's axes [N, N·m]; of a loop between joints, the force on the first one, then zeros."""


@batched
def loop_errors(
    model: Model, q: Array[A], *, params: Params | None = None, out: Array[A] | None = None
) -> Call[A]:
    """Errors of a robot's closed loops, zero where they are closed.

    q: (B, nq) [m, rad].  Returns (B, rows): 3 rows for a connect, position of the second end less
    that of the first [m]; 6 for a weld, with the rotation vector from the first frame to the second
    [rad]; 1 for joints, q1 less the polynomial of q2. In the world's axes, in the order of
    `model.loops`.
    """
    return Call.of(
        _loops.loop_errors, model, {"q": q}, out=out, shapes={"out": (_rows(model),)}, params=params
    )


@batched
def loop_jacobian(
    model: Model, q: Array[A], *, params: Params | None = None, out: Array[A] | None = None
) -> Call[A]:
    """Jacobian of a robot's closed loops: J v is the velocity of the second ends from the first.

    q: (B, nq) [m, rad].  Returns (B, rows, nv), in the world's axes, with the rows of
    `wd.loops.errors`. Where the loops are closed it is the derivative of the errors. A closed
    mechanism moves with J v = 0, and the loops' forces f act as joint forces Jᵀ f.
    """
    return Call.of(
        _loops.loop_jacobian,
        model,
        {"q": q},
        out=out,
        shapes={"out": (_rows(model), model.nv)},
        params=params,
        by_velocity={"out": UNCHANGED + COLUMNS},
    )


@batched
def loop_dynamics(
    model: Model,
    q: Array,
    v: Array | None,
    tau: Array,
    *,
    f_ext: Forces = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: tuple[Array, ...] | None = None,
) -> Call[LoopDynamics]:
    """Forward dynamics of a robot with closed loops, and the forces of the loops.

    q: (B, nq) [m, rad], with closed loops (`wd.loops.close`).  v: (B, nv), with J v = 0.  tau: (B,
    nv) [N, N·m].  Returns a `LoopDynamics`: acceleration (B, nv) and loop_forces (B, loops, 6).
    `f_ext`, `gravity` and joint effects as in `aba`, which has the accelerations of open loops.
    Redundant equations, such as those across the plane of a linkage, share their forces. RBDA
    section 8.1; a proximal iteration for redundant equations.
    """
    return Call.of(
        _dynamics.loop_dynamics,
        model,
        {"q": q, "v": v, "tau": tau},
        differentiable=_dynamics.loop_dynamics_by_implicit_rule,
        out=out,
        results=LoopDynamics._fields,
        shapes={"loop_forces": (len(model.loops), 6)},
        forces=(gravity, f_ext),
        refuse=refuse_unmoved,
        params=params,
        by_velocity={"acceleration": ACCELERATION},
        named=LoopDynamics,
    )


@batched
def loop_inverse_dynamics(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    a: Array[A] | None,
    *,
    actuated: Sequence[str] | None = None,
    f_ext: Forces = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Forces of the actuated joints that produce the acceleration `a` of a robot with closed loops.

    q: (B, nq) [m, rad], with closed loops.  v, a: (B, nv), consistent with them.  Returns tau: (B,
    nv) [N, N·m], zero for joints that are not `actuated`.
    actuated: names of joints, with as many coordinates as the closed mechanism has degrees of
    freedom, that determine its motion. Other choices raise an error. None: all joints, for a robot
    without loops. The spin of a rod between two ball joints does not count: the rod turns as it
    does without a torque, whatever `a` is for it. `f_ext`, `gravity` and joint effects as in
    `rnea`. The forces of the loops replace the torques of joints without an actuator. RBDA section
    8.1. Next to a dead point, where the actuated joints lose control, tau grows without bound. It
    is too small where the condition of the other joints' Jacobian is above 1e6 (float32: 3e4).
    """
    names = model.coordinates if actuated is None else check_names(actuated)
    columns = tuple(dict.fromkeys(model.v_indices(names)))
    spins = len(_dynamics.free_rods(tree_of(model), columns))
    freedom = model.nv - independent_rows(model) - spins
    if len(columns) != freedom:
        raise ValueError(
            f"actuated must name joints with {count_with_noun(freedom, 'coordinate')} together, as "
            f"many as {model.name} has degrees of freedom with closed loops; got "
            f"{len(columns)} ({', '.join(names) or 'no joints'})"
        )
    # The loops' forces act on the other joints by their columns of J. If these have a smaller rank,
    # there are motions that no actuated joint and no loop can drive.
    others = tuple(k for k in range(model.nv) if k not in columns)
    if independent_rows(model, others) < independent_rows(model):
        raise ValueError(
            f"the joints {', '.join(names)} of {model.name} do not determine the motion of its closed "
            "loops: others move while they are held. Choose actuated joints of each loop"
        )
    return Call.of(
        _dynamics.loop_inverse_dynamics,
        model,
        {"q": q, "v": v, "a": a},
        out=out,
        options=(("actuated", columns),),
        forces=(gravity, f_ext),
        params=params,
        by_velocity={"out": FORCE},
    )


@batched
def close_loops(
    model: Model,
    q: Array[A],
    *,
    fixed: Sequence[str] = (),
    most_steps: int = 100,
    largest_error: float | None = None,
    check: bool = True,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """A configuration near `q` in which the loops are closed.

    q: (B, nq) [m, rad].  Returns (B, nq).
    fixed: names of joints that keep their coordinates.
    most_steps: damped Gauss-Newton steps, near closed loops each the shortest that closes them to
    first order. They close the loops of most random states too.
    check: raises ValueError, which names the environments, if an error is above `largest_error` [m,
    rad], by default 1e-9 in float64 and 1e-5 in float32. It reads the result, which a graph capture cannot
    do: pass False there.
    """
    still = set(model.v_indices(check_names(fixed)))
    most_steps = whole_number("most_steps", most_steps)
    return Call(
        "close_loops",
        model,
        (_closure.loop_closure,),
        {"q": q},
        out=out,
        options=(
            ("moved", tuple(k for k in range(model.nv) if k not in still)),
            ("steps", most_steps),
        ),
        params=params,
        named=ResultCheck(_if_closed, model, largest_error, params) if check else None,
    )


def _if_closed(model: Model, largest: float | None, params: Params | None, q: A) -> A:
    """The configuration, if its loops are closed; raises if they are not."""
    try:
        signed = views.on_host(loop_errors(model, q, params=params))  # type: ignore[type-var]
    except TypeError:  # traced by JAX, which has no numbers yet
        return q
    if not signed.size:
        return q
    errors = np.abs(signed)
    most = TOLERANCE[dtype_name(q.dtype)] if largest is None else largest
    worst = errors.max(-1).ravel()
    open_still = np.flatnonzero(~(worst <= most))
    if len(open_still):
        J = views.on_host(loop_jacobian(model, q, params=params))  # type: ignore[type-var]
        advice = (
            "no small motion of its joints closes them further: they contradict each other, or are out "
            "of reach; correct the model, start elsewhere, or pass a larger largest_error"
            if _contradict(signed.astype(np.float64), J.astype(np.float64), most)
            else "start nearer to a closed configuration, fix fewer joints, or take more steps"
        )
        which = _environment_numbers(open_still, worst.size)
        raise ValueError(
            f"close did not converge: the loops of {model.name} stay open in {len(open_still)} of "
            f"{worst.size} environments{which}, by {worst.max():.3g} m or rad at most (largest_error "
            f"{most:g}); {advice}. check=False returns all of them"
        )
    return q


def _environment_numbers(environments: np.ndarray, count: int) -> str:
    """The numbers of the first environments, for an error message; nothing if there is only one."""
    if count == 1:
        return ""
    more = ", ..." if len(environments) > LISTED else ""
    return f" (numbers {', '.join(map(str, environments[:LISTED]))}{more})"


def _contradict(errors: np.ndarray, J: np.ndarray, most: float) -> bool:
    """True if no small motion of the joints brings the errors of an open loop below `most`."""
    if not (np.isfinite(errors).all() and np.isfinite(J).all()):
        return False
    pairs = zip(errors.reshape(-1, errors.shape[-1]), J.reshape(-1, *J.shape[-2:]), strict=True)
    left = [np.abs(r - each @ (np.linalg.pinv(each, rcond=RANK) @ r)).max() for r, each in pairs]
    return max(left) > most


def _rows(model: Model) -> int:
    """The number of equations of all loops."""
    return sum(loop.rows for loop in model.loops)


_jacobians: WeakKeyDictionary[Model, np.ndarray] = WeakKeyDictionary()
_ranks: WeakKeyDictionary[Model, dict[tuple[int, ...], int]] = WeakKeyDictionary()


def independent_rows(model: Model, columns: tuple[int, ...] | None = None) -> int:
    """The number of independent equations of the loops in columns of v, by default in all, at a
    generic closed configuration near the first one."""
    if not model.loops:
        return 0
    columns = tuple(range(model.nv)) if columns is None else columns
    ranks = _ranks.setdefault(model, {})
    if columns not in ranks:
        J = _generic_jacobian(model)
        least = RANK * np.linalg.svd(J, compute_uv=False).max(initial=0.0)
        ranks[columns] = int((np.linalg.svd(J[:, columns], compute_uv=False) > least).sum())
    return ranks[columns]


def _generic_jacobian(model: Model) -> np.ndarray:
    """Jacobian (rows, nv) of the loops at a generic closed configuration, computed once."""
    if (known := _jacobians.get(model)) is not None:
        return known
    tree = tree_of(model)
    step = 0.1 * np.random.default_rng(0).standard_normal(model.nv)
    q = _closure.integrate(tree, [float(x) for x in start_of(model)], [float(x) for x in step])
    closed = _closure.loop_closure(tree, q, range(model.nv), 50)
    errors = np.array(_loops.loop_errors(tree, closed), dtype=float)
    if not np.abs(errors).max() < TOLERANCE["float32"]:
        closed = q
    J = _jacobians[model] = np.array(_loops.loop_jacobian(tree, closed), dtype=float)
    return J
