"""MJCF: contact of geoms with the floor of their file, and the parts of a file that a `Simulation`
ignores.

Contact parameters of a pair are mixed as MuJoCo mixes them (its documentation, Computation,
chapters "Contact" and "Solver parameters"): for geoms of one priority the larger friction and
condim, the means of solref and solimp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from ...model.ground_contact import (
    NOT_SIMULATED,
    STANDARD_WEIGHT,
    ContactFriction,
    ContactSoftness,
    GroundContact,
    ShapeTouch,
    TouchingPair,
)
from .mjcf_bodies import WORLD, BodyElement
from .mjcf_contact_attributes import check_contact_attributes
from .mjcf_grounds import GROUNDS, grounds_of
from .mjcf_softness import (
    PYRAMIDAL,
    SOLIMP,
    SOLREF,
    Cone,
    bounded_curve,
    cone_of,
    impedance_at,
    is_bounded,
    number_of,
    reference_rates,
    timestep_of,
)
from .mjcf_tendons import unsupported_tendons
from .mjcf_values import TINY, Element, MjcfValues

DEFAULTS: Mapping[str, tuple[float, ...]] = {
    "friction": (1.0, 0.005, 0.0001),
    "condim": (3.0,),
    "priority": (0.0,),
    "solmix": (1.0,),
    "solref": SOLREF,
    "solimp": SOLIMP,
    "margin": (0.0,),
    "gap": (0.0,),
    "contype": (1.0,),
    "conaffinity": (1.0,),
}
"""MuJoCo's defaults."""

FRICTION_OF_PAIR = (1.0, 1.0, 0.005, 0.0001, 0.0001)
"""MuJoCo's default of a <pair>: sliding along both axes, torsional, and rolling about both."""

ENDS = ("geom1", "geom2")

OF_PAIRS = ("solref", "solreffriction", "solimp", "margin", "gap")
"""Attributes of a <pair> that contacts between bodies do not have."""

HALVINGS = 60
"""Steps of a bisection, down to the rounding of a double."""


class GeomContact(NamedTuple):
    """Contact parameters of a geom, with MuJoCo's defaults."""

    friction: tuple[float, ...]
    condim: int
    priority: int
    solmix: float
    solref: tuple[float, ...]
    solimp: tuple[float, ...]
    margin: float
    gap: float
    contype: int
    conaffinity: int

    @classmethod
    def of(cls, written: Mapping[str, str]) -> GeomContact:
        """The parameters from a geom's attributes. Raises ValueError if one is not a number."""
        read: dict[str, tuple[float, ...]] = {}
        for name, default in DEFAULTS.items():
            numbers = tuple(float(word) for word in written.get(name, "").split())
            read[name] = (*numbers, *default[len(numbers) :])
        whole = {n: int(read[n][0]) for n in ("condim", "priority", "contype", "conaffinity")}
        single = {n: read[n][0] for n in ("solmix", "margin", "gap")}
        several = {n: read[n] for n in ("friction", "solref", "solimp")}
        return cls(**whole, **single, **several)  # type: ignore[arg-type]

    def collides(self, other: GeomContact) -> bool:
        """True if the two may touch."""
        return bool(self.contype & other.conaffinity or other.contype & self.conaffinity)

    def mix_with(self, other: GeomContact) -> GeomContact:
        """The mixed parameters of their contact, without masks. Their margins add."""
        margin = self.margin + other.margin
        if self.priority != other.priority:
            return max(self, other, key=lambda each: each.priority)._replace(margin=margin)
        total = self.solmix + other.solmix
        share = self.solmix / total if total > TINY else 0.5
        standard = min(self.solref[0], other.solref[0]) > 0
        return self._replace(
            friction=tuple(map(max, self.friction, other.friction)),
            condim=max(self.condim, other.condim),
            solref=_mean(self.solref, other.solref, share)
            if standard
            else tuple(map(min, self.solref, other.solref)),
            solimp=_mean(self.solimp, other.solimp, share),
            margin=margin,
        )

    def on_ground(
        self, timestep: float, touches: bool = True, cone: Cone = PYRAMIDAL
    ) -> GroundContact:
        """The contact with the ground that has these parameters.

        MuJoCo's contact at rest: (1 - d) a0 + d aref = 0, aref = -b r' - K d r. The sink is the r
        at which a0 is standard gravity, the dissipation the ratio b / (K d) there. This holds for
        elliptic cones: with pyramidal ones MuJoCo's stiffness depends on the friction as well.
        """
        curve = bounded_curve(self.solimp)
        K, b = reference_rates(self.solref, curve[1], timestep)
        shallow, deep = 0.0, 1.0
        for _ in range(HALVINGS):
            depth = 0.5 * (shallow + deep)
            d = impedance_at(curve, depth)
            carries = K * d * d * depth > (1.0 - d) * STANDARD_WEIGHT
            shallow, deep = (shallow, depth) if carries else (depth, deep)
        sliding, torsional, rolling = self.acting_friction
        damping = b / (K * impedance_at(curve, deep))
        edges = cone.is_pyramidal and sliding > 0 and not (torsional or rolling)
        parts = *cone.compliances(sliding), edges
        softness = ContactSoftness(
            K, b, curve, *parts, is_bounded=is_bounded(self.solref, timestep)
        )
        numbers = sliding, deep, damping, torsional, rolling, max(self.margin, 0.0), softness
        return GroundContact(touches, *numbers)

    @property
    def acting_friction(self) -> ContactFriction:
        """The friction that acts in the contact, which depends on its condim."""
        return ContactFriction(*self.friction).of_condim(self.condim)


