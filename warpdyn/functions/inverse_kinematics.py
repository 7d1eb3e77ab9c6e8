"""Inverse kinematics: configurations that bring frames to their targets."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Generic
from weakref import WeakKeyDictionary

import numpy as np

from ..algorithms import inverse_kinematics as _ik
from ..arrays import A, Array, views
from ..execution.batched import batched
from ..execution.request.call import Call
from ..execution.request.inputs import PLAIN
from ..model import Model
from ..model.coordinate_ranges import coordinate_ranges
from ..model.params import Params
from .whole_numbers import whole_number

if sys.version_info >= (3, 11):
    from typing import NamedTuple
else:  # whose named tuples can be generic
    from typing_extensions import NamedTuple

FORMS = {(4, 4), (7,), (3,)}
"""Shapes of a target: a matrix, a pose, a position."""


class Solution(NamedTuple, Generic[A]):
    """Result of a search for configurations, for each environment."""

    q: A
    """(B, nq), the best configuration found, within the limits."""
    success: Any
    """(B,) bool, in the same array library: True if every target is within the tolerance."""
    position_error: A
    """(B,) [m], of the worst target; 0 if no target has a position weight."""
    orientation_error: A
    """(B,) [rad], of the worst target; 0 if no target has an orientation weight."""
    iterations: Any
    """(B,) int32: number of steps over all starts."""

    def __repr__(self) -> str:
        """A summary: the number of solved environments and their errors. The arrays are the
        fields."""
        try:
            success, p, turn, steps = (views.on_host(x) for x in self[1:])
        except TypeError:  # traced by JAX, which has no numbers yet
            return f"<Solution with q {tuple(self.q.shape)}>"
        if not success.size:
            return "<Solution of no environments>"
        return (
            f"<Solution: {int(success.sum())} of {success.size} solved; at worst {p.max():.2g} m and "
            f"{turn.max():.2g} rad off; {steps.mean():.3g} steps on average>"
        )

    @classmethod
    def _from_results(cls, *results: A) -> Solution[A]:
        """Solution with flags as bool and counts as int32; in a kernel, flags as conditions."""
        success: Any
        q, success, position, orientation, iterations = results
        if not views.is_array(success):
            return cls(q, success > 0.5, position, orientation, iterations)
        return cls(
            q, views.cast(success, "bool"), position, orientation, views.cast(iterations, "int32")
        )


@batched
def inverse_kinematics(
    model: Model,
    targets: Mapping[str, Array[A]] | Array[A],
    *,
    frame: str | None = None,
    q0: Array[A] | None = None,
    position_weight: float | Mapping[str, float] = 1.0,
    orientation_weight: float | Mapping[str, float] = 1.0,
    restarts: int = 32,
    iterations: int = 60,
    tolerance: tuple[float, float] = (1e-4, 1e-3),
    seed: int = 0,
    params: Params | None = None,
    out: tuple[Array[A], ...] | None = None,
) -> Call[Solution[A]]:
    """Configurations within the position limits that bring frames to their targets, as a
    `Solution`.

    targets: {frame: (B, 4, 4) or (B, 7) [x y z qx qy qz qw]}, or one array with `frame=`; (B, 3),
    positions, if `orientation_weight` is 0.
    q0: (B, nq) or (nq,), the first start; by default the middle of the limits (without limits, the
    neutral configuration).
    Minimises the sum over frames of position_weight |p|² + orientation_weight (2 sin(θ/2))², p the
    distance [m] and θ the angle [rad] to the target. A weight of 0 leaves that part out. Each
    weight is a number, or a mapping with one number for each frame.
    Where a matrix has no rotation, to 5 %, or a quaternion has length zero, `success` is False and
    `orientation_error` NaN. Where a matrix is transposed, `position_error` is NaN.
    restarts: number of further starts, spread evenly within the limits, each with up to
    `iterations` steps. Then the search refines the best configuration found so far. The same `seed`
    gives the same starts.
    tolerance: [m], [rad], for success. In float32, errors reach about 1e-6 of the robot's size.
    out: five arrays, all of the dtype of the targets.
    One kernel does the whole search. The result of an environment depends neither on other
    environments nor on its index.
    Damped least squares, damping proportional to the cost: Sugihara, Solvability-unconcerned
    inverse kinematics by the Levenberg-Marquardt method, IEEE T-RO 27 (2011); coordinates at
    limits: Bertsekas, SIAM J. Control 20 (1982).

    >>> model = wd.load_robot("panda")
    >>> T = wd.fk(model, wd.random_configuration(model, 100), frame="panda_hand")
    >>> found = wd.inverse_kinematics(model, T, frame="panda_hand")
    >>> np.allclose(wd.fk(model, found.q, frame="panda_hand"), T, atol=1e-3)
    True
    """
    if frame is not None:
        model.link_index(frame)
    named = _targets(targets, frame)
    model.link_indices(named)
    given: dict[str, Any] = {f"target:{name}": array for name, array in named.items()}
    shapes: dict[str, tuple[int, ...]] = {"seed": (model.nq,), "q0": (model.nq,)}
    position, orientation = (
        _weights(what, weight, named)
        for what, weight in (
            ("position_weight", position_weight),
            ("orientation_weight", orientation_weight),
        )
    )
    for name, weight in zip(named, orientation, strict=True):
        shapes[f"target:{name}"] = _form(name, named[name], weight)
    if not any(position) and not any(orientation):
        raise ValueError("every weight is 0: give at least one target a weight above 0")
    restarts = whole_number("restarts", restarts, least=0)
    iterations = whole_number("iterations", iterations)
    seed = whole_number("seed", seed, least=0)
    near = () if isinstance(tolerance, (int, float)) else tuple(float(x) for x in tolerance)
    if len(near) != 2 or not all(x > 0 for x in near):
        raise ValueError(
            f"tolerance must be two positive numbers, in metres and radians; got {tolerance!r}"
        )
    # Only the ratios of the weights matter: the damping and the largest cost fit all weights.
    largest = max(*position, *orientation)
    weights = [(p / largest, w / largest) for p, w in zip(position, orientation, strict=True)]
    # Limits and random starts depend on the model only, so they are computed once for each model.
    space = _spaces.get(model)
    if space is None:
        space = _spaces[model] = _space(model)
    task = _ik.FrameTask(
        frames=tuple(named),
        forms=tuple(shapes[f"target:{name}"] for name in named),
        weights=tuple(weights),
        tolerance=(near[0], near[1]),
        restarts=restarts,
        iterations=iterations,
        lower=space.lower,
        upper=space.upper,
        draws=space.draws,
        start=space.middle if q0 is None else None,
    )
    if q0 is not None:
        given["q0"] = q0
    given["seed"] = _fractions(seed, model.nq)
    return Call.of(
        _ik.inverse_kinematics,
        model,
        given,
        out=out,
        options=(("task", task),),
        results=Solution._fields,
        shapes=shapes,
        params=params,
        repeats=True,
        arguments={"seed": PLAIN, "q0": PLAIN},
        named=Solution._from_results if out is None else Solution,
        by_velocity=None,
    )


def _targets(targets: Mapping[str, Array[A]] | Array[A], frame: str | None) -> dict[str, Array[A]]:
    if isinstance(targets, Mapping):
        if frame is not None:
            raise ValueError(
                "give targets by frame, as {name: array}, or one array with frame=, not both"
            )
        if not targets:
            raise ValueError("targets must name at least one frame: {name: array}")
        return dict(targets)
    if frame is None:
        raise ValueError(
            "targets must be {frame: array}; for a single array pass its frame too: frame=name"
        )
    return {frame: targets}


def _weights(
    what: str, given: float | Mapping[str, float], frames: Mapping[str, Array]
) -> list[float]:
    if isinstance(given, Mapping) and set(given) != set(frames):
        raise ValueError(
            f"{what} must be one number, or one for each of {', '.join(frames)}; got {', '.join(given)}"
        )
    weights = [float(given[name] if isinstance(given, Mapping) else given) for name in frames]
    if not all(0 <= weight < math.inf for weight in weights):
        raise ValueError(f"{what} must be finite and not negative, got {given!r}")
    return weights


def _form(name: str, target: Array, orientation: float) -> tuple[int, ...]:
    """The shape of one environment's target."""
    if not isinstance(target, (list, tuple)) and not hasattr(target, "shape"):
        raise TypeError(f"the target of {name} must be an array, got {target!r}")
    shape = tuple(np.shape(target) if isinstance(target, (list, tuple)) else target.shape)
    form = shape[-2:] if shape[-2:] == (4, 4) else shape[-1:]
    if form not in FORMS:
        raise ValueError(
            f"the target of {name} must be (B, 4, 4), (B, 7), or (B, 3) for a position, got {shape}"
        )
    if form == (3,) and orientation:
        raise ValueError(
            f"the target of {name} is a position: give orientation_weight=0, or a pose (B, 7), (B, 4, 4)"
        )
    return form


