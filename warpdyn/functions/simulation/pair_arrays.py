"""Arrays of contacts between bodies: their properties, and the arrays that one step passes to the next."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...algorithms.simulation.contact_rows import impulse_width
from ...algorithms.simulation.contact_shapes import GROUND, ContactPair, ContactShape
from ...execution.request.evaluate import tree_of
from ...model import Model
from ...model.structure import Structure
from ...model.tree import WORLD
from .contact_pairs import RIGID, ContactPairs, PairContact
from .ground import FRICTION
from .moment_numbers import moment_arrays, moment_counts
from .step_options import StepOptions
from .varied_numbers import Shaped, Varied, for_all, for_each, is_number

MOST_CONTACTS = 1000
"""Largest number of contacts of all pairs: a kernel of 1000 takes 24 s to compile, one of 1,860
takes 50 s (one core, November 2026)."""

UNBOUNDED = 1e12
"""Stiffness of a pair that is as stiff as the step allows [N/m]."""


def pair_arrays(options: StepOptions, pairs: Sequence[ContactPair], q: Any) -> Shaped:
    """The numbers of pairs with their shapes, by name; empty without pairs."""
    contact = options.pair_contact
    count = len(pairs)
    memory = memory_shapes(pairs, moments_of_pairs(options.pairs, contact))
    shaped: Shaped = {
        name: (getattr(options, name), shape)
        for name, shape in memory.items()
        if getattr(options, name) is not None
    }
    if not pairs:
        if any(x is not default for x, default in zip(contact, RIGID, strict=True)):
            raise ValueError("pair_contact= needs pairs=, and there are none")
        if shaped:
            raise ValueError(f"{min(shaped)}= needs pairs=, and there are none")
        return {}
    if options.terrain is not None:
        _refuse_level_ground(pairs)
    # Impulses belong to features, so both arrays are needed; the number of pairs without a slot is
    # independent of them.
    from_last_step = [name for name in shaped if name != "pairs_left_out"]
    if len(from_last_step) == 1:
        (alone,) = from_last_step
        raise ValueError(
            f"{alone}= cannot be used alone: pair_impulses= and pair_features= of the last step go together"
        )
    each: Shaped = {}
    numbers = {
        "friction": described_friction(options.pairs, contact.friction),
        "stiffness": UNBOUNDED if contact.stiffness is None else contact.stiffness,
        "dissipation": contact.dissipation,
    }
    if not (is_number(contact.restitution) and contact.restitution == 0):
        numbers["restitution"] = contact.restitution
    for name, value in numbers.items():
        most = 1.0 if name == "restitution" else math.inf
        above = 0.0 if name == "stiffness" else None
        checked = for_each(name, value, count, above=above, most=most, finite=name == "friction")
        each[f"pair_{name}"] = checked, (count,)
    each |= moment_arrays("pair_", *described_moments(options.pairs, contact), count)
    each["pair_push_out"] = for_all("push_out", contact.push_out, q, above=0.0), (1,)
    return shaped | each


def _refuse_level_ground(pairs: Sequence[ContactPair]) -> None:
    """Raise for pairs with the plane z = 0 next to another ground."""
    links = [pair.second.link for pair in pairs if pair.first == GROUND]
    if links:
        names = ", ".join(dict.fromkeys(map(str, links)))
        raise ValueError(
            f"pairs= has the plane z = 0 with {names} (with_ground), and terrain= is another ground; "
            "leave with_ground out, and let points= of these links touch the terrain"
        )


def memory_shapes(
    pairs: Sequence[ContactPair], moments: Sequence[int] = ()
) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays of pairs that one step passes to the next, by name. `moments`: the
    number of friction moments of each pair."""
    contacts = sum(pair.contacts for pair in pairs)
    return {
        "pair_impulses": (contacts, impulse_width(moments)),
        "pair_features": (contacts,),
        "pairs_left_out": (1,),
    }


def described_friction(pairs: Sequence[ContactPair], given: Any) -> float | Varied:
    """The friction of each pair: the argument, else that of the description, else 0.8."""
    if given is not None:
        friction: float | Varied = given
        return friction
    if not isinstance(pairs, ContactPairs):
        return FRICTION
    return tuple(FRICTION if x is None else x for x in pairs.friction)


def described_moments(pairs: Sequence[ContactPair], contact: PairContact) -> tuple[Any, Any]:
    """The torsional and the rolling friction of pairs: what `contact` gives, else that of the
    description, else 0."""
    if not isinstance(contact, PairContact):
        raise TypeError(
            f"pair_contact must be wd.description.PairContact(friction=...), got {type(contact).__name__}"
        )
    torsional, rolling = contact.torsional_friction, contact.rolling_friction
    if isinstance(pairs, ContactPairs):
        torsional = pairs.torsional_friction if torsional is None else torsional
        rolling = pairs.rolling_friction if rolling is None else rolling
    return torsional, rolling


def moments_of_pairs(pairs: Sequence[ContactPair], contact: PairContact) -> tuple[int, ...]:
    """The number of friction moments of each pair; empty if no pair has any."""
    return moment_counts(*described_moments(pairs, contact), len(pairs))


def checked_pairs(model: Model, pairs: Sequence[ContactPair]) -> tuple[ContactPair, ...]:
    """Pairs as constants of a program; raises for a pair of unknown links or shapes, and for too
    many contacts."""
    checked = []
    if isinstance(pairs, (str, bool)):
        raise TypeError(f"pairs must be those of wd.ContactPairs(model), got {pairs!r}")
    for pair in pairs:
        if not isinstance(pair, ContactPair):
            raise TypeError(f"pairs must be those of wd.ContactPairs(model), got {pair!r}")
        for shape in pair:
            _check_shape(model, shape)
        checked.append(pair)
    contacts = sum(pair.contacts for pair in checked)
    if contacts > MOST_CONTACTS:
        raise ValueError(
            f"{len(checked)} pairs have {contacts} contacts, more than {MOST_CONTACTS}, which a step "
            "keeps in memory; choose the pairs that matter: "
            'pairs=wd.ContactPairs(model).only(("*_finger", "cube"), ...)'
        )
    return tuple(checked)


def _check_shape(model: Model, shape: ContactShape) -> None:
    if shape.link is not None:
        model.link_index(shape.link)
    numbers = (*shape.size, *shape.position, *(x for v in shape.vertices for x in v))
    if not all(map(math.isfinite, numbers)) or any(x < 0 for x in shape.size):
        raise ValueError(
            f"a {shape.kind} on {shape.link} has sizes {shape.size} at {shape.position}; sizes are "
            "lengths of 0 or more in metres, and all numbers are finite"
        )
    if shape.kind == "mesh" and len(shape.vertices) < 4:
        raise ValueError(f"a mesh on {shape.link} needs at least 4 vertices")


def refusing_still_pairs(pairs: Sequence[ContactPair]) -> Callable[[Structure], None]:
    """Function that raises for pairs of shapes that no joint moves relative to each other."""

    def refuse(model: Structure) -> None:
        frames = tree_of(model).frames
        for first, second in pairs:
            bodies = [WORLD if x.link is None else frames[x.link].body for x in (first, second)]
            if bodies[0] == bodies[1]:
                raise ValueError(
                    f"{first.link} and {second.link} are parts of one rigid body; their shapes "
                    "cannot touch. Leave the pair out"
                )

    return refuse
