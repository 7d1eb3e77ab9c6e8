"""A robot whose numbers vary between environments, and the model of each environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from array_kinds import make_array, usable
from robots import Robot, by_name, joint, link, urdf

import warpdyn as wd
from warpdyn.model.poses_and_limits import unit_vector

ROUND_OFF = {"float64": 1e-13, "float32": 1e-5}
"""Relative to the largest entry."""

RIG_TEXT = urdf(
    "rig",
    link("pedestal", 5.0, (0.1, 0.05, 0.3)),
    link("arm", 1.2, (0.2, 0.02, 0.1)),
    link("tool", 0.6, (0.01, 0.05, 0.1)),
    link("slider", 0.4, (0.03, 0, 0.05)),
    link("mirror", 0.3, (0.05, -0.02, 0.1)),
    joint("elbow", "revolute", "pedestal", "arm", (0, 0, 0.6), (0.2, 0.3, 0), axis=(0, 1, 0)),
    joint("flange", "fixed", "arm", "tool", (0.4, 0, 0), (0.5, -0.3, 0.2)),
    joint("feed", "prismatic", "tool", "slider", (0, 0, 0.2), (0, 0.4, 0), axis=(1, 0, 0)),
    joint(
        "follow",
        "revolute",
        "arm",
        "mirror",
        (0.1, 0.2, 0),
        axis=(0, 0, -1),
        mimic=("elbow", -0.5, 0.3),
    ),
)

RIG = Robot("rig", RIG_TEXT).model.with_friction(viscous=0.1)

MASSLESS_EFFECTS = {"stiffness": 30.0, "damping": 2.0}

LINK_NUMBERS = ("mass", "com", "inertia")


def numbers(model: wd.Model, quantity: str, count: int, seed: int = 0) -> np.ndarray:
    """(count, k, ..) values for all links, or joints, of the model, near its own values where it
    has some."""
    draw = np.random.default_rng([seed, len(quantity)])
    links, joints = model.links, model.joints

    def near(values: Any, spread: float) -> np.ndarray:
        values = np.array(values, dtype=float)
        return values + draw.uniform(-spread, spread, (count, *values.shape))

    if quantity == "mass":
        return np.abs(near([x.mass for x in links], 0.1))
    if quantity == "com":
        return near([x.com for x in links], 0.05)
    if quantity == "inertia":
        upper = np.triu_indices(3)
        # The diagonal grows by more than the other entries vary, so that no moment is negative.
        grown = [np.array(x.inertia) + 3e-3 * np.eye(3) for x in links]
        return near([x[upper] for x in grown], 1e-3)
    if quantity == "placement":
        turn = near(np.tile([0.1, -0.2, 0.3, 0.9], (len(joints), 1)), 0.2)
        turn /= np.linalg.norm(turn, axis=-1, keepdims=True)
        return np.concatenate([near([x.pose.position for x in joints], 0.1), turn], axis=-1)
    if quantity == "axis":
        return draw.normal(size=(count, len(joints), 3))
    return draw.uniform(0.1, 0.4, (count, len(joints)))


def random_values(
    model: wd.Model, count: int, *quantities: str
) -> dict[str, dict[str, np.ndarray]]:
    """Random values by quantity and name, for the links and joints that have the quantity."""
    found = {}
    for quantity in quantities:
        owners = model.links if quantity in LINK_NUMBERS else model.joints
        values = numbers(model, quantity, count)
        found[quantity] = {
            owner.name: values[:, k]
            for k, owner in enumerate(owners)
            if quantity in (*LINK_NUMBERS, "placement") or owner.kind.nv
            if quantity not in ("stiffness", "damping") or owner.is_bounded
            if quantity not in ("axis", "rest") or owner.kind.single
            if quantity != "spring" or owner.kind.elastic
        }
    return found


def rebuilt(model: wd.Model, values: Mapping[str, Mapping[str, np.ndarray]], e: int) -> wd.Model:
    """The model with the numbers of environment e."""
    own = {
        quantity: {name: x[e] for name, x in by_name.items()}
        for quantity, by_name in values.items()
    }

    def changed_link(old: wd.Link) -> wd.Link:
        new = {}
        if old.name in own.get("mass", {}):
            new["mass"] = float(own["mass"][old.name])
        if old.name in own.get("com", {}):
            new["com"] = tuple(own["com"][old.name].tolist())
        if old.name in own.get("inertia", {}):
            xx, xy, xz, yy, yz, zz = own["inertia"][old.name].tolist()
            new["inertia"] = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        return replace(old, **new)

    def changed_joint(old: wd.Joint) -> wd.Joint:
        pose = own.get("placement", {}).get(old.name)
        axis = own.get("axis", {}).get(old.name)
        old = old if pose is None else replace(old, pose=wd.description.Pose.of(pose))
        return old if axis is None else replace(old, axis=unit_vector(axis))

    model = replace(
        model,
        links=tuple(map(changed_link, model.links)),
        joints=tuple(map(changed_joint, model.joints)),
    )
    if "armature" in own:
        model = model.with_armature({name: float(x) for name, x in own["armature"].items()})
    for method, quantities in (
        ("with_friction", ("viscous", "coulomb")),
        ("with_limit_springs", MASSLESS_EFFECTS),
        ("with_springs", ("spring", "rest")),
    ):
        values = {q: {name: float(x) for name, x in own[q].items()} for q in quantities if q in own}
        model = getattr(model, method)(**values) if values else model
    return model


PANDA = by_name("panda").model

DRAWS: dict[str, Any] = {
    "mass": wd.random.scale(0.8, 1.2),
    "armature": {"panda_joint[1-4]": wd.random.add(0.05, 0.1)},
    "gravity": wd.random.add(-0.1, 0.1),
}

MASK = np.array([True, False, False, True, False, False])


def draw_params(library: str, seed: int = 1, device: str = "cpu") -> wd.Params:
    """Six robots drawn at random, in a library's float64 arrays."""
    usable(library, device)
    like = make_array(library, np.zeros(1), device)
    return wd.randomise(PANDA, 6, seed=seed, like=like, **DRAWS)
