"""A robot: its links and joints by name and index, and the operations on it.

A `Model` is immutable data. Names, indices and limits are those of its `Structure`. Changed copies,
parameters and exported texts are functions in files of their own, listed here. Algorithms loop
over its tree (`warpdyn.model.tree`), in which fixed joints are lumped and mimic joints reduced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import FrozenInstanceError
from functools import cached_property
from typing import TYPE_CHECKING, get_args

from . import describe, edits, restructure
from .actuators import Actuator
from .assembly import check_loops, in_tree_order
from .closed_loops.loop import Loop
from .described_sensors import DescribedSensor, PhysicsSettings
from .description import Joint, Link
from .ground_contact import TouchingPair
from .named_configurations import Configuration
from .names import ModelError
from .params import params as parameters
from .poses_and_limits import Effects
from .remarks import remark_double_freedom, remark_limits_of_followers
from .scene import free_bodies
from .scene.objects import with_object
from .structure import QuaternionOrder, Structure
from .tendons import Tendon
from .writers.to_urdf import to_urdf as urdf_text
from .writers.to_usd import to_usd as usd_text

INSTEAD = {
    "gravity": "pass gravity= to the call, or model.params(gravity=...)",
    **dict.fromkeys(
        ("position_lower", "position_upper", "velocity_limit", "effort_limit", "limits"),
        "model.with_limits(joint, ...) returns a changed copy",
    ),
    **dict.fromkeys(
        ("neutral", "configurations", "home"),
        "model.with_configuration(name, q) returns a changed copy",
    ),
    **dict.fromkeys(
        ("armature", "base_armature"), "model.with_armature(...) returns a changed copy"
    ),
    **dict.fromkeys(
        ("friction", "damping", "viscous", "coulomb"),
        "model.with_friction(...) returns a changed copy",
    ),
    **dict.fromkeys(
        ("mass", "masses", "total_mass"),
        "model.with_link_mass(...) and with_payload(...) return a changed copy, and "
        "model.params(mass=...) varies it",
    ),
    "base_velocity": "model.with_base_velocity(...) returns a changed copy",
    "name": "dataclasses.replace(model, name=...) returns a changed copy",
}
"""The method to suggest when someone sets an attribute of a model."""


def _instead(name: str) -> str:
    others = (
        "methods with_... return a changed copy, model.params(...) varies numbers by environment"
    )
    return INSTEAD.get(name, f"{others}; keep data of your own next to the model")


class Model(Structure):
    """A robot: links and joints in tree order (depth first, siblings as they stand in the
    description).

    Load one with `warpdyn.load` or `warpdyn.load_robot`, or make one with `warpdyn.ModelBuilder`.
    """

    if not TYPE_CHECKING:  # type checkers refuse these assignments themselves

        def __setattr__(self, name: str, value: object) -> None:
            """Refuse every attribute: a half-changed robot would compute with the old numbers."""
            raise FrozenInstanceError(
                f"a Model is immutable: {name} cannot be set; {_instead(name)}"
            )

        def __delattr__(self, name: str) -> None:
            raise FrozenInstanceError(f"a Model is immutable: {name} cannot be deleted")

    def __repr__(self) -> str:
        return f"<Model {describe.head(self)}>"

    @classmethod
    def assemble(
        cls,
        name: str,
        links: Sequence[Link],
        joints: Sequence[Joint],
        *,
        source: str = "model",
        floating_base: bool = False,
        quaternion: QuaternionOrder = "xyzw",
        warnings: Sequence[str] = (),
        base_armature: float = 0.0,
        base_springs: Sequence[Effects] = (),
        tendons: Sequence[Tendon] = (),
        loops: Sequence[Loop] = (),
        actuators: Sequence[Actuator] = (),
        sensors: Sequence[DescribedSensor] = (),
        physics: Mapping[str, str] | None = None,
        named: Sequence[Configuration] = (),
        excluded_pairs: Sequence[tuple[str, str]] = (),
        touching_pairs: Sequence[TouchingPair] = (),
        is_simulated: bool = False,
    ) -> Model:
        """Check the links and joints of a description and put them in tree order.

        Raises ModelError, whose message begins with `source`, if they are not one tree of valid
        links and joints.
        """
        if quaternion not in get_args(QuaternionOrder):
            raise ModelError(f'{source}: quaternion must be "xyzw" or "wxyz", got {quaternion!r}')
        if floating_base not in (True, False):
            raise ModelError(
                f"{source}: floating_base must be True or False, got {floating_base!r}"
            )
        links, joints = in_tree_order(source, links, joints)
        check_loops(source, loops, links, joints)
        # Remarks that all formats share.
        warnings = [*warnings, *remark_limits_of_followers(joints)]
        if floating_base:
            warnings = [*warnings, *remark_double_freedom(links, joints)]
        return cls(
            name=name,
            links=links,
            joints=joints,
            floating_base=bool(floating_base),
            quaternion=quaternion,
            warnings=tuple(warnings),
            base_armature=base_armature,
            base_springs=tuple(base_springs),
            tendons=tuple(tendons),
            loops=tuple(loops),
            actuators=tuple(actuators),
            sensors=tuple(sensors),
            physics=PhysicsSettings(physics),
            named=tuple(named),
            excluded_pairs=tuple(excluded_pairs),
            touching_pairs=tuple(touching_pairs),
            is_simulated=is_simulated,
        )

    # Copies with other numbers.

    with_base_velocity = edits.with_base_velocity
    with_armature = edits.with_armature
    with_friction = edits.with_friction
    with_limit_springs = edits.with_limit_springs
    with_springs = edits.with_springs
    with_gravity_compensation = edits.with_gravity_compensation
    with_payload = edits.with_payload
    with_link_mass = edits.with_link_mass
    with_link_inertia = edits.with_link_inertia
    with_limits = edits.with_limits
    with_configuration = edits.with_configuration

    # Copies with other links and joints.

    with_frame = restructure.with_frame
    reduce = restructure.reduce
    collapse = restructure.collapse
    attach = restructure.attach
    detach = restructure.detach
    rename = restructure.rename
    with_object = with_object

    # Free bodies, and the coordinates of all others.

    joint_columns = cached_property(free_bodies.joint_columns)
    joint_position_columns = cached_property(free_bodies.joint_position_columns)

    # Texts and parameters.

    params = parameters
    to_urdf = urdf_text
    to_usd = usd_text
    summary = describe.summary
    _repr_html_ = describe.html


def check_model(model: object) -> None:
    """Raise if the argument is not a model."""
    if not isinstance(model, Model):
        remedy = (
            "; in a kernel write robot.fk(q, ...), not wd.fk(robot, q, ...)"
            if hasattr(model, "with_values")
            else ""
        )
        raise TypeError(
            "the first argument must be a Model (from wd.load or wd.load_robot), "
            f"got {type(model).__name__}{remedy}"
        )
