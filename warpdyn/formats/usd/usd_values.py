"""Values of a USD stage in metres, kilograms and radians: placements, masses, limits, drives.

Joint and mass numbers have single precision in USD; rotations are normalised.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...model.description import Joint, Link, Mimic
from ...model.joints import KINDS
from ...model.names import ModelError
from ...model.optional_packages import install_extra
from ...model.poses_and_limits import MOST, Limits, matrix3, vector3
from .usd_inertia import AXES_OF_SHAPES, SAME, mass_properties, takes_axes_of_shapes
from .usd_words import error_message, unread_words

NO_READER = f"the package usd-core reads USD, and is not installed: {install_extra('usd')}"

UP = {"Z": np.eye(4), "Y": np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])}
"""Axes of a stage in the world, whose third axis is up."""

AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}

ARMATURE = ("newton:armature", "physxJoint:armature", "mjc:armature")
SPEED = ("newton:velocityLimit", "physxJoint:maxJointVelocity")
"""Simulators' attributes for a joint's armature and speed limit, which UsdPhysics lacks; speeds in
degrees."""


def library() -> Any:
    """The module pxr, with its modules Ar, Gf, Sdf, Tf, Usd, UsdGeom and UsdPhysics."""
    try:
        import pxr
        import pxr.Ar
        import pxr.Gf
        import pxr.Sdf
        import pxr.Tf
        import pxr.Usd
        import pxr.UsdGeom
        import pxr.UsdPhysics
    except ImportError:
        raise ModelError(NO_READER) from None
    return pxr


@dataclass(frozen=True)
class Units:
    """The stage's units of length and mass in SI, and its axes in the world."""

    metre: float
    kilogram: float
    up: np.ndarray

    @classmethod
    def of(cls, pxr: Any, stage: Any, source: str) -> Units:
        up = str(pxr.UsdGeom.GetStageUpAxis(stage))
        metre = float(pxr.UsdGeom.GetStageMetersPerUnit(stage))
        kilogram = float(pxr.UsdPhysics.GetStageKilogramsPerUnit(stage))
        if up not in UP or not (0 < metre < MOST and 0 < kilogram < MOST):
            raise ModelError(
                f"{source}: its upAxis is {up}, metersPerUnit {metre:g}, kilogramsPerUnit "
                f"{kilogram:g}; they must be Y or Z, and positive"
            )
        return cls(metre, kilogram, UP[up])

    def effort(self, turns: bool) -> float:
        """The stage's unit of torque or force [N·m, N]."""
        return self.kilogram * self.metre ** (2 if turns else 1)


