"""Domain randomisation: robots with different random numbers in each environment."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import warp as wp

from ..arrays import Array, random_laws, views
from ..arrays.random_laws import Law
from ..execution.compile.kernel_cache import start_kernel_cache
from ..execution.request.call import STANDARD_GRAVITY
from ..model import Model
from ..model.description import Joint, Link, look_up
from ..model.params import Params
from ..model.quantities import LINK, SHAPES
from ..model.value_substitution import nominal_value

SCALED = ("inertia",)
ADDED = ("placement", "tilt")
SIGNED = ("com", "placement", "tilt", "gravity")
"""Quantities that can only be scaled, that can only be added to, and that may be negative."""


@dataclass(frozen=True)
class Draw:
    """A random change of a number: multiply it by, or add to it, a random number of a law with two
    parameters."""

    verb: str
    a: float
    b: float
    law: Law

    @property
    def support(self) -> tuple[float, float]:
        """The least and the greatest number that can be drawn."""
        if self.law != "normal":
            return self.a, self.b
        return self.a - random_laws.REACH * self.b, self.a + random_laws.REACH * self.b

    @property
    def row(self) -> list[float]:
        return [
            float(random_laws.LAWS.index(self.law)),
            self.a,
            self.b,
            float(self.verb == "scale"),
        ]

    def least(self, nominal: float) -> float:
        return nominal * self.support[0] if self.verb == "scale" else nominal + self.support[0]


def scale(low: float, high: float, law: Law = "uniform") -> Draw:
    """Multiply by a factor, one for each link or joint of each environment.

    law: "uniform" between `low` and `high`; "log-uniform" between them, so that halving is as
    likely as doubling; "normal" with mean `low` and standard deviation `high`, truncated at three
    standard deviations.
    """
    return _draw("scale", low, high, law)


def add(low: float, high: float, law: Law = "uniform") -> Draw:
    """Add a random number; for vectors, one for each component. `law` as in `scale`."""
    return _draw("add", low, high, law)


def _draw(verb: str, low: float, high: float, law: Law) -> Draw:
    draw = Draw(verb, float(low), float(high), law)
    if law not in random_laws.LAWS:
        raise ValueError(
            f"law must be one of {', '.join(map(repr, random_laws.LAWS))}, got {law!r}"
        )
    if not np.isfinite([low, high]).all() or (high < 0 if law == "normal" else high < low):
        needed = (
            "a mean and a standard deviation"
            if law == "normal"
            else "the least and the greatest number"
        )
        raise ValueError(f"{verb} by the {law} law needs {needed}, got {low} and {high}")
    if law == "log-uniform" and low <= 0:
        raise ValueError(f"log-uniform numbers are positive, got {low} to {high}")
    return draw


AS_IT_IS, IN_PLACE = Draw("scale", 1.0, 1.0, "uniform"), Draw("add", 0.0, 0.0, "uniform")
Draws = Draw | Mapping[str, Draw] | None


def randomise(
    model: Model,
    envs: int,
    *,
    seed: int = 0,
    mass: Draws = None,
    com: Draws = None,
    inertia: Draws = None,
    placement: Draws = None,
    tilt: Draws = None,
    armature: Draws = None,
    viscous: Draws = None,
    coulomb: Draws = None,
    stiffness: Draws = None,
    damping: Draws = None,
    gravity: Draw | None = None,
    like: Array | None = None,
    dtype: Any = None,
    device: Any = None,
) -> Params:
    """Random parameters around the model's own, for the `params=` of every function.

    Each argument is a `scale(..)` or an `add(..)`, or a mapping from patterns of link or joint
    names, {"*finger*": scale(0.8, 1.2)}; the last matching pattern counts. Without names it applies
    to all links that have mass, or to all joints on which it has an effect.
    mass [kg]: the inertia scales with it. com [m]. inertia: stretches the body along each axis of
    its link, by one factor for the second moment of mass along each axis. placement [m], tilt
    [rad]: position of the joints on their parents, and their orientation (rotation vector).
    armature, viscous, coulomb, stiffness,
    damping, gravity: as in `Model.params`.
    Arguments that could give an impossible body, or friction that drives a joint, raise an error.
    So masses stay positive, and inertias stay physically consistent if the model's are: the draws
    act on α, d and t of the log-Cholesky form (Rucker and Wensing, IEEE RA-L 7, 2022).

    like, dtype, device: as in `random_configuration`. The numbers are drawn on the device, with
    environments adjacent in memory. The numbers of an environment depend only on the seed, its
    index and the model.
    """
    if not isinstance(envs, int) or envs < 1:
        raise ValueError(f"envs must be a whole number of environments, at least 1, got {envs!r}")
    given: dict[str, Draws] = {
        "mass": mass,
        "com": com,
        "inertia": inertia,
        "placement": placement,
        "tilt": tilt,
    }
    given |= {
        "armature": armature,
        "viscous": viscous,
        "coulomb": coulomb,
        "stiffness": stiffness,
        "damping": damping,
    }
    draws = {q: dict(_chosen(model, q, what)) for q, what in given.items() if what is not None}
    for quantity in draws:
        _check(model, quantity, draws[quantity])
    if "mass" in draws:
        draws["inertia"] = dict.fromkeys(draws["mass"], AS_IT_IS) | draws.get("inertia", {})
    if "tilt" in draws:
        draws["placement"] = dict.fromkeys(draws["tilt"], IN_PLACE) | draws.get("placement", {})
    start_kernel_cache()
    kind = views.kind_of(like, dtype, device)

    def rows(
        quantity: str, names: Sequence[str], otherwise: Draw | None = None
    ) -> list[list[float]]:
        return [draws.get(quantity, {}).get(name, otherwise).row for name in names]  # type: ignore[union-attr]

    def drawn(
        quantity: str,
        nominal: np.ndarray,
        index: list[int],
        owners: int,
        rows: list,
        kernel: wp.Kernel,
        more: list,
    ) -> Array:
        """(envs, k, ..) for the k owners at `index` among all owners."""
        out = views.empty(*kind, envs, nominal.shape, True)
        view = views.view(quantity, out)
        if nominal.ndim == 1:
            view = view._replace(shape=(*view.shape, 1), strides=(*view.strides, 0))
        key, stream = _seed(seed, quantity), kind[0].stream(kind[1])
        random_laws.vary(
            kernel, view, nominal.reshape(len(nominal), -1), rows, index, owners, key, more, stream
        )
        return kind[0].wrap_result(out)

    arrays: dict[str, Array] = {}
    names: dict[str, tuple[str, ...]] = {}
    for quantity in [q for q in SHAPES if q in draws]:
        owners: Sequence[Any] = model.links if quantity in LINK else model.joints
        index = [k for k, owner in enumerate(owners) if owner.name in draws[quantity]]
        names[quantity] = tuple(owners[k].name for k in index)
        nominal = np.array([nominal_value(quantity, owners[k]) for k in index])
        kernel, more = random_laws.draw_numbers, []
        if quantity == "inertia":
            kernel = random_laws.draw_inertias
            more = [
                [owners[k].mass for k in index],
                rows("mass", names[quantity], AS_IT_IS),
                _seed(seed, "mass"),
            ]
        elif quantity == "placement":
            kernel = random_laws.draw_placements
            more = [rows("tilt", names[quantity], IN_PLACE), _seed(seed, "tilt")]
        arrays[quantity] = drawn(
            quantity, nominal, index, len(owners), rows(quantity, names[quantity]), kernel, more
        )
    down: Any = None
    if gravity is not None:
        nominal = np.array([STANDARD_GRAVITY])
        down = drawn("gravity", nominal, [0], 1, [gravity.row], random_laws.draw_numbers, [])
        down = down[:, 0]
    return Params(model, arrays, names, down)


def _seed(seed: int, quantity: str) -> int:
    """Seed of the numbers drawn for a quantity, so that they do not depend on the other quantities
    drawn."""
    return seed + (zlib.crc32(quantity.encode()) << 32)


def _chosen(model: Model, quantity: str, what: Draws) -> Iterator[tuple[str, Draw]]:
    """Names of links or joints, each with its draw."""
    noun = "link" if quantity in LINK else "joint"
    owners: Sequence[Any] = model.links if quantity in LINK else model.joints
    patterns: Mapping[str, Any] = what if isinstance(what, Mapping) else {"*": what}
    known: dict[str, Any] = {owner.name: owner for owner in owners}
    for pattern, draw in patterns.items():
        if not isinstance(draw, Draw):
            raise TypeError(
                f"{quantity} needs wd.scale(..) or wd.add(..), or these by name pattern; got {draw!r}"
            )
        if not any(fnmatchcase(name, pattern) for name in known):
            look_up(known, pattern, noun, model.name)
    used = False
    for name, owner in known.items():
        matching = [
            (pattern, draw) for pattern, draw in patterns.items() if fnmatchcase(name, pattern)
        ]
        if matching and (matching[-1][0] == name or _answers(quantity, owner, matching[-1][1])):
            used = True
            yield name, matching[-1][1]
    if not used:
        hint = "; scaling leaves zero as it is" if quantity not in ADDED else ""
        raise ValueError(
            f"{quantity}: no {noun} of {model.name} that matches {list(patterns)} has any{hint}"
        )


def _answers(quantity: str, owner: Link | Joint, draw: Draw) -> bool:
    """True if a draw for all owners has an effect on this one."""
    if isinstance(owner, Link):
        return owner.mass > 0
    if quantity in ADDED:
        return True
    if draw.verb == "scale":
        return nominal_value(quantity, owner) > 0
    bounded = owner.bounded or quantity not in ("stiffness", "damping")
    return bounded and owner.mimic is None and owner.kind.nv == 1


def _check(model: Model, quantity: str, draws: Mapping[str, Draw]) -> None:
    """Raise for a draw that could give an impossible robot."""
    for name, draw in draws.items():
        if draw.verb == "add" and quantity in SCALED:
            raise ValueError(
                f"{quantity} is scaled, not added to, which keeps it that of a body: wd.scale(..)"
            )
        if draw.verb == "scale" and quantity in ADDED:
            raise ValueError(f"{quantity} is added to, not scaled: wd.add(..)")
        if quantity in SIGNED:
            continue
        nominal = (
            1.0
            if quantity == "inertia"
            else nominal_value(
                quantity, model.link(name) if quantity in LINK else model.joint(name)
            )
        )
        # The smallest number that the law can give must still be possible, in every environment.
        least = draw.least(nominal)
        if (
            least < 0
            or (least == 0 and quantity == "inertia")
            or (least <= 0 < nominal and quantity == "mass")
        ):
            low, high = draw.support
            raise ValueError(
                f'{quantity} of "{name}", {nominal:g}, could become {least:g}; choose a narrower law than {draw.verb} '
                f"{low:g} to {high:g}"
            )
