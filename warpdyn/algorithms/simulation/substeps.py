"""A launch of a simulation: several steps in a loop, and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...algebra.row_arrays import loop
from ...algebra.scalar import Scalar, absolute, repeat
from ...model.tree import Tree
from .compliant_contact import BETWEEN_BODIES, Surface
from .contact_rows import impulse_width, joint_coordinates
from .delayed_targets import delayed_targets
from .explicit_step import STAGES, explicit_step
from .mujoco_step import METHODS, mujoco_step
from .pair_slots.pair_memory import TouchingBodies
from .scene import AppliedForces, Contacts, Scene, StepState
from .semi_implicit_step import semi_implicit_step
from .smooth_dynamics import drive_of, soft_surface_of
from .uneven_ground import Terrain, terrain_of

STEPS = {
    "semi_implicit": semi_implicit_step,
    **dict.fromkeys(STAGES, explicit_step),
    **dict.fromkeys(METHODS, mujoco_step),
}
"""The step of each integrator."""


def substeps(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *more: Sequence,
    scene: Scene,
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[list, ...]:
    """Configuration, velocity, impulses, contact forces and torques after `scene.substeps` steps,
    the impulses of joints, if some have rows, the forces of closed loops, and the impulses, features
    and forces of pairs with the number of pairs without a slot, if there are some.

    q: nq.  v, tau: nv.  impulses: 3 for each point [N s]; on soft ground deformations [m].  Forces
    on the points in the world's axes, 3 each [N]: of the last step; if it is explicit, the mean
    of its stages.  Torques: of tau and drives on all coordinates but those of free bodies, mean over the
    steps.  Joint impulses: of the same coordinates [N s, N m s].
    """
    return tuple(launch(tree, q, v, tau, more, scene, gravity, f_ext).results.values())


OF_PAIRS, OF_POINTS = ("pair_impulses", "pair_features", "pair_forces"), ("impulses", "forces")
"""Results of a launch that are read from the memory of contacts in slots."""


class Launch(NamedTuple):
    """The results of `substeps` by name, the configuration and velocity before the last step, empty
    unless they are kept, and the positions of the contacts of pairs in the last step [m], empty
    unless they are located. `zero_at_failure`: names of results that are 0 if the state is not
    finite.
    """

    results: dict[str, list]
    q_before: list[Scalar]
    v_before: list[Scalar]
    positions: list[Sequence[Scalar]]
    zero_at_failure: tuple[str, ...]


class LoopState(NamedTuple):
    """What one step of a launch passes to the next: the robot's `StepState`, then sums, counts and
    results. Parts that a launch does not need are empty."""

    q: list[Scalar]
    v: list[Scalar]
    impulses: list[Scalar]
    joint_impulses: list[Scalar]
    loop_impulses: list[Scalar]
    pairs_left_out: list[Scalar]
    """One number if there are pairs: how often a near pair had no slot."""
    driven: list[Scalar]
    """Sum over the steps of the drives' forces, nv."""
    steps: list[Scalar]
    """One number if targets are delayed: the number of finished steps."""
    forces: list[Scalar]
    """Forces of soft ground on the points, 3 each: its deformations do not show them."""
    q_before: list[Scalar]
    v_before: list[Scalar]
    """The state before the step, if it is kept."""

    @property
    def robot(self) -> StepState:
        return StepState(*self[: len(StepState._fields)])

    @property
    def numbers(self) -> list[Scalar]:
        """All parts, one after the other, as `repeat` takes them."""
        return [x for part in self for x in part]

    def of_numbers(self, numbers: Sequence[Scalar]) -> LoopState:
        """The state of other numbers, cut into parts that are as long as these."""
        rest = iter(numbers)
        return LoopState(*([next(rest) for _ in part] for part in self))


