"""Sensors: inertial measurement units, contact forces by link, contact flags."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ...algorithms.simulation import imu as _imu
from ...algorithms.simulation import link_contact_forces as _contacts
from ...algorithms.simulation.contact_rows import ContactPoint
from ...algorithms.simulation.contact_shapes import ContactPair
from ...algorithms.simulation.link_contact_forces import Measurements
from ...arrays import A, Array
from ...execution.batched import batched
from ...execution.request.call import Call, Gravity
from ...execution.request.inputs import PLAIN, TABLE
from ...model import Model
from ...model.checks import first_repeated
from ...model.names import check_names
from ...model.params import Params
from ...model.reference_frames import Reference, reference_of
from ..frame_options import for_each_link
from .contact_points import touched_links
from .point_checks import checked_points
from .terrain import TABLES, HeightMap, Plane, terrain_arrays


class Sensors(NamedTuple):
    """Quantities that a `Simulation` measures in the same launch.

    `imu`: links with an inertial measurement unit, for proper acceleration and angular rate.
    `links`: links, or patterns such as "*_foot", with a sensor of the net contact force, of the
    ground and of other bodies. `threshold`: force from which a point, a pair or a link counts as in
    contact [N].
    """

    imu: Sequence[str] = ()
    links: Sequence[str] = ()
    threshold: float = 0.0


@batched
def imu(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    a: Array[A] | None,
    *,
    frame: str | None = None,
    frames: Sequence[str] | None = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Readings of inertial measurement units in links: proper acceleration, then angular velocity.

    q: (B, nq).  v, a: (B, nv); None for zero.
    Returns (B, 6) for `frame="name"`, (B, len(frames), 6) for `frames=[...]`, (B, nlinks, 6) for
    neither [m/s², rad/s], in the axes of the link, at its origin.
    A link at rest reads 9.81 upwards. A link in free fall reads 0. A link that turns at distance r
    from an axis reads r w² towards the axis. The reading is the classical acceleration minus
    gravity: RBDA equation 2.42.

    >>> model = wd.load_robot("panda")
    >>> q = wd.random_configuration(model, 100)
    >>> reading = wd.imu(model, q, None, None, frame="panda_hand")
    >>> np.allclose(np.linalg.norm(reading[:, :3], axis=1), 9.81)
    True
    """
    algorithms, options = for_each_link((_imu.imu,), model, frame, frames)
    return Call(
        "imu",
        model,
        algorithms,
        {"q": q, "v": v, "a": a},
        out=out,
        options=options,
        forces=(gravity, None),
        params=params,
    )


@batched
def link_contact_forces(
    model: Model,
    q: Array[A],
    forces: Array[A],
    *,
    points: Sequence[ContactPoint] = (),
    frame: str | None = None,
    frames: Sequence[str] | None = None,
    reference: Reference = "local_world_aligned",
    moments: Array[A] | None = None,
    terrain: HeightMap | Plane | None = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Net forces and moments that contacts with the ground exert on links [N, N·m].

    q: (B, nq).  forces: (B, points, 3) on the points in the world's axes, as `step` returns them.
    moments: (B, points, 3) of torsional and rolling friction on the points in the world's axes
    [N·m], the last three entries of `impulses` divided by dt; None: no such friction. terrain: that
    of the step.
    Returns (B, 6) for `frame="name"`, (B, len(frames), 6) for `frames=[...]`, (B, nlinks, 6) for
    neither; force, then moment.
    reference: "local_world_aligned" (about the link's origin, in the world's axes), "local" (in the
    link's axes, as `f_ext` takes them), "world" (about the world's origin).
    Each force acts where the point's sphere is deepest in the ground: at its lowest point, or on a
    terrain against the normal of the ground below its centre. RBDA section 2.6.
    """
    touching = checked_points(model, points)
    algorithms, options = for_each_link((_contacts.link_forces_on_ground,), model, frame, frames)
    ground = terrain_arrays(model, terrain, (), q)
    more = ({} if moments is None else {"moments": moments}) | {
        n: x for n, (x, _) in ground.items()
    }
    return Call(
        "link_contact_forces",
        model,
        algorithms,
        {"q": q, "forces": forces, **more},
        out=out,
        options=(
            *options,
            ("reference", reference_of(reference)),
            ("points", touching),
            ("arrays", tuple(more)),
        ),
        shapes={
            "forces": (len(touching), 3),
            "moments": (len(touching), 3),
            **{name: shape for name, (_, shape) in ground.items()},
        },
        params=params,
        arguments={name: TABLE if name in TABLES else PLAIN for name in ground},
    )


@batched
def contact_flags(
    model: Model,
    forces: Array[A],
    *,
    points: Sequence[ContactPoint] = (),
    links: Sequence[str] | None = None,
    threshold: float = 0.0,
    out: Array[A] | None = None,
) -> Call[A]:
    """Contact flags: 1 where contacts press, 0 elsewhere.

    forces: (B, points, 3) on the points [N], as `step` returns them.
    Returns (B, points), or (B, len(links)) from the net forces on these links.
    threshold: force above which a contact counts [N].
    """
    touching = checked_points(model, points)
    named = None if links is None else tuple(check_names(links))
    model.link_indices(named or ())
    return Call.of(
        _contacts.contact_flags,
        model,
        {"forces": forces},
        out=out,
        options=(
            ("points", touching),
            ("links", named),
            ("threshold", checked_threshold(threshold)),
        ),
        shapes={"forces": (len(touching), 3), "out": (len(touching if named is None else named),)},
    )


def checked_sensors(
    model: Model,
    points: Sequence[ContactPoint],
    pairs: Sequence[ContactPair],
    sensors: Sensors | None,
) -> Measurements | None:
    """The sensors with the full names of links; raises if a link has neither points nor pairs."""
    if sensors is None:
        return None
    if not isinstance(sensors, Sensors):
        raise TypeError(f"sensors must be wd.Sensors(imu=[...]), got {type(sensors).__name__}")
    model.link_indices(sensors.imu)
    if (twice := first_repeated(check_names(sensors.links))) is not None:
        raise ValueError(
            f"Sensors(links=) has {twice!r} twice; each link has one row of results, so name it once"
        )
    return Measurements(
        tuple(sensors.imu),
        touched_links(model, points, sensors.links, pairs),
        checked_threshold(sensors.threshold),
    )


def checked_threshold(threshold: float) -> float:
    if not isinstance(threshold, (int, float)) or not 0.0 <= threshold < math.inf:
        raise ValueError(f"threshold must be a force of 0 or more [N], got {threshold!r}")
    return float(threshold)
