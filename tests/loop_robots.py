"""Robots with closed loops: four-bar linkages, a leg with rods, and pairs of welded and coupled links."""

from __future__ import annotations

import warnings

import numpy as np
from states import states, step

import warpdyn as wd
from benchmarks.closed_loops import LEG
from warpdyn.model.structure import start_of


def leg() -> wd.Model:
    """The leg, loaded without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return wd.load_mjcf(LEG)


def rod(length: float, along: int, mass: float = 1.0) -> dict[str, object]:
    """Mass, centre and inertia of a thin rod from the origin along an axis. Along z it points
    downwards."""
    com = np.zeros(3)
    com[along] = length / 2 if along == 0 else -length / 2
    moments = np.full(3, mass * length**2 / 12)
    moments[along] = 1e-4
    return {"mass": mass, "com": com, "inertia": np.diag(moments)}


def four_bar(
    crank: float = 0.2,
    coupler: float = 0.45,
    rocker: float = 0.35,
    ground: float = 0.5,
    floating: bool = False,
    loop: bool = True,
) -> wd.Model:
    """A planar linkage: crank and rocker hang on the ground link, the coupler joins their ends."""
    builder = wd.ModelBuilder("four_bar")
    builder.add_link("ground", 2.0, (0.1, 0, 0.05), 0.1 * np.eye(3))
    builder.add_link("crank", **rod(crank, 2)).add_link("coupler", **rod(coupler, 0))
    builder.add_link("rocker", **rod(rocker, 2))
    builder.add_joint("j1", "continuous", "ground", "crank", axis=(0, 1, 0))
    builder.add_joint("j2", "continuous", "crank", "coupler", (0, 0, -crank), axis=(0, 1, 0))
    builder.add_joint("j3", "continuous", "ground", "rocker", (ground, 0, 0), axis=(0, 1, 0))
    if loop:
        builder.connect("coupler", (coupler, 0, 0), "rocker", (0, 0, -rocker))
    return builder.build(floating_base=floating)


def two_arms(loop: wd.description.Loop | None = None) -> wd.Model:
    """Two arms of three skew joints each on one base, and a loop between them."""
    builder = wd.ModelBuilder("tied").add_link("base")
    for side, x in (("left", -0.3), ("right", 0.3)):
        parent, place = "base", (x, 0.0, 0.0)
        for k, axis in enumerate(((0, 1, 0.3), (1, 0.2, 0), (0.1, 1, 1), (1, 0, 0.4))):
            name = f"{side}{k}"
            builder.add_link(name, 0.7, (0.02, 0.05 * k, 0.1), np.diag([0.02, 0.03, 0.015]))
            builder.add_joint(f"{name}_joint", "continuous", parent, name, place, axis=axis)
            parent, place = name, (0.05, 0.02, 0.25)
    if loop is not None:
        builder._loops.append(loop)
    return builder.build()


CONNECT = wd.description.Loop.connect("left3", (0.1, 0, 0.2), "right3", (-0.1, 0.05, 0.2))
WELD = wd.description.Loop.weld("left3", (0.1, 0, 0.2), "right3", (-0.1, 0, 0.2, 0, 0, 0.6, 0.8))
HINGE = wd.description.Loop.hinge("left3", (0.1, 0, 0.2), "right3", (-0.1, 0, 0.2, 0, 0, 0.6, 0.8))
COUPLE = wd.description.Loop.couple("left1_joint", "right2_joint", (0.2, -0.5, 0.3))

ROBOTS = {
    "connect": two_arms(CONNECT),
    "weld": two_arms(WELD),
    "hinge": two_arms(HINGE),
    "couple": two_arms(COUPLE),
    "four_bar": four_bar(),
    "floating": four_bar(floating=True),
    "leg": leg(),
}


def closed_configurations(model: wd.Model, count: int) -> np.ndarray:
    """Random configurations in which the loops are closed."""
    start = np.tile(start_of(model), (count, 1))
    q = step(model, start, 0.2 * states(model, count, seed=1).v)
    return np.array([wd.oracle(wd.loops.close, model, x) for x in q])
