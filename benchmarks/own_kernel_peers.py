"""The impedance controller of examples/kernels in other libraries, for a batch of pandas.

It is written with NumPy and warpdyn's calls, and in JAX, Torch and CasADi with adam's functions.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import warpdyn as wd

from .robots import Robot

STIFFNESS, DAMPING = 400.0, 40.0


class Peer(NamedTuple):
    """`run` computes all states, and `answers` returns the torques (B, n). `gradient`: forward and backward."""

    name: str
    near: float
    """Largest difference from the float64 torques, relative to the largest torque."""
    run: Callable[[], Any]
    answers: Callable[[], np.ndarray]
    gradient: Callable[[], Any] | None = None


def in_numpy(robot: Robot, frame: str, states: Mapping[str, np.ndarray]) -> Peer:
    """The controller with four of warpdyn's calls, on rows."""
    model, (q, v, target) = robot.model, (states[n] for n in ("q", "v", "target"))

    def run() -> np.ndarray:
        J = wd.jacobian(model, q, frame=frame, reference="local_world_aligned")[:, :3]
        error = target - wd.fk(model, q, frame=frame)[:, :3, 3]
        force = STIFFNESS * error - DAMPING * np.einsum("bij,bj->bi", J, v)
        return wd.gravity_torques(model, q) + np.einsum("bij,bi->bj", J, force)

    return Peer("NumPy around warpdyn's calls", 1e-5, run, run)


def in_jax(robot: Robot, frame: str, states: Mapping[str, np.ndarray]) -> Peer:
    """The controller as a jitted function of whole batches with adam. vmap of adam fails in this JAX."""
    from .peers.in_jax import jax, jit_call, jnp

    import adam  # isort: skip  (after the flags of in_jax)
    from adam.jax import KinDynComputations  # isort: skip

    K = _adam_in_world_axes(
        KinDynComputations, adam, robot, gravity=lambda g: jnp.asarray(g, jnp.float32)
    )
    H = np.tile(np.eye(4), (len(states["q"]), 1, 1))

    def torques(H: Any, q: Any, v: Any, target: Any) -> Any:
        return _torques(K, frame, H, q, v, target)

    given = [H, *(states[n] for n in ("q", "v", "target"))]
    run = jit_call(torques, *given, batched=False)

    def pull_back(weights: Any, *arrays: Any) -> Any:
        tau, back = jax.vjp(torques, *arrays)
        return tau, back(weights)[1:]

    gradient = jit_call(pull_back, np.ones(states["q"].shape), *given, batched=False)
    return Peer("JAX: adam, jit", 1e-5, run, lambda: np.asarray(run()), gradient)


def in_torch(robot: Robot, frame: str, states: Mapping[str, np.ndarray]) -> Peer:
    """The controller on whole batches with adam."""
    import adam
    import torch
    from adam.pytorch import KinDynComputations

    torch.set_num_threads(1)
    K = _adam_in_world_axes(
        KinDynComputations,
        adam,
        robot,
        gravity=lambda g: torch.tensor(g, dtype=torch.float32),
        dtype=torch.float32,
        device=torch.device("cpu"),
    )
    q, v, target = (torch.tensor(states[n], dtype=torch.float32) for n in ("q", "v", "target"))
    H = torch.eye(4).expand(len(q), 4, 4)

    def run() -> Any:
        with torch.no_grad():
            return _torques(K, frame, H, q, v, target)

    inputs = [x.clone().requires_grad_() for x in (q, v, target)]

    def gradient() -> Any:
        tau = _torques(K, frame, H, *inputs)
        return torch.autograd.grad(tau, inputs, torch.ones_like(tau))

    return Peer("Torch: adam", 1e-5, run, lambda: run().numpy(), gradient)


def in_casadi(robot: Robot, frame: str, states: Mapping[str, np.ndarray]) -> Peer:
    """The controller as C that CasADi writes for one robot (-O3 -march=native), with `map`, in float64."""
    import adam
    import casadi
    from adam.casadi import KinDynComputations

    n, count = robot.model.nv, len(states["q"])
    K = _adam_in_world_axes(KinDynComputations, adam, robot, gravity=lambda g: g)
    q, v, target = (casadi.SX.sym(name, k) for name, k in (("q", n), ("v", n), ("target", 3)))
    H = casadi.SX.eye(4)
    J = K.jacobian_fun(frame)(H, q)[:3, 6:]
    error = target - K.forward_kinematics_fun(frame)(H, q)[:3, 3]
    tau = K.gravity_term_fun()(H, q)[6:] + J.T @ (STIFFNESS * error - DAMPING * (J @ v))
    text = casadi.Function("impedance", [q, v, target], [casadi.densify(tau)])
    with tempfile.TemporaryDirectory() as folder:
        generator = casadi.CodeGenerator("impedance.c")
        generator.add(text)
        source, built = generator.generate(f"{folder}/"), Path(folder, "impedance.so")
        _build(Path(source), built)
        many = casadi.external("impedance", str(built)).map(count)
    arrays = [np.ascontiguousarray(states[name], float) for name in ("q", "v", "target")]
    out = np.empty((count, n))
    buffer, run = many.buffer()
    for k, x in enumerate(arrays):
        buffer.set_arg(k, memoryview(x))
    buffer.set_res(0, memoryview(out))

    def answers(_alive: object = (many, buffer, arrays)) -> np.ndarray:
        run()  # which has the addresses only of what must stay alive
        return out

    return Peer("CasADi: adam, map of generated C, float64", 1e-9, run, answers)


def peers(
    robot: Robot, frame: str, states: Mapping[str, np.ndarray]
) -> Iterator[tuple[str, Peer | None]]:
    """Yield each peer with its name; None if its packages are not installed."""
    for name, make in (
        ("NumPy", in_numpy),
        ("JAX", in_jax),
        ("Torch", in_torch),
        ("CasADi", in_casadi),
    ):
        try:
            yield name, make(robot, frame, states)
        except ImportError:
            yield name, None


def _adam_in_world_axes(make: Any, adam: Any, robot: Robot, gravity: Any, **options: Any) -> Any:
    """adam's functions, with Jacobians in world axes."""
    from .peers.in_adam import GRAVITY, joints_of

    K = make(robot.bare, joints_of(robot), gravity=gravity(GRAVITY), **options)
    K.set_frame_velocity_representation(adam.Representations.MIXED_REPRESENTATION)
    return K


def _torques(K: Any, frame: str, H: Any, q: Any, v: Any, target: Any) -> Any:
    """The controller's torques for whole batches.

    With sums of products instead of `@`, JAX needs minutes to compile it.
    """
    J = K.jacobian(frame, H, q)[..., :3, 6:]
    error = target - K.forward_kinematics(frame, H, q)[..., :3, 3]
    force = STIFFNESS * error - DAMPING * (J @ v[..., None])[..., 0]
    return K.gravity_term(H, q)[..., 6:] + (J.mT @ force[..., None])[..., 0]


def _build(source: Path, library: Path) -> None:
    """Compile a shared library."""
    command = ["gcc", "-O3", "-march=native", "-fPIC", "-shared", "-o", library, source]
    subprocess.run(command, check=True)
