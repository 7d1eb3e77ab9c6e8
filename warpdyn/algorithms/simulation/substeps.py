"""A launch of a simulation: several steps in a loop, and the results that they leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from ...algebra.scalar import Scalar, repeat
from ...model.tree import Tree
from .compliant_contact import Surface
from .contact_rows import free_base
from .delayed_targets import delayed_targets
from .explicit_step import explicit_step
from .semi_implicit_step import Scene, StepState, semi_implicit_step
from .smooth_dynamics import drive_of, soft_surface_of
from .uneven_ground import terrain_of


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
    and the impulses of joints, if some have rows.

    q: nq.  v, tau: nv.  impulses: 3 for each point [N s]; on soft ground deformations [m].  Forces
    on the points in the world's axes, 3 each [N]: of the last step; if it is explicit, the mean
    of its stages.  Torques: of tau and drives on all coordinates but a free base's, mean over the
    steps.  Joint impulses: of the same coordinates [N s, N m s].
    """
    return launch(tree, q, v, tau, more, scene, gravity, f_ext).results


class Launch(NamedTuple):
    """The results of `substeps`, and the state before the last step, if it is kept."""

    results: tuple[list, ...]
    before: tuple[list[Scalar], list[Scalar]]


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
) -> Launch:
    """Run the steps of a launch in a loop. `keep`: also return the state before the last step."""
    named = dict(zip(scene.arrays, more, strict=True))
    drive = drive_of(named)
    soft = soft_surface_of(named, scene.exponents)
    surface = _compliant(named)
    terrain = terrain_of(named)
    nv, count, first = tree.nv, len(scene.points), 6 if free_base(tree) else 0
    late = None
    if "latency" in named:
        late = delayed_targets(
            named["targets"], named["earlier_targets"], named["latency"][0], scene.substeps
        )
    handed_on = "impulses" if soft is None else "deformation"
    rubbed = named.get("joint_impulses", [0.0] * nv)
    warm = [
        [x for point in named.get(handed_on, [[0.0] * 3] * count) for x in point],
        [rubbed[k - first] for k in scene.joint_rows],
    ]
    # The loop's state is one list, cut at these ends. After the robot's state come the sum of the
    # drives' forces, the number of finished steps if targets are delayed, contact forces if they
    # are not impulses, and the state before if it is kept.
    before = [[*q], [*v]] if keep else [[], []]
    begin = [[*q], [*v], *warm, [0.0] * nv, [0.0] if late else []]
    begin += [[0.0] * (3 * count if soft else 0), *before]
    ends = [*accumulate(len(part) for part in begin)]

    def parts(numbers: list[Scalar]) -> list[list[Scalar]]:
        return [numbers[a:b] for a, b in zip([0, *ends], ends, strict=False)]

    def step(numbers: list[Scalar]) -> list[Scalar]:
        *state, total, done, _, _, _ = parts(numbers)
        seen = drive._replace(targets=late.at(done[0])) if drive and late else drive
        here = StepState(*state)
        after, applied, forces = (
            semi_implicit_step(tree, here, tau, seen, surface, soft, terrain, scene, gravity, f_ext)
            if scene.integrator == "semi_implicit"
            else explicit_step(tree, here, tau, seen, soft, terrain, scene, gravity, f_ext)
        )
        summed = [t + x for t, x in zip(total, applied, strict=True)]
        before = state[:2] if keep else ()
        counted = [n + 1.0 for n in done]
        return [x for part in (*after, summed, counted, forces, *before) for x in part]

    numbers = [x for part in begin for x in part]
    end = step(numbers) if scene.substeps == 1 else repeat(step, numbers, scene.substeps)
    q_end, v_end, touched, rubbed, total, _, pressed, *kept = parts(end)
    impulses = [touched[3 * n : 3 * n + 3] for n in range(count)]
    forces = (
        [[x * (1.0 / scene.dt) for x in each] for each in impulses]
        if soft is None
        else [pressed[3 * n : 3 * n + 3] for n in range(count)]
    )
    torques = [t + x * (1.0 / scene.substeps) for t, x in zip(tau, total, strict=True)][first:]
    results: tuple[list, ...] = (q_end, v_end, impulses, forces, torques)
    if scene.joint_rows:
        of_joints = dict(zip(scene.joint_rows, rubbed, strict=True))
        results = (*results, [of_joints.get(k, 0.0) for k in range(first, nv)])
    return Launch(results, (kept[0], kept[1]))


def _compliant(named: Mapping[str, Sequence]) -> Surface | None:
    """The compliant ground from a program's arrays; None if it has none. Some of its numbers are
    per point, others for all points."""
    if "dissipation" not in named:
        return None
    stiffness, dissipation, push_out = (
        named[name][0] for name in ("stiffness", "dissipation", "push_out")
    )
    return Surface(named["friction"], stiffness, dissipation, push_out, named.get("restitution"))
