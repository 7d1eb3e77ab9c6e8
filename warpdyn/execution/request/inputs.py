"""Records of a call's input arrays: name, shape of one environment's slice, and subject."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, NamedTuple

Nested = Any
"""A scalar, or nested lists of scalars."""

Kind = Literal["argument", "gravity", "forces", "force", "parameter", "seed", "solution"]
"""A function's argument; gravity; forces on all links, or on one; a varying model parameter; the
cotangent or tangent of a derivative; the result of a call that solves a system."""

Bound = Literal["", "at least 0", "above 0"]
"""What all numbers of an argument must be; "": anything."""

CONFIGURATIONS = ("q", "q0", "q1")
"""Arguments that are configurations if they have nq entries."""


class ArgumentSpec(NamedTuple):
    """Requirements on an argument of a call that differ from those on an array for each environment."""

    plain: bool = False
    """True if it may be plain numbers, in addition to arrays of any library and dtype."""
    table: bool = False
    """True if it is a table of rows and columns that serves all environments. The algorithm gets it
    whole, for `algebra.scalar.look`."""
    bound: Bound = ""
    """What its numbers must be, infinite ones included; NaN is below each bound
    (`state_checks.check_bounds`)."""


ARRAY = ArgumentSpec()
"""An array for each environment."""

PLAIN = ArgumentSpec(plain=True)
TABLE = ArgumentSpec(table=True)


class Input(NamedTuple):
    """Description of an input array of a call, without its numbers; equal records are
    interchangeable."""

    kind: Kind
    name: str
    """The name in `wrt=` and among a program's inputs: "q", "f_ext:hand", "params:mass"."""
    shape: tuple[int, ...]
    """Shape of one environment's slice."""
    plain: bool
    """True if it may be plain numbers, in addition to arrays of any library and dtype."""
    subject: str
    """The link of a force, the quantity of a parameter, the result or input of a seed."""
    label: str
    """The name in messages."""
    sizes: str
    """The name of `shape` in messages: "nq", "nv", "nlinks, 6"; empty if there is no name."""
    table: bool = False
    """True if it is a lookup table: it serves all environments, and its size is not a part of
    programs."""


# The records are cached, so that a call with the same names and widths makes no new ones.


@lru_cache(maxsize=4096)
def argument(
    name: str, shape: tuple[int, ...] | None, nq: int, nv: int, spec: ArgumentSpec = ARRAY
) -> Input:
    """An argument of a function; if `shape` is None, q has nq entries and any other argument nv."""
    if shape is None:
        sizes = "nq" if name == "q" else "nv"
        shape = (nq if name == "q" else nv,)
    else:
        sizes = "nq" if name in CONFIGURATIONS and shape == (nq,) else ""
    return Input("argument", name, shape, spec.plain, name, name, sizes, spec.table)


GRAVITY = Input("gravity", "gravity", (3,), True, "gravity", "gravity", "")


@lru_cache(maxsize=4096)
def forces(nlinks: int) -> Input:
    """External forces on all links in one array."""
    return Input("forces", "f_ext", (nlinks, 6), False, "f_ext", "f_ext", "nlinks, 6")


@lru_cache(maxsize=4096)
def force(link: str) -> Input:
    """The external force on one link."""
    name = f"f_ext:{link}"
    return Input("force", name, (6,), False, link, name, "")


@lru_cache(maxsize=4096)
def parameter(quantity: str, shape: tuple[int, ...]) -> Input:
    """A model parameter that varies."""
    return Input(
        "parameter", f"params:{quantity}", shape, True, quantity, f"{quantity} (params)", ""
    )


@lru_cache(maxsize=4096)
def seed(order: int, subject: str, shape: tuple[int, ...]) -> Input:
    """The cotangent of a result or the tangent of an input, for a call with `order` earlier
    derivatives."""
    label = f'the cotangent or tangent of "{subject}"'
    return Input("seed", f"seed {order}:{subject}", shape, False, subject, label, "")


def solution(result: str, shape: tuple[int, ...]) -> Input:
    """The earlier computed result of a call that solves a system."""
    name = f"solution:{result}"
    return Input("solution", name, shape, False, result, name, "")
