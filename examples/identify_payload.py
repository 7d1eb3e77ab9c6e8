"""Mass, centre of mass and inertia of a payload in the hand, identified from noisy joint torques.

The payload is a link on the hand, and its ten inertial numbers are parameters. Gauss-Newton iterations fit them to all
samples at once: `rnea` gives the residuals, and `derivatives` their Jacobian.
"""

from __future__ import annotations

import argparse

import numpy as np

import warpdyn as wd

ROBOT, HAND = "panda", "panda_hand"
TRUE = {  # a box of 2 kg that is not held at its centre
    "mass": np.array(2.0),
    "com": np.array([0.02, -0.03, 0.08]),
    "inertia": np.array([0.019, 0.001, -0.002, 0.022, 0.0015, 0.011]),
}
GUESS = {
    "mass": np.array(0.5),
    "com": np.array([0.0, 0.0, 0.05]),
    "inertia": np.array([0.005, 0.0, 0.0, 0.005, 0.0, 0.005]),
}
NAMES = [f"params:{quantity}" for quantity in TRUE]


def measure(model: wd.Model, samples: int, noise: float) -> tuple[list[np.ndarray], np.ndarray]:
    """Random motions (q, v, a) and their joint torques, with noise of this standard deviation [N·m, N]."""
    draw = np.random.default_rng(0)
    q = wd.random_configuration(model, samples, seed=1)
    motion = [
        q,
        draw.uniform(-2, 2, (samples, model.nv)),
        draw.uniform(-12, 12, (samples, model.nv)),
    ]
    tau = wd.rnea(model, *motion, params=holding(model, TRUE))
    return motion, tau + draw.normal(0, noise, tau.shape)


def holding(model: wd.Model, payload: dict[str, np.ndarray]) -> wd.Params:
    """Parameters of a payload, the same for all samples."""
    return model.params(**{quantity: {"payload": value} for quantity, value in payload.items()})


def errors(payload: dict[str, np.ndarray]) -> list[float]:
    """Relative errors of mass, centre of mass and inertia."""
    return [float(np.linalg.norm(payload[k] - TRUE[k]) / np.linalg.norm(TRUE[k])) for k in TRUE]


def identify(
    model: wd.Model, motion: list[np.ndarray], tau: np.ndarray, steps: int = 6
) -> list[dict[str, np.ndarray]]:
    """Estimated payload after each iteration, starting with the initial guess."""
    payload, found = GUESS, [GUESS]
    for _ in range(steps):
        params = holding(model, payload)
        residual = tau - wd.rnea(model, *motion, params=params)
        blocks = wd.derivatives(
            wd.rnea, model, *motion, wrt=NAMES, params=params
        )  # (samples, nv, width) each
        J = np.concatenate(blocks, axis=-1).reshape(residual.size, -1)
        step = np.linalg.lstsq(J, residual.ravel(), rcond=None)[0]
        pieces = np.split(step, np.cumsum([x.size for x in payload.values()])[:-1])
        payload = {
            k: x + piece.reshape(x.shape)
            for (k, x), piece in zip(payload.items(), pieces, strict=True)
        }
        found.append(payload)
    return found


def draw(history: list[list[float]], file: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.6), layout="constrained")
    for name, curve in zip(("mass", "centre of mass", "inertia"), np.array(history).T, strict=True):
        axes.semilogy(100 * curve, "o-", label=name)
    axes.axhline(1.0, color="grey", linewidth=0.8, linestyle="--")
    axes.set(
        xlabel="Gauss-Newton iteration", ylabel="error [%]", title="A payload from joint torques"
    )
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(file, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument(
        "--noise", type=float, default=0.05, help="standard deviation of the torques [N·m]"
    )
    parser.add_argument("--picture", help="file to draw the convergence to (needs matplotlib)")
    arguments = parser.parse_args()
    model = wd.load_robot(ROBOT).with_frame("payload", HAND, (0.0, 0.0, 0.1))
    motion, tau = measure(model, arguments.samples, arguments.noise)
    found = identify(model, motion, tau)
    print("iteration   mass [%]  com [%]  inertia [%]")
    for k, payload in enumerate(found):
        print(f"{k:9d}", *(f"{100 * x:9.3f}" for x in errors(payload)))
    print(
        "mass",
        found[-1]["mass"].round(4),
        "com",
        found[-1]["com"].round(4),
        "inertia",
        found[-1]["inertia"].round(5),
    )
    if arguments.picture:
        draw([errors(payload) for payload in found], arguments.picture)


if __name__ == "__main__":
    main()
