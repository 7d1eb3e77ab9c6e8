"""Results of a simulation step, as tuples with names."""

from __future__ import annotations

from typing import NamedTuple

from ...arrays import Array


class Step(NamedTuple):
    """Results of a step."""

    q: Array
    """(B, nq), quaternions of unit length."""
    v: Array
    """(B, nv)."""
    impulses: Array
    """(B, points, 3) of the contacts, in the world's axes [N s]; (B, points, 6) with the moments
    [N m s] if points have torsional or rolling friction. The next step's sweeps start from them. On
    a `SoftGround`, the points' deformations [m] (`deformation`)."""
    forces: Array
    """(B, points, 3) of the ground on the points in the last substep, in the world's axes [N]."""
    torques: Array
    """(B, joints), torques of tau and drives together: the mean over the substeps [N·m, N]."""

    @property
    def joint_impulses(self) -> Array | None:
        """None, because no joint has a row; otherwise `StepOfRows` has the impulses."""
        return None

    @property
    def deformation(self) -> Array:
        """(B, points, 3) of a `SoftGround` at the points, in the world's axes [m]: another name of
        `impulses`, which holds them."""
        return self.impulses


class StepOfRows(NamedTuple):
    """Results of a step if joints have rows: those of a `Step`, and the rows' impulses."""

    q: Array
    v: Array
    impulses: Array
    forces: Array
    torques: Array
    joint_impulses: Array
    """(B, joints), impulses of dry friction and of stops that are rows, in the last substep [N·m s,
    N s]; the next step's sweeps start from them."""

    @property
    def deformation(self) -> Array:
        """Another name of `impulses`, as in a `Step`."""
        return self.impulses


class StepOfScene(NamedTuple):
    """Results of a step if bodies touch each other or the robot has closed loops: those of a
    `StepOfRows`, of the loops and of the pairs. Normals point from a pair's first shape to its second
    one."""

    q: Array
    v: Array
    impulses: Array
    forces: Array
    torques: Array
    joint_impulses: Array
    loop_forces: Array
    """(B, loops, 6): the force of each loop on its second link at its point, and its moment, in the
    world's axes [N, N·m]; of a loop between joints, the force on the first one, then zeros."""
    pair_impulses: Array
    """(B, contacts, 3), on the second shapes, in the world's axes [N s]; the contacts of the pairs,
    in their order. (B, contacts, 6) with the moments [N m s] if pairs have torsional or rolling
    friction."""
    pair_features: Array
    """(B, contacts), the numbers of the corners and edges that touch. The next step's sweeps start
    from the impulses of the same features."""
    pair_forces: Array
    """(B, pairs, 3), on the second shapes in the last substep, in the world's axes [N]."""
    pairs_left_out: Array
    """(B, 1): how often a near pair had no slot, in this step and in earlier steps whose number was
    passed on. 0 means that every pair that could touch was computed."""

    @property
    def deformation(self) -> Array:
        """Another name of `impulses`, as in a `Step`."""
        return self.impulses