def _mean(x: Sequence[float], y: Sequence[float], share: float) -> tuple[float, ...]:
    return tuple(share * a + (1.0 - share) * b for a, b in zip(x, y, strict=True))


class GeomPair(NamedTuple):
    """A <pair>: the names of its two geoms, and its parameters, which replace those of the geoms.

    `across`: the sliding and the rolling coefficient of the second axis of the contact. `more`: attributes that
    contacts between bodies do not have.
    """

    geoms: tuple[str, str]
    contact: GeomContact
    across: tuple[float, float]
    more: tuple[str, ...]

    def other_than(self, geom: str) -> str:
        """The other geom."""
        return self.geoms[1] if geom == self.geoms[0] else self.geoms[0]


class MjcfContacts:
    """Contacts of one load: the floor of the file, its pairs of geoms, and the requested features
    that are not simulated."""

    def __init__(self, values: MjcfValues, root: Element) -> None:
        self.values = values
        self.root, self.options = root, values.settings(root, "option")
        self.timestep, self.cone = timestep_of(values, self.options), cone_of(self.options)
        self.are_disabled = "contact" in values.flags.disabled
        self.floors: list[GeomContact] = []
        """Planes and height fields of the world that are the ground."""
        self.floor_names: set[str] = set()
        self.geoms: list[GeomContact] = []
        """Geoms that touch the ground."""
        self.bodies: Mapping[str, BodyElement] = {}
        self.has_world = True
        self.body_of_geom: dict[str, str] = {}
        self.pairs: list[GeomPair] = []
        self.repeated = 0
        """Number of pairs whose geoms an earlier pair has."""
        self.ambiguous = 0
        """Number of geoms whose contacts with two grounds differ. Those with the first one act."""
        self.placed: dict[str, tuple[str, int]] = {}
        """The link of each geom in a pair, and its number among the link's collision shapes."""

    def look_at(self, bodies: Mapping[str, BodyElement], has_world: bool) -> None:
        """Find the floor and the pairs of geoms. has_world: the world is a link."""
        self.bodies, self.has_world = bodies, has_world
        for body in bodies.values():
            for element, written, _ in body.matter.geoms:
                check_contact_attributes(self.values, element, written)
        grounds = grounds_of(self.values, bodies[WORLD].matter.geoms)
        self.floor_names = {written["name"] for written in grounds if "name" in written}
        self.floors = list(map(GeomContact.of, grounds))
        for body in bodies.values():
            named = (written["name"] for _, written, _ in body.matter.geoms if "name" in written)
            self.body_of_geom |= dict.fromkeys(named, body.name)
        for element in self.root.iterfind("contact/exclude"):
            for key in ("body1", "body2"):
                if element.get(key) not in bodies:
                    message = f'{key} is "{element.get(key)}", but no body has this name'
                    raise self.values.refusal(element, message)
        for element in () if self.are_disabled else self.root.iterfind("contact/pair"):
            pair = self._read_pair(element)
            same = any(set(pair.geoms) == set(each.geoms) for each in self.pairs)
            self.repeated += same
            if not same:
                self.pairs.append(pair)

    def of(self, body: str, written: Mapping[str, str]) -> GroundContact:
        """The contact of a body's geom with the ground. If the file has a floor, the parameters of
        the pair; otherwise the geom's own, with friction, because a floor has it by default."""
        mine = GeomContact.of(written)
        pairs = self._with_floors(body, written.get("name", ""), mine)
        if (
            self.are_disabled
            or (self.floors and not pairs)
            or not (pairs or mine.contype or mine.conaffinity)
        ):
            return mine.on_ground(self.timestep, touches=False, cone=self.cone)
        pair = pairs[0] if pairs else mine._replace(condim=max(mine.condim, 3))
        self.geoms.append(pair)
        self.ambiguous += any(each != pair for each in pairs[1:])
        return pair.on_ground(self.timestep, cone=self.cone)

    def _with_floors(self, body: str, geom: str, mine: GeomContact) -> list[GeomContact]:
        """The parameters of a geom's contacts with each floor that it touches: those of a <pair>
        come first."""
        named = [each for each in self.pairs if geom and geom in each.geoms]
        pairs = [x.contact for x in named if x.other_than(geom) in self.floor_names]
        if len(pairs) == len(self.floors) or {body, WORLD} in map(set, self.excluded_pairs()):
            return pairs
        return pairs + [mine.mix_with(floor) for floor in self.floors if mine.collides(floor)]

    def in_pair(self, geom: str | None) -> bool:
        """True if a <pair> names the geom."""
        return any(geom in pair.geoms for pair in self.pairs)

    def _read_pair(self, element: Element) -> GeomPair:
        """The pair of an element. Raises ModelError for unknown geoms and for parameters that are
        not numbers."""
        written = self.values.attributes(element, "pair", None)
        first, second = (written.get(key, "") for key in ENDS)
        for key, name in zip(ENDS, (first, second), strict=True):
            if name not in self.body_of_geom:
                raise self.values.refusal(element, f'{key} is "{name}", but no geom has this name')
        said = {key: text for key, text in written.items() if key in DEFAULTS and key != "friction"}
        check_contact_attributes(self.values, element, written)
        contact = GeomContact.of(said)
        numbers = tuple(float(word) for word in written.get("friction", "").split())
        along, across, torsion, roll, roll_across = (*numbers, *FRICTION_OF_PAIR[len(numbers) :])
        contact = contact._replace(friction=(along, torsion, roll))
        more = tuple(key for key in OF_PAIRS if key in written)
        return GeomPair((first, second), contact, (across, roll_across), more)

    def touch(self, written: Mapping[str, str]) -> ShapeTouch:
        """The contact of a geom with other geoms."""
        mine = GeomContact.of(written)
        friction = ContactFriction(*mine.friction)
        if self.are_disabled:
            return ShapeTouch(0, 0, friction, mine.priority, mine.condim)
        return ShapeTouch(mine.contype, mine.conaffinity, friction, mine.priority, mine.condim)

    def excluded_pairs(self) -> list[tuple[str, str]]:
        """Pairs of bodies that an <exclude> keeps from touching."""
        pairs = self.root.iterfind("contact/exclude")
        return [(str(e.get("body1")), str(e.get("body2"))) for e in pairs]

    def touching_pairs(self) -> list[TouchingPair]:
        """The pairs of geoms that are collision shapes, after `placed` is complete. Those with the
        floor are contacts with the ground."""
        found = []
        for pair in self.pairs:
            if all(name in self.placed for name in pair.geoms):
                (a, first), (b, second) = (self.placed[name] for name in pair.geoms)
                friction = pair.contact.acting_friction
                found.append(TouchingPair((a, b), (first, second), friction))
        return found

    def remarks(self) -> list[str]:
        """One line that lists everything that is not simulated; none if the list is empty."""
        parts = list(self._unsupported_parts())
        return [f"{NOT_SIMULATED}{', '.join(parts)}"] if parts else []

    def _unsupported_parts(self) -> Iterator[str]:
        fluid = [n for n in ("density", "viscosity") if number_of(self.options.get(n, ""), 0.0)]
        if fluid:
            yield f"fluid forces ({' and '.join(fluid)} of <option>)"
        if count := sum(geom.margin < 0 for geom in self.geoms):
            yield f"negative margins of geoms ({count})"
        if self.ambiguous:
            yield f"contact parameters of a second ground that differ from the first ({self.ambiguous})"
        if len({(geom.solref, geom.solimp) for geom in self.geoms}) > 1:
            yield "solref and solimp of single geoms, in the place of one stiffness for all"
        elif any(geom.solimp != DEFAULTS["solimp"] for geom in self.geoms):
            yield "the shape of solimp, but for its stiffness at rest"
        for key in ("surfacevel", "adhesion"):
            if count := self._count_nonzero(key):
                yield f"{key} of geoms and contact pairs ({count})"
        yield from self._unsupported_parts_of_pairs()
        yield from unsupported_tendons(self.values, self.root)
        yield from self.values.flags.not_simulated()
        yield from self._unsupported_contacts()

    def _unsupported_contacts(self) -> Iterator[str]:
        bodies, still = (False, False) if self.are_disabled else self._possible_contacts()
        if (bodies or still) and any(geom.margin for geom in self.geoms):
            yield "margins of geoms in contacts with pairs="
        if bodies:
            yield "contacts between bodies without pairs="
        if still:
            free = "(the base is free, so no link is the world)"
            why = "without pairs=" if self.has_world else free
            yield f"contacts with shapes of the world other than the floor {why}"

    def _count_nonzero(self, key: str) -> int:
        """The number of geoms and pairs with an attribute that is not zero."""
        written = [words for body in self.bodies.values() for _, words, _ in body.matter.geoms]
        pairs = self.root.iterfind("contact/pair")
        written += [self.values.attributes(element, "pair", None) for element in pairs]
        return sum(any(number_of(x, 1.0) for x in each.get(key, "").split()) for each in written)

    def _unsupported_parts_of_pairs(self) -> Iterator[str]:
        """Parts of <pair> elements that are not simulated, each with the number of pairs."""
        floors = self.floor_names
        between = [pair for pair in self.pairs if not floors.intersection(pair.geoms)]
        on_floor = [pair for pair in self.pairs if floors.intersection(pair.geoms)]
        sliding = [pair for pair in self.pairs if pair.contact.condim > 1]
        counts = {
            "the friction of contact pairs along their second axis": sum(
                pair.contact.friction[0] != pair.across[0] for pair in sliding
            ),
            "the rolling friction of contact pairs about their second axis": sum(
                pair.contact.condim > 4 and pair.contact.friction[2] != pair.across[1]
                for pair in between
            ),
            "solref, solimp, margin and gap of contact pairs": sum(
                bool(pair.more) for pair in between
            ),
            "solreffriction of contact pairs with the floor": sum(
                "solreffriction" in pair.more for pair in on_floor
            ),
            "contact pairs with shapes that have no contacts": sum(
                not all(name in self.placed for name in pair.geoms) for pair in between
            ),
            "repeated contact pairs": self.repeated,
        }
        yield from (f"{what} ({count})" for what, count in counts.items() if count)

    def _possible_contacts(self) -> tuple[bool, bool]:
        """True for bodies that may touch one another, and True for bodies that may touch fixed
        shapes of the world.

        Geoms do not touch each other if no joint moves their bodies against each other, or if a
        single joint connects them.
        """
        rigid: dict[str, str] = {}
        for name, body in self.bodies.items():
            rigid[name] = name if body.joints or name == WORLD else rigid[body.parent]
        above = {rigid[n]: rigid[b.parent] for n, b in self.bodies.items() if b.joints}
        geoms = self._contact_bits(rigid)
        excluded = {
            frozenset((rigid.get(a, ""), rigid.get(b, ""))) for a, b in self.excluded_pairs()
        }
        found = [False, False]
        for pair in self.pairs:
            ends = {rigid[self.body_of_geom[name]] for name in pair.geoms}
            if len(ends) == 2 and not self.floor_names.intersection(pair.geoms):
                found[WORLD in ends] = True
        for a, b in combinations(geoms, 2):
            world = WORLD in (a, b)
            joined = not world and (above.get(a) == b or above.get(b) == a)
            if not joined and frozenset((a, b)) not in excluded:
                meet = any(s & w or t & u for s, u in geoms[a] for t, w in geoms[b])
                found[world] = found[world] or meet
        return found[0], found[1]

    def _contact_bits(self, rigid: Mapping[str, str]) -> dict[str, set[tuple[int, int]]]:
        """The contype and conaffinity of the geoms of each rigid body, except planes and height fields of the world.

        rigid: the rigid body that each body is part of.
        """
        bits: dict[str, set[tuple[int, int]]] = {}
        for name, body in self.bodies.items():
            for _, written, _ in body.matter.geoms:
                contact = GeomContact.of(written)
                if not (name == WORLD and written.get("type") in GROUNDS):
                    bits.setdefault(rigid[name], set()).add((contact.contype, contact.conaffinity))
        return bits
