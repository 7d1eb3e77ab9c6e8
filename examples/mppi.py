"""Model predictive path integral control: with sampled rollouts, a cart swings its pole up and holds it.

At each step all samples roll out the model under noise around the plan. The plan becomes the mean of the samples,
weighted by exp(-cost / temperature). Williams, Aldrich, Theodorou, Model Predictive Path Integral Control, Journal of
Guidance, Control, and Dynamics 40 (2017), algorithm 2.
"""

from __future__ import annotations

import argparse

import numpy as np

import warpdyn as wd

STEP = 0.02  # s
HORIZON = 50
NOISE, TEMPERATURE, LIMIT = 6.0, 1.0, 10.0  # N, of cost, N


class Rollouts:
    """Rollouts of all samples at once, with a state for each."""

    def __init__(self, model: wd.Model, samples: int) -> None:
        # (samples, n) arrays with the same coordinate of all samples side by side: the fastest layout.
        self.q, self.v, self.tau, self.a = (
            np.zeros((model.nv, samples), np.float32).T for _ in range(4)
        )
        self.accelerate = wd.bind(wd.aba, model, self.q, self.v, self.tau, out=self.a)

    def cost(self, q: np.ndarray, v: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """Cost of each sample from the state (q, v) under forces (HORIZON, samples)."""
        self.q[:], self.v[:] = q, v
        total = np.zeros(forces.shape[1], np.float32)
        for force in forces:
            self.step(force)
            total += STEP * price(self.q, self.v)
        return total + price(self.q, self.v)

    def step(self, force: np.ndarray) -> None:
        self.tau[:, 0] = force
        self.accelerate()
        self.v += STEP * self.a
        self.q += STEP * self.v


def price(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Cost of a distance from the upright pole in the middle of the track."""
    x, angle = q.T
    return (
        20 * (1 - np.cos(angle)) + 2 * x**2 + 100 * np.maximum(abs(x) - 2, 0) + 0.1 * v[:, 0] ** 2
    ) + 0.1 * v[:, 1] ** 2


def control(samples: int, seconds: float) -> np.ndarray:
    """States (x, angle, price) at each step of the controlled cart."""
    model = wd.load_robot("cartpole")
    draw = np.random.default_rng(0)
    rollouts, plant = Rollouts(model, samples), Rollouts(model, 1)
    plant.q[0] = 0.0, np.pi  # the pole hangs
    plan, history = np.zeros(HORIZON, np.float32), []
    for _ in range(round(seconds / STEP)):
        noise = draw.normal(0, NOISE, (HORIZON, samples)).astype(np.float32)
        forces = np.clip(plan[:, None] + noise, -LIMIT, LIMIT)
        cost = rollouts.cost(plant.q[0], plant.v[0], forces)
        weights = np.exp(-(cost - cost.min()) / TEMPERATURE)
        plan = forces @ (weights / weights.sum())
        plant.step(plan[:1])
        history.append([*plant.q[0], *price(plant.q, plant.v)])
        plan = np.append(plan[1:], 0.0).astype(np.float32)
    return np.array(history)


def draw(history: np.ndarray, file: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, sharex=True, figsize=(6, 4), layout="constrained")
    time = STEP * np.arange(len(history))
    axes[0].plot(time, np.degrees(history[:, 1]), label="pole [°], upright at 0 and 360")
    axes[0].plot(time, 100 * history[:, 0], label="cart [cm]")
    axes[1].semilogy(time, history[:, 2], color="tab:red", label="cost")
    axes[0].set(title="A cart swings its pole up, by sampled rollouts")
    axes[1].set(xlabel="time [s]")
    for each in axes:
        each.legend()
        each.grid(alpha=0.3)
    figure.savefig(file, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--plot", help="file to draw the motion to (needs matplotlib)")
    arguments = parser.parse_args()
    history = control(arguments.samples, arguments.seconds)
    last = history[-max(1, len(history) // 5) :]
    print(f"{arguments.samples} samples of {HORIZON} steps, {len(history)} times")
    print(f"cost: {history[0, 2]:.1f} at first, {last[:, 2].mean():.3f} in the last fifth")
    away = np.degrees(np.arccos(np.cos(last[:, 1]).clip(-1, 1))).max()
    print(f"there the pole stands within {away:.1f}° of upright")
    if arguments.plot:
        draw(history, arguments.plot)


if __name__ == "__main__":
    main()
