"""A launch of a simulation: steps one after the other, and what stays of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from ..algebra.scalar import Scalar, absolute, repeat, select_less
from ..model.tree import Tree
from .compliant_contact import Surface
from .contact_rows import free_base
from .delayed_targets import delayed_targets, from_the_beginning, shifted
from .implicit_forces import Drive
from .semi_implicit_step import Scene, StepState, semi_implicit_step
from .uneven_ground import terrain_of

INFINITE = float("inf")
"""What every finite number is less than."""


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
    """Configuration, velocity, impulses, contact forces and torques after `scene.substeps` steps;
    and the impulses of joints, where some have rows.

    q: nq.  v, tau: nv.  impulses: 3 for each point [N s].  Forces on the points in the world's
    axes, of the last step: 3 each [N].  Torques: of tau and drives on all coordinates but a free
    base's, mean over the steps.  Joint impulses: of the same coordinates [N s, N m s].
    """
    named = dict(zip(scene.arrays, more, strict=True))
    drive = Drive(**_fields(Drive, named)) if "targets" in named else None
    surface = _surface(named) if scene.points else None
    terrain = terrain_of(named)
    nv, count, first = tree.nv, len(scene.points), 6 if free_base(tree) else 0
    late = None
    if "latency" in named:
        late = delayed_targets(
            *(named["targets"], named["earlier_targets"], named["latency"][0], scene.substeps)
        )
    rubbed = named.get("joint_impulses", [0.0] * nv)
    warm = [
        [x for point in named.get("impulses", [[0.0] * 3] * count) for x in point],
        [rubbed[k - first] for k in scene.joint_rows],
    ]
    # What goes from step to step, cut where each part ends; last the sum of what drives applied, and
    # how many steps are done where targets are late.
    begin = [[*q], [*v], *warm, [0.0] * nv, [0.0] if late else []]
    ends = [*accumulate(len(part) for part in begin)]

    def parts(numbers: list[Scalar]) -> list[list[Scalar]]:
        return [numbers[a:b] for a, b in zip([0, *ends], ends, strict=False)]

    def step(numbers: list[Scalar]) -> list[Scalar]:
        *state, total, done = parts(numbers)
        seen = drive._replace(targets=late.at(done[0])) if drive and late else drive
        after, applied = semi_implicit_step(
            *(tree, StepState(*state), tau, seen, surface, terrain, scene, gravity, f_ext)
        )
        summed = [t + x for t, x in zip(total, applied, strict=True)]
        return [x for part in (*after, summed, [n + 1.0 for n in done]) for x in part]

    numbers = [x for part in begin for x in part]
    end = step(numbers) if scene.substeps == 1 else repeat(step, numbers, scene.substeps)
    q_end, v_end, touched, rubbed, total, _ = parts(end)
    impulses = [touched[3 * n : 3 * n + 3] for n in range(count)]
    forces = [[x * (1.0 / scene.dt) for x in each] for each in impulses]
    torques = [t + x * (1.0 / scene.substeps) for t, x in zip(tau, total, strict=True)][first:]
    results = q_end, v_end, impulses, forces, torques
    if not scene.joint_rows:
        return results
    of_joints = dict(zip(scene.joint_rows, rubbed, strict=True))
    return *results, [of_joints.get(k, 0.0) for k in range(first, nv)]


def _surface(named: Mapping[str, Sequence]) -> Surface:
    """What contacts are made of: numbers of each point, and one for all."""
    stiffness, dissipation, push_out = (
        named[name][0] for name in ("stiffness", "dissipation", "push_out")
    )
    return Surface(*(named["friction"], stiffness, dissipation, push_out), named.get("restitution"))


def _fields(record: type, named: Mapping[str, Sequence]) -> dict[str, Sequence]:
    """What a record has of the arrays."""
    return {name: named[name] for name in record._fields if name in named}  # type: ignore[attr-defined]


def guarded_step(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    start: Sequence[Scalar],
    time: Sequence[Scalar],
    failures: Sequence[Scalar],
    *more: Sequence,
    scene: Scene,
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[list, ...]:
    """`substeps`, the time since the beginning [s], and how often it failed: a state that is
    not finite becomes `start` (nq), at rest, and counts; last what targets were, where they are
    late."""
    named = dict(zip(scene.arrays, more, strict=True))
    launches: list[list] = []
    if "latency" in named:
        targets, earlier = named["targets"], named["earlier_targets"]
        named["earlier_targets"] = from_the_beginning(targets, earlier, time[0])
        launches = [shifted(targets, named["earlier_targets"])]
    q, v, impulses, forces, *of_joints = substeps(
        tree, q, v, tau, *named.values(), scene=scene, gravity=gravity, f_ext=f_ext
    )
    size: Scalar = 0.0
    for x in (*q, *v):
        size = size + absolute(x)

    def if_finite(x: Scalar, otherwise: Scalar) -> Scalar:
        return select_less(size, INFINITE, x, otherwise)

    def kept(rows: list) -> list:
        return [[if_finite(x, 0.0) for x in row] for row in rows]

    return (
        [if_finite(x, y) for x, y in zip(q, start, strict=True)],
        [if_finite(x, 0.0) for x in v],
        kept(impulses),
        kept(forces),
        *kept(of_joints),
        [if_finite(time[0] + scene.dt * scene.substeps, 0.0)],
        [failures[0] + if_finite(0.0, 1.0)],
        *launches,
    )
