"""Inverse kinematics: a search, from one start after another, for a configuration that brings
frames to their targets.

A search repeats `step`, which evaluates one configuration and chooses the next; `outcome` computes
its result. Flags are 0 or 1, because they may be symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, pi
from math import sin as sine_of

from ..algebra.linear import solve_symmetric
from ..algebra.pose_forms import (
    from_position_and_quaternion,
    homogeneous_or_nan,
    rotation_or_nan,
    rotation_quaternion,
)
from ..algebra.quaternions import normalize_vector, quaternion_log, uniform_quaternion
from ..algebra.scalar import Scalar, floor, maximum, repeat, select_less, sqrt
from ..algebra.spatial import (
    IDENTITY,
    Placement,
    Rotation,
    TwoRotations,
    Vector,
    as_matrix,
)
from ..model.tree import Tree
from .frame_columns import frame_columns
from .frames import body_placements
from .manifold import clamp, integrate, normalize

DAMPING, LEAST_DAMPING = 0.1, 1e-6
"""Damping that is added to the diagonal of JᵀJ: this share of the cost, and at least this much."""

SLOW, PATIENCE = 0.95, 2
"""Share of the cost above which a step is slow, and the number of slow steps in a row after which
the next start is tried."""

EASED, RAISED = 0.3, 10.0
"""Factors on the damping after a better and a worse step of the last attempt (Marquardt 1963)."""

CLOSER = 0.9
"""Factor on the tolerance at which a search ends, so that rounding does not put the result
outside."""

LOST = 1e30
"""A cost that is not below this is not a number, or is about to overflow."""

PROGRESS = 8
"""Number of entries of `Search` before its configurations."""


@dataclass(frozen=True)
class FrameTask:
    """Frames, the targets and weights of each, and the limits of the search.

    `forms`: the shape of each target: a matrix, a pose or a position. `weights`: of position and
    orientation, for each frame; parts with weight zero are left out. `tolerance`: [m], [rad].
    `draws`: for each coordinate the least and the greatest value of a start, and whether both are
    relative to the first start. `start`: the first one, None if it is an array.
    """

    frames: tuple[str, ...]
    forms: tuple[tuple[int, ...], ...]
    weights: tuple[tuple[float, float], ...]
    tolerance: tuple[float, float]
    restarts: int
    iterations: int
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    draws: tuple[tuple[float, float, bool], ...]
    start: tuple[float, ...] | None

    @property
    def steps(self) -> int:
        """Most steps of a search: from all starts, and once more from the best configuration."""
        return (self.restarts + 2) * self.iterations

    def split(self, arrays: Sequence) -> tuple[list[Placement], Sequence[Scalar], Sequence[Scalar]]:
        """Targets, the first start, and the numbers in [0, 1) that determine the other starts."""
        count = len(self.frames)
        start = arrays[count] if self.start is None else self.start
        targets = [
            _placement(target, form, turned=weights[1] > 0)
            for target, form, weights in zip(arrays, self.forms, self.weights, strict=False)
        ]
        return targets, start, arrays[-1]


@dataclass(frozen=True)
class Search:
    """State of a search: the numbers that one step passes to the next.

    `starts` counts the starts before this one, `age` the steps since it, `slow` the latest slow
    steps in a row.
    """

    done: Scalar
    steps: Scalar
    starts: Scalar
    age: Scalar
    slow: Scalar
    cost: Scalar
    damping: Scalar
    best_cost: Scalar
    q: Sequence[Scalar]
    best: Sequence[Scalar]

    @classmethod
    def of(cls, state: Sequence[Scalar]) -> Search:
        middle = (len(state) + PROGRESS) // 2
        done, steps, starts, age, slow, cost, damping, best_cost = state[:PROGRESS]
        q, best = state[PROGRESS:middle], state[middle:]
        return cls(done, steps, starts, age, slow, cost, damping, best_cost, q, best)

    @property
    def state(self) -> list[Scalar]:
        progress = [
            self.done,
            self.steps,
            self.starts,
            self.age,
            self.slow,
            self.cost,
            self.damping,
            self.best_cost,
        ]
        return [*progress, *self.q, *self.best]


def inverse_kinematics(
    tree: Tree, *arrays: Sequence, task: FrameTask
) -> tuple[list[Scalar], Scalar, Scalar, Scalar, Scalar]:
    """The best configuration, a flag for being within the tolerance, the largest errors of position
    [m] and orientation [rad] among those with weight, and the number of steps taken."""
    targets, start, seed = task.split(arrays)
    if task.start is None:
        start = normalize(tree, start)
    first = clamp(tree, start, task.lower, task.upper)
    begin = Search(0.0, 0.0, 0.0, 0.0, 0.0, LOST, DAMPING, LOST, first, first)

    def next_state(state: Sequence[Scalar]) -> list[Scalar]:
        return step(tree, Search.of(state), targets, first, seed, task).state

    end = repeat(next_state, begin.state, task.steps, until=lambda state: Search.of(state).done)
    return outcome(tree, Search.of(end), targets, task)


def step(
    tree: Tree,
    now: Search,
    targets: Sequence[Placement],
    first: Sequence[Scalar],
    seed: Sequence[Scalar],
    task: FrameTask,
) -> Search:
    """A step of Levenberg and Marquardt, damped in proportion to the cost: Sugihara, IEEE T-RO 27
    (2011), equation 22.

    A start is abandoned when the cost no longer falls. After all of them the best configuration is
    refined, by steps that are taken back unless they lower the cost.
    """
    q = now.q
    J, e, solved = _linearise(tree, q, targets, task)
    cost = sum((x * x for x in e), 0.0)
    better = maximum(_flag_less(cost, now.best_cost), solved)
    best = _select_where(better, q, now.best)
    best_cost = select_less(0.5, better, cost, now.best_cost)

    # Damping by a share of the cost is robust, but slow if the cost stays above zero because the
    # target is out of reach: the last attempt adapts its damping to the success of its steps
    # instead.
    refining = _flag_less(task.restarts + 0.5, now.starts)
    worse = select_less(now.best_cost, cost, refining, 0.0)
    eased = now.damping * select_less(cost, now.best_cost, EASED, 1.0)
    learnt = select_less(0.5, worse, now.damping * RAISED, eased)
    damping = select_less(0.5, refining, learnt, DAMPING)
    d = _damped_step(tree, q, J, e, cost * damping + LEAST_DAMPING, task)
    moved = _select_where(worse, best, clamp(tree, integrate(tree, q, d), task.lower, task.upper))

    # Some starts end at a limit or in another minimum. A new start is cheaper than going on, so it
    # comes after few steps that gain little, or when the steps of one start are used up.
    slow = select_less(now.age, 0.5, 0.0, select_less(cost, SLOW * now.cost, 0.0, now.slow + 1.0))
    tired = select_less(slow, PATIENCE - 0.5, 0.0, 1.0 - refining)
    ended = maximum(tired, _flag_less(task.iterations - 1.5, now.age))
    starts = now.starts + ended
    another = _select_where(
        _flag_less(task.restarts + 0.5, starts), best, _start(tree, first, starts, seed, task)
    )
    # NaN compares as false: the last term ends such a search at once.
    done = maximum(maximum(solved, ended * refining), select_less(cost, LOST, 0.0, 1.0))
    age = (now.age + 1.0) * (1.0 - ended)
    q = _select_where(ended, another, moved)
    return Search(done, now.steps + 1.0, starts, age, slow, cost, damping, best_cost, q, best)


def outcome(
    tree: Tree, search: Search, targets: Sequence[Placement], task: FrameTask
) -> tuple[list[Scalar], Scalar, Scalar, Scalar, Scalar]:
    """The result of a finished search, as `inverse_kinematics` returns it."""
    X = body_placements(tree, search.best, [tree.frames[name].body for name in task.frames])
    errors: list[Scalar] = [0.0, 0.0]
    success: Scalar = 1.0
    for name, target, weights in zip(task.frames, targets, task.weights, strict=True):
        seat = tree.frames[name]
        p, quaternion = _motion_to_target(X[seat.body].compose(seat.placement), target)
        for k, way in ((0, p), (1, quaternion_log(quaternion))):
            if weights[k]:
                error = sqrt(way.dot(way))
                errors[k] = _maximum_or_nan(errors[k], error)
                success = select_less(error, task.tolerance[k], success, 0.0)
    return list(search.best), success, errors[0], errors[1], search.steps


def _linearise(
    tree: Tree, q: Sequence[Scalar], targets: Sequence[Placement], task: FrameTask
) -> tuple[list[dict[int, Scalar]], list[Scalar], Scalar]:
    """Rows of the Jacobian and errors, weighted, in the frames' axes, and a flag for all frames
    within tolerance.

    Orientation by twice the vector part of the quaternion to the target: 2 sin(θ/2) about its axis,
    which is the angle if that is small, and is largest at half a turn.
    """
    J: list[dict[int, Scalar]] = []
    e: list[Scalar] = []
    solved: Scalar = 1.0
    near = CLOSER * task.tolerance[0], 2.0 * sine_of(CLOSER * min(task.tolerance[1], pi) / 2)
    for name, target, weights in zip(task.frames, targets, task.weights, strict=True):
        bodies, T = frame_columns(tree, q, tree.frames[name], "local")
        p, quaternion = _motion_to_target(T, target)
        for k, way in ((0, p), (1, Vector(*quaternion[:3]) * 2.0)):
            if not weights[k]:
                continue
            solved = select_less(way.dot(way), near[k] ** 2, solved, 0.0)
            scale = weights[k] ** 0.5
            rows: list[dict[int, Scalar]] = [{}, {}, {}]
            for i, S in (column for columns in bodies for column in columns):
                for row, x in zip(rows, S.angular if k else S.linear, strict=True):
                    row[i] = row.get(i, 0.0) + x * scale
            J += rows
            e += [x * scale for x in way]
    return J, e, solved


def _damped_step(
    tree: Tree,
    q: Sequence[Scalar],
    J: list[dict[int, Scalar]],
    e: list[Scalar],
    damping: Scalar,
    task: FrameTask,
) -> list[Scalar]:
    """Tangent step d with (JᵀJ + damping) d = Jᵀe.

    Computed from whichever system is smaller, this one or its equal d = Jᵀ(JJᵀ + damping)⁻¹ e.
    A coordinate at a limit that the cost presses against stays there (Bertsekas, SIAM J. Control
    20, 1982).
    """
    reached = sorted({k for row in J for k in row})
    pull = {
        k: sum((row[k] * x for row, x in zip(J, e, strict=True) if k in row), 0.0) for k in reached
    }
    free = _free_coordinates(tree, q, pull, task)
    J = [{k: x * free[k] for k, x in row.items()} for row in J]
    d: list[Scalar] = [0.0] * tree.nv
    # JᵀJ has a row for each coordinate, JJᵀ one for each error: the smaller system is factorised.
    if len(reached) < len(J):
        H = [
            [sum((r[i] * r[j] for r in J if i in r and j in r), 0.0) for j in reached]
            for i in reached
        ]
        moves = solve_symmetric(_add_damping(H, damping), [pull[k] * free[k] for k in reached])
    else:
        A = [[sum((x * b[k] for k, x in a.items() if k in b), 0.0) for b in J] for a in J]
        y = solve_symmetric(_add_damping(A, damping), e)
        moves = [
            sum((row[k] * x for row, x in zip(J, y, strict=True) if k in row), 0.0) for k in reached
        ]
    for k, x in zip(reached, moves, strict=True):
        d[k] = x
    return d


def _free_coordinates(
    tree: Tree, q: Sequence[Scalar], pull: dict[int, Scalar], task: FrameTask
) -> dict[int, Scalar]:
    """1 for each coordinate of v that may move, and 0 for one at a limit whose pull leads beyond it.
    These numbers multiply the columns, because symbols allow no branch."""
    free: dict[int, Scalar] = dict.fromkeys(pull, 1.0)
    for body in tree.independent_bodies:
        if body.kind.single and body.v_index[0] in free:
            (c,), (k,) = body.q_index, body.v_index
            if task.upper[c] < inf:
                free[k] = select_less(
                    q[c], task.upper[c], free[k], select_less(0.0, pull[k], 0.0, free[k])
                )
            if task.lower[c] > -inf:
                free[k] = select_less(
                    task.lower[c], q[c], free[k], select_less(pull[k], 0.0, 0.0, free[k])
                )
    return free


def _add_damping(A: list[list[Scalar]], damping: Scalar) -> list[list[Scalar]]:
    return [[x + damping if i == j else x for j, x in enumerate(row)] for i, row in enumerate(A)]


def _start(
    tree: Tree, first: Sequence[Scalar], number: Scalar, seed: Sequence[Scalar], task: FrameTask
) -> list[Scalar]:
    """The start with this number, from points that fill the unit cube evenly.

    They are the fractions of number / gᵏ, k = 1..n, where gⁿ⁺¹ = g + 1 (Roberts 2018, after
    Kronecker and Weyl), moved by `seed`.
    """
    n = len(seed)
    g = 2.0
    for _ in range(64):
        g = (1.0 + g) ** (1.0 / (n + 1))
    u = [x - floor(x) for x in (s + number * g ** -(k + 1) for k, s in enumerate(seed))]
    q = [least + (most - least) * x for (least, most, _), x in zip(task.draws, u, strict=True)]
    q = [
        x + x0 if around else x for x, x0, (_, _, around) in zip(q, first, task.draws, strict=True)
    ]
    for body in tree.independent_bodies:
        if turn := body.quaternion_index:
            for k, x in zip(turn, uniform_quaternion(*(u[k] for k in turn[:3])), strict=True):
                q[k] = x
    return q


def _motion_to_target(T: Placement, target: Placement) -> tuple[Vector, list[Scalar]]:
    """The displacement and the quaternion from a frame to its target, in the frame's axes."""
    away = Rotation(as_matrix(T.R).matrix.T.rows)
    turn = as_matrix(TwoRotations(away, target.R))
    return T.R.to_child(target.p - T.p), rotation_quaternion(turn)


