"""Robots that move on the site, as recordings that one shared client plays: `python -m docs_site.recordings FOLDER`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import viser

import warpdyn as wd
from warpdyn import rl
from warpdyn.viewer import Viewer

CLIENT = Path(viser.__file__).parent / "client" / "build" / "index.html"
"""viser's page, 0.8 MB, which plays a recording that its address names."""

RATE = 25.0
"""Pictures of a second."""


def write_all(folder: Path) -> None:
    """The client and every recording."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(CLIENT, folder / "index.html")
    page = Viewer(port=0)
    try:
        for name, motion in MOTIONS.items():
            page.clear()
            model, q, seconds = motion()
            page.trajectory(model, q, np.linspace(0.0, seconds, len(q)))
            look(page, model, q)
            page.record(folder / f"{name}.viser", rate=RATE)
    finally:
        page.stop()


def look(page: Viewer, model: wd.Model, q: np.ndarray) -> None:
    """Light, ground and camera for all of a motion."""
    places = wd.fk(model, q.reshape(-1, model.nq))[..., :3, 3].reshape(-1, 3)
    low, high = places.min(0) - 0.1, places.max(0) + 0.1
    page.stage.ground(min(float(low[2]) + 0.08, 0.0), float(np.linalg.norm(high - low)))
    page.stage.look(low, high)


def quadruped() -> tuple[wd.Model, np.ndarray, float]:
    """The policy that comes with warpdyn walks in a circle."""
    task, policy = rl.make("quadruped_velocity"), rl.Policy(rl.shipped("quadruped_velocity"))
    env, circle = rl.VecEnv(task, 1, seed=2), torch.tensor([[0.6, 0.0, 0.8]])
    env.reset()
    rows = []
    for _ in range(400):
        env.carried["wanted"].copy_(circle)
        env.step(torch.from_numpy(policy(env.observations["policy"])))
        rows.append(env.carried["q"][0].double().numpy().copy())
    return task.model, np.array(rows), 400 * task.dt * task.substeps


def fall() -> tuple[wd.Model, np.ndarray, float]:
    """Nine quadrupeds are dropped, each from another height, and land on their feet."""
    model, side = wd.load_robot("quadruped"), 3
    start = np.tile(model.configurations["home"], (side * side, 1))
    across = 0.8 * (np.arange(side * side) % side)
    along = 0.8 * (np.arange(side * side) // side)
    start[:, 0], start[:, 1] = across, along
    start[:, 2] += np.linspace(0.05, 0.45, side * side)
    feet = wd.ContactPoints(model).only("*_foot")
    sim = wd.Simulation(model, len(start), points=feet, control=wd.PD(60.0, 2.0), start=start)
    rows = [sim.q.copy()]
    for _ in range(75):
        sim.step()
        rows.append(sim.q.copy())
    return model, np.array(rows, float), 75 * 0.02


def reach() -> tuple[wd.Model, np.ndarray, float]:
    """An arm's tool goes round a circle by inverse kinematics."""
    model = wd.load_robot("ur5e")
    turn = np.linspace(0.0, 2 * np.pi, 121)
    T = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (len(turn), 1, 1))
    T[:, :3, 3] = np.stack(
        [0.5 + 0.15 * np.cos(turn), 0.2 * np.sin(turn), 0.35 + 0.1 * np.sin(2 * turn)], axis=1
    )
    q = wd.inverse_kinematics(model, {"tool0": T[:1]}).q
    rows = []
    for each in T:
        q = wd.inverse_kinematics(model, {"tool0": each[None]}, q0=q, restarts=0).q
        rows.append(q[0])
    return model, np.array(rows), 6.0


MOTIONS: dict[str, Callable[[], tuple[wd.Model, np.ndarray, float]]] = {
    "quadruped": quadruped,
    "fall": fall,
    "reach": reach,
}
"""Motions by the names of their recordings: the model, configurations, and how long it takes [s]."""


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
