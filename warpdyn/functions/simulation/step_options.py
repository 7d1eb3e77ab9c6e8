"""Options of simulated steps, one record for `step`, `Simulation` and `state_derivative`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from ...algorithms.simulation.contact_rows import ContactPoint, impulse_width
from ...algorithms.simulation.contact_shapes import ContactPair
from ...arrays import Array
from ...execution.request.call import Forces, Gravity
from ...model import Model
from ...model.params import Params
from ...model.reference_frames import one_of
from .contact_pairs import RIGID, PairContact
from .drives import PD, Stops
from .ground import FLAT, Ground, SoftGround, check_ground, ground_arrays, moments_of_points
from .terrain import HeightMap, Plane
from .varied_numbers import Shaped

Integrator = Literal["semi_implicit", "heun", "rk4", "mujoco_euler", "mujoco_rk4"]
"""Integration methods of a step."""


@dataclass(frozen=True, eq=False)
class StepOptions:
    """Options of a step, with the names, meanings and defaults of the arguments of `step`."""

    dt: float = 0.005
    substeps: int = 1
    integrator: Integrator = "semi_implicit"
    targets: Array | None = None
    control: PD | None = None
    latency: Array | None = None
    earlier_targets: Array | None = None
    points: Sequence[ContactPoint] = ()
    impulses: Array | None = None
    deformation: Array | None = None
    ground: Ground | SoftGround = FLAT
    terrain: HeightMap | Plane | None = None
    pairs: Sequence[ContactPair] = ()
    pair_contact: PairContact = RIGID
    pair_impulses: Array | None = None
    pair_features: Array | None = None
    pairs_left_out: Array | None = None
    sweeps: int = 4
    speed_guard: bool | None = None
    joint_impulses: Array | None = None
    stops: Stops | None = None
    f_ext: Forces = None
    gravity: Gravity = None
    params: Params | None = None
    out: tuple[Array, ...] | None = None

    @property
    def is_implicit(self) -> bool:
        """True for the integrator that treats drives, stops and contacts implicitly."""
        return self.integrator == "semi_implicit"

    @property
    def is_mujocos(self) -> bool:
        """True for MuJoCo's integrators, which have soft constraints."""
        return self.integrator.startswith("mujoco")

    @property
    def is_soft(self) -> bool:
        """True if the ground has deformations instead of impulses."""
        return isinstance(self.ground, SoftGround)

    @property
    def has_pairs(self) -> bool:
        """True if there are pairs, or arrays or numbers that only pairs have."""
        return (
            len(self.pairs) > 0
            or self.pair_impulses is not None
            or self.pair_features is not None
            or self.pair_contact is not RIGID
        )

    @property
    def contact_memory(self) -> str:
        """Name of the array that the contacts of one step pass to the next."""
        return "deformation" if self.is_soft else "impulses"

    def with_defaults(self) -> StepOptions:
        """The options with the integrator's guard and stops instead of None; raises for an unknown
        word, and for options that the integrator does not have."""
        one_of("integrator", self.integrator, get_args(Integrator))
        if not (self.speed_guard is None or isinstance(self.speed_guard, (bool, np.bool_))):
            raise TypeError(f"speed_guard must be True, False or None, got {self.speed_guard!r}")
        stops = self.stops
        if stops is None:
            stops = "springs" if self.is_implicit else "soft" if self.is_mujocos else "none"
        one_of("stops", stops, get_args(Stops))
        if self.is_mujocos:
            self._refuse_in_mujoco_steps(stops)
        else:
            self._refuse_if_explicit(
                speed_guard=self.speed_guard, stops=stops != "none", pairs=len(self.pairs) > 0
            )
        guard = self.is_implicit if self.speed_guard is None else bool(self.speed_guard)
        return replace(self, stops=stops, speed_guard=guard)

    def _refuse_in_mujoco_steps(self, stops: Stops) -> None:
        """Raise for options that MuJoCo's integrators do not have."""
        name = f'integrator="{self.integrator}"'
        if self.speed_guard:
            raise ValueError(f"speed_guard= is not for {name}; leave it out")
        if stops not in ("soft", "none"):
            raise ValueError(f'{name} needs stops="soft" or "none", got {stops!r}')
        described = isinstance(self.ground, Ground) and self.ground.softness == "description"
        if len(self.points) and not described:
            raise ValueError(
                f'{name} needs MuJoCo\'s contacts: pass ground=wd.Ground(softness="description")'
            )

    def _refuse_if_explicit(self, **wanted: bool | None) -> None:
        """Raise for options that only implicit steps have."""
        for name, on in wanted.items():
            if on and not self.is_implicit:
                springs = "; limit springs of the model (model.with_limit_springs) act in every integrator"
                raise ValueError(
                    f'{name}= needs an implicit step, and integrator="{self.integrator}" is '
                    "explicit; leave it out"
                    f"{springs if name == 'stops' else ''}"
                )


def contact_arrays(
    model: Model, points: Sequence[ContactPoint], options: StepOptions, q: Array
) -> Shaped:
    """Arrays of contacts with their shapes, by name: those of the previous step, and the ground's
    numbers; empty without points."""
    check_ground(options.ground)
    memory: dict[str, Any] = {"impulses": options.impulses, "deformation": options.deformation}
    kept = memory.pop(options.contact_memory)
    if any(array is not None for array in memory.values()):
        raise ValueError(
            "impulses= is for wd.Ground; with a wd.SoftGround give deformation="
            if options.is_soft
            else "deformation= is for a wd.SoftGround; with a wd.Ground give impulses="
        )
    shaped: Shaped = {}
    if kept is not None:
        moments = moments_of_points(options.ground, len(points))
        shaped[options.contact_memory] = kept, (len(points), impulse_width(moments))
    if points:
        return shaped | ground_arrays(model, options.ground, len(points), q)
    if shaped:
        raise ValueError(f"{options.contact_memory}= needs points=, and there are none")
    return {}
