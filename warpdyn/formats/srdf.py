"""SRDF: the joint positions of <group_state>, as named configurations of a loaded robot, and its
disabled collisions.

SRDF is MoveIt's supplement to URDF. Group states are read, pairs of links that do not collide, and
the virtual joint that connects the root to the world.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace

from lxml import etree

from ..model import Model
from ..model.description import Joint
from ..model.named_configurations import Configuration
from ..model.names import ModelError
from .robot_source import Reading, RobotSource, tag_name

PINOCCHIO_BASE = "root_joint"
"""Pinocchio's name for the joint of a free base, in files without <virtual_joint>."""

ELEMENTS: Mapping[str, str] = {
    "robot": "group group_state virtual_joint end_effector passive_joint joint_property disable_collisions "
    "enable_collisions disable_default_collisions link_sphere_approximation rotor_params",
    "group_state": "joint",
}
"""The elements that these elements may have. Those that are not read change neither states nor
collisions."""


def with_group_states(model: Model, source: str | bytes | os.PathLike[str]) -> Model:
    """The model with each group state of an SRDF file as a named configuration.

    States with one name in several groups are one configuration; joints that no group of that name
    sets are neutral. A floating <virtual_joint> on the root link (or a joint "root_joint", as in
    Pinocchio) gives the pose of a free base: x y z qx qy qz qw. Links of
    <disable_default_collisions>, less the pairs of <enable_collisions>, and pairs of
    <disable_collisions> become `excluded_pairs`.
    Parts that are left out are added to the model's warnings.
    """
    text = RobotSource.of(source, "srdf", "SRDF")
    root = text.xml("<robot>")
    if tag_name(root) != "robot":
        raise ModelError(
            f"{text.name}: the root element is <{tag_name(root)}>, an SRDF file has <robot>"
        )
    reader = SrdfReader(text.name)
    reader.look_over(root)
    made, pairs = reader.configurations(model, root), reader.excluded_pairs(model, root)
    kept = tuple(c for c in model.named if c.name not in {each.name for each in made})
    remarks = (f"{text.name}: {remark}" for remark in reader.remarks)
    return replace(
        model,
        named=(*kept, *made),
        excluded_pairs=tuple(dict.fromkeys((*model.excluded_pairs, *pairs))),
        warnings=(*model.warnings, *remarks),
    )


class SrdfReader(Reading):
    """One SRDF file, read for one model."""

    def place(self, element: etree._Element) -> str:
        """The group state that contains an element."""
        around = (element, *element.iterancestors())
        state = next(each for each in around if tag_name(each) == "group_state")
        return f'group_state "{state.get("name", "")}"'

    def look_over(self, root: etree._Element) -> None:
        """Remark on elements that SRDF does not have."""
        for element in (root, *root.iterchildren("group_state")):
            above = tag_name(element)
            for child in element.iterchildren("*"):
                if tag_name(child) not in ELEMENTS[above].split():
                    self.ignore(f"element <{tag_name(child)}> of <{above}>", child)
        self.remarks.extend(self.ignored_lines())

    def configurations(self, model: Model, root: etree._Element) -> list[Configuration]:
        """A configuration for each name of a group state, in the order of the file."""
        moving = {joint.name: joint for joint in model.moving_joints}
        known = {joint.name for joint in model.joints}
        base = {PINOCCHIO_BASE, *self._virtual_joints(model, root)}
        found: dict[str, dict[str, tuple[float, ...]]] = {}
        for state in root.iterchildren("group_state"):
            name = state.get("name", "")
            if not name:
                raise self.refusal(state, "it has no name; give it one")
            coordinates = found.setdefault(name, {})
            for element in state.iterchildren("joint"):
                joint = element.get("name", "")
                if joint in base and joint not in known:
                    joint = model.base_joint
                if joint in moving:
                    coordinates[joint] = self._values(element, moving[joint])
                elif joint != model.base_joint and joint not in known:
                    self.remarks.append(
                        f'{self.place(element)}: {model.name} has no joint "{joint}"; it is left out'
                    )
        return [Configuration(name, tuple(x.items())) for name, x in found.items()]

    def excluded_pairs(self, model: Model, root: etree._Element) -> list[tuple[str, str]]:
        """Pairs of links that do not collide, in the order of the file."""
        links = set(model.link_names)
        missing: dict[str, None] = {}
        found: dict[frozenset[str], tuple[str, str]] = {}
        for element in root.iterchildren("disable_default_collisions"):
            link = element.get("link", "")
            missing |= dict.fromkeys({link} - links)
            if link in links:
                found |= {frozenset((link, x)): (link, x) for x in model.link_names if x != link}
        # MoveIt enables pairs after the defaults, and then disables pairs, in whatever order they
        # stand in the file.
        for tag in ("enable_collisions", "disable_collisions"):
            for element in root.iterchildren(tag):
                a, b = element.get("link1", ""), element.get("link2", "")
                missing |= dict.fromkeys(x for x in (a, b) if x not in links)
                if not {a, b} <= links or a == b:
                    continue
                found.pop(frozenset((a, b)), None)
                if tag == "disable_collisions":
                    found[frozenset((a, b))] = (a, b)
        if missing:
            named = ", ".join(f'"{link}"' for link in missing)
            self.remarks.append(f"collisions: {model.name} has no link {named}; left out")
        return [*found.values()]

    def _virtual_joints(self, model: Model, root: etree._Element) -> list[str]:
        """Names of virtual joints by which the root link moves freely."""
        return [
            str(element.get("name"))
            for element in root.iterchildren("virtual_joint")
            if element.get("type") == "floating" and element.get("child_link") == model.root
        ]

    def _values(self, element: etree._Element, joint: Joint) -> tuple[float, ...]:
        """Coordinates of a joint, its quaternion normalised."""
        kind = joint.kind
        what = f'the value of joint "{element.get("name")}"'
        text = str(element.get("value", ""))
        numbers = self.finite_numbers(element, what, text, kind.nq)
        k = kind.quaternion
        if k is None:
            return tuple(numbers)
        norm = math.hypot(*numbers[k:])
        if abs(norm - 1.0) > NEARLY_UNIT:
            raise self.refusal(element, f"{what} has a quaternion of length {norm:g}, not 1")
        return (*numbers[:k], *(x / norm for x in numbers[k:]))


NEARLY_UNIT = 1e-3
"""Tolerance of a quaternion's length; files write a few digits."""
