"""Models without a file: links, joints and frames added one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .checks import checked_shapes, not_negative, rigid_body
from .closed_loops.loop import Loop
from .description import Gearbox, Geometry, Joint, Link, Mimic
from .joints import KINDS, KindName
from .model import Model
from .names import ModelError
from .poses_and_limits import ORIGIN, UNLIMITED, ZERO3, Limits, Pose, Vector3, unit_vector
from .reference_frames import Reference
from .remarks import unphysical, warn
from .structure import QuaternionOrder


class ModelBuilder:
    """A builder for a model without a file: add links, joints and frames, then call `build`.

    Parts may come in any order; `build` checks that they make one tree. Siblings keep the order of
    their joints.

    >>> builder = wd.ModelBuilder("pendulum").add_link("base")
    >>> inertia = np.diag([0.1, 0.1, 0.01])
    >>> builder = builder.add_link("rod", mass=1.0, com=(0, 0, -0.5), inertia=inertia)
    >>> builder = builder.add_joint("hinge", "continuous", "base", "rod", axis=(0, 1, 0))
    >>> wd.gravity_torques(builder.build(), np.array([[np.pi / 2]])).round(3)
    array([[4.905]])
    """

    def __init__(self, name: str = "robot"):
        self.name = name
        self._links: dict[str, Link] = {}
        self._joints: dict[str, Joint] = {}
        self._loops: list[Loop] = []

    def add_link(
        self,
        name: str,
        mass: float = 0.0,
        com: ArrayLike = ORIGIN,
        inertia: ArrayLike = ZERO3,
        *,
        visuals: Sequence[Geometry] = (),
        collisions: Sequence[Geometry] = (),
    ) -> ModelBuilder:
        """Add a rigid body: mass [kg], com in the link's frame [m], inertia (3, 3) about the com in
        the link's axes [kg·m²]."""
        where = f'{self.name}: link "{name}"'
        if name in self._links:
            raise ModelError(f"{where} is there already; give each link its own name")
        try:
            numbers = rigid_body(where, mass, com, inertia)
        except ValueError as error:
            raise ModelError(str(error)) from None
        drawn, touched = (checked_shapes(where, shapes) for shapes in (visuals, collisions))
        self._links[name] = Link(name, *numbers, visuals=drawn, collisions=touched)
        return self

    def add_joint(
        self,
        name: str,
        kind: KindName,
        parent: str,
        child: str,
        pose: Any = ORIGIN,
        axis: Sequence[float] | np.ndarray = (1.0, 0.0, 0.0),
        *,
        lower: float = -math.inf,
        upper: float = math.inf,
        velocity: float = math.inf,
        effort: float = math.inf,
        damping: float = 0.0,
        friction: float = 0.0,
        armature: float = 0.0,
        mimic: str | tuple[str, float, float] | Mimic | None = None,
        pitch: float = 0.0,
        axis2: Sequence[float] | np.ndarray | None = None,
        limits2: Limits | None = None,
        damping2: float = 0.0,
        friction2: float = 0.0,
        gearbox: tuple[float, str] | None = None,
    ) -> ModelBuilder:
        """Add a joint from link `parent` to link `child`.

        kind: one of `warpdyn.description.KINDS`. pose: of the joint in the parent: a Pose, a 4x4
        matrix, x y z, or x y z qx qy qz qw. axis: in the joint's frame, of any length. Limits [rad
        or m; rad/s or m/s; N·m or N], damping, friction and armature belong to the coordinate. A
        joint of two axes uses them for its first axis, and the arguments that end in 2 for its
        second.
        mimic: the joint to follow, or (joint, multiplier, offset), or a Mimic. pitch: a screw's
        advance [m/rad].
        gearbox: (ratio, reference link) of a gearbox.
        """
        where = f'{self.name}: joint "{name}"'
        if name in self._joints:
            raise ModelError(f"{where} is there already; give each joint its own name")
        if kind not in KINDS:
            raise ModelError(
                f'{where}: there is no joint kind "{kind}"; choose one of {", ".join(KINDS)}'
            )
        # Poses and axes are checked here, so that the error names the joint. The rest is checked by
        # `build`, because links may be added later.
        try:
            place, direction = Pose.of(pose), _direction("axis", axis)
            second = None if axis2 is None else _direction("axis2", axis2)
            limits = Limits(*map(float, (lower, upper, velocity, effort)))
            damping, friction, armature = map(float, (damping, friction, armature))
            damping2, friction2, pitch = map(float, (damping2, friction2, pitch))
            _check_limits(limits, limits2 or UNLIMITED)
            _check_not_negative(
                damping=damping, friction=friction, damping2=damping2, friction2=friction2
            )
            leader = _mimic(mimic)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{where}: {error}") from None
        self._joints[name] = Joint(
            name=name,
            kind=KINDS[kind],
            parent=parent,
            child=child,
            pose=place,
            axis=direction,
            limits=limits,
            damping=damping,
            friction=friction,
            armature=armature,
            mimic=leader,
            axis2=second,
            limits2=limits2 or UNLIMITED,
            damping2=damping2,
            friction2=friction2,
            pitch=pitch,
            gearbox=gearbox and Gearbox(*gearbox),
        )
        return self

    def add_frame(self, name: str, parent: str, pose: Any = ORIGIN) -> ModelBuilder:
        """Add a frame on link `parent`: a link without mass on the fixed joint "<name>_joint"."""
        self.add_link(name)
        return self.add_joint(f"{name}_joint", "fixed", parent, name, pose)

    def connect(
        self, link_a: str, point_a: Any, link_b: str | None, point_b: Any, name: str = ""
    ) -> ModelBuilder:
        """Close a loop: `point_a` of `link_a` and `point_b` of `link_b` coincide. Points are x y z
        in the links' frames [m]; link_b None is the world."""
        return self._close(Loop.connect, link_a, point_a, link_b, point_b, name)

    def weld(
        self,
        link_a: str,
        pose_a: Any = ORIGIN,
        link_b: str | None = None,
        pose_b: Any = ORIGIN,
        name: str = "",
    ) -> ModelBuilder:
        """Close a loop: the frame `pose_a` of `link_a` and the frame `pose_b` of `link_b` coincide.
        Poses are x y z, x y z qx qy qz qw, a 4x4 matrix or a Pose; link_b None is the world."""
        return self._close(Loop.weld, link_a, pose_a, link_b, pose_b, name)

    def hinge(
        self, link_a: str, pose_a: Any, link_b: str | None, pose_b: Any = ORIGIN, name: str = ""
    ) -> ModelBuilder:
        """Close a loop by a revolute joint: the origins and the z axes of the frame `pose_a` of
        `link_a` and of the frame `pose_b` of `link_b` coincide; link_b None is the world."""
        return self._close(Loop.hinge, link_a, pose_a, link_b, pose_b, name)

    def couple(
        self, joint_a: str, joint_b: str | None, coefficients: Sequence[float], name: str = ""
    ) -> ModelBuilder:
        """Couple two joints: q of `joint_a` is c0 + c1 q + c2 q² + ... of q of `joint_b`, up to the
        fourth power [rad, m]. A joint with `mimic` follows on a line, without a loop."""
        return self._close(Loop.couple, joint_a, joint_b, coefficients, name)

    def _close(self, loop: Callable[..., Loop], *arguments: Any) -> ModelBuilder:
        try:
            self._loops.append(loop(*arguments))
        except (TypeError, ValueError) as error:
            raise ModelError(f"{self.name}: loop: {error}") from None
        return self

    def build(
        self,
        *,
        floating_base: bool = False,
        quaternion: QuaternionOrder = "xyzw",
        base_velocity: Reference = "local",
    ) -> Model:
        """The model, with its root link fixed to the world or free. Raises ModelError if the parts
        are not one tree."""
        links = list(self._links.values())
        model = Model.assemble(
            self.name,
            links,
            list(self._joints.values()),
            loops=self._loops,
            source=self.name,
            floating_base=floating_base,
            quaternion=quaternion,
            warnings=list(unphysical(links, [])),
        )
        return warn(self.name, model.with_base_velocity(base_velocity))


def _direction(name: str, axis: Any) -> Vector3:
    """The direction of a joint's axis; ValueError if it is not three numbers."""
    try:
        return unit_vector(axis)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be three numbers x, y, z, got {axis!r}") from None


def _check_limits(*both: Limits) -> None:
    """Raise for limits that no position, speed or force can satisfy."""
    for limits in both:
        if not limits.lower <= limits.upper:
            raise ValueError(
                f"lower must be at most upper, got {limits.lower:g} and {limits.upper:g}"
            )
        for name in ("velocity", "effort"):
            if not getattr(limits, name) >= 0:
                raise ValueError(f"{name} must be at least 0, got {getattr(limits, name):g}")


def _check_not_negative(**numbers: float) -> None:
    for name, number in numbers.items():
        if not not_negative(number):
            raise ValueError(f"{name} must be finite and not negative, got {number:g}")


def _mimic(written: str | tuple[str, float, float] | Mimic | None) -> Mimic | None:
    if written is None:
        return None
    if isinstance(written, Mimic):
        written = (written.joint, written.multiplier, written.offset)
    name, *numbers = (written,) if isinstance(written, str) else written
    return Mimic(name, *map(float, numbers))
