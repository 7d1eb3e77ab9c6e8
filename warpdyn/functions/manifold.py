"""The manifold of configurations: steps, differences, rates, and random configurations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from ..algorithms import manifold as _manifold
from ..arrays import A, Array, random_rows, views
from ..execution.batched import batched
from ..execution.compile.kernel_cache import start_kernel_cache
from ..execution.request.base_velocity import VELOCITY
from ..execution.request.call import Call
from ..execution.request.inputs import PLAIN
from ..model import Model
from ..model.coordinate_ranges import coordinate_ranges, orientation_columns
from ..model.model import check_model
from .whole_numbers import whole_number


@batched
def integrate(model: Model, q: Array[A], d: Array[A], *, out: Array[A] | None = None) -> Call[A]:
    """The configuration q ⊕ d reached from `q` by the constant velocity `d` in unit time.

    q: (B, nq) [m, rad].  d: (B, nv), a velocity times a duration.  Returns (B, nq), quaternions at
    unit length; `out` may be `q` itself.
    Floating, ball and planar joints move along exp(d) of SE(3), SO(3), SE(2), because their twists
    are in their own frame. All other joints add d. Solà, Deray, Atchuthan, A micro Lie theory
    (2018), equation 25; as pinocchio.integrate.

    >>> model = wd.load_robot("quadruped")
    >>> q = wd.integrate(model, model.neutral, np.ones(model.nv))
    >>> np.allclose(np.linalg.norm(q[3:7]), 1)  # the base's quaternion
    True
    """
    return Call.of(
        _manifold.integrate,
        model,
        {"q": q, "d": d},
        out=out,
        over={"out": "q"},
        by_velocity={"d": VELOCITY},
    )


@batched
def difference(model: Model, q0: Array[A], q1: Array[A], *, out: Array[A] | None = None) -> Call[A]:
    """The constant velocity d that leads from `q0` to `q1` in unit time: integrate(q0, d) = q1.

    q0, q1: (B, nq) [m, rad].  Returns d: (B, nv).  Rotations take the shorter way, at most half a
    turn; quaternions may have either sign. Angles of revolute and continuous joints are subtracted
    as plain numbers, including full turns.
    Solà, Deray, Atchuthan (2018), equation 26; as pinocchio.difference.

    >>> model = wd.load_robot("quadruped")
    >>> q0, q1 = (wd.random_configuration(model, 100, seed=k) for k in range(2))
    >>> q0.shape, wd.difference(model, q0, q1).shape
    ((100, 19), (100, 18))
    """
    shapes = {"q0": (model.nq,), "q1": (model.nq,), "out": (model.nv,)}
    return Call.of(
        _manifold.difference,
        model,
        {"q0": q0, "q1": q1},
        out=out,
        shapes=shapes,
        by_velocity={"out": VELOCITY},
    )


@batched
def interpolate(
    model: Model, q0: Array[A], q1: Array[A], t: float | Array[A], *, out: Array[A] | None = None
) -> Call[A]:
    """The configuration between `q0` (t = 0) and `q1` (t = 1) at constant velocity; t may lie
    outside [0, 1].

    q0, q1: (B, nq) [m, rad].  t: a number, or (B,).  Returns (B, nq).
    integrate(q0, t difference(q0, q1)); spherical linear interpolation (Shoemake, SIGGRAPH 1985)
    for ball joints, screws for floating ones.
    """
    # plain numbers of one robot do not belong to an array library yet
    column: Any = views.column("t", t, q0) if views.is_array(q0) else [t]
    shapes = {"q0": (model.nq,), "q1": (model.nq,), "t": (1,)}
    return Call.of(
        _manifold.interpolate,
        model,
        {"q0": q0, "q1": q1, "t": column},
        out=out,
        over={"out": "q0"},
        shapes=shapes,
        arguments={"t": PLAIN},
    )


def checked_baumgarte(baumgarte: float) -> float:
    """The number; raises if it would push quaternions away from unit length."""
    pull = float(baumgarte)
    if not 0.0 <= pull < math.inf:
        raise ValueError(f"baumgarte must be a finite number of 0 or more, got {baumgarte}")
    return pull


@batched
def configuration_rate(
    model: Model, q: Array[A], v: Array[A], *, baumgarte: float = 0.0, out: Array[A] | None = None
) -> Call[A]:
    """dq/dt at velocity `v`: quaternion rates included, for integrators that treat q as a plain
    vector.

    q: (B, nq) [m, rad].  v: (B, nv).  Returns (B, nq).
    Such integrators let the length of a quaternion Q drift from one. The last entry of dQ/dt = ½ Q
    ⊗ (ω, K |ω| (1 - |Q|)) with K = `baumgarte` pulls it back. This is JaxSim's term; its default K
    is 1, here it is 0.
    Graf, Quaternions and dynamics (2008), equation 20.
    """
    options = (("baumgarte", checked_baumgarte(baumgarte)),)
    return Call.of(
        _manifold.configuration_rate,
        model,
        {"q": q, "v": v},
        out=out,
        options=options,
        any_length=True,
    )


@batched
def normalize(model: Model, q: Array[A], *, out: Array[A] | None = None) -> Call[A]:
    """`q` with its quaternions scaled to unit length; other coordinates are unchanged.

    q: (B, nq) [m, rad].  Returns (B, nq); NaN where a quaternion is zero.
    """
    return Call.of(
        _manifold.normalize, model, {"q": q}, out=out, any_length=True, over={"out": "q"}
    )


@batched
def clamp(model: Model, q: Array[A], *, out: Array[A] | None = None) -> Call[A]:
    """`q` with every coordinate clamped to its position limits; quaternions have no limits.

    q: (B, nq) [m, rad].  Returns (B, nq).  Limits: `model.position_lower`, `model.position_upper`.
    """
    options = (
        ("lower", tuple(model.position_lower.tolist())),
        ("upper", tuple(model.position_upper.tolist())),
    )
    return Call.of(_manifold.clamp, model, {"q": q}, out=out, over={"out": "q"}, options=options)


Box = tuple[Sequence[float], Sequence[float]]
UNIT_BOX: Box = ((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))


@overload
def random_configuration(
    model: Model,
    count: int,
    *,
    seed: int = 0,
    like: Array[A],
    dtype: Any = None,
    device: Any = None,
    box: Box = UNIT_BOX,
) -> A: ...
@overload
def random_configuration(
    model: Model, count: int, *, seed: int = 0, dtype: Any = None, box: Box = UNIT_BOX
) -> np.ndarray: ...
@overload
def random_configuration(
    model: Model, count: int, *, seed: int = 0, dtype: Any = None, device: Any, box: Box = UNIT_BOX
) -> Array: ...
def random_configuration(
    model: Model,
    count: int,
    *,
    seed: int = 0,
    like: Array | None = None,
    dtype: Any = None,
    device: Any = None,
    box: Box = UNIT_BOX,
) -> Array:
    """`count` configurations drawn at random, uniformly within position limits.

    Returns (count, nq): an array of the library, dtype and device of `like`; without it a float64
    NumPy array, or a Warp array if `device` is given ("cuda:0"); `dtype` float32 or float64.
    The numbers are drawn on the device. The same seed gives the same configurations on every
    device, and row e does not depend on `count`.
    Orientations are uniform (Shoemake, Graphics Gems III, 1992); angles without limits lie in [-π,
    π), lengths without limits in [-1, 1) m, origins of floating joints in `box`: least and greatest
    x, y, z [m].

    >>> model = wd.load_robot("panda")
    >>> q = wd.random_configuration(model, 1000, seed=1)
    >>> np.array_equal(q, wd.clamp(model, q))
    True
    """
    check_model(model)
    count = whole_number("count", count, least=0)
    seed = whole_number("seed", seed, least=None)
    lower, upper, quaternions = _ranges(model, box)
    start_kernel_cache()
    kind, where, single = views.kind_of(like, dtype, device)
    q = views.empty(kind, where, single, count, (model.nq,), False)
    random_rows.draw(views.view("q", q), lower, upper, quaternions, seed, kind.stream(where))
    return kind.wrap_result(q)


def _ranges(model: Model, box: Box) -> tuple[list[float], list[float], list[int]]:
    """Smallest and largest value of each coordinate, and the first index of each quaternion."""
    try:
        least, greatest = ([float(x) for x in corner] for corner in box)
        sizes = [b - a for a, b in zip(least, greatest, strict=True)]
    except (TypeError, ValueError):
        sizes = []
    if len(sizes) != 3 or not all(math.isfinite(size) and size >= 0 for size in sizes):
        raise ValueError(
            f"box must be ((x, y, z), (x, y, z)), least and greatest, finite and in order, got {box!r}"
        )
    lower, upper = model.position_lower.tolist(), model.position_upper.tolist()
    for each in coordinate_ranges(model):
        reach = each.reach
        low, high = (
            (-reach, reach) if each.axis is None else (least[each.axis], greatest[each.axis])
        )
        lower[each.column], upper[each.column] = each.within(low, high)
    return lower, upper, [turn.start for _, turn in orientation_columns(model)]
