"""A gradient through a rollout in JAX: the push that makes a double pendulum swing its tip to a target.

The rollout is one `lax.scan` over `aba` and `integrate`. `jit`, `vmap` and `jacrev` transform it. Damped Gauss-Newton
steps (Levenberg 1944) improve 64 random pushes at once.
"""

from __future__ import annotations

import argparse

import warpdyn as wd

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    raise SystemExit("this example needs JAX: pip install jax") from None

STEP, STEPS = 0.02, 30  # s
TARGET = jnp.array([1.2, 0.0, 0.8])  # m: above the shoulder and to the side
# Weight of a step in the sum of squares [s²·m²], and the longest step [rad/s].
WEIGHT, GREATEST = 1e-3, 2.0

model = wd.load_robot("double_pendulum")


def tip(push: jax.Array) -> jax.Array:
    """Final position of the tip for these initial joint velocities."""

    def step(state: tuple[jax.Array, jax.Array], _: None) -> tuple[tuple, None]:
        q, v = state
        v = v + STEP * wd.aba(model, q, v, jnp.zeros_like(v))
        return (wd.integrate(model, q, STEP * v), v), None

    (q, _), _ = jax.lax.scan(step, (jnp.zeros(2), push), length=STEPS)
    return wd.fk(model, q, frame="tip")[:3, 3]


@jax.jit
@jax.vmap
def improve(push: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The next push, and the distance by which this one missed."""
    residual, J = tip(push) - TARGET, jax.jacrev(tip)(push)
    step = -jnp.linalg.solve(J.T @ J + WEIGHT * jnp.eye(2), J.T @ residual)
    short = jnp.minimum(1.0, GREATEST / jnp.linalg.norm(step))
    return push + short * step, jnp.linalg.norm(residual)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=20)
    arguments = parser.parse_args()
    push = jax.random.uniform(jax.random.key(0), (64, 2), minval=-6.0, maxval=6.0)
    for k in range(arguments.iterations + 1):
        moved, distance = improve(push)
        if k % 5 == 0 or k == arguments.iterations:
            hit = int((distance < 1e-3).sum())
            print(
                f"step {k:2d}: {hit:2d} of 64 hit, the best misses by {1000 * distance.min():.4f} mm"
            )
        best, push = push[distance.argmin()], moved
    print(f"the best push: {best.round(3)} rad/s")


if __name__ == "__main__":
    main()
