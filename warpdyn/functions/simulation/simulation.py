"""Simulated robots: their state stays in the same arrays and is stepped in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...algorithms.simulation.contact_rows import ContactPoint, impulse_width
from ...algorithms.simulation.contact_shapes import ContactPair
from ...algorithms.simulation.guarded_step import guarded_step
from ...arrays import Array, views
from ...execution.config import config
from ...execution.launch.launch import prepare
from ...execution.launch.state_checks import check_arrays, check_bounds, check_state
from ...execution.request.call import Call, Forces, Gravity
from ...model import Model
from ...model.model import check_model
from ...model.params import Params
from ..whole_numbers import whole_number
from .bound_attributes import BoundAttributes
from .chosen_rows import ChosenRows, refuse_not_finite
from .contact_pairs import RIGID, PairContact, signs_between
from .default_points import default_points, refuse_none
from .described_simulation import (
    PassiveForces,
    check_start,
    first_configuration,
    with_description,
    with_passive_forces,
)
from .drives import PD, Stops, held_positions, warn_of_zero_efforts
from .free_body import FreeBody
from .ground import FLAT, Ground, SoftGround, moments_of_points
from .pair_arrays import checked_pairs, memory_shapes, moments_of_pairs
from .reset_on_device import reset_on_device
from .sensors import Sensors, checked_sensors
from .simulation_step import step_call
from .step_options import Integrator, StepOptions
from .target_latency import latencies
from .terrain import HeightMap, Plane

COUNTERS = ("time", "failures")
"""Results of a simulation in addition to those of a step."""

INPUTS = ("targets", "tau", "start")
"""Arrays in `state` in addition to the results."""

MEASURED = ("imu", "contacts", "link_forces", "link_contacts", "pair_contacts")
"""Results of the sensors, in order; the last one only with pairs."""


class Simulation(BoundAttributes):
    """Simulation of `envs` robots of a model on the ground, with one launch for each step.

    Its arrays stay in the same memory. You can read them and write into them between steps: q
    (envs, nq), v (envs, nv); targets (envs, joints) of the drives `control`; tau (envs, nv), forces
    in addition to the drives. Results of a step: forces (envs, points, 3) of the ground on the
    points, in the world's axes [N]; torques (envs, joints), the mean over the substeps [N·m, N];
    impulses, the start of the next step's sweeps, or on a `SoftGround` the points' deformations
    [m]; time (envs,) since the last reset [s]; failures (envs,): how often a state was not finite
    and was reset to `start` (envs, nq), at rest; joint_impulses (envs, joints) if joints have rows,
    as in `step`; with pairs or closed loops, loop_forces (envs, loops, 6), pair_impulses,
    pair_features and pair_forces (envs, pairs, 3) too.

    points: None for all points of the collision shapes (`ContactPoints`); raises if some could not
    be read.
    pairs: shapes of bodies that touch each other (`ContactPairs`), with the properties
    `pair_contact`. Without pairs bodies touch the ground alone and pass through each other.
    start: (nq,) or (envs, nq), the first configuration of every environment, or the name of a
    configuration of the model; None for "home" if the model has it, else for "qpos0", in which an
    MJCF file draws the robot, else for the neutral configuration. Numbers and a neutral
    configuration outside the position limits give a warning. It is also the first target of the
    drives.
    f_ext, gravity, params, the numbers of `ground` and of `control`, stops: as in `step`; arrays
    are read at each launch.
    latency: whole steps of `dt` after which targets reach the drives, a number or (envs,); then
    `latency` (envs,) is an array to write in, up to longest_latency (None: the largest value).
    like, dtype, device: the kind of arrays; by default float32 NumPy.

    passive_forces: "description": the friction, springs and weight compensation of the robot's file
    act, except for kinds that the model already has; "model": only those of the model, as in
    `step`. None: "description" for an MJCF file, "model" for other files. `model` is the robot as
    it is simulated. For an MJCF file the contacts also use its friction, stiffness and dissipation
    unless `ground` gives them, and `stops` are "rows" by default, so that limits of joints without
    an effort hold.

    sensors: further results of the same launch, for the `links` that it names: imu (envs, links,
    6), proper acceleration over the last substep, then angular velocity, in the link's axes [m/s²,
    rad/s]; link_forces (envs, links, 6), net force of all contacts, also with other bodies, and
    moment about the link's origin, in the world's axes [N, N·m]; contacts (envs, points) and
    pair_contacts (envs, pairs): 1 where the force is above the threshold, else 0; link_contacts
    (envs, links): 1 where that of the ground or of a pair of the link is.
    """

    def __init__(
        self,
        model: Model,
        envs: int,
        *,
        points: Sequence[ContactPoint] | None = None,
        control: PD | None = None,
        dt: float = 0.005,
        substeps: int = 4,
        integrator: Integrator = "semi_implicit",
        sweeps: int = 4,
        ground: Ground | SoftGround = FLAT,
        terrain: HeightMap | Plane | None = None,
        pairs: Sequence[ContactPair] = (),
        pair_contact: PairContact = RIGID,
        start: Any = None,
        latency: Any = None,
        longest_latency: int | None = None,
        stops: Stops | None = None,
        f_ext: Forces = None,
        gravity: Gravity = None,
        params: Params | None = None,
        sensors: Sensors | None = None,
        passive_forces: PassiveForces | None = None,
        like: Array | None = None,
        dtype: Any = None,
        device: Any = None,
    ):
        check_model(model)
        self.envs = whole_number("envs", envs)
        self._choose_library(like, dtype, device)
        self._chosen = ChosenRows(self._library, self.envs)
        simulated = with_passive_forces(model, passive_forces)
        if params is not None and simulated is not model and params.model is model:
            params = replace(params, model=simulated)
        self.model, self.control, self.terrain = simulated, control, terrain
        warn_of_zero_efforts(simulated, control)
        self.pairs = pairs
        checked_pairs(simulated, pairs)
        self.points = default_points(simulated, pairs) if points is None else points
        refuse_none(self.points)
        ground = with_description(simulated, self.points, ground)
        if stops is None and simulated.is_simulated and integrator == "semi_implicit":
            stops = "rows"
        self.sensors = checked_sensors(simulated, self.points, pairs, sensors)
        self._allocate(
            impulse_width(moments_of_points(ground, len(self.points))),
            memory_shapes(pairs, moments_of_pairs(pairs, pair_contact) if len(pairs) else ()),
        )
        self._advance: Callable[[], Any] | None = None
        options = StepOptions(
            dt=dt,
            substeps=substeps,
            integrator=integrator,
            targets=None if control is None else self.targets,
            control=control,
            points=self.points,
            ground=ground,
            terrain=terrain,
            pairs=pairs,
            pair_contact=pair_contact,
            sweeps=sweeps,
            stops=stops,
            f_ext=f_ext,
            gravity=gravity,
            params=params,
        )
        self._call = self._launch_call(self._with_memory(options, latency, longest_latency))
        check_bounds(self._call)
        self._set_start(start)
        self.reset()
        self._bind_attributes()

    def step(self, targets: Array | None = None, tau: Array | None = None) -> None:
        """Step all robots by `substeps` steps, after copying the arguments into `targets` and
        `tau`."""
        for name, values in (("targets", targets), ("tau", tau)):
            if values is not None:
                if name == "targets" and self.control is None:
                    raise ValueError(
                        "targets= needs drives: Simulation(..., control=wd.PD(kp, kd))"
                    )
                mine = getattr(self, name)
                self._library.assign(
                    mine, slice(None), self._chosen.check_values(name, values, mine.shape[1], None)
                )
        if config.debug:
            check_arrays(self._call)
        if self._advance is None:
            self._advance = prepare(self._call).bind()  # preparing the bound call launches it once
        else:
            self._advance()
        self._library.mark_written(self._call.out)

    def reset(self, where: Any = None, *, q: Any = None, v: Any = None) -> None:
        """Reset all environments, or those of a mask (envs,) or of indices.

        q: (nq,), one row for each environment that is reset, or (envs, nq), with indices in order;
        None: their rows of `start`. v: with the same shapes; None: at rest. Impulses, forces,
        torques and time become zero.

        On a CUDA device this is one launch, which a graph capture records. Indices that lie there
        are not read on the host: those of no environment are left out, without an error.
        """
        rows, count = self._chosen.rows(where)
        cleared = [
            name
            for name in self._call.results
            if name not in ("q", "v", "failures", "earlier_targets")
        ]
        if self._library.on_cuda(self.q):
            arrays = {name: self._array(name) for name in ("q", "v", *cleared)}
            values = {"q": self.start if q is None else q, "v": v}
            chosen = None if where is None else rows
            reset_on_device(self._library, chosen, count, arrays, values)
            return
        picked, check = (rows, count), self._chosen.check_values
        begin = self._chosen.of_start(self.start, picked)
        place = begin if q is None else check("q", q, self.model.nq, picked)
        speed = 0.0 if v is None else check("v", v, self.model.nv, picked)
        if q is not None and (wrong := check_state(self.model, place).errors):
            raise ValueError(f"q is not a valid state in the rows to reset: {wrong[0]}")
        if v is not None:
            refuse_not_finite("v", speed)
        self._library.assign(self.q, rows, place)
        self._library.assign(self.v, rows, speed)
        for name in cleared:
            self._library.assign(self._array(name), rows, 0.0)

    def body(self, name: str) -> FreeBody:
        """A free body by the name of its link, with its pose and velocity in all environments."""
        return FreeBody(self, name, self._chosen)

    def force_between(self, first: str, second: str) -> np.ndarray:
        """(envs, 3), the force of one link on a second one through the contacts of all their pairs
        in the last substep, in the world's axes [N]; "ground" also acts through the points of a
        link. A copy, as a NumPy array."""
        signs = signs_between(self.points, self.pairs, first, second)
        both = (self.forces, self.pair_forces)
        forces = np.concatenate([self._library.to_host(x) for x in both], axis=1)
        return np.stack([forces[:, k] * sign for k, sign in signs.items()]).sum(0)

    def state(self) -> dict[str, np.ndarray]:
        """Copies, as NumPy arrays, of all values on which the next steps depend and of the last
        results."""
        return {
            name: self._library.to_host(self._array(name)).copy() for name in self._names_in_state
        }

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue from a `state`, bit for bit."""
        if set(state) != set(self._names_in_state):
            raise ValueError(
                f"a state has {', '.join(self._names_in_state)}; got {', '.join(state)}"
            )
        for name, values in state.items():
            shape = tuple(self._array(name).shape)
            if np.shape(values) != shape:
                raise ValueError(f"{name} of this simulation is {shape}, got {np.shape(values)}")
        for name, values in state.items():
            self._library.assign(self._array(name), slice(None), np.asarray(values))

    def __reduce_ex__(self, _: Any) -> Any:
        """Refuse `copy` and `pickle`: the launch is bound to memory of this process."""
        raise TypeError(
            "a Simulation cannot be pickled or copied: its launch is bound to its arrays in this "
            "process; pickle its model and state(), make another Simulation with the same arguments, "
            "and restore(state) there"
        )

    def __repr__(self) -> str:
        scene = dict(self._call.options)["scene"]
        return (
            f"<Simulation of {self.envs} {self.model.name}: {len(self.points)} contact points, "
            f"{f'{len(self.pairs)} contact pairs, ' if len(self.pairs) else ''}"
            f"{scene.substeps} step{'s' * (scene.substeps > 1)} of {scene.dt:g} s a launch>"
        )

    def _choose_library(self, like: Array | None, dtype: Any, device: Any) -> None:
        if dtype is None and like is None:
            dtype = "float32"
        self._library, self._device, self._single = views.kind_of(like, dtype, device)
        if not self._library.in_place:
            raise TypeError(
                f"a Simulation writes its arrays in place, which {self._library.name}'s are not; "
                "use wd.step, which gives new ones"
            )

    def _allocate(self, width: int, pair_shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Allocate all arrays but those of joint rows and of late targets, which few simulations
        have. width: of the points' impulses. pair_shapes: shapes of the memory of pairs."""
        model, count = self.model, len(self.points)
        joints = len(model.joint_columns)
        self.q, self.v = self._zeros(model.nq), self._zeros(model.nv)
        self.tau, self.start = self._zeros(model.nv), self._zeros(model.nq)
        self.targets = self._zeros(joints)
        self.impulses, self.forces = self._zeros(count, width), self._zeros(count, 3)
        self.torques = self._zeros(joints)
        pair_memory = {name: self._zeros(*shape) for name, shape in pair_shapes.items()}
        self.pair_impulses, self.pair_features = (
            pair_memory["pair_impulses"],
            pair_memory["pair_features"],
        )
        self.pair_forces = self._zeros(len(self.pairs), 3)
        self._columns = {"time": self._zeros(1), "failures": self._zeros(1)}
        self._columns["pairs_left_out"] = pair_memory["pairs_left_out"]
        self.time, self.failures, self.pairs_left_out = (
            self._library.entry(column, 0) for column in self._columns.values()
        )
        self.joint_impulses: Any = None
        self.loop_forces = self._zeros(len(model.loops), 6)
        self.latency: Any = None
        units, links = (self.sensors.units, self.sensors.links) if self.sensors else ((), ())
        self.imu, self.link_forces = self._zeros(len(units), 6), self._zeros(len(links), 6)
        self.contacts = self._zeros(count if self.sensors else 0)
        self.link_contacts = self._zeros(len(links))
        self.pair_contacts = self._zeros(len(self.pairs) if self.sensors else 0)

    def _set_start(self, start: Any) -> None:
        """Fill `start`, and the first targets of the drives."""
        chosen = first_configuration(self.model, start)
        begin = self._chosen.check_values("start", chosen, self.model.nq, None)
        check_start(self.model, start, begin)
        self._library.assign(self.start, slice(None), self._chosen.on_host(begin))
        if self.control is not None:
            held = held_positions(self.model, self._library.to_host(self.start))
            self._library.assign(self.targets, slice(None), held)

    def _with_memory(self, options: StepOptions, latency: Any, longest: int | None) -> StepOptions:
        """The options with the arrays that one launch passes to the next."""
        late = self._latency_arrays(latency, longest, options.substeps)
        contacts = {options.contact_memory: self.impulses} if len(self.points) else {}
        if len(self.pairs):
            contacts |= {name: self._array(name) for name in memory_shapes(self.pairs)}
        return replace(options, **late, **contacts)

    def _launch_call(self, options: StepOptions) -> Call[Any]:
        """The step as a call on the simulation's arrays, with time, failures and sensors."""
        call = step_call(self.model, self.q, self.v, self.tau, options)
        # The shape of the joint impulses is known only from a first call, so the step is described
        # again with their array.
        if "joint_impulses" in call.results:
            self.joint_impulses = self._zeros(*call.shapes["joint_impulses"])
            options = replace(options, joint_impulses=self.joint_impulses)
            call = step_call(self.model, self.q, self.v, self.tau, options)
        arrays, first = dict(call.arrays), ("q", "v", "tau")
        more = {"start": self.start} | {n: self._columns[n] for n in ("time", "failures")}
        guarded = replace(
            call,
            name="simulation",
            algorithms=(guarded_step,),
            arrays={**{n: arrays.pop(n) for n in first}, **more, **arrays},
            options=(*call.options, ("sensors", self.sensors)),
            shapes={
                **call.shapes,
                "start": (self.model.nq,),
                "time": (1,),
                "failures": (1,),
                **{name: tuple(self._array(name).shape[1:]) for name in MEASURED},
            },
            named=None,
        )
        late = () if options.latency is None else ("earlier_targets",)
        measured = MEASURED[: len(MEASURED) - (not len(self.pairs))] if self.sensors else ()
        return self._with_results(guarded, *COUNTERS, *late, *measured)

    def _latency_arrays(self, latency: Any, longest: int | None, substeps: int) -> dict[str, Any]:
        """Arrays for late targets: the latency, and the targets of earlier launches."""
        if latency is None:
            if longest is not None:
                raise ValueError("longest_latency= needs latency=")
            return {}
        if self.control is None:
            raise ValueError("latency= needs drives with targets: control=wd.PD(kp, kd)")
        counted = whole_number("substeps", substeps)
        steps, launches = latencies(self._chosen.on_host(latency), longest, self.envs, counted)
        self._columns["latency"] = self._zeros(1)
        self.latency = self._library.entry(self._columns["latency"], 0)
        self._library.assign(self._columns["latency"], slice(None), steps[:, None])
        self.earlier_targets = self._zeros(launches, self.targets.shape[1])
        return {"latency": self._columns["latency"], "earlier_targets": self.earlier_targets}

    def _with_results(self, call: Call[Any], *more: str) -> Call[Any]:
        """A call with further results, all in the arrays of the same names."""
        results = (*call.results, *more)
        return replace(call, results=results, out=tuple(map(self._array, results)))

    @property
    def _names_in_state(self) -> tuple[str, ...]:
        late = () if self.latency is None else ("latency",)
        return (*self._call.results, *INPUTS, *late)

    def _array(self, name: str) -> Any:
        return self._columns[name] if name in self._columns else getattr(self, name)

    def _zeros(self, *shape: int) -> Any:
        array = self._library.allocate(self._device, self._single, (self.envs, *shape))
        self._library.write(array, 0.0)
        return array