def launch(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    more: Sequence[Sequence],
    scene: Scene,
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
    keep: bool = False,
    locate: bool = False,
    clear: bool = False,
) -> Launch:
    """Run the steps of a launch in a loop. `keep`: also return the state before the last step.
    `locate`: also return the positions of the contacts of pairs. `clear`: forget the contacts in
    slots if the state is not finite."""
    named = dict(zip(scene.arrays, more, strict=True))
    drive = drive_of(named)
    soft = soft_surface_of(named, scene.exponents)
    pairs = _pairs(tree, named, scene, locate)
    surface, terrain = _compliant(named, scene), terrain_of(named)
    points = None
    if surface is not None and scene.points_in_slots:
        points, surface = _points(tree, named, scene, surface, terrain), None
    contacts = Contacts(surface, soft, terrain, pairs, points)
    late = None
    if "latency" in named:
        late = delayed_targets(
            named["targets"], named["earlier_targets"], named["latency"][0], scene.substeps
        )
    begin = _begin(tree, q, v, named, scene, keep)

    def step(numbers: list[Scalar]) -> list[Scalar]:
        state = begin.of_numbers(numbers)
        robot = state.robot
        now = drive._replace(targets=late.at(state.steps[0])) if drive and late else drive
        applied = AppliedForces(tau, now, gravity, f_ext)
        after, driven, forces = STEPS[scene.integrator](tree, robot, applied, contacts, scene)
        return LoopState(
            **after._asdict(),
            driven=[total + x for total, x in zip(state.driven, driven, strict=True)],
            steps=[n + 1.0 for n in state.steps],
            forces=forces,
            q_before=state.q if keep else [],
            v_before=state.v if keep else [],
        ).numbers

    numbers = begin.numbers
    if scene.substeps == 1:
        numbers = step(numbers)
    elif not contacts.memory:
        numbers = repeat(step, numbers, scene.substeps)
    else:
        # The memory of the pairs stays in arrays: as part of the state each step would copy it.
        arrays = [array for each in contacts.memory for array in each.arrays]
        numbers = loop(scene.substeps, lambda _, state, __: step(state), numbers, arrays)
    end = begin.of_numbers(numbers)
    zero_at_failure: tuple[str, ...] = ()
    if clear and contacts.memory:
        size = state_size(end.q, end.v)
        for memory in contacts.memory:
            memory.clear_if_infinite(size)
        zero_at_failure = (OF_PAIRS if pairs else ()) + (OF_POINTS if points else ())
    results = _results(tree, tau, end, contacts, scene)
    positions = pairs.positions if pairs is not None and locate else []
    return Launch(results, end.q_before, end.v_before, positions, zero_at_failure)


