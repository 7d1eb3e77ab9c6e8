"""Impulses of constraints at the level of velocities, by sweeps of block Gauss-Seidel.

A constraint acts on rows J of velocities: a point that touches, on three rows or on the six of its
body's twist; a joint, on its coordinate. One after the other each sets its own impulse so that its
law holds at the velocities that all impulses leave. A fixed number of sweeps that begin at the last
step's impulses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ..algebra.linear import Factors, dot
from ..algebra.scalar import Scalar, is_number, repeat

Matrix: TypeAlias = Sequence[Sequence[Scalar]]


class Constraint(Protocol):
    """One of the blocks that a sweep goes through."""

    @property
    def size(self) -> int:
        """How many impulses it has."""
        ...

    def on_rows(self, impulse: Sequence[Scalar]) -> Iterator[tuple[int, Scalar]]:
        """The rows that an impulse acts on, and how much of it on each."""
        ...

    def updated(
        self, before: Sequence[Scalar], velocities: list[Scalar], G: Matrix
    ) -> tuple[list[Scalar], list[Scalar]]:
        """Its impulse after its turn, and the velocities of all rows."""
        ...


@dataclass(frozen=True)
class ConstraintRows:
    """Rows J of a step with M^ = Lᵀ D L.

    `Z` = D⁻¹ L⁻ᵀ Jᵀ, a row for each; `G` = J M^⁻¹ Jᵀ: velocities of rows for unit impulses on rows.
    """

    J: Matrix
    mass: Factors
    Z: Matrix
    G: Matrix

    def of(self, v: Sequence[Scalar]) -> list[Scalar]:
        """J v."""
        return [_sparse_dot(row, v) for row in self.J]


def rows_of(J: Matrix, mass: Factors) -> ConstraintRows:
    """G from y = L⁻ᵀ Jᵀ, which is zero beyond each row's path to the root."""
    Y = [mass.transposed_solve(row) for row in J]
    Z = [mass.scaled(y) for y in Y]
    G = [[0.0] * len(J) for _ in J]
    for a in range(len(J)):
        for b in range(a, len(J)):
            G[a][b] = G[b][a] = _sparse_dot(Z[a], Y[b])  # type: ignore[assignment]
    return ConstraintRows(J, mass, Z, G)


def constraint_impulses(
    rows: ConstraintRows,
    constraints: Sequence[Constraint],
    free: Sequence[Scalar],
    warm: Sequence[Scalar],
    sweeps: int,
) -> tuple[list[Scalar], list[Scalar]]:
    """Impulses of the constraints, one after the other [N s, N m s], and the velocities v+ that they
    leave.

    `free`: velocity without constraints. `warm`: impulses to begin with.
    """
    count = len(warm)
    moved = _on_all_rows(constraints, warm, len(rows.J))
    seen = [v + _sparse_dot(g, moved) for v, g in zip(rows.of(free), rows.G, strict=True)]

    def sweep(state: list[Scalar]) -> list[Scalar]:
        impulses, velocities, first = list(state[:count]), list(state[count:]), 0
        for constraint in constraints:
            mine = slice(first, first + constraint.size)
            impulses[mine], velocities = constraint.updated(impulses[mine], velocities, rows.G)
            first = mine.stop
        return [*impulses, *velocities]

    impulses = repeat(sweep, [*warm, *seen], sweeps)[:count]
    pushed: list[Scalar] = [0.0] * len(free)
    for z, x in zip(rows.Z, _on_all_rows(constraints, impulses, len(rows.J)), strict=True):
        pushed = [p if is_zero(e) else p + e * x for p, e in zip(pushed, z, strict=True)]
    after = rows.mass.solve(pushed)
    return impulses, [v + dv for v, dv in zip(free, after, strict=True)]


def pushed_rows(velocities: list[Scalar], row: int, impulse: Scalar, G: Matrix) -> list[Scalar]:
    """Velocities of all rows after an impulse on one."""
    return [v + g[row] * impulse for v, g in zip(velocities, G, strict=True)]


def _on_all_rows(
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


def _sparse_dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Sum of a_i b_i over entries that are not known to be zero."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if not (is_zero(x) or is_zero(y))]
    return dot([x for x, _ in pairs], [y for _, y in pairs])


def is_zero(x: Scalar) -> bool:
    """Whether it is known to be zero."""
    return is_number(x) and x == 0.0
