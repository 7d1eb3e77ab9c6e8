"""Trajectory optimisation with gradients: Adam finds torques that swing a double pendulum up.

Torch differentiates a rollout of 100 steps of `aba` and `integrate`. 32 random starts are optimised at once, one row
each. The motors are too weak to lift the rods slowly, so they have to swing them.
"""

from __future__ import annotations

import argparse
import time

import warpdyn as wd

try:
    import torch
except ImportError:
    raise SystemExit("this example needs PyTorch: pip install torch") from None

STEP, STEPS, STARTS = 0.03, 100, 32  # s
STRONGEST = 8.0  # N·m; holding both rods level takes 19.6 N·m


def rollout(model: wd.Model, torque: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Configurations and velocities (STEPS, STARTS, 2) under torques of that shape, from rest at the bottom."""
    q, v = torch.zeros(2, torque.shape[1], 2)
    path = []
    for tau in torque:
        v = v + STEP * wd.aba(model, q, v, tau)
        q = wd.integrate(model, q, STEP * v)
        path.append((q, v))
    states = tuple(torch.stack(x) for x in zip(*path, strict=True))
    return states[0], states[1]


def cost(model: wd.Model, torque: torch.Tensor) -> torch.Tensor:
    """(STARTS,): missing height and speed over the last half second, and a small weight on effort."""
    q, v = rollout(model, torque)
    count = round(0.5 / STEP)
    flat = q[-count:].reshape(-1, 2)
    height = wd.fk(model, flat, frames=["lower_rod", "tip"])[:, :, 2, 3]  # of elbow and tip [m]
    missing = ((height - height.new_tensor([1.0, 2.0])) ** 2).sum(1).reshape(count, -1).mean(0)
    return missing + 0.02 * (v[-count:] ** 2).sum(2).mean(0) + 1e-3 * (torque**2).sum(2).mean(0)


def optimise(iterations: int) -> tuple[wd.Model, torch.Tensor, list[torch.Tensor]]:
    """The best torques (STEPS, 1, 2), and the costs of all starts by iteration."""
    model = wd.load_robot("double_pendulum")
    free = 0.5 * torch.randn(STEPS, STARTS, 2)
    free.requires_grad_(True)
    search, history = torch.optim.Adam([free], lr=0.05), []
    for _ in range(iterations):
        each = cost(model, STRONGEST * torch.tanh(free))
        history.append(each.detach())
        search.zero_grad()
        each.sum().backward()  # a start's torques change its cost alone
        search.step()
    with torch.no_grad():
        torque = STRONGEST * torch.tanh(free)
        history.append(cost(model, torque))
    best = int(history[-1].argmin())
    return model, torque[:, best : best + 1], history


def draw(model: wd.Model, torque: torch.Tensor, history: list[torch.Tensor], file: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    q = rollout(model, torque)[0][:, 0]
    elbow, tip = wd.fk(model, q, frames=["lower_rod", "tip"])[:, :, :3, 3].unbind(1)
    figure, (motion, curve) = pyplot.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
    shades = pyplot.get_cmap("viridis")(torch.linspace(0, 1, STEPS).numpy())
    for k in range(0, STEPS, 3):
        x, z = [0, elbow[k, 0], tip[k, 0]], [0, elbow[k, 2], tip[k, 2]]
        motion.plot(x, z, color=shades[k], linewidth=1)
    motion.set(
        xlabel="x [m]", ylabel="z [m]", aspect="equal", title="From hanging (dark) to standing"
    )
    some = torch.stack(history)[:, :8].numpy()
    curve.semilogy(some, color="silver", linewidth=0.7)
    curve.semilogy(
        torch.stack(history).min(1).values.numpy(), label="the best; grey: some of the others"
    )
    curve.set(xlabel="iteration", ylabel="cost", title=f"{STARTS} starts")
    curve.legend()
    for each in (motion, curve):
        each.grid(alpha=0.3)
    figure.savefig(file, dpi=85)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--plot", help="file to draw the motion to (needs matplotlib)")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)  # batches this small gain nothing from more
    begin = time.perf_counter()
    model, torque, history = optimise(arguments.iterations)
    first, last = history[0], history[-1]
    print(f"best cost of {STARTS} starts: {first.min():.3f} before, {last.min():.4f} after")
    tip = wd.fk(model, rollout(model, torque)[0][-1], frame="tip")[0, 2, 3]
    print(f"its tip ends at {tip:.3f} m of 2 m, with torques up to {torque.abs().max():.2f} N·m")
    spent = time.perf_counter() - begin
    print(
        f"{arguments.iterations} iterations of {STARTS} x {STEPS} steps and their gradients: {spent:.1f} s"
    )
    if arguments.plot:
        draw(model, torque, history, arguments.plot)


if __name__ == "__main__":
    main()
