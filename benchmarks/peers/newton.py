"""Newton: kinematics and inverse dynamics of a replicated articulation; on CUDA a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import warp as wp

from warpdyn.cli.workload import furthest_link

from ..algorithms import ALGORITHMS
from ..cuda_graph import Graph
from ..robots import Robot
from . import CannotDo, PreparedRun
from .in_mujoco import rotations

import newton as nt  # isort: skip  (Warp's settings first)

NAME, PACKAGES, DTYPE = "Newton", ("newton",), "float32"

MOST_ON_GPU = 8192
"""Worlds of a model: its builder's Python takes half a minute for so many humanoids."""

SLOW_FROM, FEW = 20, 512
"""Its inverse dynamics of so many joints takes half a millisecond a robot: in smaller batches."""


def prepare(
    robot: Robot, algorithm: str, states: Mapping[str, np.ndarray], device: str
) -> PreparedRun:
    known = ("fk_frame", "fk", "jacobian", "crba", "rnea", "gravity_torques")
    if ALGORITHMS[algorithm].gradient or algorithm.endswith("derivatives"):
        raise CannotDo(
            "no derivatives of these as functions; through wp.Tape they are not checked here"
        )
    if algorithm not in known:
        inside = "; forward dynamics only inside its solvers' steps" if algorithm == "aba" else ""
        raise CannotDo(f"no public function{inside}")
    if device != "cpu" and len(states["q"]) > MOST_ON_GPU:
        raise CannotDo(f"building a model of more than {MOST_ON_GPU:,} worlds takes minutes")
    if algorithm in ("rnea", "gravity_torques") and robot.model.nv > SLOW_FROM:
        states = {name: values[:FEW] for name, values in states.items()}
    model, count = robot.model, len(states["q"])
    one = nt.ModelBuilder(gravity=(0.0, 0.0, -9.81))
    one.add_urdf(robot.bare, floating=robot.floating, enable_self_collisions=False)
    names = [str(x).rpartition("/")[2] for x in one.joint_label]
    bodies = [str(x).rpartition("/")[2] for x in one.body_label]
    whole = nt.ModelBuilder(gravity=(0.0, 0.0, -9.81))
    whole.replicate(one, count)
    with wp.ScopedDevice(device):
        m = whole.finalize()
    state = m.state()
    nv, n = model.nv, 6 if robot.floating else 0
    order = [*range(n), *(model.v_names.index(name) for name in names if name in model.v_names)]
    if len(order) != nv:
        raise CannotDo("it has other joints")
    base = m.body_com.numpy()[bodies.index(model.root)].astype(float) if n else np.zeros(3)
    T, drift = free_base(states, base) if n else (np.zeros((count, 0, 0)), np.zeros((count, 0)))

    def joint_vector(values: np.ndarray, *heads: np.ndarray) -> np.ndarray:
        """A joint vector in Newton's order, after the coordinates of a free base."""
        return np.concatenate([*heads, values[:, order[n:]]], axis=1, dtype=np.float32).ravel()

    def turn(values: np.ndarray) -> np.ndarray:
        return np.einsum("eij,ej->ei", T, values[:, :n])

    joints = [k - n + (7 if n else 0) for k in order[n:]]
    state.joint_q.assign(
        np.concatenate([states["q"][:, : 7 if n else 0], states["q"][:, joints]], axis=1).ravel()
    )
    state.joint_qd.assign(joint_vector(states["v"], turn(states["v"])))
    with wp.ScopedDevice(device):
        joint_qdd = wp.array(joint_vector(states["a"], turn(states["a"]) + drift), dtype=float)
        M = wp.zeros(
            (m.articulation_count, m.max_dofs_per_articulation, m.max_dofs_per_articulation),
            dtype=float,
        )
        J = wp.zeros(
            (m.articulation_count, m.max_joints_per_articulation * 6, m.max_dofs_per_articulation),
            dtype=float,
        )
        gravity, coriolis, force = (wp.zeros(m.joint_dof_count, dtype=float) for _ in range(3))

    def place() -> None:
        nt.eval_fk(m, state.joint_q, state.joint_qd, state)

    def jacobian() -> None:
        place()
        nt.eval_jacobian(m, state, J=J)

    def mass() -> None:
        jacobian()
        nt.eval_mass_matrix(m, state, H=M, J=J)

    def gravity_only() -> None:
        place()
        nt.eval_inverse_dynamics_passive(m, state, gravity_force=gravity)

    def inverse() -> None:
        place()
        nt.eval_inverse_dynamics_passive(
            m, state, mass_matrix=M, gravity_force=gravity, coriolis_force=coriolis
        )
        nt.eval_inverse_dynamics_force(
            m,
            state,
            mass_matrix=M,
            joint_qdd=joint_qdd,
            coriolis_force=coriolis,
            gravity_force=gravity,
            joint_f=force,
        )

    def poses() -> np.ndarray:
        found = np.tile(np.eye(4), (16, len(bodies), 1, 1))
        rows = state.body_q.numpy().reshape(count, -1, 7)[:16].astype(float)
        found[..., :3, 3] = rows[..., :3]
        found[..., :3, :3] = rotations(rows[..., 3:].reshape(-1, 4)).reshape(16, -1, 3, 3)
        kept = [bodies.index(name) if name in bodies else -1 for name in model.link_names]
        return np.where(np.array(kept)[None, :, None, None] < 0, np.eye(4), found[:, kept])

    def of_frame() -> np.ndarray:
        """Results moved from the centre of mass to the link's origin."""
        frame = furthest_link(model)
        body = bodies.index(frame)
        row = m.joint_child.numpy()[: len(names)].tolist().index(body)
        found = J.numpy()[:16, 6 * row : 6 * row + 6].astype(float)
        T = poses()[:, model.link_index(frame)]
        arm = np.einsum("eij,j->ei", T[:, :3, :3], m.body_com.numpy()[body])
        found[:, :3] += np.cross(arm[:, :, None], found[:, 3:], axis=1)
        return columns(found)

    def columns(found: np.ndarray) -> np.ndarray:
        """Columns of Newton's velocities in warpdyn's order: (16, rows, nv)."""
        found = np.take(found, np.argsort(order), axis=2)
        found[:, :, :n] = found[:, :, :n] @ T[:16]
        return found

    def square() -> np.ndarray:
        half = columns(M.numpy()[:16, :nv, :nv].astype(float))
        return columns(half.transpose(0, 2, 1))

    def vector(x: Any) -> Callable[[], np.ndarray]:
        return lambda: columns(x.numpy().reshape(count, 1, nv)[:16].astype(float))[:, 0]

    frame_index = model.link_index(furthest_link(model))
    chain: dict[str, tuple[Callable[[], Any], Callable[[], np.ndarray], str]] = {
        "fk_frame": (
            place,
            lambda: poses()[:, frame_index],
            "eval_fk, of the whole tree, velocities too",
        ),
        "fk": (place, poses, "eval_fk, velocities too"),
        "jacobian": (jacobian, of_frame, "eval_fk, eval_jacobian: all links, centres of mass"),
        "crba": (mass, square, "eval_fk, eval_jacobian, eval_mass_matrix"),
        "gravity_torques": (
            gravity_only,
            vector(gravity),
            "eval_fk, eval_inverse_dynamics_passive",
        ),
        "rnea": (
            inverse,
            vector(force),
            "eval_fk, eval_inverse_dynamics_passive, eval_inverse_dynamics_force",
        ),
    }
    call, read, form = chain[algorithm]
    if device != "cpu":
        graph = Graph(call, device)
        return PreparedRun(graph, count, lambda: [read()], form + "; graph", launches=True)
    return PreparedRun(call, count, lambda: [read()], form)


def free_base(states: Mapping[str, np.ndarray], com: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Velocity of Newton's base as T v: of the centre of mass, then angular, in world axes.

    Its acceleration, the time derivative, is T a plus a drift. Forces are conjugate: tau = T.T @ theirs.
    """
    R, v = rotations(states["q"][:, 3:7]), states["v"]
    T, drift = np.zeros((len(R), 6, 6)), np.zeros((len(R), 6))
    x, y, z = com
    T[:, :3, :3] = T[:, 3:, 3:] = R
    T[:, :3, 3:] = -R @ np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    linear, angular = v[:, :3], v[:, 3:6]
    drift[:, :3] = np.einsum("eij,ej->ei", R, np.cross(angular, linear + np.cross(angular, com)))
    return T, drift
