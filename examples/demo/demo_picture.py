"""The demo's picture: the robot at some moments of its fall and while it is held, and a plot of each
joint with its own scale."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from warpdyn import Model
from warpdyn.functions.pictures.robot_picture import RobotPicture, Sight, Silhouette

MOMENTS = 5
"""Number of drawings of the falling robot."""

MOST_JOINTS = 12
"""Largest number of joints with curves; with more joints, those that move most."""

FALLING, HELD = "#d63c32", "#1f6fd6"
"""Colours of the robot and of its curves."""

PALEST = 0.16
"""Share of the full colour at the first moment."""

TURN = 360.0


@dataclass(frozen=True)
class Trajectories:
    """Joint positions over time: `falling` and `held`, both (steps, nq); `time` [s]."""

    time: np.ndarray
    falling: np.ndarray
    held: np.ndarray


class Curve(NamedTuple):
    """A joint's position: its name, its column of q, its unit, and the number of units in one unit
    of q."""

    name: str
    column: int
    unit: str
    scale: float
    endless: bool
    """True if it turns without limits, so that 370 degrees are shown as 10."""

    def of(self, q: np.ndarray) -> np.ndarray:
        """Positions (steps,) in its unit; for an endless joint in [-180, 180), with NaN where a
        line would jump from one end to the other."""
        drawn = np.array(self.scale * q[:, self.column], dtype=float)
        if self.endless:
            drawn = (drawn + TURN / 2) % TURN - TURN / 2
            drawn[1:][np.abs(np.diff(drawn)) > TURN / 2] = np.nan
        return drawn


def curves(model: Model, motion: Trajectories) -> list[Curve]:
    """The joints of a picture, in the model's order: angles in degrees, slides in metres."""
    found: list[Curve] = []
    for joint in model.moving_joints:
        k = model.coordinates[joint.name].q.start
        if joint.kind.single and joint.mimic is None:
            unit, scale = ("deg", 180 / np.pi) if joint.kind.turns else ("m", 1.0)
            bounds = model.position_upper[k] - model.position_lower[k]
            endless = joint.kind.turns and not np.isfinite(bounds)
            found.append(Curve(model.q_names[k], k, unit, scale, bool(endless)))
    moved = np.nan_to_num(np.ptp(motion.falling, axis=0))
    most = sorted(found, key=lambda curve: -moved[curve.column])[:MOST_JOINTS]
    return [curve for curve in found if curve in most]


def picture(model: Model, motion: Trajectories, path: Path) -> None:
    """Draw the robot at the top, at moments from pale to full colour, and below it a small plot for
    each joint."""
    from matplotlib.figure import Figure

    shown = curves(model, motion)
    columns = min(max(len(shown), 1), 4)
    rows = -(-len(shown) // columns)
    figure = Figure(figsize=(11, 5.4 + 1.9 * rows), layout="constrained")
    figure.suptitle(f"{model.name}: released at rest; joints stop at their limits")
    parts: Any = figure.subfigures(2, 1, height_ratios=(5.0, max(1.9 * rows, 0.1)))
    upper, lower = parts
    _draw_robot(upper, model, motion)
    plots: Any = (
        lower.subplots(rows, columns, sharex=True, squeeze=False) if rows else np.empty((0, 0))
    )
    for side, curve in zip(plots.flat, shown, strict=False):
        side.plot(motion.time, curve.of(motion.falling), color=FALLING, label="no torque")
        side.plot(motion.time, curve.of(motion.held), color=HELD, label="tau = g(q)", lw=2)
        side.set_title(f"{curve.name} [{curve.unit}]", fontsize="small")
        side.tick_params(labelsize="small")
        side.grid(alpha=0.25)
        side.margins(y=0.15)
        for place in ("top", "right"):
            side.spines[place].set_visible(False)
    for side in plots.flat[len(shown) :]:
        side.set_axis_off()
    # Only the lowest panel of each column has a time axis.
    for side in plots.flat[max(len(shown) - columns, 0) : len(shown)]:
        side.set_xlabel("time [s]", fontsize="small")
        side.tick_params(labelbottom=True)
    if shown:
        lines, names = plots[0, 0].get_legend_handles_labels()
        lower.legend(lines, names, loc="outside upper center", ncols=2, frameon=False)
    figure.savefig(path, dpi=110)


def _draw_robot(figure: Any, model: Model, motion: Trajectories) -> None:
    """Draw it falling on the left and held on the right, at the same scale, from the side that
    shows most of the fall."""
    moments = _moments(motion)
    level = RobotPicture(model)
    falling, held = level.poses(motion.falling[moments]), level.poses(motion.held[-1:])
    finite = np.isfinite(falling).all(axis=(1, 2, 3))
    falling, centre = falling[finite], held[0, 0, :3, 3]
    drawn = RobotPicture(model, across(falling[..., :2, 3]))
    outlines: list[np.ndarray] = []
    sides = figure.subplots(1, 2)
    titles = ("no torque: it falls", "gravity compensation, tau = g(q): it stays")
    rows = zip(sides, titles, (falling, held), (FALLING, HELD), strict=True)
    for side, title, poses, colour in rows:
        for shade, pose in zip(np.linspace(PALEST, 1.0, len(poses) + 1)[1:], poses, strict=True):
            for patch in drawn.patches(pose, centre):
                _draw_patch(
                    side, patch, _mix_with_white(colour, 1.0 if pose is poses[-1] else shade)
                )
                outlines.append(patch.outline)
        side.set_aspect("equal")
        side.set_axis_off()
        side.set_title(title, color=colour)
    low, high = (law(np.concatenate(outlines), axis=0) for law in (np.min, np.max))
    edge = 0.04 * np.max(high - low)
    for side in sides:
        side.set_xlim(low[0] - edge, high[0] + edge)
        side.set_ylim(low[1] - edge, high[1] + edge)
    times = ", ".join(f"{motion.time[k]:.2f}" for k in moments[finite])
    sides[0].text(0.5, -0.02, f"at {times} s", transform=sides[0].transAxes, ha="center", size=9)


def across(places: np.ndarray) -> Sight:
    """Sight in which links move farthest across; places: their horizontal positions (moments,
    links, 2)."""
    way = (places - places[:1]).reshape(-1, 2)
    if np.abs(way).max() < 1e-6:
        return Sight()
    x, y = np.linalg.eigh(way.T @ way)[1][:, -1]
    return Sight(turn=float(np.arctan(y / x)) if x else np.pi / 2)


def _mix_with_white(colour: str, share: float) -> Any:
    """A colour mixed with white."""
    from matplotlib.colors import to_rgb

    return tuple(1.0 - share * (1.0 - x) for x in to_rgb(colour))


def _draw_patch(side: Any, patch: Silhouette, colour: Any) -> None:
    if len(patch.outline) > 2:
        side.fill(*patch.outline.T, color=colour, ec="white", lw=0.6)
    else:  # a line between two joints, for a link without shapes
        side.plot(*patch.outline.T, color=colour, lw=5, solid_capstyle="round")


def _moments(motion: Trajectories) -> np.ndarray:
    """Rows (MOMENTS,) at equal distances along the path of the fastest joint, from the start to
    half a turn, or to the end of a shorter path."""
    step = np.nan_to_num(np.abs(np.diff(motion.falling, axis=0)).max(axis=1))
    way = np.concatenate([[0.0], np.cumsum(step)])
    reached = way[-1] if way[-1] < np.pi else np.pi
    return np.searchsorted(way, np.linspace(0.0, reached, MOMENTS)).clip(0, len(way) - 1)
