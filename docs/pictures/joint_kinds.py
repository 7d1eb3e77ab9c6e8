"""Draws docs/pictures/joint_kinds.png: a link carried by each kind of joint, moved by warpdyn's own kinematics."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import warpdyn as wd
from warpdyn.model.description import Gearbox, Mimic
from warpdyn.model.joints import KINDS
from warpdyn.model.poses_and_limits import Pose

INK, AXIS, LINK, PALE, GHOST = "#22313f", "#b8432f", "#2f6db8", "#d4d9dd", "#a9bedb"
X, Y, Z = np.eye(3)
EYE = np.array([1.0, -1.35, 0.8]) / np.linalg.norm([1.0, -1.35, 0.8])
RIGHT = np.cross(Z, EYE) / np.linalg.norm(np.cross(Z, EYE))
UP = np.cross(EYE, RIGHT)
LIGHT = np.array([0.35, -0.45, 0.8])
FACES = [(k, side) for k in range(3) for side in (-1, 1)]


def flat(points):
    return np.asarray(points) @ np.array([RIGHT, UP]).T


def box(axes, T, centre, size, colour, alpha):
    """The faces of a box that the eye sees, shaded."""
    for k, side in FACES:
        normal = T[:3, :3] @ (side * np.eye(3)[k])
        if normal @ EYE <= 1e-9:
            continue
        u, w = np.eye(3)[(k + 1) % 3], np.eye(3)[(k + 2) % 3]
        corners = [
            centre + 0.5 * size * (side * np.eye(3)[k] + a * u + b * w)
            for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))
        ]
        world = np.array(corners) @ T[:3, :3].T + T[:3, 3]
        shade = 0.62 + 0.38 * max(0.0, normal @ LIGHT)
        rgb = 1 - (1 - np.array(matplotlib.colors.to_rgb(colour))) * (1.6 - shade)
        axes.add_patch(plt.Polygon(flat(world), fc=np.clip(rgb, 0, 1), ec=INK, lw=0.6, alpha=alpha))


def arrow(axes, start, direction, length, label=""):
    a, b = flat([start - 0.35 * direction, start + length * direction])
    axes.annotate(
        "", b, a, arrowprops={"arrowstyle": "-|>", "color": AXIS, "lw": 1.6, "ls": "-"}, zorder=6
    )
    if label:
        axes.text(
            *(b + 0.09 * (b - a) / np.linalg.norm(b - a)),
            label,
            color=AXIS,
            fontsize=8,
            ha="center",
            va="center",
            zorder=6,
        )


def panel(axes, title, words, joints, positions, arrows, boxes, links=("ground", "link")):
    model = wd.Model.assemble("one", [wd.Link(name) for name in links], joints)
    box(axes, np.eye(4), np.array([0, 0, -0.75]), np.array([1.5, 1.5, 0.12]), PALE, 1.0)
    for n, q in enumerate(positions):
        T = wd.oracle(wd.fk, model, list(map(float, q)), frames=links[1:])
        last = n == len(positions) - 1
        drawn = sorted(
            zip(T, boxes, strict=True),
            key=lambda each: (each[0][:3, 3] + each[0][:3, :3] @ each[1][0]) @ EYE,
        )
        for pose, (centre, size) in drawn:
            box(
                axes,
                pose,
                np.array(centre),
                np.array(size),
                LINK if last else GHOST,
                1.0 if last else 0.4,
            )
    for each in arrows:
        arrow(axes, *each)
    axes.set_title(f"{title}\n", fontsize=10.5, color=INK, weight="bold")
    axes.text(
        0.5, 1.0, words, transform=axes.transAxes, ha="center", va="bottom", fontsize=8.5, color=INK
    )
    axes.set_xlim(-1.45, 1.45)
    axes.set_ylim(-1.3, 1.35)
    axes.set_aspect("equal")
    axes.axis("off")


def joint(kind, **more):
    return wd.Joint("j", KINDS[kind], "ground", "link", **{"axis": tuple(Z), **more})


def main():
    figure, ((a, b, c, d, e), (f, g, h, i, j)) = plt.subplots(2, 5, figsize=(13.5, 6.0))
    arm, plate, lump = (
        [((0.45, 0, 0), (0.9, 0.28, 0.28))],
        [((0, 0, 0), (0.7, 0.45, 0.3))],
        [((0.25, 0, 0.25), (0.6, 0.4, 0.5))],
    )
    origin, up = np.zeros(3), (np.zeros(3), Z, 0.95)
    panel(
        a,
        "revolute, continuous",
        "q: angle",
        [joint("revolute")],
        [[-0.9], [-0.1], [0.7]],
        [up],
        arm,
    )
    panel(
        b,
        "prismatic",
        "q: displacement",
        [joint("prismatic")],
        [[-0.5], [-0.1], [0.3]],
        [up],
        plate,
    )
    panel(
        c,
        "screw",
        "q: angle; advances pitch · q",
        [joint("screw", pitch=0.28)],
        [[-1.8], [-0.6], [0.7]],
        [up],
        plate,
    )
    two = [(np.zeros(3), Z, 0.95, "1"), (np.zeros(3), X, 0.95, "2")]
    panel(
        d,
        "universal",
        "q: angle 1, angle 2",
        [joint("universal", axis2=tuple(X))],
        [[0, 0], [0.35, 0.3], [0.7, 0.6]],
        two,
        [((0, -0.45, 0), (0.28, 0.9, 0.28))],
    )
    lean = np.array([0.6, 0.0, 0.8])
    panel(
        e,
        "revolute2",
        "any two axes",
        [joint("revolute2", axis2=tuple(lean))],
        [[0, 0], [0.4, 0.5], [0.8, 1.0]],
        [two[0], (origin, lean, 0.95, "2")],
        [((0, -0.45, 0), (0.28, 0.9, 0.28))],
    )
    quaternions = [
        [0, 0, 0, 1],
        [*(0.3 * np.array([0.6, -0.48, 0.64])), 0.954],
        [*(0.6 * np.array([0.6, -0.48, 0.64])), 0.8],
    ]
    panel(
        f,
        "ball",
        "q: quaternion x y z w",
        [joint("ball")],
        [np.array(q) / np.linalg.norm(q) for q in quaternions],
        [],
        arm,
    )
    panel(
        g,
        "planar",
        "q: u, w along the plane; angle",
        [joint("planar")],
        [[-0.5, -0.3, 0], [-0.1, 0, 0.4], [0.3, 0.3, 0.8]],
        [(np.array([0.3, 0.3, 0.0]), Z, 0.7)],
        plate,
    )
    panel(
        h,
        "floating",
        "q: x y z, quaternion",
        [joint("floating")],
        [
            [-0.5, 0, -0.3, *quaternions[0]],
            [0, 0, 0, *quaternions[1] / np.linalg.norm(quaternions[1])],
            [0.4, 0, 0.35, *quaternions[2]],
        ],
        [],
        lump,
    )
    wheel = [((0, 0, 0), (0.5, 0.5, 0.16)), ((0, 0, 0), (0.95, 0.95, 0.16))]
    wheels = [
        wd.Joint(
            "in", KINDS["continuous"], "ground", "small", Pose((0.62, 0.0, 0.0)), axis=tuple(Z)
        ),
        wd.Joint(
            "out", KINDS["continuous"], "ground", "large", Pose((-0.35, 0.0, 0.0)), axis=tuple(Z)
        ),
        wd.Joint(
            "gear",
            KINDS["gearbox"],
            "small",
            "large",
            axis=tuple(Z),
            gearbox=Gearbox(0.5, "ground"),
        ),
    ]
    posts = [(np.array([0.62, 0, 0]), Z, 0.6, "1"), (np.array([-0.35, 0, 0]), Z, 0.6, "2")]
    panel(
        i,
        "gearbox",
        "angle 2 = - ratio · angle 1",
        wheels,
        [[0.0], [0.8]],
        posts,
        wheel,
        ("ground", "small", "large"),
    )
    chain = [
        wd.Joint("lead", KINDS["revolute"], "ground", "link", axis=tuple(Z)),
        wd.Joint(
            "follow",
            KINDS["revolute"],
            "link",
            "tip",
            Pose((0.7, 0, 0)),
            axis=tuple(Z),
            mimic=Mimic("lead", 1.5),
        ),
    ]
    short = [((0.3, 0, 0), (0.6, 0.24, 0.24)), ((0.25, 0, 0), (0.5, 0.2, 0.2))]
    panel(
        j,
        "any, with mimic",
        "position = multiplier · other + offset",
        chain,
        [[-0.6], [0.0], [0.5]],
        [up],
        short,
        ("ground", "link", "tip"),
    )
    figure.tight_layout(h_pad=1.5)
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
