"""A free base's velocity in the representation that a model was loaded with.

Algorithms use one representation: the base's twist in its own frame ("local"). For a model with
another representation, inputs and results are converted before and after the algorithm, inside the
program, so the choice is folded like any constant. With T the matrix from the model's twist v
to the local one, v_local = T v: accelerations a_local = T a + T' v, forces tau = Tᵀ tau_local,
columns of Jacobians J = J_local T, and T' = -(W ×) T with W the part of the base's local twist that
carries the axes.

Traversaro and Saccon, Multibody dynamics notation (2019), sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...algebra.linear import transpose
from ...algebra.scalar import Scalar
from ...algebra.spatial import ZERO, Motion, Placement, force_of, motion_of
from ...model.tree import Tree
from .inputs import Nested

Axes = tuple[str | None, ...]
"""Meaning of the last dimensions of an argument or a result. A function declares with it how they
change with the representation (`Call.by_velocity`). Dimensions of a matrix are added: FORCE +
FORCE."""

CONFIGURATION: Axes = ("configuration",)
"""A configuration, the same in every representation; velocities refer to the first configuration of
a function."""

VELOCITY: Axes = ("velocity",)
ACCELERATION: Axes = ("acceleration",)
FORCE: Axes = ("force",)

COLUMNS: Axes = FORCE
"""Columns that multiply a velocity, such as a Jacobian's; they change like forces."""

RATE: Axes = ("rate",)
"""The derivative of such columns along the motion; `Call.rate_of` is the algorithm of the
columns."""

BIAS: Axes = ("bias",)
"""Entries of a bias acceleration, rate times velocity; `Call.rate_of` is the algorithm of the
columns."""

BIAS_FORCE: Axes = ("bias force",)
"""Forces at zero acceleration; `Call.rate_of` is the mass matrix."""

UNCHANGED: Axes = (None,)
"""A dimension that does not belong to velocity coordinates."""


BY_NAME: Mapping[str, Axes] = {
    **dict.fromkeys(("q", "q0", "q1"), CONFIGURATION),
    "v": VELOCITY,
    "a": ACCELERATION,
    "tau": FORCE,
}
"""Arguments and results that have the same axes in all calls that have them."""


class Converter:
    """Conversions between the model's representation and the local one, at one configuration.

    `*_in` converts to the local one, the other methods convert back. Entries after the base's six
    do not change.
    """

    def __init__(self, tree: Tree, q: Sequence[Scalar], representation: str):
        X = tree.bodies[0].placement(q).as_matrix()
        self.at_world = representation == "world"
        self.X = X if self.at_world else Placement(X.R, ZERO)

    def velocity_in(self, v: Sequence[Scalar]) -> list[Scalar]:
        return [*self.X.motion_to_child(motion_of(v)), *v[6:]]

    def acceleration_in(self, a: Sequence[Scalar], v_local: Sequence[Scalar]) -> list[Scalar]:
        a_base = self.X.motion_to_child(motion_of(a))
        return [*(a_base - self.carrying(v_local).cross(motion_of(v_local))), *a[6:]]

    def force_in(self, tau: Sequence[Scalar]) -> list[Scalar]:
        return [*self.X.force_to_child(force_of(tau)), *tau[6:]]

    def velocity(self, v_local: Sequence[Scalar]) -> list[Scalar]:
        return [*self.X.motion_to_parent(motion_of(v_local)), *v_local[6:]]

    def acceleration(self, a_local: Sequence[Scalar], v_local: Sequence[Scalar]) -> list[Scalar]:
        a_base = motion_of(a_local) + self.carrying(v_local).cross(motion_of(v_local))
        return [*self.X.motion_to_parent(a_base), *a_local[6:]]

    def force(self, tau_local: Sequence[Scalar]) -> list[Scalar]:
        return [*self.X.force_to_parent(force_of(tau_local)), *tau_local[6:]]

    def carrying(self, v_local: Sequence[Scalar]) -> Motion:
        """W with T' = -(W ×) T: the twist that carries the axes; in "world" the origin moves with
        them."""
        twist = motion_of(v_local)
        return twist if self.at_world else Motion(ZERO, twist.angular)

    def bias(self, entry: Scalar, row_of: Sequence[Scalar], v_local: Sequence[Scalar]) -> Scalar:
        """An entry converted with its row of columns: at zero acceleration of the model, the local
        acceleration is T' v."""
        a_base = -self.carrying(v_local).cross(motion_of(v_local))
        return entry + a_base.dot(force_of(row_of))

    def rate(
        self, row: Sequence[Scalar], row_of: Sequence[Scalar], v_local: Sequence[Scalar]
    ) -> list[Scalar]:
        """A row of (B' + B T' T⁻¹) T, from the rows of B' and of B: b (-W ×) m = (W ×* b) m."""
        carried = self.carrying(v_local).cross_force(force_of(row_of))
        return self.force([*(force_of(row) + carried), *row[6:]])


