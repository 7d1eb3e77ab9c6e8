"""Domain randomisation: robots with different random numbers in each environment."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import warp as wp

from ..arrays import Array, Library, random_laws, random_laws_on_host, views
from ..arrays.random_laws import Law
from ..execution.compile.kernel_cache import start_kernel_cache
from ..execution.request.call import STANDARD_GRAVITY
from ..model import Model
from ..model.description import Joint, Link
from ..model.model import check_model
from ..model.names import look_up
from ..model.params import Params
from ..model.quantities import ADD, QUANTITIES, SCALE, SHAPES, owners
from ..model.value_substitution import nominal_value
from .whole_numbers import whole_number


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
        """The smallest and the largest number that can be drawn."""
        if self.law != "normal":
            return self.a, self.b
        return (
            self.a - random_laws_on_host.REACH * self.b,
            self.a + random_laws_on_host.REACH * self.b,
        )

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
            else "two finite numbers, low at most high"
        )
        raise ValueError(f"{verb} with the {law} law needs {needed}; got {low} and {high}")
    if law == "log-uniform" and low <= 0:
        raise ValueError(f"bounds of the log-uniform law must be above 0, got {low} to {high}")
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

    Each argument is a `wd.random.scale(..)` or a `wd.random.add(..)`, or a mapping from patterns of
    link or joint names, {"*finger*": wd.random.scale(0.8, 1.2)}; the last matching pattern counts.
    Without names it applies to all links that have mass, or to all joints on which it has an
    effect.
    mass [kg]: the inertia scales with it. com [m]. inertia: stretches the body along each axis of
    its link, by one factor for the second moment of mass along each axis. placement [m], tilt
    [rad]: position of the joints on their parents, and their orientation (rotation vector).
    armature, viscous, coulomb, stiffness, damping, gravity: as in `Model.params`.
    Arguments that could give an impossible body, or friction that drives a joint, raise an error.
    So masses stay positive, and inertias stay physically consistent if the model's are: the draws
    act on α, d and t of the log-Cholesky form (Rucker and Wensing, IEEE RA-L 7, 2022).

    like, dtype, device: as in `random_configuration`. The numbers are drawn on the device, with
    environments adjacent in memory. The numbers of an environment depend only on the seed, its
    index and the model.
    """
    check_model(model)
    envs, seed = whole_number("envs", envs), whole_number("seed", seed, least=None)
    given: dict[str, Draws] = {
        "mass": mass,
        "com": com,
        "inertia": inertia,
        "placement": placement,
        "tilt": tilt,
        "armature": armature,
        "viscous": viscous,
        "coulomb": coulomb,
        "stiffness": stiffness,
        "damping": damping,
    }
    draws = _draws_by_name(model, given)
    start_kernel_cache()
    numbers = _Numbers(envs, seed, views.kind_of(like, dtype, device))
    arrays: dict[str, Array] = {}
    names: dict[str, tuple[str, ...]] = {}
    for quantity in [q for q in SHAPES if q in draws]:
        names[quantity], arrays[quantity] = numbers.quantity(model, quantity, draws)
    down = None if gravity is None else numbers.gravity(gravity)
    return Params(model, arrays, names, down)


def _draws_by_name(model: Model, given: Mapping[str, Draws]) -> dict[str, dict[str, Draw]]:
    """The checked draws of each quantity, by name of link or joint."""
    draws = {
        q: dict(_draw_by_owner(model, q, what)) for q, what in given.items() if what is not None
    }
    for quantity, by_name in draws.items():
        _check(model, quantity, by_name)
    # An inertia scales with its mass, and a tilt turns a placement: they are one array of params.
    if "mass" in draws:
        draws["inertia"] = dict.fromkeys(draws["mass"], AS_IT_IS) | draws.get("inertia", {})
    if "tilt" in draws:
        draws["placement"] = dict.fromkeys(draws["tilt"], IN_PLACE) | draws.get("placement", {})
    return draws


