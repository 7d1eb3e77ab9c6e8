"""Parts of a robot's description: what a `wd.Link` and a `wd.Joint` consist of, solid shapes, closed
loops, and the properties of contacts between bodies."""

from .functions.simulation.contact_pairs import PairContact
from .model.closed_loops.loop import Loop
from .model.description import Gearbox, Geometry, Mimic
from .model.ground_contact import ContactSoftness
from .model.joints import KINDS, JointKind
from .model.poses_and_limits import Effects, Limits, Pose
from .model.scene.solids import Box, Capsule, Cylinder, Sphere

__all__ = [
    "KINDS",
    "Box",
    "Capsule",
    "ContactSoftness",
    "Cylinder",
    "Effects",
    "Gearbox",
    "Geometry",
    "JointKind",
    "Limits",
    "Loop",
    "Mimic",
    "PairContact",
    "Pose",
    "Sphere",
]
