"""Random states of a robot, steps on its manifold, and the full robot without mimic joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

import warpdyn as wd
from warpdyn.model.joints import KINDS


@dataclass(frozen=True)
class States:
    """`count` random states, one in each row."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    gravity: np.ndarray
    forces: np.ndarray
    """(B, nlinks, 6)."""

    def rounded(self, dtype: np.dtype) -> States:
        """The states rounded to this dtype, as float64."""
        return States(
            *(getattr(self, f).astype(dtype).astype(float) for f in self.__dataclass_fields__)
        )


def states(model: wd.Model, count: int = 19, seed: int = 0) -> States:
    """States of a robot.

    The default of 19 is two full vectors of doubles, or one of floats, and three lanes more.
    """
    draw = np.random.default_rng([seed, model.nq, model.nlinks])
    q = draw.uniform(-2, 2, (count, model.nq))
    for joint in model.moving_joints:
        columns = model.coordinates[joint.name].q
        if joint.kind is KINDS["prismatic"]:
            q[:, columns] *= 0.25
        if joint.kind.quaternion is not None:
            turn = draw.normal(size=(count, 4))
            q[:, columns.stop - 4 : columns.stop] = turn / np.linalg.norm(
                turn, axis=1, keepdims=True
            )
    return States(
        q,
        draw.uniform(-1.5, 1.5, (count, model.nv)),
        draw.uniform(-3, 3, (count, model.nv)),
        draw.uniform(-10, 10, (count, model.nv)),
        draw.uniform(-10, 10, (count, 3)),
        draw.uniform(-10, 10, (count, model.nlinks, 6)),
    )


def step(model: wd.Model, q: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The configurations that the tangent steps `d` reach from the rows of `q`."""
    result = np.empty_like(q)
    for joint in model.moving_joints:
        columns = model.coordinates[joint.name]
        order = q_order(model, joint)
        for e in range(len(q)):
            own = q[e, columns.q][order]
            moved = np.empty(len(own))
            moved[order] = joint.kind.manifold.step(own.tolist(), d[e, columns.v].tolist())
            result[e, columns.q] = moved
    return result


def q_order(model: wd.Model, joint: wd.Joint) -> list[int]:
    """The model's columns of the kind's own coordinates, whose quaternion is xyzw."""
    order, k = list(range(joint.kind.nq)), joint.kind.quaternion
    return (
        order if k is None or model.quaternion == "xyzw" else [*order[:k], k + 1, k + 2, k + 3, k]
    )


def without_mimic(model: wd.Model) -> wd.Model:
    """The same robot with every mimic joint free."""
    return replace(model, joints=tuple(replace(joint, mimic=None) for joint in model.joints))


def reduction(model: wd.Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gq, Gv and g of a robot with mimic joints: q_full = Gq q + g, v_full = Gv v; rows of `without_mimic(model)`."""
    full = without_mimic(model)
    Gq, Gv, g = np.zeros((full.nq, model.nq)), np.zeros((full.nv, model.nv)), np.zeros(full.nq)
    for joint in full.moving_joints:
        rows = full.coordinates[joint.name]
        lead, multiplier, offset = free_joint(model, joint.name)
        columns = model.coordinates[lead]
        Gq[rows.q, columns.q] = multiplier * np.eye(joint.kind.nq)
        Gv[rows.v, columns.v] = multiplier * np.eye(joint.kind.nv)
        g[rows.q] = offset
    return Gq, Gv, g


def free_joint(model: wd.Model, name: str) -> tuple[str, float, float]:
    """The free joint at the end of a chain of mimic joints, with the total multiplier and
    offset."""
    by_name = {joint.name: joint for joint in model.joints}
    if name not in by_name or by_name[name].mimic is None:
        return name, 1.0, 0.0
    mimic = by_name[name].mimic
    assert mimic is not None
    lead, multiplier, offset = free_joint(model, mimic.joint)
    return lead, mimic.multiplier * multiplier, mimic.multiplier * offset + mimic.offset


def size(*terms: np.ndarray) -> float:
    """The largest magnitude among the terms of a sum. Its rounding errors are proportional to
    this."""
    return max(max((float(np.max(np.abs(t))) for t in terms if np.size(t)), default=0.0), 1e-300)


def error(found: np.ndarray, wanted: np.ndarray, *terms: np.ndarray) -> float:
    """Largest difference relative to the largest reference entry, or to the largest term. NaN
    counts as infinitely wrong."""
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    assert found.shape == wanted.shape, f"{found.shape} is not {wanted.shape}"
    if not found.size:
        return 0.0
    difference = np.abs(found - wanted)
    return float(np.max(np.where(np.isnan(difference), np.inf, difference))) / size(wanted, *terms)


def select(rows: Sequence[int] | slice, s: States) -> States:
    return States(*(getattr(s, f)[rows] for f in s.__dataclass_fields__))