class _Space(NamedTuple):
    """The configurations of a model: limits, the middle, and the ranges of random starts
    (`FrameTask.draws`)."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    middle: tuple[float, ...]
    draws: tuple[tuple[float, float, bool], ...]


_spaces: WeakKeyDictionary[Model, _Space] = WeakKeyDictionary()


def _space(model: Model) -> _Space:
    middle = model.neutral.tolist()
    draws = [(0.0, 1.0, False)] * model.nq
    for each in coordinate_ranges(model):
        c, reach = each.column, each.reach
        middle[c] = each.middle(middle[c])
        if each.angle:  # a full turn reaches every angle, however wide the limits are
            least, most = max(each.lower, middle[c] - reach), min(each.upper, middle[c] + reach)
            draws[c] = (least, most, False)
        elif each.has_limits:
            draws[c] = (each.lower, each.upper, False)
        else:
            draws[c] = (-reach, reach, True)
    return _Space(
        lower=tuple(model.position_lower.tolist()),
        upper=tuple(model.position_upper.tolist()),
        middle=tuple(middle),
        draws=tuple(draws),
    )


@lru_cache(maxsize=64)
def _fractions(seed: int, count: int) -> tuple[float, ...]:
    return tuple(np.random.default_rng(seed).uniform(size=count).tolist())
