"""Parts of a robot's description: what a `wd.Link` and a `wd.Joint` consist of."""

from .model.description import Effects, Gearbox, Geometry, Limits, Mimic, Pose
from .model.joints import KINDS, JointKind

__all__ = ["KINDS", "Effects", "Gearbox", "Geometry", "JointKind", "Limits", "Mimic", "Pose"]
