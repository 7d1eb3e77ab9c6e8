"""MJX: MuJoCo's stages in JAX, jit of vmap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from warpdyn.cli.workload import furthest_link

from ..algorithms import ALGORITHMS
from ..robots import Robot
from ..workload import cotangents
from . import CannotDo, PreparedRun
from .in_jax import jax, jit_call, jnp
from .in_mujoco import InMuJoCo

from mujoco import mjx  # isort: skip  (after the flags of in_jax)
from mujoco.mjx._src import smooth  # isort: skip  (solve_m is not among the public names)

NAME, PACKAGES, DTYPE = "MJX", ("mujoco-mjx", "jax"), "float32"

NEAR = {"aba": 5e-5, "aba_vjp": 1e-4, "mass_matrix_inverse": 5e-5}
"""What solves with the mass matrix: its condition numbers, 870 (panda) and 8,200 (talos_reduced), times float32's
rounding of 6e-8 are 5e-5 and 5e-4. Measured 3.9e-5, 6.0e-5 and 1.8e-5 (talos_reduced); with float64
the first and the last are below 3e-14."""


def prepare(
    robot: Robot, algorithm: str, states: Mapping[str, np.ndarray], device: str
) -> PreparedRun:
    plain = ALGORITHMS[algorithm].of or algorithm
    if algorithm.endswith("derivatives") or (
        plain != algorithm and (robot.floating or plain not in ("rnea", "aba"))
    ):
        raise CannotDo(
            "matrices of derivatives, a free base's and poses' gradients are not converted here"
        )
    own = InMuJoCo(robot, algorithm, states)
    nv, count = own.robot.nv, len(states["q"])
    m, empty = mjx.put_model(own.robot), mjx.make_data(own.robot)
    frame = furthest_link(robot.model)
    body = own.body(frame)

    def place(q: Any, v: Any = None) -> Any:
        d = empty.replace(qpos=q) if v is None else empty.replace(qpos=q, qvel=v)
        return mjx.kinematics(m, d)

    def poses(q: Any) -> Any:
        d = place(q)
        return d.xpos, d.xmat

    def jacobian(q: Any) -> Any:
        d = mjx.com_pos(m, place(q))
        translation, rotation = mjx.jac(m, d, d.xpos[body], body)
        return jnp.concatenate([translation.T, rotation.T])

    def inertia(q: Any) -> Any:
        return mjx.crb(m, mjx.com_pos(m, place(q)))

    def mass(q: Any) -> Any:
        return mjx.full_m(m, inertia(q))

    def bias(q: Any, v: Any) -> Any:
        return mjx.rne(m, mjx.com_vel(m, mjx.com_pos(m, place(q, v)))).qfrc_bias

    def inverse_dynamics(q: Any, v: Any, a: Any) -> Any:
        d = mjx.rne(m, mjx.com_vel(m, inertia_of(q, v)))
        return mjx.mul_m(m, d, a) + d.qfrc_bias

    def inertia_of(q: Any, v: Any) -> Any:
        return mjx.crb(m, mjx.com_pos(m, place(q, v)))

    def forward_dynamics(q: Any, v: Any, force: Any) -> Any:
        d = mjx.factor_m(m, mjx.rne(m, mjx.com_vel(m, inertia_of(q, v))))
        return smooth.solve_m(m, d, force - d.qfrc_bias)

    def inverse(q: Any) -> Any:
        d = mjx.factor_m(m, inertia(q))
        return jax.vmap(lambda e: smooth.solve_m(m, d, e))(jnp.eye(nv))

    def read_poses(names: list[str]) -> Callable[[Any], np.ndarray]:
        return lambda found: own.poses(*(np.asarray(x[:16], float) for x in found), names)

    def read(convert: Callable[[np.ndarray], np.ndarray]) -> Callable[[Any], np.ndarray]:
        return lambda found: convert(np.asarray(found[:16], float))

    q, v, a, force = own.qpos, own.qvel, own.qacc, own.force
    names = list(robot.model.link_names)
    chain: dict[
        str, tuple[Callable[..., Any], tuple[np.ndarray, ...], Callable[[Any], np.ndarray], str]
    ] = {
        "fk_frame": (
            poses,
            (q,),
            lambda x: read_poses([frame])(x)[:, 0],
            "kinematics, of the whole tree",
        ),
        "fk": (poses, (q,), read_poses(names), "kinematics"),
        "jacobian": (jacobian, (q,), read(own.columns), "kinematics, com_pos, jac"),
        "rnea": (inverse_dynamics, (q, v, a), read(own.forces), "crb, com_vel, rne, mul_m"),
        "gravity_torques": (
            lambda q: bias(q, jnp.zeros(nv)),
            (q,),
            read(own.forces),
            "com_vel, rne with v = 0",
        ),
        "crba": (mass, (q,), read(own.square), "com_pos, crb, full_m"),
        "aba": (
            forward_dynamics,
            (q, v, force),
            read(own.accelerations),
            "crb, factor_m, com_vel, rne, solve_m",
        ),
        "mass_matrix_inverse": (
            inverse,
            (q,),
            read(own.square),
            "crb, factor_m, solve_m of unit vectors",
        ),
    }
    if plain not in chain:
        raise CannotDo("no such function")
    function, given, convert, form = chain[plain]
    if plain != algorithm:
        weights = own.velocities(cotangents((robot.model.nv,), count))

        def gradient(weight: Any, *state: Any) -> Any:
            return jax.vjp(function, *state)[1](weight)

        run = jit_call(gradient, weights, *given, device=device)
        form = f"jit of vmap of jax.vjp: {form}"
        return PreparedRun(
            run,
            count,
            lambda: [convert(x) for x in run()],
            form,
            NEAR.get(algorithm, 0.0),
            start=run.start,
            finish=run.finish,
        )
    run = jit_call(function, *given, device=device)
    return PreparedRun(
        run,
        count,
        lambda: [convert(run())],
        f"jit of vmap: {form}",
        NEAR.get(algorithm, 0.0),
        start=run.start,
        finish=run.finish,
    )
