"""Draw the viewer's pictures of docs/viewer.md: `python -m benchmarks.pictures [NAME ...]`.

Each picture is a scene of a few lines on one page in headless Chromium. The files are the same on every
machine up to the last bits of its graphics. Without names all pictures are drawn, which takes one or
two minutes with a graphics card or on an idle processor.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from PIL import Image

import warpdyn as wd
from warpdyn import rl
from warpdyn.viewer import Viewer
from warpdyn.viewer.browser import Browser
from warpdyn.viewer.pages import PageCamera
from warpdyn.viewer.viewer import GHOST

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
WIDTH, HEIGHT = 960, 600
FRONT = (1.0, -0.9, 0.45)


def frame(
    page: Viewer, towards: Any = FRONT, *, distance: float = 1.25, level: float | None = None
) -> None:
    """Set light, ground and camera for the contents of the page. `distance`: in multiples of their size."""
    boxes = [view.box(view.poses) for view in page.robots.values()]
    low, high = np.min([b[0] for b in boxes], 0), np.max([b[1] for b in boxes], 0)
    size = float(np.linalg.norm(high - low))
    page.stage.ground(float(low[2]) if level is None else level, size)
    page.stage.look(low, high)
    camera = page.stage.server.initial_camera
    camera.fov = np.radians(32.0)
    direction = np.asarray(towards) / np.linalg.norm(towards)
    camera.position = camera.look_at + 1.25 * distance * size * direction


def look_from(page: Viewer, position: Sequence[float], look_at: Sequence[float]) -> None:
    """Point the camera at one place [m] from another."""
    camera = page.stage.server.initial_camera
    camera.fov = np.radians(32.0)
    camera.position, camera.look_at = np.array(position), np.array(look_at)


def opening(page: Viewer) -> None:
    """A quadruped and an arm."""
    dog, arm = wd.load_robot("quadruped", floating_base=True), wd.load_robot("panda")
    view = page.add(dog, trot(dog, np.array([0.35]))[0], "quadruped")
    feet = float(view.box(view.poses)[0][2])
    page.add(arm, [0.5, -0.35, 0.0, -2.2, 0.0, 1.9, 0.8, 0.03], "arm", at=(-0.25, 0.72, feet))
    frame(page, (1.0, -0.75, 0.36), distance=1.15, level=feet)


def robots(page: Viewer) -> None:
    """Every robot of the package on the ground, large ones behind the others."""
    for name, (x, y) in PLACES.items():
        free = name in ("humanoid", "quadruped")
        model = wd.load_robot(name, floating_base=free)
        view = page.add(model, POSES.get(name), name)
        low = float(view.box(view.poses)[0][2])
        page.add(model, POSES.get(name), name, at=(x, y, -low if free or low < 0 else 0.0))
    page.stage.ground(0.0, 2.0)
    look_from(page, (1.6, -3.9, 1.35), (0.02, 0.2, 0.55))


def trajectory(page: Viewer) -> None:
    """Moments of a motion, the robot at its end, and the path of its hand."""
    arm = wd.load_robot("ur5e")
    start = np.array([-2.5, -1.5, 1.5, -1.57, -1.57, 0.0])
    end = np.array([0.2, -0.8, 1.0, -1.77, -1.57, 0.0])

    def at(share: Any) -> np.ndarray:
        eased = 3 * share**2 - 2 * share**3
        return np.asarray(start + np.atleast_1d(eased)[:, None] * (end - start))

    page.add(arm, end, "arm")
    for k, share in enumerate((0.0, 0.36, 0.6)):
        blue = {"color": GHOST, "opacity": 0.2 + 0.1 * k}
        page.add(arm, at(share)[0], f"at {share:.2f}", **blue)
    hand = np.asarray(wd.fk(arm, at(np.linspace(0.0, 1.0, 13)), form="pose"))
    way = hand[:, arm.link_index("tool0"), :3] - [0.0, 0.0, 0.04]
    page.arrows(way[:-1], np.diff(way, axis=0), "way")
    frame(page, (0.75, -0.85, 0.95), distance=0.9, level=0.0)


def ghost(page: Viewer) -> None:
    """An arm, its target pose, and the force on its hand."""
    arm = wd.load_robot("panda")
    q = np.array([0.1, -0.35, 0.0, -2.2, 0.0, 1.9, 0.8, 0.03])
    page.add(arm, q, "arm")
    page.ghost(arm, np.add(q, [0.55, 0.25, 0.0, 0.35, 0.0, 0.2, 0.0, 0.0]))
    hand = np.asarray(wd.fk(arm, q[None]))[0, arm.link_index("panda_hand"), :3, 3]
    page.arrows([hand], [[0.0, -18.0, 12.0]], "force", scale=0.015)
    frame(page, (1.0, -0.85, 0.35), distance=1.0, level=0.0)


def gravity(page: Viewer) -> None:
    """Torques that hold an arm, as colours and numbers."""
    arm = wd.load_robot("panda")
    page.add(arm, [0.35, 0.85, 0.0, -1.0, 0.0, 1.7, 0.8, 0.03], "arm")
    frame(page, (0.75, -1.0, 0.3), distance=0.95, level=0.0)
    page.over("gravity torques", name="arm")


def contacts(page: Viewer) -> None:
    """Spheres that touch the ground, their frames, and the contact forces."""
    dog = wd.load_robot("quadruped", floating_base=True)
    view = page.add(dog, None, "quadruped", opacity=0.4)
    page.over("contact points", name="quadruped")
    page.over("centres of mass", name="quadruped")
    feet = [view.poses[0, k, :3] for k, name in enumerate(dog.link_names) if name.endswith("_foot")]
    weight = sum(link.mass for link in dog.links) * 9.81
    page.arrows(
        feet,
        [[0.0, 0.0, weight / len(feet)]] * len(feet),
        "forces",
        scale=0.006,
        color=(20, 80, 235),
    )
    frame(page, (1.0, -0.9, 0.4), distance=1.1)


def many(page: Viewer) -> None:
    """4,096 environments: one array of poses for each link."""
    arm = wd.load_robot("panda")
    q = np.asarray(wd.random_configuration(arm, 4096, seed=0))
    page.add(arm, q, "arms", spacing=1.3)
    page.stage.ground(0.0, 32.0)
    look_from(page, (45.5, -8.0, 5.0), (34.0, 3.0, -0.5))


def walking(page: Viewer) -> None:
    """The policy of the package with a command of 1 m/s ahead, every 0.7 s."""
    task, rows = walk((1.0, 0.0, 0.0), 4 * 35 + 50, along_x=True)
    for k, opacity in zip(range(50 + 34, len(rows), 35), (0.3, 0.45, 0.65, 1.0), strict=True):
        page.add(task.model, rows[k], f"moment {k}", opacity=opacity)
    frame(page, (0.6, -1.0, 0.4), distance=0.95, level=0.0)


def lifting(page: Viewer) -> None:
    """The policy of the package lifts a cube from the table."""
    task, policy = rl.make("panda_lift"), rl.Policy(rl.bundled_policy("panda_lift"))
    env = rl.VecEnv(task, 1, seed=3)
    env.reset()
    rows = []
    for _ in range(90):
        rows.append(env.carried["q"][0].double().numpy().copy())
        env.step(torch.from_numpy(policy(env.observations["policy"])))
    for k, opacity in ((0, 0.2), (89, 1.0)):
        page.add(task.model, rows[k], f"moment {k}", opacity=opacity)
    page.stage.ground(0.0, 2.0)
    look_from(page, (1.6, -1.0, 0.75), (0.3, 0.0, 0.3))


def reorienting(page: Viewer) -> None:
    """A hand that turns a cube with six colours towards a transparent goal: at the start, halfway and at the goal."""
    task, policy = rl.make("hand_reorient"), rl.Policy(rl.bundled_policy("hand_reorient"))
    env = rl.VecEnv(task, 64, seed=6)
    env.reset()
    rows, goals, errors, counts = [], [], [], []
    for _ in range(400):
        for kept, name in ((rows, "q"), (goals, "goal"), (errors, "error"), (counts, "count")):
            kept.append(env.carried[name].double().numpy().copy())
        env.step(torch.from_numpy(policy(env.observations["policy"])))
    told = np.array(errors)
    # Of the robots that reach their first goal, the one with the largest turn.
    ends = (np.array(counts) > 0).argmax(0)
    which = int(np.where(ends > 0, told[0], 0.0).argmax())
    last = int(ends[which]) - 1
    half = int(np.abs(told[:last, which] - 0.5 * told[0, which]).argmin())
    cube = die()
    for moment, x in ((0, -0.25), (half, 0.0), (last, 0.25)):
        q = rows[moment][which]
        page.add(task.model, q, f"hand {moment}", at=(x, 0.0, -0.4))
        page.add(cube, q[16:], f"cube {moment}", at=(x, 0.0, -0.4))
        above = task.centre + np.array([0.0, 0.0, 0.14])
        goal = np.concatenate([above, goals[moment][which]])
        page.add(cube, goal, f"goal {moment}", opacity=0.5, at=(x, 0.0, -0.4))
    page.stage.ground(0.0, 0.5)
    look_from(page, (0.3, -0.8, 0.45), (0.0, 0.0, 0.17))


def die() -> wd.Model:
    """A free cube whose faces have six colours."""
    colors = ("e6550d", "3182bd", "31a354", "fdd835", "756bb1", "f5f5f5")
    plates = []
    for k, color in enumerate(colors):
        axis, side = k // 2, 1 - 2 * (k % 2)
        size, place = [0.064] * 3, [0.0, 0.0, 0.0]
        size[axis], place[axis] = 0.001, side * 0.0325
        shade = tuple(int(color[i : i + 2], 16) / 255 for i in (0, 2, 4))
        pose = wd.description.Pose(tuple(place))
        plates.append(wd.description.Geometry("box", tuple(size), pose=pose, color=(*shade, 1.0)))
    builder = wd.ModelBuilder("die").add_link("world").add_link("die", 0.1, visuals=plates)
    return builder.add_joint("free", "floating", "world", "die").build()


def example(name: str) -> Any:
    """An example as a module."""
    path = FOLDER.parents[1] / "examples" / f"{name}.py"
    return SimpleNamespace(**runpy.run_path(str(path)))


def grasp(page: Viewer) -> None:
    """A hand that holds a cube of 0.4 kg: its contacts, and the forces of its fingers on the cube."""
    sim = example("grasp_and_lift").simulate(3.0)[0]
    page.add(sim.model, sim.q[-1], "panda", opacity=0.6)
    page.contacts(sim, [len(sim.q) - 1], robot="panda", scale=0.004)
    page.stage.ground(0.0, 1.0)
    look_from(page, (1.0, -0.5, 0.42), (0.47, 0.0, 0.29))


def push(page: Viewer) -> None:
    """An arm pushes a cube to a goal: before and after."""
    told = example("push_to_a_goal")
    scene, rows, _ = told.simulate(4.0)
    for k, opacity in zip((0, -1), (0.4, 1.0), strict=True):
        page.add(scene, rows[k, 2], f"moment {k}", opacity=opacity)
    page.stage.ground(0.0, 1.0)
    look_from(page, (1.5, -1.15, 0.75), (0.3, -0.02, 0.33))


def stack(page: Viewer) -> None:
    """A pyramid of boxes before, during and after the impact of a ball at 4 m/s."""
    told = example("stack")
    scene, rows, *_ = told.simulate(1.0)
    for k, (moment, x) in enumerate(((105, -0.75), (113, 0.0), (122, 0.75))):
        page.add(scene, rows[moment, 3], f"moment {k}", at=(x, 0.0, 0.0))
    page.stage.ground(0.0, 1.0)
    look_from(page, (0.4, -1.9, 0.75), (0.05, 0.1, 0.14))


def hand(page: Viewer) -> None:
    """A hand that closes around a ball, and the same hand turned over."""
    told = example("hand_holds_a_ball")
    scene, rows, *_ = told.simulate(6.0)
    for k, (moment, x) in enumerate(((0, -0.25), (99, 0.0), (199, 0.25), (-1, 0.5))):
        page.add(scene, rows[moment, -1], f"moment {k}", at=(x, 0.0, -0.15))
    page.stage.ground(0.0, 0.5)
    look_from(page, (0.45, -1.0, 0.4), (0.13, 0.0, 0.15))


def four_bar(page: Viewer) -> None:
    """A four-bar linkage at four angles of its crank."""
    told = example("four_bar")
    for k, opacity in zip((1, 2, 3, 4), (0.3, 0.4, 0.55, 1.0), strict=True):
        page.add(told.model, told.q[k], f"moment {k}", opacity=opacity)
    frame(page, (0.2, -1.0, 0.2), distance=0.9)


def walk(
    wanted: Sequence[float], steps: int, *, along_x: bool = False
) -> tuple[rl.Task, np.ndarray]:
    """The quadruped task, and configurations (steps, nq) under the policy of the package with these commands.

    along_x: the robot faces along x at first.
    """
    task, policy = rl.make("quadruped_velocity"), rl.Policy(rl.bundled_policy("quadruped_velocity"))
    env, told = rl.VecEnv(task, 1, seed=2), torch.tensor([wanted])
    env.reset()
    if along_x:
        env.carried["q"][:, 5:7] = torch.tensor([0.0, 1.0])
    rows = []
    for _ in range(steps):
        env.carried["wanted"].copy_(told)
        env.step(torch.from_numpy(policy(env.observations["policy"])))
        rows.append(env.carried["q"][0].double().numpy().copy())
    return task, np.array(rows)


def trot(dog: wd.Model, phases: np.ndarray) -> np.ndarray:
    """Configurations (n, nq) of a trot. Phase 1 is a cycle; diagonal legs swing together."""
    home = np.array(dog.configurations["home"])
    rows = np.tile(home, (len(phases), 1))
    for leg, shift in (("FL", 0.0), ("RR", 0.0), ("FR", 0.5), ("RL", 0.5)):
        turn = 2 * np.pi * (phases + shift)
        lift = np.maximum(np.sin(turn), 0.0)
        rows[:, dog.coordinates[f"{leg}_thigh_joint"].q.start] += 0.3 * np.cos(turn) + 0.35 * lift
        rows[:, dog.coordinates[f"{leg}_calf_joint"].q.start] -= 0.6 * lift
    return rows


PLACES: dict[str, tuple[float, float]] = {
    "double_pendulum": (-0.9, 1.3),
    "cartpole": (0.9, 1.9),
    "ur5e": (-1.25, -0.1),
    "humanoid": (0.45, 0.2),
    "panda": (-0.4, -0.1),
    "quadruped": (1.2, -0.35),
}
"""Where robots stand that are shown together [m]."""

POSES: dict[str, list[float]] = {
    "double_pendulum": [0.6, 0.5],
    "cartpole": [0.0, 0.25],
    "panda": [0.3, -0.4, 0.0, -2.2, 0.0, 1.9, 0.8, 0.03],
    "ur5e": [-0.3, -1.9, 1.9, -1.57, -1.57, 0.0],
}
"""Where robots stand that are not drawn in `home`."""

SCENES: dict[str, Callable[[Viewer], None]] = {
    "robots": opening,
    "viewer_robots": robots,
    "viewer_trajectory": trajectory,
    "viewer_ghost": ghost,
    "viewer_gravity": gravity,
    "viewer_contacts": contacts,
    "viewer_4096": many,
    "viewer_walking": walking,
    "viewer_lifting": lifting,
    "viewer_reorient": reorienting,
    "scene_grasp": grasp,
    "scene_push": push,
    "scene_stack": stack,
    "scene_hand": hand,
    "scene_four_bar": four_bar,
}
"""Scenes by the names of their files."""


def write_png(pixels: np.ndarray, path: Path) -> None:
    """Write a PNG with 256 colours, which include white and the colours of small objects."""
    image = Image.fromarray(pixels)
    palette = image.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=2)
    colors = np.array(palette.getpalette()).reshape(-1, 3)
    colors[colors.min(axis=1).argmax()] = 255
    palette.putpalette(colors.ravel().tolist())
    image.quantize(palette=palette).save(path, optimize=True)


def main(names: list[str]) -> None:
    unknown = set(names) - set(SCENES)
    if unknown:
        sys.exit(
            f"no picture is called {', '.join(sorted(unknown))}; there are {', '.join(SCENES)}"
        )
    page = Viewer(port=0)
    try:
        with Browser() as browser:
            for name in names or SCENES:
                page.clear()
                SCENES[name](page)
                # Each scene needs a new tab: the ground fades from the first camera position of a tab.
                camera = PageCamera(page.stage, browser, WIDTH, HEIGHT)
                path = FOLDER / f"{name}.png"
                write_png(camera.picture(), path)
                camera.close()
                print(f"{path}: {path.stat().st_size / 1000:.0f} kB", flush=True)
    finally:
        page.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
