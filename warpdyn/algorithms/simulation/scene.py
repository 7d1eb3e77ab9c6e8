"""Records of a simulation step: the state, the applied forces, the contacts, and the constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...algebra.scalar import Scalar
from .compliant_contact import Surface
from .contact_rows import ContactPoint
from .contact_shapes import ContactPair
from .implicit_forces import Drive, Stop
from .joint_rows import Bounds, TendonBounds
from .pair_slots.pair_memory import PairMemory, TouchingBodies
from .soft_contact import SoftSurface
from .soft_stops import SoftPoint
from .uneven_ground import Terrain


class StepState(NamedTuple):
    """Configuration, velocity, contact memory (the impulses of the last step [N s] or, on soft
    ground, the deformations [m]), the impulses of joint rows and those of closed loops, six for
    each [N s, N m s]."""

    q: list[Scalar]
    v: list[Scalar]
    impulses: list[Scalar]
    joint_impulses: list[Scalar]
    loop_impulses: list[Scalar]
    pairs_left_out: list[Scalar]


class AppliedForces(NamedTuple):
    """Forces of a step other than those of contacts: joint forces tau, nv [N, N m], drives, gravity
    [m/s²], and external wrenches by link."""

    tau: Sequence[Scalar]
    drive: Drive | None
    gravity: Sequence[Scalar]
    f_ext: Mapping[str, Sequence[Scalar]]


class Contacts(NamedTuple):
    """The contacts of a step.

    `surface`: the compliant ground, or `soft`: the soft one. `terrain`: the shape of the ground.
    `pairs`: pairs of bodies with the memory of their contacts, which a step changes. `points`: many
    points on compliant ground, with their memory, in place of `surface`.
    """

    surface: Surface | None
    soft: SoftSurface | None
    terrain: Terrain | None
    pairs: TouchingBodies | None = None
    points: TouchingBodies | None = None

    @property
    def memory(self) -> list[PairMemory]:
        """The memory of all groups of pairs, then of points."""
        both = (self.pairs, self.points)
        return [memory for each in both if each is not None for memory in each.memory]


class Scene(NamedTuple):
    """The constants of a simulation, which are part of the program.

    `arrays`: names of the inputs after q, v and tau: "impulses", those of `Surface`, of `Drive`, of
    a terrain. `guarded`: products of velocities are bounded; `speed_limits`: of coordinates that
    have one [rad/s, m/s], above which they are damped too. `stops`: of joints without limit
    springs. `joint_rows`: coordinates of v with dry friction or with `bounds`, limits that are
    rows. `tendon_stops`: limits of tendons are rows. `tendon_bounds`: those of each limited tendon,
    if they give way; empty without them. `exponents`: p and q of soft ground. `pairs`:
    shapes that may touch each other, at most `pair_slots` of one kind at a time. `point_moments`,
    `pair_moments`: the number of friction moments of each point and of each pair, 0, 1 or 3; empty
    if there are none. `points_in_slots`: points on compliant ground are computed in a loop over
    those that are near it. `soft_points`: MuJoCo's law of each point; empty without it. `soft_pairs`:
    that of the normal force of each pair; empty without it.
    """

    arrays: tuple[str, ...]
    points: tuple[ContactPoint, ...]
    guarded: bool
    speed_limits: tuple[tuple[int, float], ...]
    stops: tuple[Stop, ...]
    dt: float
    substeps: int
    sweeps: int
    joint_rows: tuple[int, ...] = ()
    bounds: tuple[Bounds, ...] = ()
    integrator: str = "semi_implicit"
    exponents: tuple[float, float] = (0.5, 0.5)
    pairs: tuple[ContactPair, ...] = ()
    pair_slots: int | None = None
    tendon_stops: bool = False
    tendon_bounds: tuple[TendonBounds | None, ...] = ()
    point_moments: tuple[int, ...] = ()
    pair_moments: tuple[int, ...] = ()
    points_in_slots: bool = False
    soft_points: tuple[SoftPoint | None, ...] = ()
    soft_pairs: tuple[SoftPoint, ...] = ()