class UsdValues:
    """One stage: the numbers of its prims, and the remarks about them."""

    def __init__(self, pxr: Any, stage: Any, source: str) -> None:
        self.pxr, self.source = pxr, source
        self.units = Units.of(pxr, stage, source)
        self.remarks: list[str] = []
        # Placements without a default value are read at their first time sample.
        self._poses = pxr.UsdGeom.XformCache(pxr.Usd.TimeCode.EarliestTime())
        registry = pxr.Usd.SchemaRegistry()
        self._weighing = registry.FindAppliedAPIPrimDefinition("PhysicsMassAPI")
        self._known: dict[tuple[str, ...], dict[str, tuple[str, tuple[str, ...]]]] = {}
        self._placed: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._moving: dict[str, bool] = {}

    def refusal(self, prim: Any, problem: str) -> ModelError:
        return ModelError(f"{self.source}: {prim.GetPath()}: {problem}")

    def value(self, prim: Any, *names: str) -> Any:
        """The first of these attributes that has a value; None if none has."""
        values = (prim.GetAttribute(name).Get() for name in names if prim.HasAttribute(name))
        return next((x for x in values if x is not None), None)

    def number(self, prim: Any, *names: str) -> float | None:
        """The value of an attribute as a number, which may be infinite."""
        x = self.value(prim, *names)
        return None if x is None else self.read_bound(prim, " or ".join(names), x)

    def read_bound(self, prim: Any, what: str, x: Any) -> float:
        if not isinstance(x, (int, float)) or math.isnan(x):
            raise self.refusal(prim, f"{what} is {x}; it needs a number")
        return float(x)

    def check(self, prim: Any) -> None:
        """Refuse values whose types differ from those in the USD schemas of the prim, and values
        that are only given as time samples. Remark on words that are not read."""
        schemas = prim.GetPrimDefinition(), self._weighing
        self.remarks += (x for x in unread_words(prim, schemas) if x not in self.remarks)
        known = self._known.setdefault((prim.GetTypeName(), *prim.GetAppliedSchemas()), {})
        for attribute in prim.GetAuthoredAttributes():
            name, value = attribute.GetName(), attribute.Get()
            if name not in known:
                found = (schema.GetAttributeDefinition(name) for schema in schemas)
                known[name] = _expected_values(next((x for x in found if x), None))
            kind, words = known[name]
            said = attribute.GetResolveInfo(self.pxr.Usd.TimeCode.Default()).HasAuthoredValue()
            if kind and name != "visibility" and attribute.GetNumTimeSamples() and not said:
                raise self.refusal(prim, f"{name} has only time samples; give it a value")
            if (
                value is None
                or not kind
                or (kind == kind_of(value) and value in (words or (value,)))
            ):
                continue
            needed = f"one of {', '.join(words)}" if kind == kind_of(value) else kind
            raise self.refusal(prim, f"{name} is {value}; it needs {needed}")

    def numbers(self, prim: Any, what: str, values: Any) -> list[float]:
        """Finite numbers of a plausible size."""
        numbers = [float(x) for x in values]
        if not all(abs(x) <= MOST for x in numbers):
            shown = ", ".join(f"{x:g}" for x in numbers)
            raise self.refusal(prim, f"{what} is ({shown}); it needs finite numbers up to {MOST:g}")
        return numbers

    # Bodies and shapes that are enabled.

    def is_part_of_scene(self, prim: Any) -> bool:
        """False for a prim that is inactive, overridden but not defined, or abstract."""
        return bool(self.pxr.Usd.TraverseInstanceProxies()(prim))

    def is_moving_body(self, prim: Any) -> bool:
        """True for a rigid body that is neither disabled nor kinematic. Others are parts of the
        scene, which do not move."""
        path = str(prim.GetPath())
        if path not in self._moving:
            api = self.pxr.UsdPhysics.RigidBodyAPI(prim)
            enabled = (
                prim.HasAPI(self.pxr.UsdPhysics.RigidBodyAPI)
                and api.GetRigidBodyEnabledAttr().Get() is not False
            )
            kinematic = enabled and bool(api.GetKinematicEnabledAttr().Get())
            if kinematic:
                self.check(prim)
                self.remarks.append(
                    f"{path}: it is kinematic; it is fixed at its place in the stage"
                )
            self._moving[path] = enabled and not kinematic
        return self._moving[path]

    def is_collider(self, prim: Any) -> bool:
        """True for a shape whose collision is enabled."""
        api = self.pxr.UsdPhysics.CollisionAPI
        return bool(prim.HasAPI(api)) and api(prim).GetCollisionEnabledAttr().Get() is not False

    # Placements, 4x4 in metres.

    def is_sheared(self, prim: Any) -> bool:
        """True if a prim's placement is not a position, a rotation and scales along its own axes."""
        matrix = self._poses.GetLocalToWorldTransform(prim)
        transform = self.pxr.Gf.Transform(matrix)
        turn = np.array(self.pxr.Gf.Matrix3d(transform.GetRotation()))
        written = np.array(matrix)[:3, :3]  # of row vectors
        difference = np.abs(np.diag(transform.GetScale()) @ turn - written)
        return bool((difference > SAME * np.abs(written).max()).any())

    def in_stage(self, prim: Any) -> tuple[np.ndarray, np.ndarray]:
        """Placement of a prim in the stage without its scale, and its scale (3,)."""
        path = str(prim.GetPath())
        if path not in self._placed:
            self._placed[path] = self._in_stage(prim)
        return self._placed[path]

    def _in_stage(self, prim: Any) -> tuple[np.ndarray, np.ndarray]:
        try:
            transform = self.pxr.Gf.Transform(self._poses.GetLocalToWorldTransform(prim))
            sheared = self.is_sheared(prim)
        except self.pxr.Tf.ErrorException as error:
            raise self.refusal(
                prim, f"its placement cannot be read: {error_message(error)}"
            ) from error
        position = self.numbers(prim, "its place", transform.GetTranslation())
        turn = transform.GetRotation().GetQuat()
        scale = np.array(self.numbers(prim, "its scale", transform.GetScale()))
        if sheared:
            raise self.refusal(
                prim, "its scales shear it; scale its shapes along their own axes instead"
            )
        return self.placement_at(prim, np.array(position), turn), scale

    def placement_at(self, prim: Any, position: np.ndarray, turn: Any) -> np.ndarray:
        """The placement for a position in the stage's unit and a quaternion of any length."""
        w, *v = self.numbers(prim, "a rotation", [turn.GetReal(), *turn.GetImaginary()])
        length = math.hypot(w, *v)
        if not length:
            raise self.refusal(prim, "a rotation is (0, 0, 0, 0); it needs a unit quaternion")
        w, x, y, z = (each / length for each in (w, *v))
        T = np.eye(4)
        T[:3, :3] = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
        T[:3, 3] = position * self.units.metre
        return T

    # Bodies.

    def link(self, prim: Any, name: str) -> Link:
        """Mass, centre of mass and inertia, from MassAPI or computed from shapes."""
        api, units = self.pxr.UsdPhysics.MassAPI(prim), self.units
        on, scale = self.in_stage(prim)
        shapes = [x for x in self.below(prim) if self.is_collider(x)]
        for part in (prim, *shapes):
            self._check_part(part)
        mass, density = (float(x.Get() or 0) for x in (api.GetMassAttr(), api.GetDensityAttr()))
        moments = api.GetDiagonalInertiaAttr().Get() or (0, 0, 0)
        com, axes = api.GetCenterOfMassAttr().Get(), api.GetPrincipalAxesAttr().Get()
        # An unset centre of mass is NaN or infinite in USD. It becomes the origin only if the
        # shapes do not define it.
        com = np.array(com or (math.nan,) * 3, dtype=float) * scale
        if not mass and not density and not shapes:
            self.remarks.append(f'link "{name}": it has neither mass nor shapes; it weighs nothing')
            return Link(name)
        if not (mass and any(moments) and np.isfinite(com).all()) and shapes:
            mass, moments, com, axes = self.mass_of_shapes(prim, on)
        if not mass or not any(moments):
            what = "physics:diagonalInertia" if mass else "physics:mass"
            raise self.refusal(prim, f"it has no {what} and no shapes; write its mass and inertia")
        (mass,) = self.numbers(prim, "its mass", [mass])
        moments = np.array(moments, dtype=float) * units.kilogram * units.metre**2
        com = np.nan_to_num(np.array(com, dtype=float), nan=0.0, posinf=0.0, neginf=0.0)
        turn = axes if axes is not None and axes.GetLength() else self.pxr.Gf.Quatf(1.0)
        R = self.placement_at(prim, np.zeros(3), turn)[:3, :3]
        J = R @ np.diag(self.numbers(prim, "its inertia", moments)) @ R.T
        return Link(
            name,
            mass * units.kilogram,
            vector3(self.numbers(prim, "its centre of mass", com * units.metre)),
            matrix3((J + J.T) / 2),
        )

    def _check_part(self, prim: Any) -> None:
        """Refuse a negative mass or density, which usd-core treats as absent, and other invalid
        values of bodies and shapes; remark on filtered pairs."""
        self.check(prim)
        if prim.HasAPI(self.pxr.UsdPhysics.FilteredPairsAPI):
            self.remarks.append(
                f"{prim.GetPath()}: its filtered pairs are not read; leave them out of "
                "ContactPairs(model) with without(...)"
            )
        for name in ("physics:mass", "physics:density"):
            if (x := self.number(prim, name)) is not None and x < 0:
                raise self.refusal(prim, f"{name} is {x:g}; it must not be negative")

    def mass_of_shapes(self, prim: Any, on: np.ndarray) -> tuple[Any, Any, Any, Any]:
        """Mass, principal moments, centre of mass and principal axes of a body's shapes, in the
        stage's units; on: the body's pose in the stage."""

        def placement_of_shape(shape: Any) -> tuple[np.ndarray, np.ndarray]:
            X, size = self.in_stage(shape)
            X = np.linalg.inv(on) @ X
            X[:3, 3] /= self.units.metre
            return X, size

        found = mass_properties(self.pxr, prim, placement_of_shape)
        if isinstance(found, str):
            raise self.refusal(
                prim,
                f"its mass, inertia or centre of mass would follow from the shape {found}, which "
                "is not computed here; write all three",
            )
        if takes_axes_of_shapes(self.pxr, prim, found[3]):
            self.remarks.append(f"{prim.GetPath()}: its inertia has no axes; {AXES_OF_SHAPES}")
        return found

    def below(self, body: Any) -> Iterator[Any]:
        """A body's prims, without those of bodies below it."""
        prims = iter(self.pxr.Usd.PrimRange(body, self.pxr.Usd.TraverseInstanceProxies()))
        for prim in prims:
            if prim != body and self.is_moving_body(prim):
                prims.PruneChildren()
            else:
                yield prim

    # Joints.

    def limits(self, prim: Any, turns: bool, lower: Any, upper: Any, drive: str) -> Limits:
        """Limits of one axis: its range (in degrees if it turns), a drive's greatest force, and the
        speed limit from a simulator's own attribute."""
        unit = math.pi / 180 if turns else self.units.metre
        force = self.number(prim, f"drive:{drive}:physics:maxForce")
        speed = self.number(prim, *SPEED)
        bounds = [math.inf if x is None or x > MOST else float(x) for x in (force, speed)]
        return Limits(
            -math.inf if lower is None else self.read_bound(prim, "a limit", lower) * unit,
            math.inf if upper is None else self.read_bound(prim, "a limit", upper) * unit,
            velocity=bounds[1] * unit,
            effort=bounds[0] * self.units.effort(turns),
        )

    def along_axis(
        self, prim: Any, freedom: str, ends: Sequence[Any], drive: str, sign: float
    ) -> Joint:
        """A hinge or a slide along a freedom ("rotX") between its ends, without name and place yet.
        sign: -1 if the joint is traversed from its second body."""
        turns = freedom.startswith("rot")
        lower, upper = ends
        limits = self.limits(prim, turns, lower, upper, drive)
        kind = KINDS["revolute" if turns else "prismatic"]
        if turns and limits.lower == -math.inf and limits.upper == math.inf:
            kind = KINDS["continuous"]
        x, y, z = AXES[freedom[-1]]
        made = Joint("", kind, "", "", axis=(sign * x, sign * y, sign * z), limits=limits)
        return self.along(made, prim)

    def along(self, joint: Joint, prim: Any) -> Joint:
        """A joint of one coordinate with its armature, damping and friction [SI]."""
        turns = joint.kind.turns
        unit = self.units.effort(turns)
        inertia = unit if turns else self.units.kilogram
        damping = self.number(prim, "mjc:damping")  # per radian; Newton's is per degree
        by_degree = self.number(prim, "newton:damping")
        if by_degree is not None:
            damping = by_degree * (180 / math.pi if turns else 1.0)
        speed = 1.0 if turns else self.units.metre
        written = {
            "armature": (self.number(prim, *ARMATURE) or 0.0) * inertia,
            "damping": (damping or 0.0) * unit / speed,
            "friction": (self.number(prim, "newton:friction", "mjc:frictionloss") or 0.0) * unit,
        }
        armature, damping, friction = (
            self.numbers(prim, name, [x])[0] for name, x in written.items()
        )
        return replace(joint, armature=armature, damping=damping, friction=friction)

    def mimic(self, prim: Any, turns: bool) -> tuple[Any, Mimic] | None:
        """Path of the leading joint, and the relation to it (the caller fills in the leader's
        name)."""
        unit = math.pi / 180 if turns else self.units.metre
        if prim.HasRelationship("newton:mimicJoint"):
            targets = prim.GetRelationship("newton:mimicJoint").GetTargets()
            offset = self.number(prim, "newton:mimicCoef0") or 0.0
            factor = self.number(prim, "newton:mimicCoef1")
            factor = 1.0 if factor is None else factor
            return (targets[0], Mimic("", factor, offset * unit)) if targets else None
        for name in prim.GetPropertyNames():
            head, _, tail = name.rpartition(":")
            if tail == "referenceJoint" and head.startswith("physxMimicJoint:"):
                targets = prim.GetRelationship(name).GetTargets()
                gearing = self.number(prim, f"{head}:gearing") or 0.0
                offset = self.number(prim, f"{head}:offset") or 0.0
                return (targets[0], Mimic("", -gearing, -offset * unit)) if targets else None
        return None


def _expected_values(definition: Any) -> tuple[str, tuple[str, ...]]:
    """The type of an attribute's values, and its allowed words if they are few; nothing if any
    value is allowed."""
    if not definition or definition.GetTypeName().isArray:
        return "", ()
    return kind_of(definition.GetFallbackValue()), tuple(
        definition.GetMetadata("allowedTokens") or ()
    )


def kind_of(value: Any) -> str:
    """The type of a USD value in words, without its precision."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a word"
    if hasattr(value, "GetReal"):
        return "a quaternion"
    return f"{len(value)} numbers" if hasattr(value, "__len__") else f"no {type(value).__name__}"