def _placement(target: Sequence, form: tuple[int, ...], turned: bool) -> Placement:
    """Placement of a target: a 4x4 matrix, a pose x y z qx qy qz qw, or a position alone.

    A quaternion of any length counts by its direction: quaternions from float32 or from text rarely
    have unit length to the tolerance of a search. If its orientation counts (`turned`), a matrix
        that is not a rotation becomes NaN, as a quaternion of length zero does. So does the position of a
    matrix that is transposed.
    """
    if form == (4, 4):
        T = homogeneous_or_nan(target)
        return Placement(rotation_or_nan(T.R) if turned else T.R, T.p)
    if form == (7,):
        return from_position_and_quaternion([*target[:3], *normalize_vector(target[3:])])
    return Placement(IDENTITY, Vector(*target))


def _maximum_or_nan(x: Scalar, y: Scalar) -> Scalar:
    """The maximum, or NaN if one of the two is NaN."""
    return select_less(x, y, y, select_less(y, x, x, (x + y) * 0.5))


def _flag_less(x: Scalar, y: Scalar) -> Scalar:
    return select_less(x, y, 1.0, 0.0)


def _select_where(flag: Scalar, yes: Sequence[Scalar], no: Sequence[Scalar]) -> list[Scalar]:
    return [select_less(0.5, flag, x, y) for x, y in zip(yes, no, strict=True)]
