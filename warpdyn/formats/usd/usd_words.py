"""Words of a USD stage: attributes and limits that are not read, and messages of usd-core's errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

FREEDOMS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
"""The degrees of freedom of a generic joint, slides first."""

PHYSICS = "physics:"

INSTANCES: Mapping[str, tuple[str, ...]] = {
    "PhysicsRevoluteJoint": ("PhysicsDriveAPI:angular",),
    "PhysicsPrismaticJoint": ("PhysicsDriveAPI:linear",),
    "PhysicsJoint": tuple(
        f"Physics{kind}API:{freedom}" for kind in ("Limit", "Drive") for freedom in FREEDOMS
    ),
}
"""The limits and drives that are read, by the type of the joint."""


def unread_words(prim: Any, schemas: Sequence[Any]) -> Iterator[str]:
    """A line for each attribute of UsdPhysics that none of the schemas has, and for each limit or drive
    that this joint does not have."""
    for attribute in prim.GetAuthoredAttributes():
        name = attribute.GetName()
        known = any(schema.GetAttributeDefinition(name) for schema in schemas)
        if name.startswith(PHYSICS) and not known:
            yield f'{prim.GetPath()}: attribute "{name}" is not part of its schemas'
    for name in map(str, prim.GetAppliedSchemas()):
        several = name.startswith(("PhysicsLimitAPI:", "PhysicsDriveAPI:"))
        if several and name not in INSTANCES.get(prim.GetTypeName(), ()):
            yield f"{prim.GetPath()}: {name} is left out, which a {prim.GetTypeName()} does not have"


def error_message(error: Exception) -> str:
    """The message of an error from usd-core, whose argument may not be text."""
    try:
        return " ".join(str(error).split())[-300:]
    except UnicodeDecodeError:
        return "its bytes are not text"
