"""Checked options of functions that take frames: the links, the point, and the reference link.

An option becomes part of the program. A point given as an array becomes an input instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..algorithms.frames import PARTS, Part, for_one_frame, with_point
from ..arrays import Array
from ..model import Model
from ..model.reference_frames import Reference, one_of, reference_of

Algorithm = Callable[..., Any]
Options = tuple[tuple[str, Any], ...]

POINT = {"point": (3,)}
"""Shape of one environment's point, if it is an input."""


def of_link(
    model: Model, frame: str, reference: Reference | None = None, part: Part | None = None
) -> Options:
    """The options of a function of one link."""
    model.link_index(frame)
    options: Options = (("frame", frame),)
    if reference is not None:
        options += (("reference", reference_of(reference)),)
    return options if part is None else (*options, ("part", one_of("part", part, PARTS)))


def links_option(
    model: Model, frame: str | None, frames: Sequence[str] | None
) -> tuple[Options, bool]:
    """The option that names the links, and True if it names several."""
    if frame is not None and frames is not None:
        raise ValueError("give frame= (one name) or frames= (a list of names), not both")
    if isinstance(frame, (list, tuple)):
        raise TypeError(
            f"frame must be the name of one link, got {frame!r}; for several give frames=[...]"
        )
    if frame is not None:
        return of_link(model, frame), False
    names = model.link_names if frames is None else tuple(frames)
    if isinstance(frames, str) or not names:
        raise ValueError(
            f'frames must be a list of link names, got {frames!r}; for one frame use frame="name"'
        )
    model.link_indices(names)
    return (("frames", names),), True


def for_each_link(
    algorithms: tuple[Algorithm, ...], model: Model, frame: str | None, frames: Sequence[str] | None
) -> tuple[tuple[Algorithm, ...], Options]:
    """Algorithms for several links, or adapted to one link if `frame` names one, and the option
    with the links' names."""
    options, several = links_option(model, frame, frames)
    return (
        algorithms if several else tuple(for_one_frame(algorithm) for algorithm in algorithms)
    ), options


def relative_option(model: Model, relative_to: str | None) -> Options:
    """The option that replaces the world by another link."""
    if relative_to is None:
        return ()
    model.link_index(relative_to)
    return (("relative_to", relative_to),)


def at_point(
    algorithm: Algorithm, point: Sequence[float] | Array | None, several: bool
) -> tuple[Algorithm, dict[str, Any], Options]:
    """The algorithm with a point as an input array, or as a constant of the program."""
    if point is None:
        return algorithm, {}, ()
    if several:
        raise ValueError('a point is fixed to one frame: give frame="name" with point=')
    if not isinstance(point, (list, tuple)):
        return with_point(algorithm), {"point": point}, ()
    if len(point) != 3:
        raise ValueError(f"point must be three numbers or an array (B, 3), got {point!r}")
    return algorithm, {}, (("point", tuple(float(x) for x in point)),)
