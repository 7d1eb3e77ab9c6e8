"""Compliant joint limits and contact points with the numbers of an MJCF file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ...algorithms.crba import crba
from ...algorithms.simulation.contact_rows import ContactPoint, contact_rows
from ...algorithms.simulation.contact_shapes import ContactPair
from ...algorithms.simulation.joint_rows import Bounds, TendonBounds, limited_tendons
from ...algorithms.simulation.soft_stops import SoftPoint, SoftStop
from ...execution.request.evaluate import tree_of
from ...model import Model
from ...model.ground_contact import ContactSoftness, GroundContact, LimitSoftness
from ...model.joints import PRISMATIC
from ...model.names import ModelError
from ...model.params import Params
from ...model.reference_frames import one_of
from ...model.structure import DRAWN
from ..unmoved_joints import refuse_unmoved
from .contact_pairs import PairContact
from .contact_points import ContactPoints
from .drives import Stops, bounds_of
from .ground import Ground
from .varied_numbers import is_number

SINGULAR = 1e-12
"""Smallest eigenvalue of a mass matrix with the diagonal 1 that has an inverse."""


def limits_of(
    model: Model, params: Params | None, stops: Stops | None, in_mujoco_steps: bool = False
) -> tuple[Bounds, ...]:
    """Joint limits that are rows with these stops: rigid ones for "rows", compliant ones for
    "soft". Other stops have no rows."""
    if stops not in ("rows", "soft"):
        return ()
    bounds = bounds_of(model, params)
    return soft_bounds(model, bounds, in_mujoco_steps) if stops == "soft" else bounds


def soft_bounds(
    model: Model, bounds: Sequence[Bounds], in_mujoco_steps: bool = False
) -> tuple[Bounds, ...]:
    """The bounds with the softness of their joints. MuJoCo scales it by the inverse inertia of each
    joint in the pose in which the file is drawn. Raises if no joint has a softness."""
    joints = {
        model.coordinates[joint.name].v.start: joint
        for joint in model.joints
        if joint.soft_limit is not None
    }
    softness = {k: joint.soft_limit for k, joint in joints.items()}
    if bounds and not softness:
        raise ModelError(
            f'stops="soft" needs the softness of an MJCF file, and no joint of {model.name} has it; take '
            '"rows" or "springs"'
        )
    inverse = _inverse_inertia(model)
    found = []
    for each in bounds:
        soft = softness.get(each.v_index)
        if soft is not None:
            _check_softness(soft, f"the soft limit of {joints[each.v_index].name}")
            slider = _slider(model, joints[each.v_index].child)
            inertia = inverse[each.v_index, each.v_index] if slider is None else 1.0 / slider
            stop = SoftStop(*soft[:3], float(inertia), in_mujoco_steps, soft.is_bounded)
            ends = _ends(joints[each.v_index].name, (each.lower, each.upper), soft.margin)
            each = Bounds(each.v_index, each.q_index, *ends, stop)
        found.append(each)
    return tuple(found)


def tendon_bounds_of(
    model: Model, in_mujoco_steps: bool = False
) -> tuple[TendonBounds | None, ...]:
    """Compliant limits of tendons, of stops="soft", for each tendon with limits; None for rigid
    ones. MuJoCo scales them by the inverse inertia along the tendon in the drawn pose."""
    tree = tree_of(model)
    cables, rows = limited_tendons(tree)
    if not cables:
        return ()
    inverse = _inverse_inertia(model)
    found: list[TendonBounds | None] = []
    for tendon, cable in zip(model.tendons, tree.cables, strict=True):
        if cable not in cables:
            continue
        soft = tendon.soft_limit
        if soft is None:
            found.append(None)
            continue
        _check_softness(soft, f"the soft limit of {tendon.name}")
        row = np.array(rows[len(found)], dtype=float)
        inertia = float(row @ inverse @ row)
        stop = SoftStop(*soft[:3], inertia, in_mujoco_steps, soft.is_bounded)
        ends = _ends(tendon.name, cable.limits, soft.margin)
        found.append(TendonBounds(*ends, stop))
    return tuple(found)


def _ends(name: str, limits: tuple[float, float], margin: float) -> tuple[float, float]:
    """The ends of a range within its margin. A row has one limit at a time, the nearer one."""
    lower, upper = limits[0] + margin, limits[1] - margin
    if lower > upper:
        raise ModelError(
            f"the margin of {name} is {margin:g}, more than half of its range, so that both limits act "
            'at once; stops="soft" has one at a time. Take a smaller margin, or "rows"'
        )
    return lower, upper


def soft_points(
    model: Model, points: Sequence[ContactPoint], ground: Any, in_mujoco_steps: bool = False
) -> tuple[SoftPoint | None, ...]:
    """MuJoCo's law of each point, if the ground asks for it; else empty. MuJoCo scales it by the
    inverse mass of each body at its centre of mass, in the pose in which the file is drawn. Raises for
    points without a softness, and for a ground that rebounds."""
    if not isinstance(ground, Ground) or ground.softness is None or not len(points):
        return ()
    one_of("softness", ground.softness, ("description",))
    if not (isinstance(ground.restitution, int | float) and ground.restitution == 0):
        raise ValueError(
            'restitution is for rigid ground and softness="description" for soft ground; leave one of them out'
        )
    known = points.on_ground if isinstance(points, ContactPoints) else {}
    masses = _inverse_masses(model, (point.link for point in points if point in known))
    found: list[SoftPoint | None] = []
    for point in points:
        contact: GroundContact | None = known.get(point)
        if contact is None or contact.softness is None:
            raise ValueError(
                f'softness="description" needs points of the shapes of an MJCF file, '
                f"wd.ContactPoints(model); that of {point.link} is another"
            )
        soft, inverse_mass = contact.softness, masses[point.link]
        parts = soft.normal * inverse_mass, soft.tangential * inverse_mass
        law = soft.stiffness, soft.rate, soft.impedance
        point_law = SoftPoint(*law, *parts, contact.margin, soft.is_pyramidal, soft.along)
        bounded = soft.is_bounded
        found.append(point_law._replace(in_mujoco_steps=in_mujoco_steps, is_bounded=bounded))
    return tuple(found)


def soft_pairs(
    model: Model, pairs: Sequence[ContactPair], contact: PairContact, in_mujoco_steps: bool
) -> tuple[SoftPoint, ...]:
    """MuJoCo's law of the normal force of each pair, if `contact` has a softness; else empty. MuJoCo
    scales it by the sum of the inverse masses of both bodies. Raises for a restitution."""
    soft = contact.softness
    if soft is None or not pairs:
        return ()
    if not isinstance(soft, ContactSoftness):
        raise TypeError(
            f"softness of pairs must be a wd.description.ContactSoftness(stiffness, rate, impedance), got {soft!r}; "
            "that of a file is not read"
        )
    if not (isinstance(contact.restitution, int | float) and contact.restitution == 0):
        raise ValueError(
            "restitution is for rigid pairs and softness for soft ones; leave one of them out"
        )
    _check_softness(soft, "the softness of pairs")
    if (soft.tangential, soft.is_pyramidal, soft.along) != (1.0, False, None):
        raise ValueError(
            "the softness of pairs acts on normal forces only; leave out tangential, is_pyramidal and along"
        )
    links = [[shape.link for shape in pair if shape.link] for pair in pairs]
    masses = _inverse_masses(model, chain(*links))
    found = []
    for of_pair in links:
        total = sum(masses[link] for link in of_pair)
        law = SoftPoint(soft.stiffness, soft.rate, soft.impedance, soft.normal * total, 0.0)
        found.append(law._replace(in_mujoco_steps=in_mujoco_steps, is_bounded=soft.is_bounded))
    return tuple(found)


def _check_softness(soft: LimitSoftness | ContactSoftness, name: str) -> None:
    """Raise for numbers that MuJoCo's law does not allow. Those of a file are within these bounds."""
    d = soft.impedance
    # Softnesses of limits have a margin, those of contacts a share of the normal.
    numbers = {
        "stiffness": soft.stiffness,
        "rate": soft.rate,
        "margin": getattr(soft, "margin", 0.0),
        "normal": getattr(soft, "normal", 1.0),
    }
    for word, x in numbers.items():
        if not (is_number(x) and 0.0 <= x < math.inf):
            raise ValueError(f"{word} of {name} must be a finite number of 0 or more, got {x!r}")
    if not (
        isinstance(d, tuple | list)
        and len(d) == 5
        and all(map(is_number, d))
        and all(0.0 < x < 1.0 for x in (*d[:2], d[3]))
        and 0.0 <= d[2] < math.inf
        and 1.0 <= d[4] < math.inf
    ):
        raise ValueError(
            f"impedance of {name} must be five numbers as in solimp: smallest and largest above 0 and below "
            f"1, a width of 0 or more, a midpoint above 0 and below 1, a power of 1 or more; got {d!r}"
        )


