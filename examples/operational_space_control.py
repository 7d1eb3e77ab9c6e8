"""Operational space control: an arm's hand follows a circle as if it were a point mass on springs.

The controller cancels the hand's dynamics and commands an acceleration: force = Λ a + bias, tau = Jᵀ force, with
a = a_d + K (x_d - x) + D (v_d - v). In the null space, (1 - Jᵀ J̄ᵀ), it damps the joints. Khatib, A Unified
Approach for Motion and Force Control of Robot Manipulators, IEEE J. Robotics and Automation RA-3 (1987).
"""

from __future__ import annotations

import argparse

import numpy as np

import warpdyn as wd

HAND = "panda_hand_tcp"
STEP = 1e-3  # s
RADIUS, PERIOD = 0.12, 2.0  # m, s
STIFFNESS, DAMPING = 400.0, 40.0  # 1/s², 1/s: critically damped
FREE_DAMPING, TURN_BACK = 2.0, 4.0  # N·m·s, N·m: of the joints, in the null space


def circle(t: float, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position, velocity and acceleration on an upright circle."""
    w = 2 * np.pi / PERIOD
    c, s = np.cos(w * t), np.sin(w * t)
    position = centre + RADIUS * np.array([0.0, s, 1 - c])
    return position, RADIUS * w * np.array([0.0, c, s]), RADIUS * w**2 * np.array([0.0, -s, c])


def follow(seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Desired and actual positions of the hand: (steps, 3) each."""
    model = wd.load_robot("panda")
    rest = np.array([0.0, -0.4, 0.0, -2.2, 0.0, 1.9, 0.8, 0.02])
    q, (v, tau, a) = rest.copy(), np.zeros((3, model.nv))
    T, J = np.zeros((4, 4)), np.zeros((6, model.nv))
    inertia, bias, inverse = np.zeros((3, 3)), np.zeros(3), np.zeros((model.nv, 3))
    place = wd.bind(wd.pose_and_jacobian, model, q, frame=HAND, out=(T, J))
    task = wd.bind(
        wd.operational_space, model, q, v, frame=HAND, part="linear", out=(inertia, bias, inverse)
    )
    accelerate = wd.bind(wd.aba, model, q, v, tau, out=a)  # in place of a real arm

    place()
    centre, asked, reached = T[:3, 3].copy(), [], []
    for step in range(round(seconds / STEP)):
        place()
        task()
        x_d, v_d, a_d = circle(step * STEP, centre)
        x, jacobian = T[:3, 3], J[:3]
        asked.append(x_d)
        reached.append(x.copy())
        wanted = a_d + STIFFNESS * (x_d - x) + DAMPING * (v_d - jacobian @ v)
        force = inertia @ wanted + bias
        free = TURN_BACK * (rest - q) - FREE_DAMPING * v
        tau[:] = jacobian.T @ (force - inverse.T @ free) + free
        accelerate()
        v += STEP * a
        q += STEP * v
    return np.array(asked), np.array(reached)


def draw(asked: np.ndarray, reached: np.ndarray, file: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (path, error) = pyplot.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
    path.plot(*asked[:, 1:].T, color="grey", linewidth=4, alpha=0.5, label="asked")
    path.plot(*reached[:, 1:].T, label="hand")
    path.set(xlabel="y [m]", ylabel="z [m]", aspect="equal", title="The hand's path")
    path.legend()
    distance = 1000 * np.linalg.norm(asked - reached, axis=1)
    error.semilogy(STEP * np.arange(len(distance)), distance.clip(1e-3))
    error.set(xlabel="time [s]", ylabel="distance [mm]", title="Its error")
    for each in (path, error):
        each.grid(alpha=0.3)
    figure.savefig(file, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2 * PERIOD)
    parser.add_argument("--plot", help="file to draw the path to (needs matplotlib)")
    arguments = parser.parse_args()
    asked, reached = follow(arguments.seconds)
    distance = np.linalg.norm(asked - reached, axis=1)
    half = distance[len(distance) // 2 :]
    print(
        f"a circle of {200 * RADIUS:.0f} cm across, {arguments.seconds:.1f} s at {1 / STEP:.0f} Hz"
    )
    print(f"largest error {1000 * distance.max():.1f} mm, at the start from rest")
    print(f"RMS error of the second half {1000 * np.sqrt(np.mean(half**2)):.3f} mm")
    if arguments.plot:
        draw(asked, reached, arguments.plot)


if __name__ == "__main__":
    main()
