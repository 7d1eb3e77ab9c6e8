"""`warpdyn play`: shows a policy in the browser or as an animation of its robots."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...functions.pictures.robot_picture import RobotPicture
from ..command_line import UserError, check_file, check_picture, user_errors, write_file
from ..console import say
from ..shared_options import Commands, add_command, add_page
from .policy_options import add_envs, add_policy, add_seconds, add_seed, add_task
from .task_from_options import add_quadruped, bar, report_task_errors, task_and_policy

if TYPE_CHECKING:
    from ...rl import Policy, Task

SECONDS = 10.0
FRAMES = 25
"""Frames per second of the animation."""

MOMENTS = 5
"""Number of moments in a still picture."""

COMMANDED = ("forward [m/s]", "aside [m/s]", "turn [rad/s]")
PLACES = [0, 1, 5]
"""Indices in v of the commanded speeds."""

LINES = ("tab:blue", "tab:orange", "tab:green")


@dataclass(frozen=True)
class PlayedMotion:
    """Recording of the robots: q (steps, envs, nq), their places in the terrain, and the curves
    below them.

    shown: by name, the measured values (steps, envs) and, if there is a command, the commanded
    values.
    """

    step: float
    q: np.ndarray
    origins: np.ndarray
    """(steps, envs, 3) [m]."""
    shown: dict[str, tuple[np.ndarray, np.ndarray | None]]
    fallen: int
    """Number of episodes that ended before their time."""


def add_parser(commands: Commands) -> None:
    """Add `warpdyn play`."""
    text = "show a policy at work, in the browser (extra [viewer]) or as a moving picture"
    sub = add_command(commands, "play", text, own_help=True)
    add_task(sub)
    add_policy(sub)
    add_envs(sub, 4, "--robots")
    add_seconds(sub, "length [s]; default: 10 for a picture, until Ctrl-C in the browser")
    add_seed(sub)
    add_quadruped(sub)
    text = (
        "write the moving picture (.gif); default: the browser; without the extra [viewer] the "
        "screen, or TASK.gif without one"
    )
    sub.add_argument("--gif", type=Path, metavar="FILE", help=text)
    text = "write some moments side by side (.png, .svg, .pdf)"
    sub.add_argument("--png", type=Path, metavar="FILE", help=text)
    add_page(sub)
    sub.set_defaults(run=play)


def play(args: argparse.Namespace) -> int:
    """Show a page in the browser if the viewer is installed and no file is requested; otherwise
    roll out, and show the picture on the screen or write it to a file."""
    # Mistakes of the command line come before the policy is read.
    check_picture(args.png or Path("play.png"))
    rl, task, policy = task_and_policy(args)
    from ...rl.deployment.deployment_record import say_other_programs

    say_other_programs(policy.path, policy.deployment, task)
    moving = args.gif
    if moving is None and args.png is None and find_spec("viser") and find_spec("trimesh"):
        return _on_page(args, rl, task, policy)
    if moving is None and args.png is None and not on_screen():
        from ...rl.tasks.task_files import short_name

        moving = Path(f"{short_name(args.task)}.gif")
    if moving is not None:
        if moving.suffix.lower() != ".gif":
            raise UserError(f"cannot write {moving}: the ending of a moving picture is .gif")
        check_file(moving)
    seconds = SECONDS if args.seconds is None else args.seconds
    env = report_task_errors(lambda: rl.VecEnv(task, args.envs, seed=args.seed))
    played = report_task_errors(lambda: roll_out(env, policy, seconds))
    ends = f"; {played.fallen} episodes ended before their time" if played.fallen else ""
    say(f"{task.name}: {args.envs} times {task.model.name} for {seconds:g} s{ends}")
    if args.png is not None:
        write_file(args.png, lambda path: still(task, played).savefig(path, dpi=90))
        print(f"picture: {args.png}")
    if moving is not None:
        write_file(moving, lambda path: write_moving(task, played, path))
        print(f"moving picture: {moving}")
    elif args.png is None:
        show(task, played)
    return 0


def _on_page(args: argparse.Namespace, rl: Any, task: Task, policy: Policy) -> int:
    with user_errors(ImportError):
        from ...viewer import ViewerError
        from .play_on_page import play_on_page
    env = report_task_errors(lambda: rl.VecEnv(task, args.envs, seed=args.seed))
    with user_errors(ViewerError):
        report_task_errors(
            lambda: play_on_page(env, policy, args.seconds, host=args.host, port=args.port)
        )
    return 0


def on_screen() -> bool:
    """True if there is a display to draw on."""
    there = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    return there or sys.platform in ("darwin", "win32")


def roll_out(env: Any, policy: Policy, seconds: float) -> PlayedMotion:
    """Roll out the policy in these environments, without exploration."""
    task, kernels = env.task, env.kernels
    group = kernels.observation.policy
    policy.check(task, kernels.observations[group][0])
    env.reset(seed=kernels.seed)  # each picture of a training begins alike
    steps = max(1, round(seconds / task.step_seconds))
    qs, origins, earned, asked, reached = [], [], [], [], []
    fallen = 0
    follows = task.model.floating_base and kernels.carried.get("command") == (3,)
    for _ in bar(range(steps), task.name):
        # Arrays are copied, because the next step writes them in place.
        state = env.carried
        qs.append(state["q"].numpy().copy())
        nowhere = np.zeros((env.num_envs, 3))
        origins.append(state["origin"].numpy().copy() if "origin" in state else nowhere)
        if follows:
            asked.append(state["command"].numpy().copy())
            reached.append(state["v"].numpy()[:, PLACES])
        _, reward, fell, _, _ = env.step(policy(env.observations[group].numpy()))
        earned.append(reward.numpy() / task.step_seconds)
        fallen += int(fell.sum())
    shown: dict[str, tuple[np.ndarray, np.ndarray | None]] = {
        "reward per second": (np.array(earned), None)
    }
    if follows:
        pairs = zip(COMMANDED, np.array(reached).T, np.array(asked).T, strict=True)
        shown = {name: (v.T, wanted.T) for name, v, wanted in pairs}
    return PlayedMotion(task.step_seconds, np.array(qs), np.array(origins), shown, fallen)


def still(task: Task, played: PlayedMotion) -> Any:
    """A figure of some moments, one robot below the other, with the measured curves on the
    right."""
    from matplotlib.figure import Figure

    from ...rl.pictures.robot_stage import Stage

    steps, envs = played.q.shape[:2]
    figure = Figure(figsize=(2.2 * MOMENTS + 4.0, 2.3 * envs + 0.5), layout="constrained")
    panels = figure.subplots(envs, MOMENTS + 1, squeeze=False, width_ratios=[*[1.0] * MOMENTS, 1.8])
    drawn = RobotPicture(task.model)
    moments = np.linspace(0, steps - 1, MOMENTS).astype(int)
    poses = drawn.poses(played.q[moments])
    for env, row in enumerate(panels):
        for moment, k in enumerate(moments):
            stage = Stage(task, drawn, row[moment], poses[0, env])
            stage.show(poses[moment, env], played.origins[k, env])
            if env == 0:
                row[moment].set_title(f"{k * played.step:.1f} s", fontsize="small")
        _draw_measurements(row[-1], played, env, legend=env == 0)
    panels[-1, -1].set_xlabel("time [s]", fontsize="small")
    figure.suptitle(f"{task.name}, {task.model.name}", fontsize="medium")
    return figure


def moving_figure(task: Task, played: PlayedMotion, figure: Any) -> tuple[Any, Any]:
    """The robots next to each other with the measured curves below, and a function that draws a
    step."""
    from ...rl.pictures.robot_stage import Stage

    envs = played.q.shape[1]
    columns = min(envs, 4)
    rows = -(-envs // columns)
    figure.set_size_inches(3.0 * columns, 4.2 * rows)
    heights = [2.2, 1.0] * rows
    panels = figure.subplots(2 * rows, columns, squeeze=False, height_ratios=heights)
    drawn = RobotPicture(task.model)
    poses = drawn.poses(played.q)
    stages, marks = [], []
    for env in range(rows * columns):
        above = panels[2 * (env // columns), env % columns]
        below = panels[2 * (env // columns) + 1, env % columns]
        # Panels of an incomplete last row stay empty.
        if env >= envs:
            above.axis("off")
            below.axis("off")
            continue
        stages.append(Stage(task, drawn, above, poses[0, env]))
        _draw_measurements(below, played, env, legend=env == 0)
        marks.append(below.axvline(0.0, color="#333333", lw=0.8))

    def draw(k: int) -> list[Any]:
        for env, (stage, mark) in enumerate(zip(stages, marks, strict=True)):
            stage.show(poses[k, env], played.origins[k, env])
            mark.set_xdata([k * played.step] * 2)
        return []

    return draw, _drawn_steps(played)


def _drawn_steps(played: PlayedMotion) -> range:
    """Steps that are drawn, so that the animation has the robots' speed."""
    return range(0, len(played.q), max(1, round(1.0 / FRAMES / played.step)))


