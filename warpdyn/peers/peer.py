"""The protocol of a peer: a library that reads the same robot and gives results in warpdyn's
coordinates.

Each peer reads the description by itself. Joints and links are matched by name. Mimic joints, which
both libraries ignore, are reduced here: q_full = G q + offset, v_full = G v.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from lxml import etree

from ..model import Model
from ..model.description import Joint, leading_joint


class NotComparable(Exception):  # noqa: N818
    """The peer cannot read this robot, or reads another robot than the one described."""


class Peer(Protocol):
    """Results in float64 for one state; arrays as in warpdyn, without the batch dimension."""

    name: str

    @property
    def links(self) -> tuple[str, ...]:
        """The links that it has; poses of other links are undefined."""
        ...

    def fk(self, q: np.ndarray) -> np.ndarray:
        """(nlinks, 4, 4) poses of all links."""
        ...

    def jacobian(self, q: np.ndarray, frame: str) -> np.ndarray:
        """(6, nv) Jacobian of a link, linear part first, in world axes at the link's origin."""
        ...

    def crba(self, q: np.ndarray) -> np.ndarray:
        """(nv, nv) mass matrix, both triangles."""
        ...

    def rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """(nv,) joint forces."""
        ...

    def aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """(nv,) accelerations; NotComparable if the robot has mimic joints."""
        ...

    def call(
        self, algorithm: str, q: np.ndarray, *others: np.ndarray, frame: str = ""
    ) -> Callable[[], Any]:
        """The library's function on a state that is converted beforehand, so that it can be timed
        alone."""
        ...


@dataclass(frozen=True)
class PeerJoint:
    """A joint and the coordinates that move it: position = multiplier * q + offset."""

    joint: Joint
    q: slice
    v: slice
    multiplier: float
    offset: float


def driven_joints(model: Model) -> Iterator[PeerJoint]:
    """Every joint that moves, mimic joints included, a free base first."""
    base = model.moving_joints[:1] if model.floating_base else ()
    joints = {joint.name: joint for joint in model.joints}
    for joint in (*base, *(j for j in model.joints if j.kind.nv)):
        leader, multiplier, offset = leading_joint(joint, joints)
        columns = model.coordinates[leader]
        yield PeerJoint(joint, columns.q, columns.v, multiplier, offset)


def xyzw_columns(model: Model) -> tuple[int, int, int, int]:
    """Columns of x, y, z and w among a free base's seven."""
    return (3, 4, 5, 6) if model.quaternion == "xyzw" else (4, 5, 6, 3)


def refuse_mimic_joints(model: Model) -> None:
    """Refuse forward dynamics: a peer that treats mimic joints as free computes another motion."""
    for joint in model.joints:
        if joint.kind.nv and joint.mimic is not None:
            raise NotComparable(
                f'mimic joint "{joint.name}" moves by itself there: other accelerations'
            )


def bare(urdf: str) -> etree._Element:
    """Links and joints alone.

    Shapes are left out, and so is everything else that a library would look for on disk or add to
    the dynamics.
    """
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, remove_comments=True
    )
    root = etree.fromstring(urdf.encode(), parser)
    for element in list(root):
        if element.tag not in ("link", "joint"):
            root.remove(element)
    for tag in ("visual", "collision", "mimic", "dynamics", "safety_controller", "calibration"):
        for element in list(root.iter(tag)):
            element.getparent().remove(element)
    for inertial in root.iter("inertial"):
        if inertial.find("origin") is None:  # otherwise MuJoCo would place it by the shapes
            etree.SubElement(inertial, "origin", xyz="0 0 0", rpy="0 0 0")
    return root


def first_line(error: Exception) -> str:
    """First line of the error's message, or the name of its type if it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
