"""Simulation settings from a robot description: joint forces, and contact numbers of shapes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from statistics import median
from typing import Any, Literal, get_args

from ...algorithms.simulation.contact_rows import ContactPoint
from ...arrays import Array
from ...execution.launch.state_checks import check_state
from ...model import Model
from ...model.ground_contact import STANDARD_WEIGHT, GroundContact
from ...model.poses_and_limits import Effects
from ...model.reference_frames import one_of
from ...model.structure import DRAWN, HOME, start_of
from .contact_points import ContactPoints
from .ground import Ground, SoftGround, with_default_numbers
from .point_checks import checked_points

PassiveForces = Literal["description", "model"]
"""Source of the joint forces in a simulation: the description too, or only the model."""


def with_passive_forces(model: Model, asked: PassiveForces | None) -> Model:
    """The model for a simulation, with the friction, springs and weight compensation of its
    description.

    Kinds of forces that were set on the model stay as they are, zeros too. None: the forces of an
    MJCF file act; those of other files are data only. Returns the same object if nothing changes.
    """
    if asked is not None:
        one_of("passive_forces", asked, get_args(PassiveForces))
    if (asked or ("description" if model.is_simulated else "model")) == "model":
        return model
    owners = (*model.joints, *model.tendons)
    acting = [*(e for x in owners for e in _effects(x)), *model.base_effects]
    described = _described_forces(model) - model.chosen_forces
    if "viscous" in described and not any(e.viscous for e in acting):
        model = model.with_friction(viscous="description")
    if "coulomb" in described and not any(e.coulomb for e in acting):
        model = model.with_friction(coulomb="description")
    if "spring" in described and not any(e.spring for e in acting):
        model = model.with_springs("description")
    if "gravcomp" in described and not any(link.borne for link in model.links):
        model = model.with_gravity_compensation("description")
    return model


def _described_forces(model: Model) -> set[str]:
    """Kinds of passive forces for which the description has numbers."""
    owners: tuple[Any, ...] = (*model.joints, *model.tendons)
    numbers: dict[str, list[Any]] = {
        "viscous": [t.damping for t in model.tendons],
        "coulomb": [x for joint in model.joints for x in joint.v_friction],
        "spring": [*(x.spring for x in owners), bool(model.base_springs)],
        "gravcomp": [link.gravcomp for link in model.links],
    }
    numbers["viscous"] += [x for joint in model.joints for x in joint.v_damping]
    return {kind for kind, each in numbers.items() if any(each)}


def _effects(owner: Any) -> tuple[Effects, ...]:
    return owner.effects if isinstance(owner.effects, tuple) else (owner.effects,)


def first_configuration(model: Model, start: object) -> object:
    """The configuration `start`, or that of this name; None: "home", "qpos0" or the neutral one."""
    if isinstance(start, str):
        return model.configurations[start]
    return start_of(model) if start is None else start


def check_start(model: Model, start: object, begin: Array) -> None:
    """Raise if `begin`, the rows of `start`, are no states. Warn where they are outside the limits,
    unless the model has this configuration by name, as files may draw a robot outside them."""
    report = check_state(model, begin)
    if report.errors:
        raise ValueError(f"start is not a valid state: {report.errors[0]}")
    named = HOME in model.configurations or DRAWN in model.configurations
    if not report.warnings or isinstance(start, str) or (start is None and named):
        return
    outside = report.warnings
    more = f" and {len(outside) - 1} more" if len(outside) > 1 else ""
    place = f"{outside[0].removeprefix('q: ')}{more}"
    if start is None:
        warning = (
            f"{model.name} has no configuration 'home' and starts in the neutral one, where "
            f"{place}; pass start=, or a model with a 'home': "
            "model.with_configuration('home', q)"
        )
    else:
        warning = f"start of {model.name}: {place}; stops push a joint back; angles are in radians"
    warnings.warn(warning, stacklevel=4)


def with_description(
    model: Model, points: Sequence[ContactPoint], ground: Ground | SoftGround
) -> Ground | SoftGround:
    """The ground with numbers from the description instead of None: friction by point, and for
    `Ground` also that of moments, and one stiffness and one dissipation for all, the median over
    the points. Returns the same object if the description has no such numbers."""
    if not isinstance(ground, Ground | SoftGround):
        return ground
    checked = checked_points(model, points)
    contacts = [_contact(model, points, point) for point in checked]
    described = [each for each in contacts if each is not None]
    plain = with_default_numbers(ground)
    if not described:
        return ground
    found: dict[str, Any] = {}
    if ground.friction is None:
        found["friction"] = tuple(plain.friction if x is None else x.friction for x in contacts)
    if isinstance(ground, Ground):
        found |= _moments(contacts)
        weight = (model.total_mass or 1.0) * STANDARD_WEIGHT
        found["stiffness"] = weight / median(x.sink for x in described)
        found["dissipation"] = median(x.dissipation for x in described)
        found = {name: x for name, x in found.items() if getattr(ground, name) is None}
    return plain._replace(**found) if found else ground


def _moments(contacts: Sequence[GroundContact | None]) -> dict[str, Any]:
    """Torsional and rolling friction by point, if some point has it."""
    torsional = tuple(0.0 if x is None else x.torsional for x in contacts)
    rolling = tuple(0.0 if x is None else x.rolling for x in contacts)
    numbers = {"torsional_friction": torsional, "rolling_friction": rolling}
    return {name: each for name, each in numbers.items() if any(each)}


def _contact(
    model: Model, points: Sequence[ContactPoint], point: ContactPoint
) -> GroundContact | None:
    """The contact numbers of a point from the description. A point without a shape gets those of
    the shape on its link with the most friction."""
    if isinstance(points, ContactPoints) and point in points.on_ground:
        return points.on_ground[point]
    shapes = [shape.on_ground for shape in model.link(point.link).collisions if shape.on_ground]
    return max((x for x in shapes if x.touches), key=lambda x: x.friction, default=None)