def _draw_measurements(panel: Any, played: PlayedMotion, env: int, legend: bool) -> None:
    """Draw the measured values, and the commanded values dashed."""
    time = played.step * np.arange(len(played.q))
    for (name, (found, asked)), colour in zip(played.shown.items(), LINES, strict=False):
        panel.plot(time, found[:, env], color=colour, lw=1.0, label=name)
        if asked is not None:
            panel.plot(time, asked[:, env], color=colour, lw=1.0, ls="--")
    panel.grid(alpha=0.3)
    panel.margins(x=0.0)
    panel.tick_params(labelsize="x-small")
    if legend:
        panel.legend(fontsize="xx-small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)


def write_moving(task: Task, played: PlayedMotion, path: Path) -> None:
    """Write a GIF with the robots' speed."""
    from matplotlib.animation import PillowWriter
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    draw, steps = moving_figure(task, played, figure)
    writer = PillowWriter(fps=round(1.0 / played.step / steps.step))
    with writer.saving(figure, str(path), dpi=64):
        for k in bar(steps, "picture"):
            draw(k)
            writer.grab_frame()


def show(task: Task, played: PlayedMotion) -> None:
    """Show the animation on the screen until its window is closed."""
    from matplotlib import pyplot
    from matplotlib.animation import FuncAnimation

    figure = pyplot.figure(layout="constrained")
    draw, steps = moving_figure(task, played, figure)
    interval = 1e3 * played.step * steps.step
    moving = FuncAnimation(figure, draw, frames=steps, interval=interval)
    pyplot.show()
    del moving  # must live until the window is closed