def state_size(q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """The sum of the magnitudes of all numbers of a state, which is finite if all of them are."""
    size: Scalar = 0.0
    for x in (*q, *v):
        size = size + absolute(x)
    return size


def _begin(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    named: Mapping[str, Sequence],
    scene: Scene,
    keep: bool,
) -> LoopState:
    """The loop's state before the first step, with the impulses or deformations of the previous
    launch."""
    soft, count = "damping" in named, len(scene.points)
    nothing = [0.0] * impulse_width(scene.point_moments)
    of_points = named.get("deformation" if soft else "impulses", [nothing] * count)
    joints = joint_coordinates(tree)
    of_joints = named.get("joint_impulses", [0.0] * len(joints))
    of_coordinates = dict(zip(joints, of_joints, strict=True))
    return LoopState(
        q=[*q],
        v=[*v],
        impulses=[] if scene.points_in_slots else [x for point in of_points for x in point],
        joint_impulses=[of_coordinates.get(k, 0.0) for k in scene.joint_rows],
        loop_impulses=[0.0] * (6 * len(tree.loops)),
        pairs_left_out=[*named.get("pairs_left_out", [0.0])] if scene.pairs else [],
        driven=[0.0] * tree.nv,
        steps=[0.0] if "latency" in named else [],
        forces=[0.0] * (3 * count if soft else 0),
        q_before=[*q] if keep else [],
        v_before=[*v] if keep else [],
    )


def _results(
    tree: Tree, tau: Sequence[Scalar], end: LoopState, contacts: Contacts, scene: Scene
) -> dict[str, list]:
    """Results by name, from the loop's state after the last step."""
    joints = joint_coordinates(tree)
    width = impulse_width(scene.point_moments)
    impulses = [end.impulses[width * n : width * (n + 1)] for n in range(len(scene.points))]
    if contacts.points is not None:
        impulses = [list(impulse) for impulse in contacts.points.results(scene.dt)[0]]
    forces = (
        [end.forces[3 * n : 3 * n + 3] for n in range(len(scene.points))]
        if contacts.soft is not None
        else [[x * (1.0 / scene.dt) for x in each[:3]] for each in impulses]
    )
    driven = [t + x * (1.0 / scene.substeps) for t, x in zip(tau, end.driven, strict=True)]
    results: dict[str, list] = {"q": end.q, "v": end.v, "impulses": impulses, "forces": forces}
    results["torques"] = [driven[k] for k in joints]
    if scene.joint_rows or scene.pairs or tree.loops:
        of_rows = dict(zip(scene.joint_rows, end.joint_impulses, strict=True))
        results["joint_impulses"] = [of_rows.get(k, 0.0) for k in joints]
    if tree.loops or scene.pairs:
        loops = (end.loop_impulses[k : k + 6] for k in range(0, 6 * len(tree.loops), 6))
        results["loop_forces"] = [[x * (1.0 / scene.dt) for x in each] for each in loops]
        results |= _results_of_pairs(end, contacts.pairs, scene)
    return results


def _results_of_pairs(
    end: LoopState, touching: TouchingBodies | None, scene: Scene
) -> dict[str, list]:
    """Impulses and features of the contacts of all pairs, the forces on the second shapes, and the
    number of near pairs without a slot."""
    impulses, features, forces = ([], [], []) if touching is None else touching.results(scene.dt)
    return {
        "pair_impulses": [list(impulse) for impulse in impulses],
        "pair_features": features,
        "pair_forces": forces,
        "pairs_left_out": end.pairs_left_out or [0.0],
    }


def _pairs(
    tree: Tree, named: Mapping[str, Sequence], scene: Scene, located: bool
) -> TouchingBodies | None:
    """The pairs of a scene with the impulses and features of the previous launch; None without
    pairs."""
    if not scene.pairs:
        return None
    count = sum(pair.contacts for pair in scene.pairs)
    nothing = [0.0] * impulse_width(scene.pair_moments)
    return TouchingBodies.of(
        tree,
        scene.pairs,
        scene.pair_slots,
        _surfaces_of_pairs(named, scene),
        named.get("pair_impulses", [nothing] * count),
        named.get("pair_features", [0.0] * count),
        scene.pair_moments,
        located,
    )


def _points(
    tree: Tree,
    named: Mapping[str, Sequence],
    scene: Scene,
    surface: Surface,
    terrain: Terrain | None,
) -> TouchingBodies:
    """Points in slots, with the impulses of the previous launch."""
    numbers = (surface.friction, surface.restitution, surface.torsional, surface.rolling)
    each = [
        surface._replace(friction=mu, restitution=e, torsional=spin, rolling=roll)
        for mu, e, spin, roll in zip(
            *([None] * len(scene.points) if x is None else [[y] for y in x] for x in numbers),
            strict=True,
        )
    ]
    nothing = [0.0] * impulse_width(scene.point_moments)
    impulses = named.get("impulses", [nothing] * len(scene.points))
    return TouchingBodies.of_points(
        tree, scene.points, each, impulses, terrain, scene.point_moments
    )


def _compliant(named: Mapping[str, Sequence], scene: Scene) -> Surface | None:
    """The compliant ground from a program's arrays; None if it has none. Some of its numbers are
    per point, others for all points."""
    if "dissipation" not in named:
        return None
    stiffness, dissipation, push_out = (
        named[name][0] for name in ("stiffness", "dissipation", "push_out")
    )
    return Surface(
        named["friction"],
        stiffness,
        dissipation,
        push_out,
        named.get("restitution"),
        torsional=named.get("torsional_friction"),
        rolling=named.get("rolling_friction"),
    )


def _surfaces_of_pairs(named: Mapping[str, Sequence], scene: Scene) -> list[Surface]:
    """The contact properties of each pair from a program's arrays."""

    def of_each(name: str, k: int) -> list[Scalar] | None:
        numbers = named.get(name)
        return None if numbers is None else [numbers[k]] * scene.pairs[k].contacts

    return [
        Surface(
            friction=[named["pair_friction"][k]] * pair.contacts,
            stiffness=named["pair_stiffness"][k],
            dissipation=named["pair_dissipation"][k],
            push_out=named["pair_push_out"][0],
            restitution=of_each("pair_restitution", k),
            least_compliance=BETWEEN_BODIES,
            torsional=of_each("pair_torsional_friction", k),
            rolling=of_each("pair_rolling_friction", k),
            soft_normal=scene.soft_pairs[k] if scene.soft_pairs else None,
        )
        for k, pair in enumerate(scene.pairs)
    ]
