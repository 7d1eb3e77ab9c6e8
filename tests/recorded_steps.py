"""Steps of robots that touch the ground and each other, whose results are stored as reference
numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from loop_robots import leg
from states import states

import warpdyn as wd
from warpdyn.model.structure import start_of

DT: dict[str, Any] = {"dt": 0.004, "substeps": 2}
SOFT = wd.SoftGround(0.6, 2e4, 300.0)
ROUGH = wd.Ground(
    0.7, stiffness=2e4, torsional_friction=0.01, rolling_friction=0.003, restitution=0.2
)


def walker(ground: Any, **options: Any) -> Any:
    """A driven quadruped whose feet slide in the ground."""
    model = wd.load_robot("quadruped")
    q = np.array(model.configurations["home"])
    q[2] -= 0.012
    options |= {"control": wd.PD(60.0, 2.0), "targets": q[7:] + 0.1, "ground": ground}
    points, v = wd.ContactPoints(model).only("*foot*"), 0.2 * states(model, 1).v[0]
    return wd.oracle(wd.step, model, q, v, np.zeros(model.nv), points=points, **DT, **options)


def pile() -> Any:
    """Two boxes and a ball on each other, which rotate, with friction moments and rebound."""
    scene = wd.ModelBuilder("table").add_link("table").build()
    for name, size, mass in (("low", 0.12, 0.5), ("high", 0.1, 0.8), ("ball", 0.05, 1.1)):
        box = wd.description.Box(size, size, size)
        shape = wd.description.Sphere(size) if name == "ball" else box
        scene = scene.with_object(name, shape, mass=mass)
    pairs = wd.ContactPairs(scene).with_ground("low")
    contact = wd.description.PairContact(
        0.6, torsional_friction=0.01, rolling_friction=0.002, restitution=0.3
    )
    q = np.zeros((3, 7))
    q[:, :4] = [[0.02 * k, 0.01 * k, z, 0.01 * k] for k, z in enumerate((0.0595, 0.169, 0.2685))]
    q[:, 6] = np.sqrt(1.0 - q[:, 3] ** 2)
    v = np.linspace(-0.3, 0.4, 18)
    options = {**DT, "pairs": pairs, "pair_contact": contact}
    return wd.oracle(wd.step, scene, q.ravel(), v, np.zeros(18), **options)


def rods() -> Any:
    """A leg with closed loops, starting from a configuration in which they are open."""
    model = leg()
    v, tau = np.linspace(-1, 1, model.nv), np.linspace(-3, 3, model.nv)
    return wd.oracle(wd.step, model, np.array(start_of(model)), v, tau, stops="rows", **DT)


STEPS: dict[str, Callable[[], Any]] = {
    "rigid": lambda: walker(wd.Ground(0.7)),
    "rough": lambda: walker(ROUGH, stops="rows"),
    "sloped": lambda: walker(wd.Ground(0.7), terrain=wd.Plane((0.1, -0.2), 0.01)),
    "soft": lambda: walker(SOFT),
    "heun": lambda: walker(SOFT, integrator="heun"),
    "rk4": lambda: walker(SOFT, integrator="rk4"),
    "pile": pile,
    "rods": rods,
}


def numbers_of(step: Any) -> dict[str, float]:
    """A number for each result that depends on all its entries.

    It is the product with cos 0, cos 1, ...
    """
    arrays = {name: np.ravel(x) for name, x in step._asdict().items() if x is not None}
    return {n: float(x @ np.cos(np.arange(x.size))) for n, x in arrays.items() if x.size}