def inputs_in(
    converter: Converter, arguments: Mapping[str, Nested], by_velocity: Mapping[str, Axes]
) -> dict[str, Nested]:
    """Arguments of an algorithm in the local representation, from those in the model's."""
    local = dict(arguments)
    kinds = {name: by_velocity[name] for name in arguments if name in by_velocity}
    # Velocities first, because T' v is part of an acceleration, if there is a velocity.
    for name, kind in kinds.items():
        if kind == VELOCITY:
            local[name] = converter.velocity_in(arguments[name])
    v_local = velocity_among(local, by_velocity)
    for name, kind in kinds.items():
        if kind == ACCELERATION:
            local[name] = (
                converter.acceleration_in(arguments[name], v_local)
                if v_local
                else converter.velocity_in(arguments[name])
            )
        elif kind == FORCE:
            local[name] = converter.force_in(arguments[name])
    return local


def velocity_among(
    arguments: Mapping[str, Nested], by_velocity: Mapping[str, Axes]
) -> Sequence[Scalar]:
    """The velocity among a function's arguments; empty if there is none."""
    return next((x for n, x in arguments.items() if by_velocity.get(n) == VELOCITY), ())


def result_out(
    converter: Converter, result: Nested, axes: Axes, v_local: Sequence[Scalar], rate_of: Nested
) -> Nested:
    """An algorithm's result in the model's representation; `rate_of`: the columns whose derivative
    a rate is. A result without numbers, such as the Jacobian of no loops, stays as it is."""
    if not _has_numbers(result):
        return result
    for axis, kind in enumerate(reversed(axes)):
        if kind in ("bias", "bias force"):
            result = _entries(
                lambda entry, row: converter.bias(entry, row, v_local), result, rate_of
            )
            result = converter.force(result) if kind == "bias force" else result
        elif kind == "rate":
            result = _rows(lambda row, of: converter.rate(row, of, v_local), result, rate_of)
        elif kind not in (None, "configuration"):
            change = {
                "force": converter.force,
                "velocity": converter.velocity,
                "acceleration": lambda a: converter.acceleration(a, v_local),
            }[kind]
            result = (
                _rows(change, result) if axis == 0 else transpose(_rows(change, transpose(result)))
            )
    return result


def _has_numbers(nested: Nested) -> bool:
    """True if nested lists have an entry that is not a list."""
    return not isinstance(nested, (list, tuple)) or any(map(_has_numbers, nested))


def _rows(change: Callable[..., list[Scalar]], *nested: Nested) -> Nested:
    """`change` applied to the innermost lists."""
    if not isinstance(nested[0][0], (list, tuple)):
        return change(*nested)
    return [_rows(change, *each) for each in zip(*nested, strict=True)]


def _entries(change: Callable[[Scalar, Any], Scalar], result: Nested, rows: Nested) -> Nested:
    """`change` applied to each entry with its row."""
    if not isinstance(result, (list, tuple)):
        return change(result, rows)
    return [_entries(change, entry, row) for entry, row in zip(result, rows, strict=True)]
