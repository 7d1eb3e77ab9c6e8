"""Draws docs/pictures/frames.png: one link's velocity in the three references."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

INK, WORLD, LINK, SPEED = "#22313f", "#5b6770", "#b8432f", "#2f6db8"


def frame(axes, origin, angle, name, colour, length=0.75):
    for k, label in enumerate("xy"):
        turn = angle + k * np.pi / 2
        tip = length * np.array([np.cos(turn), np.sin(turn)])
        axes.annotate(
            "", origin + tip, origin, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2}
        )
        axes.text(*(origin + 1.18 * tip), label, color=colour, ha="center", va="center", fontsize=9)
    axes.text(*([*origin, -0.1, -0.22]), name, color=colour, ha="right", va="top", fontsize=10)


def arm(axes, shoulder, elbow, hand):
    axes.plot(
        *zip(shoulder, elbow, hand, strict=True),
        color="#c9cfd4",
        lw=11,
        solid_capstyle="round",
        zorder=0,
    )
    for joint in (shoulder, elbow):
        axes.add_patch(plt.Circle(joint, 0.09, color="white", ec=INK, lw=1.5, zorder=2))


def turned(offset):
    return np.array([-offset[1], offset[0]])


def main():
    shoulder, elbow, hand, angle = map(np.array, ((0.0, 0.0), (1.5, 0.9), (2.9, 0.6), -0.21))
    figure, panels = plt.subplots(1, 3, figsize=(12.5, 3.6), sharey=True)
    cases = (
        ('"local"', hand, angle, "link origin, link axes\n(body)"),
        ('"local_world_aligned"', hand, 0.0, "link origin, world axes\n(mixed)"),
        (
            '"world"',
            shoulder,
            0.0,
            "the body's point at the world origin, world axes\n(inertial, spatial)",
        ),
    )
    for axes, (name, point, turn, words) in zip(panels, cases, strict=True):
        arm(axes, shoulder, elbow, hand)
        frame(axes, shoulder, 0.0, "world", WORLD)
        frame(axes, hand, angle, "link", LINK)
        speed = -0.22 * turned(point - shoulder) + 0.8 * turned(point - elbow)  # both joints turn
        axes.annotate(
            "", point + speed, point, arrowprops={"arrowstyle": "-|>", "color": SPEED, "lw": 3}
        )
        axes.text(
            *(point + 1.15 * speed),
            "v",
            color=SPEED,
            fontsize=13,
            ha="center",
            va="center",
            style="italic",
        )
        axes.plot(*point, "o", color=SPEED, ms=7, zorder=3)
        if turn == 0.0 and point is hand:
            frame(axes, hand, 0.0, "", SPEED, 0.5)
        axes.set_title(f"reference={name}\n{words}", fontsize=10, color=INK)
        axes.set_aspect("equal")
        axes.set_xlim(-0.9, 4.1)
        axes.set_ylim(-1.35, 1.6)
        axes.axis("off")
    figure.suptitle(
        "J v: [linear, angular] velocity of the blue point, read in the axes named",
        fontsize=11,
        color=INK,
    )
    figure.tight_layout()
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
