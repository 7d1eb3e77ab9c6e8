"""MJCF: compliance of constraints, from solref and solimp (MuJoCo's documentation, Modeling,
"Solver parameters")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...model.ground_contact import LimitSoftness
from .mjcf_powers import first_numbers
from .mjcf_values import TINY, Attributes, Element, MjcfValues

SOLREF = (0.02, 1.0)
SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)
"""MuJoCo's defaults."""

LEAST_IMPEDANCE = 1e-4
"""MuJoCo's bound of impedances and of the midpoint of their curve, from 0 and from 1."""

NO_WIDTH = 1e-15
"""Width up to which MuJoCo has one impedance for all depths, the mean of the smallest and the largest
[m, rad]."""

Impedance = tuple[float, float, float, float, float]
"""The numbers of an impedance curve d(r): the smallest and the largest one, width [m, rad], midpoint,
power."""


class Cone(NamedTuple):
    """Friction cones of a file's <option>. `impratio` is the stiffness of friction divided by that
    of the normal."""

    is_pyramidal: bool
    impratio: float

    def compliances(self, friction: float) -> tuple[float, float]:
        """R of the normal and of the tangents of a contact for d = 1/2, relative to the inverse mass.

        A pyramid has four edges n ± mu t, all with R = 2 mu² / impratio * (1 + mu²) (MuJoCo's
        `mj_makeImpedance`). While all of them press, their sum has a quarter of it, and their
        differences 1 / (2 mu²) of it.
        """
        if not friction:
            return 1.0, 1.0
        if not self.is_pyramidal:
            return 1.0, 1.0 / self.impratio
        wider = (1.0 + friction**2) / self.impratio
        return 0.5 * friction**2 * wider, wider


PYRAMIDAL = Cone(True, 1.0)
"""MuJoCo's default."""


def cone_of(options: Mapping[str, str]) -> Cone:
    """The friction cones of a file's <option>."""
    impratio = max(number_of(options.get("impratio", ""), 1.0), TINY)
    return Cone(options.get("cone", "pyramidal") != "elliptic", impratio)


def reference_rates(solref: Sequence[float], dmax: float, timestep: float) -> tuple[float, float]:
    """K [1/s²] and b [1/s] of MuJoCo's reference acceleration -b v - K d r. A positive solref has a
    time constant, at least two steps, and a damping ratio; one without positive numbers has a
    stiffness and a damping. MuJoCo replaces one with a single positive number by its default."""
    first, second = solref
    if (first > 0) != (second > 0):
        first, second = SOLREF
    if first > 0:
        time = max(first, 2 * timestep)
        return 1.0 / max((dmax * time * second) ** 2, TINY), 2.0 / (dmax * time)
    return max(-first, TINY) / dmax**2, -second / dmax


def is_bounded(solref: Sequence[float], timestep: float) -> bool:
    """True if MuJoCo's step bounds the time constant. There is no bound for a solref of stiffness
    and damping, or without a time step (refsafe="disable")."""
    return timestep > 0 and any(x > 0 for x in solref)


def bounded_impedance(d: float) -> float:
    """An impedance within MuJoCo's bounds."""
    return min(max(d, LEAST_IMPEDANCE), 1.0 - LEAST_IMPEDANCE)


def bounded_curve(solimp: Sequence[float]) -> Impedance:
    """The numbers of a solimp within MuJoCo's bounds (its `getsolparam`)."""
    lowest, highest, width, midpoint, power = solimp
    ends = bounded_impedance(lowest), bounded_impedance(highest)
    return *ends, max(width, 0.0), bounded_impedance(midpoint), max(power, 1.0)


def impedance_at(curve: Impedance, depth: float) -> float:
    """The impedance at a depth of 0 or more [m, rad]."""
    lowest, highest, width, m, power = curve
    if width <= NO_WIDTH:
        return 0.5 * (lowest + highest)
    x = min(depth / width, 1.0)
    # x^p / m^(p - 1), without dividing by a power that may be too small for a float.
    y = m * (x / m) ** power if x <= m else 1.0 - (1.0 - m) * ((1.0 - x) / (1.0 - m)) ** power
    return lowest + y * (highest - lowest)


def timestep_of(values: MjcfValues, options: Mapping[str, str]) -> float:
    """The time step of a file's <option> [s], of which two are the shortest time constant, or 0
    without that bound."""
    if "refsafe" in values.flags.disabled:
        return 0.0
    return number_of(options.get("timestep", ""), 0.002)


def number_of(text: str, default: float) -> float:
    """The number that a text holds, or the default if it holds none."""
    try:
        return float(text)
    except ValueError:
        return default


def limit_softness(values: MjcfValues, element: Element, written: Attributes) -> LimitSoftness:
    """Compliance of a joint's limit, with MuJoCo's defaults."""
    solref, solimp = (
        first_numbers(values, element, key, written, default)
        for key, default in (("solreflimit", SOLREF), ("solimplimit", SOLIMP))
    )
    curve = bounded_curve(solimp)
    timestep = timestep_of(values, values.settings(element.getroottree().getroot(), "option"))
    K, b = reference_rates(solref, curve[1], timestep)
    margin = values.number(element, "margin", written, 0.0)
    return LimitSoftness(K, b, curve, margin, is_bounded(solref, timestep))