def _inverse_inertia(model: Model) -> np.ndarray:
    """The inverse mass matrix in the drawn pose (nv, nv). Raises ModelError if there is none."""
    refuse_unmoved(model)
    M = np.array(crba(tree_of(model), _drawn_pose(model)), dtype=float)
    size = np.sqrt(M.diagonal())
    if np.linalg.eigvalsh(M / np.outer(size, size)).min(initial=1.0) < SINGULAR:
        raise ModelError(
            f"{model.name}: MuJoCo's softness needs the mass matrix in the pose in which the file is drawn, where "
            "it is singular; draw another pose, or give joints armature"
        )
    inverse: np.ndarray = np.linalg.inv(M)
    return inverse


def _drawn_pose(model: Model) -> list[float]:
    """The pose in which the file is drawn, nq numbers."""
    return [float(x) for x in model.configurations.get(DRAWN, model.neutral)]


def _inverse_masses(model: Model, links: Iterable[str]) -> dict[str, float]:
    """The inverse mass of each link [1/kg]."""
    inverse = _inverse_inertia(model)
    return {link: _inverse_mass(model, link, inverse) for link in set(links)}


def _inverse_mass(model: Model, link: str, inverse: np.ndarray) -> float:
    """Acceleration of a link's centre of mass by a force there, mean of three directions [1/kg]. MuJoCo
    takes the inverse mass alone of a body that only slides along its axes and carries no others."""
    if _only_slides(model, link):
        return 1.0 / model.link(link).mass
    centre = ContactPoint(link, model.link(link).com, 0.0)
    J = np.array(contact_rows(tree_of(model), _drawn_pose(model), [centre])[1], dtype=float)
    return float(np.trace(J @ inverse @ J.T) / 3.0)


def _slider(model: Model, link: str) -> float | None:
    """Mass [kg] of a link, or of its first descendant with mass, if only sliders move it; else
    None."""
    children = {joint.parent: joint.child for joint in model.joints}
    while model.link(link).mass == 0 and link in children:
        link = children[link]
    return model.link(link).mass if _only_slides(model, link) else None


def _only_slides(model: Model, link: str) -> bool:
    """True if only sliders connect a link with the world, along its principal axes of inertia
    through its centre of mass, and no other body moves on it."""
    parents = {joint.child: joint for joint in model.joints}
    body = model.link(link)
    products = np.asarray(body.inertia)[np.triu_indices(3, 1)]
    if np.any(body.com) or np.any(products) or any(joint.parent == link for joint in model.joints):
        return False
    slides = 0
    while link in parents:
        joint = parents[link]
        if slides and model.link(link).mass > 0:
            return False
        if joint.kind.nv:
            if joint.kind is not PRISMATIC or sorted(map(abs, joint.axis)) != [0.0, 0.0, 1.0]:
                return False
            slides += 1
        link = joint.parent
    return slides > 0
