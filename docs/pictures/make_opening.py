"""Draws docs/pictures/opening.png: an arm that is held, five that fall, and throughput from the stored figures.

The arm is the bundled panda: its links' shapes placed by `wd.fk`, its fall computed by `wd.aba`. The bars are
those of the folder of results that docs/figures.md names. To draw it again: `python docs/pictures/make_opening.py`.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from PIL import Image

import warpdyn as wd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from benchmarks import figures_page, report  # noqa: E402

INK, GREY, PALE, HELD = "#1f2d3a", "#6c7a85", "#7f98ad", "#d9622b"
PEER, FLOOR = "#a9b4bd", "#e4e9ed"
START = (0.0, 0.05, 0.0, -1.25, 0.0, 1.75, 0.785, 0.03)
TIMES = (0.20, 0.27, 0.325, 0.37, 0.41)
"""Of the ghosts, after the motors let go [s]."""

FRICTION = 3.0
"""Of every joint, as of gearboxes without power [N·m·s/rad]."""

SHAPES = (
    ("panda_link0", (-0.10, 0.0, 0.03), (0.0, 0.0, 0.03), 0.085),
    ("panda_link0", (0.0, 0.0, 0.04), (0.0, 0.0, 0.14), 0.070),
    ("panda_link1", (0.0, 0.0, -0.19), (0.0, 0.0, -0.05), 0.060),
    ("panda_link1", (0.0, -0.06, 0.0), (0.0, 0.06, 0.0), 0.066),
    ("panda_link2", (0.0, -0.05, 0.0), (0.0, -0.19, 0.0), 0.056),
    ("panda_link3", (0.0, 0.0, -0.12), (0.0, 0.0, -0.04), 0.056),
    ("panda_link3", (0.0, 0.0, -0.03), (0.0825, 0.0, 0.0), 0.054),
    ("panda_link3", (0.0825, -0.06, 0.0), (0.0825, 0.06, 0.0), 0.056),
    ("panda_link4", (0.0, 0.0, 0.0), (-0.0825, 0.124, 0.0), 0.052),
    ("panda_link5", (0.0, 0.0, -0.26), (0.0, 0.0, -0.04), 0.050),
    ("panda_link5", (0.0, -0.05, 0.0), (0.0, 0.05, 0.0), 0.052),
    ("panda_link6", (0.0, 0.0, 0.0), (0.088, 0.0, 0.0), 0.046),
    ("panda_link7", (0.0, 0.0, 0.0), (0.0, 0.0, 0.10), 0.045),
    ("panda_hand", (0.0, -0.085, 0.035), (0.0, 0.085, 0.035), 0.032),
    ("panda_leftfinger", (0.0, 0.008, 0.0), (0.0, 0.008, 0.045), 0.011),
    ("panda_rightfinger", (0.0, -0.008, 0.0), (0.0, -0.008, 0.045), 0.011),
)
"""Capsules: link, both ends in its frame, radius [m]."""

ALGORITHMS = ("rnea", "aba", "crba", "fk", "mass_matrix_inverse", "rnea_derivatives")
WORDS = {"fk": "fk, all links", "mass_matrix_inverse": "M⁻¹", "rnea_derivatives": "∂rnea"}


class Camera:
    """Perspective from `eye` towards `target`, as 2D points and depths."""

    def __init__(self, eye: tuple[float, ...], target: tuple[float, ...]):
        self.eye = np.array(eye)
        ahead = np.array(target) - self.eye
        self.ahead = ahead / np.linalg.norm(ahead)
        right = np.cross(self.ahead, (0, 0, 1))
        self.right = right / np.linalg.norm(right)
        self.up = np.cross(self.right, self.ahead)

    def see(self, point):
        """Place on the picture, and the scale of lengths there (one over the depth)."""
        offset = np.asarray(point) - self.eye
        scale = 1 / (offset @ self.ahead)
        return scale * np.array([offset @ self.right, offset @ self.up]), scale


def fall(model, q):
    """Configurations at `TIMES` of an arm whose motors let go at time 0."""
    loose = model.with_friction(viscous=FRICTION)
    q, v, zero, step = np.array([q]), np.zeros((1, model.nv)), np.zeros((1, model.nv)), 5e-4
    kept, count = [], 0
    for time in TIMES:
        while count * step < time:
            v = v + step * wd.aba(loose, q, v, zero)
            q = wd.integrate(loose, q, step * v)
            count += 1
        kept.append(q[0])
    return kept


def mixed(colour, other, share):
    return tuple((1 - share) * np.array(to_rgb(colour)) + share * np.array(to_rgb(other)))


def hull(a, ra, b, rb):
    """Outline of two circles and all between them."""
    d = b - a
    far = np.hypot(*d)
    if far <= abs(ra - rb) + 1e-12:
        centre, radius = (a, ra) if ra > rb else (b, rb)
        turn = np.linspace(0, 2 * np.pi, 60)
        return centre + radius * np.column_stack([np.cos(turn), np.sin(turn)])
    along, lean = np.arctan2(d[1], d[0]), np.arccos((ra - rb) / far)
    round_b = np.linspace(along - lean, along + lean, 40)
    round_a = np.linspace(along + lean, along + 2 * np.pi - lean, 40)
    ends = ((b, rb, round_b), (a, ra, round_a))
    return np.vstack([c + r * np.column_stack([np.cos(t), np.sin(t)]) for c, r, t in ends])


def draw_arm(axes, camera, poses, colour, fade, zorder):
    """Capsules, far ones first; each is shaded by smaller, lighter ones towards the light."""
    seen = []
    for link, start, end, radius in SHAPES:
        T = poses[link]
        ends = [T[:3, :3] @ np.array(p) + T[:3, 3] for p in (start, end)]
        (a, sa), (b, sb) = map(camera.see, ends)
        seen.append((min(sa, sb), a, radius * sa, b, radius * sb))
    layers = 14
    light = np.array([-0.42, 0.55])
    for k, (_, a, ra, b, rb) in enumerate(sorted(seen, key=lambda s: s[0])):
        at = zorder + k / 100
        edge = mixed(mixed(colour, INK, 0.55), "white", fade)
        axes.fill(*hull(a, ra, b, rb).T, color=edge, lw=0, zorder=at)
        for n in range(layers):
            part = n / (layers - 1)
            shrink, shift = 0.94 - 0.82 * part, 0.42 * part
            tone = mixed(mixed(colour, INK, 0.34 * (1 - part)), "white", 0.5 * part**2.2)
            shape = hull(a + shift * ra * light, shrink * ra, b + shift * rb * light, shrink * rb)
            axes.fill(*shape.T, color=mixed(tone, "white", fade), lw=0, zorder=at + (n + 1) / 2000)


def draw_floor(axes, camera):
    xs, ys = np.arange(-0.4, 1.01, 0.2), np.arange(-0.4, 0.41, 0.2)
    lines = [((x, ys[0], 0), (x, ys[-1], 0)) for x in xs]
    lines += [((xs[0], y, 0), (xs[-1], y, 0)) for y in ys]
    for ends in lines:
        axes.plot(*np.array([camera.see(end)[0] for end in ends]).T, color=FLOOR, lw=1.2, zorder=0)


def draw_arms(axes):
    model = wd.load_robot("panda")
    camera = Camera((0.95, -2.7, 0.95), (0.28, 0.0, 0.45))
    draw_floor(axes, camera)
    every = np.array([START, *fall(model, START)])
    poses = [dict(zip(model.link_names, T, strict=True)) for T in wd.fk(model, every)]
    for k in range(len(TIMES), 0, -1):
        draw_arm(axes, camera, poses[k], PALE, 0.12 + 0.12 * k, 10 - k)
    tips = np.array([camera.see(p["panda_hand_tcp"][:3, 3])[0] for p in poses])
    axes.plot(*tips[1:].T, ":", color=PALE, lw=1.6, zorder=9.5)
    draw_arm(axes, camera, poses[0], HELD, 0.0, 20)
    axes.set_aspect("equal")
    axes.axis("off")
    return tips


def draw_bars(axes):
    """Robots a second on one core, warpdyn and Pinocchio, from the stored results."""
    folder = figures_page.folder_in_page()
    run = report.read(folder)
    for k, algorithm in enumerate(ALGORITHMS):
        own = run.main("panda", algorithm)["ns"]
        peer = next(r["ns"] for r in run.rivals("panda", algorithm) if r["peer"] == "pinocchio")
        for ns, shift, colour, weight in ((own, -0.19, HELD, "bold"), (peer, 0.19, PEER, "normal")):
            rate = 1e3 / ns  # millions a second
            axes.barh(k + shift, rate, 0.34, left=0, color=colour)
            text = f"{rate:.0f}" if rate >= 10 else f"{rate:.2g}"
            axes.text(
                rate * 1.12, k + shift, text, va="center", fontsize=9.5, color=INK, weight=weight
            )
        axes.text(
            2600,
            k,
            f"{peer / own:.0f}×",
            va="center",
            ha="right",
            fontsize=13,
            color=HELD,
            weight="bold",
        )
    axes.set_xscale("log")
    axes.set_xlim(0.1, 2700)
    axes.set_ylim(len(ALGORITHMS) - 0.4, -0.6)
    axes.set_yticks(
        range(len(ALGORITHMS)), [WORDS.get(a, a) for a in ALGORITHMS], fontsize=11, color=INK
    )
    axes.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"], fontsize=9, color=INK)
    axes.tick_params(length=0)
    axes.minorticks_off()
    axes.grid(axis="x", color=FLOOR, lw=1)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)
    return run.about


def main():
    plt.rcParams["font.family"] = "DejaVu Sans"
    figure = plt.figure(figsize=(9, 4.1))
    arms = figure.add_axes((0.0, 0.0, 0.49, 0.9))
    draw_arms(arms)
    bars = figure.add_axes((0.605, 0.13, 0.385, 0.7))
    about = draw_bars(bars)
    title = {"fontsize": 12.5, "color": INK, "weight": "bold", "va": "top"}
    words = {"fontsize": 10.5, "color": GREY, "va": "top"}
    figure.text(0.03, 0.965, "One arm held, five falling", **title)
    figure.text(0.03, 0.895, "held by wd.rnea; the fall is wd.aba", **{**words, "color": HELD})
    figure.text(0.505, 0.965, "Millions of arms a second, on one core", **title)
    figure.text(0.505, 0.895, "warpdyn", **{**words, "color": HELD})
    figure.text(0.592, 0.895, "Pinocchio, a call for each", **words)
    figure.text(
        *(0.985, 0.018),
        f"panda; {about['hardware']}; float32, 16,384 at once; Pinocchio: float64; logarithmic scale",
        fontsize=7.5,
        color=GREY,
        ha="right",
    )
    figure.set_dpi(200)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[:, :, :3]
    few = Image.fromarray(pixels).quantize(160, dither=Image.Dither.NONE)  # a third of the bytes
    few.save(Path(__file__).with_name("opening.png"), optimize=True)


if __name__ == "__main__":
    main()