@dataclass(frozen=True)
class _Numbers:
    """Random numbers of a seed for `envs` environments, as arrays of a kind: a library, a device
    and a precision."""

    envs: int
    seed: int
    kind: tuple[Library, str, bool]

    def quantity(
        self, model: Model, quantity: str, draws: Mapping[str, Mapping[str, Draw]]
    ) -> tuple[tuple[str, ...], Array]:
        """Names of the k links or joints that have a draw, in the model's order, and their numbers
        (envs, k, ..)."""
        every = owners(model, quantity)
        index = [k for k, owner in enumerate(every) if owner.name in draws[quantity]]
        chosen = [every[k] for k in index]
        names = tuple(owner.name for owner in chosen)
        kernel: Any = random_laws.draw_numbers
        more: list[Any] = []
        if quantity == "inertia":
            kernel = random_laws.draw_inertias
            masses = _rows(draws.get("mass", {}), names, AS_IT_IS)
            more = [[owner.mass for owner in chosen], masses, _seed(self.seed, "mass")]
        elif quantity == "placement":
            kernel = random_laws.draw_placements
            tilts = _rows(draws.get("tilt", {}), names, IN_PLACE)
            more = [tilts, _seed(self.seed, "tilt")]
        nominal = np.array([nominal_value(quantity, owner) for owner in chosen])
        rows = _rows(draws[quantity], names)
        return names, self._array(quantity, nominal, index, len(every), rows, kernel, more)

    def gravity(self, draw: Draw) -> Array:
        """Accelerations of free fall (envs, 3)."""
        nominal = np.array([STANDARD_GRAVITY])
        kernel = random_laws.draw_numbers
        down: Any = self._array("gravity", nominal, [0], 1, [draw.row], kernel, [])
        return down[:, 0]  # type: ignore[no-any-return]

    def _array(
        self,
        quantity: str,
        nominal: np.ndarray,
        index: list[int],
        owner_count: int,
        rows: list[list[float]],
        kernel: wp.Kernel,
        more: list[Any],
    ) -> Array:
        """(envs, k, ..) for the k owners at `index` among all owners."""
        library, device, single = self.kind
        out = views.empty(library, device, single, self.envs, nominal.shape, True)
        view = views.view(quantity, out)
        if nominal.ndim == 1:
            view = view._replace(shape=(*view.shape, 1), strides=(*view.strides, 0))
        flat = nominal.reshape(len(nominal), -1)
        key, stream = _seed(self.seed, quantity), library.stream(device)
        random_laws.vary(kernel, view, flat, rows, index, owner_count, key, more, stream)
        return library.wrap_result(out)  # type: ignore[no-any-return]


def _rows(
    draws: Mapping[str, Draw], names: Sequence[str], otherwise: Draw | None = None
) -> list[list[float]]:
    """The draw of each name as numbers for a kernel."""
    chosen = (draws.get(name, otherwise) for name in names)
    return [draw.row for draw in chosen if draw is not None]


def _seed(seed: int, quantity: str) -> int:
    """Seed of the numbers drawn for a quantity, so that they do not depend on the other quantities
    drawn."""
    return seed + (zlib.crc32(quantity.encode()) << 32)


def _draw_by_owner(model: Model, quantity: str, what: Draws) -> Iterator[tuple[str, Draw]]:
    """Names of links or joints, each with its draw."""
    noun = QUANTITIES[quantity].owner
    patterns: Mapping[str, Any] = what if isinstance(what, Mapping) else {"*": what}
    if not patterns:
        raise ValueError(
            f"{quantity} needs the name pattern of at least one {noun}, got {patterns!r}"
        )
    known: dict[str, Any] = {owner.name: owner for owner in owners(model, quantity)}
    for pattern, draw in patterns.items():
        if not isinstance(draw, Draw):
            raise TypeError(
                f"{quantity} needs wd.random.scale(..) or wd.random.add(..), or these by name pattern; got {draw!r}"
            )
        if not any(fnmatchcase(name, pattern) for name in known):
            look_up(known, pattern, noun, model.name)
    used = False
    for name, owner in known.items():
        matching = [
            (pattern, draw) for pattern, draw in patterns.items() if fnmatchcase(name, pattern)
        ]
        if matching and (matching[-1][0] == name or _has_effect(quantity, owner, matching[-1][1])):
            used = True
            yield name, matching[-1][1]
    if not used:
        raise ValueError(
            f"{quantity}: no {noun} of {model.name} that matches {list(patterns)} has any, and "
            "scaling zero has no effect; use wd.random.add(..)"
        )


def _has_effect(quantity: str, owner: Link | Joint, draw: Draw) -> bool:
    """True if a draw for all owners has an effect on this one."""
    if isinstance(owner, Link):
        return owner.mass > 0
    if SCALE not in QUANTITIES[quantity].changes:
        return True
    if draw.verb == "scale":
        return nominal_value(quantity, owner) > 0
    bounded = owner.is_bounded or quantity not in ("stiffness", "damping")
    return bounded and owner.mimic is None and owner.kind.nv == 1


def _check(model: Model, quantity: str, draws: Mapping[str, Draw]) -> None:
    """Raise for a draw that could give an impossible robot."""
    described = QUANTITIES[quantity]
    for name, draw in draws.items():
        if draw.verb == "add" and ADD not in described.changes:
            raise ValueError(
                f"{quantity} can only be scaled, because a sum may belong to no body: use "
                "wd.random.scale(..)"
            )
        if draw.verb == "scale" and SCALE not in described.changes:
            raise ValueError(f"{quantity} cannot be scaled: use wd.random.add(..)")
        # An inertia may have negative entries, but the factor that scales it may not be negative.
        if described.signed and quantity != "inertia":
            continue
        owner = model.link(name) if described.owner == "link" else model.joint(name)
        nominal = 1.0 if quantity == "inertia" else nominal_value(quantity, owner)
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
