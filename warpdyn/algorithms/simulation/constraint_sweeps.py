"""Impulses of constraints at the level of velocities, by sweeps of block Gauss-Seidel.

A constraint acts on rows J of velocities: a contact point on three rows or on the six of its
body's twist, a joint on its coordinate. In each sweep the constraints take turns: each sets its own
impulse so that its law holds at the velocities that all impulses cause. The number of sweeps is
fixed, and they start from the last step's impulses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypeAlias

from ...algebra.linear import Factors, dot
from ...algebra.scalar import Scalar, is_zero, repeat

WAITING = 1.5
"""Cost of a product along a path relative to one of rows: sums along paths depend on each other. A
quadruped on its feet takes 0.69 of the products along paths, and 1.11 of the time."""

Matrix: TypeAlias = Sequence[Sequence[Scalar]]


class RowVelocities(Protocol):
    """Velocities of all rows after the impulses so far."""

    @property
    def values(self) -> list[Scalar]:
        """The numbers that one constraint passes to the next."""
        ...

    def at(self, values: list[Scalar]) -> RowVelocities:
        """The same form with other numbers."""
        ...

    def __getitem__(self, rows: slice) -> list[Scalar]:
        """Velocities of some rows."""
        ...

    def after_impulse(self, row: int, impulse: Scalar) -> RowVelocities:
        """Velocities after an impulse on a row."""
        ...


class Constraint(Protocol):
    """One of the blocks that a sweep visits."""

    @property
    def size(self) -> int:
        """The number of its impulses."""
        ...

    @property
    def rows_used(self) -> Sequence[int]:
        """The rows that it reads and pushes in its turn, each as often as it does so."""
        ...

    def on_rows(self, impulse: Sequence[Scalar]) -> Iterator[tuple[int, Scalar]]:
        """The rows that an impulse acts on, each with its share of the impulse."""
        ...

    def update(
        self, before: Sequence[Scalar], seen: RowVelocities
    ) -> tuple[list[Scalar], RowVelocities]:
        """Its impulse after its turn, and the velocities after that."""
        ...


@dataclass(frozen=True)
class ConstraintRows:
    """Rows J of a step with M^ = Lᵀ D L: `Y` = L⁻ᵀ Jᵀ and `Z` = D⁻¹ Y, one row for each, which are
    zero beyond each row's path to the root."""

    J: Matrix
    mass: Factors
    Y: Matrix
    Z: Matrix

    def of(self, v: Sequence[Scalar]) -> list[Scalar]:
        """J v."""
        return [sparse_dot(row, v) for row in self.J]

    def on_coordinates(self, impulses: Sequence[Scalar]) -> list[Scalar]:
        """The sum s = Z l over the impulses of all rows, which equals L (v+ - v_free)."""
        total: list[Scalar] = [0.0] * len(self.mass.reciprocal)
        for z, x in zip(self.Z, impulses, strict=True):
            total = [s if is_zero(e) else s + e * x for s, e in zip(total, z, strict=True)]
        return total

    def response(self, a: int, b: int) -> Scalar:
        """An entry of G = J M^⁻¹ Jᵀ: velocity of a row for a unit impulse on another."""
        return sparse_dot(self.Z[min(a, b)], self.Y[max(a, b)])

    @cached_property
    def G(self) -> Matrix:
        """Velocities of rows for unit impulses on rows."""
        G = [[0.0] * len(self.J) for _ in self.J]
        for a in range(len(self.J)):
            for b in range(a, len(self.J)):
                G[a][b] = G[b][a] = self.response(a, b)  # type: ignore[assignment]
        return G


def rows_of(J: Matrix, mass: Factors) -> ConstraintRows:
    """The rows J together with the Y and Z that the mass matrix gives them."""
    Y = [mass.solve_transposed(row) for row in J]
    return ConstraintRows(J, mass, Y, [mass.divide_by_diagonal(y) for y in Y])


@dataclass(frozen=True)
class RowByRow:
    """Velocities of rows, one number for each; an impulse changes all of them, by a column of G.
    The shorter form for few rows, such as those of a robot's feet."""

    values: list[Scalar]
    G: Matrix

    def at(self, values: list[Scalar]) -> RowByRow:
        """The same at other velocities."""
        return replace(self, values=values)

    def __getitem__(self, rows: slice) -> list[Scalar]:
        """Velocities of some rows."""
        return self.values[rows]

    def after_impulse(self, row: int, impulse: Scalar) -> RowByRow:
        """All rows after an impulse on one."""
        return self.at([v + g[row] * impulse for v, g in zip(self.values, self.G, strict=True)])


