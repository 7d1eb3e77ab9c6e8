"""Roll-outs of a simulation with all states, and quantities of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import warpdyn as wd


@dataclass(frozen=True)
class Roll:
    """A roll-out of B environments: (steps + 1, B, ...)."""

    q: np.ndarray
    v: np.ndarray
    forces: np.ndarray


def roll_out(model: wd.Model, q: Any, v: Any, dt: float, seconds: float, **options: Any) -> Roll:
    """All states of a float64 roll-out from zero impulses."""
    q, v = (np.atleast_2d(np.array(x, dtype=float)) for x in (q, v))
    count = len(options.get("points", ()))
    free = 6 * model.floating_base
    out = [q, v, *(np.zeros((len(q), count, 3)) for _ in range(2))]
    out.append(np.zeros((len(q), model.nv - free)))
    begin = [x.copy() for x in (q, v, out[3])]
    if count:
        options["impulses"] = out[2]
    options |= {"dt": dt, "stops": "none", "out": tuple(out)}
    run = wd.bind(wd.step, model, q, v, np.zeros_like(v), **options)  # which launches once
    seen = [begin, [x.copy() for x in (q, v, out[3])]]
    for _ in range(round(seconds / dt) - 1):
        run()
        seen.append([x.copy() for x in (q, v, out[3])])
    return Roll(*(np.array(x) for x in zip(*seen, strict=True)))


BODY = """<robot name="body"><link name="b"><inertial><origin xyz="{com}"/><mass value="{mass}"/>
<inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/></inertial></link></robot>"""


def body(mass: float, J: Sequence[float], com: str = "0 0 0") -> wd.Model:
    """A free body with principal moments of inertia J about its centre of mass."""
    text = BODY.format(mass=mass, com=com, **dict(zip(("xx", "yy", "zz"), J, strict=True)))
    return wd.load_urdf(text, floating_base=True)


def crossings(x: np.ndarray, dt: float) -> np.ndarray:
    """Times of zero crossings of x, by linear interpolation [s]."""
    (k,) = np.nonzero(x[:-1] * x[1:] < 0)
    return (k + x[k] / (x[k] - x[k + 1])) * dt


def agm(a: float, b: float) -> float:
    """Arithmetic-geometric mean."""
    while abs(a - b) > 1e-15 * a:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return a