@dataclass(frozen=True)
class AlongPaths:
    """Velocities of rows as J v_free + Y s with s = Z l, a number for each coordinate. An impulse
    changes those on its row's path to the root. The shorter form if many joints have rows."""

    values: list[Scalar]
    rows: ConstraintRows
    free: Sequence[Scalar]

    def at(self, values: list[Scalar]) -> AlongPaths:
        """The same with another s."""
        return replace(self, values=values)

    def __getitem__(self, rows: slice) -> list[Scalar]:
        """Velocities of some rows."""
        return [
            v + sparse_dot(y, self.values)
            for v, y in zip(self.free[rows], self.rows.Y[rows], strict=True)
        ]

    def after_impulse(self, row: int, impulse: Scalar) -> AlongPaths:
        """The rows after an impulse on one."""
        z = self.rows.Z[row]
        return self.at(
            [s if is_zero(e) else s + e * impulse for s, e in zip(self.values, z, strict=True)]
        )


def constraint_impulses(
    rows: ConstraintRows,
    constraints: Sequence[Constraint],
    free: Sequence[Scalar],
    warm: Sequence[Scalar],
    sweeps: int,
    along_paths: bool | None = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """Impulses of the constraints, one after the other [N s, N m s], and the velocities v+ after
    them.

    `free`: velocity without constraints. `warm`: initial impulses. `along_paths`: the form in
    which velocities of rows are kept. Both forms give the same numbers, and None chooses the
    shorter one.
    """
    if along_paths is None:
        along_paths = _shorter_along_paths(rows, constraints, sweeps)
    # The sweeps correct the last step's impulses, so the velocities at the start include them.
    count, unmoved = len(warm), rows.of(free)
    begin: RowVelocities
    if along_paths:
        begin = AlongPaths(_on_coordinates(rows, constraints, warm), rows, unmoved)
    else:
        moved = impulses_on_rows(constraints, warm, len(rows.J))
        begin = RowByRow(
            [v + sparse_dot(g, moved) for v, g in zip(unmoved, rows.G, strict=True)], rows.G
        )

    def sweep(state: list[Scalar]) -> list[Scalar]:
        impulses, first = list(state[:count]), 0
        seen: RowVelocities = begin.at(list(state[count:]))
        for constraint in constraints:
            mine = slice(first, first + constraint.size)
            impulses[mine], seen = constraint.update(impulses[mine], seen)
            first = mine.stop
        return [*impulses, *seen.values]

    end = repeat(sweep, [*warm, *begin.values], sweeps)
    impulses, values = end[:count], end[count:]
    pushed = values if along_paths else _on_coordinates(rows, constraints, impulses)
    after = rows.mass.solve(pushed)
    return impulses, [v + dv for v, dv in zip(free, after, strict=True)]


def _shorter_along_paths(
    rows: ConstraintRows, constraints: Sequence[Constraint], sweeps: int
) -> bool:
    """True if `AlongPaths` is shorter than `RowByRow`: it needs two products for each entry of a
    touched row's path, instead of one for each row, and no G."""
    paths = [{k for k, y in enumerate(row) if not is_zero(y)} for row in rows.Y]
    turns = [row for constraint in constraints for row in constraint.rows_used]
    on_paths = sweeps * sum(2 * len(paths[row]) for row in turns)
    of_G = sum(len(a & b) for i, a in enumerate(paths) for b in paths[i:])
    return WAITING * on_paths < sweeps * len(turns) * len(paths) + of_G + len(paths) ** 2


def _on_coordinates(
    rows: ConstraintRows, constraints: Sequence[Constraint], impulses: Sequence[Scalar]
) -> list[Scalar]:
    """The sum s over the impulses of all constraints."""
    return rows.on_coordinates(impulses_on_rows(constraints, impulses, len(rows.J)))


def impulses_on_rows(
    constraints: Sequence[Constraint], impulses: Sequence[Scalar], rows: int
) -> list[Scalar]:
    """Impulses of all constraints as one vector over the rows."""
    total: list[Scalar] = [0.0] * rows
    first = 0
    for constraint in constraints:
        for row, x in constraint.on_rows(impulses[first : first + constraint.size]):
            total[row] = total[row] + x
        first += constraint.size
    return total


def sparse_dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Sum of a_i b_i over entries that are not known to be zero."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if not (is_zero(x) or is_zero(y))]
    return dot([x for x, _ in pairs], [y for _, y in pairs])
