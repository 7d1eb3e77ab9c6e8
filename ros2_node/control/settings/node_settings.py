"""The node's parameters: one list with their types, bounds and descriptions, and their checks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from .command_settings import CommandSettings
from .effort_settings import EffortSettings
from .law_settings import LawSettings
from .parameter import Number, Parameter, check, declare, declare_per_joint
from .state_settings import StateSettings

RELATIVE_NAME = re.compile(r"[A-Za-z_]\w*(/[A-Za-z_]\w*)*", re.ASCII)
"""A namespace below that of the node."""
LAW_INPUTS = "law_inputs."
"""Prefix of the names of parameters that are inputs of the law."""


def check_law_input(name: str, value: Any) -> tuple[float, ...]:
    """The numbers of a law's input; ValueError if a value is not a number. The law checks their
    bounds (`Law`)."""
    whole = [value] if isinstance(value, (int, float)) else value
    numbers = tuple(check(Parameter((0.0,), "", name=name), whole))
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be finite, got {', '.join(f'{x:g}' for x in numbers)}")
    return numbers


@dataclass(frozen=True)
class Settings(LawSettings, StateSettings, EffortSettings, CommandSettings):
    """Checked parameter values. Each field has its parameter; `PARAMETERS` lists them."""

    robot_description: str = declare(
        "",
        "URDF source. It takes precedence over robot_description_file. Without both, the node "
        "reads the topic.",
    )
    robot_description_file: str = declare(
        "", "Path of a URDF or xacro file, or the name of a robot that comes with warpdyn."
    )
    device: str = declare("cpu", 'Device of the kernels: "cpu", "cuda:0", ...', fixed=True)
    executor: str = declare(
        "events",
        "rclpy executor. events needs less than half the CPU time of single.",
        choices=("single", "events"),
        fixed=True,
    )
    mode: str = declare(
        "gravity",
        "Hold against gravity, produce the reference's accelerations, or track the reference.",
        choices=("gravity", "inverse_dynamics", "computed_torque"),
    )
    law: str = declare(
        "",
        "A law that replaces mode: joint_impedance, cartesian_impedance, admittance, teaching, or your "
        "own kernel, package.module:name or /path/file.py:name. Empty: mode.",
        fixed=True,
    )
    law_options: tuple[str, ...] = declare(
        (), "Options of the law, such as frame=tool0.", fixed=True
    )
    policy: str = declare(
        "",
        "A trained policy that replaces mode: an ONNX file, or the name of a policy of "
        "warpdyn. Empty: mode.",
        fixed=True,
    )
    policy_task: str = declare(
        "",
        "Task of the policy: a name, package.module:Task or /path/file.py:Task. Empty: the "
        "task that the file names.",
        fixed=True,
    )
    joints: tuple[str, ...] = declare(
        (),
        "Joints read from joint_states. Empty: all joints of the model. The other joints stay at zero.",
        fixed=True,
    )
    command_joints: tuple[str, ...] = declare(
        (), "Order of ~/commands: the order of the controller's list. Empty: joints.", fixed=True
    )
    tip_links: tuple[str, ...] = declare(
        (), "Links whose pose is published on ~/poses/<link>.", fixed=True
    )
    gravity: tuple[float, ...] = declare(
        (0.0, 0.0, -9.81),
        "Gravitational acceleration in the root link's frame.",
        "m/s^2",
        bounds=(-1e3, 1e3),
    )
    rate: float = declare(
        0.0,
        "Cycles per second with the latest state. 0: one cycle for each joint_states.",
        "Hz",
        bounds=(0.0, 5000.0),
        fixed=True,
    )
    publish_frequency: float = declare(
        50.0,
        "Rate of poses, TF, mass matrix and Jacobians. 0: never.",
        "Hz",
        bounds=(0.0, 1000.0),
        fixed=True,
    )
    publish_link_poses: bool = declare(True, "Publish ~/link_poses.", fixed=True)
    publish_tf: bool = declare(
        False, "Publish /tf and /tf_static. Usually robot_state_publisher does.", fixed=True
    )
    frame_prefix: str = declare("", "Prefix of every frame name.", fixed=True)
    publish_mass_matrix: bool = declare(False, "Publish ~/mass_matrix.", fixed=True)
    jacobian_links: tuple[str, ...] = declare(
        (), "Links whose Jacobian is published on ~/jacobian/<link>.", fixed=True
    )
    reference_timeout: float = declare(
        0.5,
        "If a reference is not refreshed within this time, the robot rests at its position. 0: "
        "never.",
        "s",
        bounds=(0.0, 3600.0),
    )
    stale_action: str = declare(
        "ramp_down",
        "How torques end: ramp down to zero, zero at once, or hold the last (for arms with brakes).",
        choices=("ramp_down", "zero", "hold"),
    )
    start_enabled: bool = declare(
        False, "Enable automatically at the first valid state.", fixed=True
    )
    ramp_time: float = declare(
        1.0,
        "Torques rise within this time after ~/enable. Parameter changes are blended in "
        "within the same time.",
        "s",
        bounds=(0.0, 60.0),
    )
    torque_scale: Number = declare_per_joint(1.0, "Factor on the commands.", bounds=(0.0, 1.5))
    effort_limit_scale: float = declare(1.0, "Factor on the effort limits.", bounds=(0.0, 1.0))
    effort_limits: Number = declare_per_joint(
        0.0,
        "Effort limits in addition to the description's. The smaller one counts. 0: only the description's.",
        "N*m",
        bounds=(0.0, 1e6),
    )
    unlimited_effort: bool = declare(
        False, "Send commands to joints that have no effort limit at all."
    )
    max_torque_rate: Number = declare_per_joint(
        -1.0,
        "Largest change of a command. -1: the joint's effort limit in 0.02 s (policy: 0.005 s). "
        "0: no limit.",
        "N*m/s",
        bounds=(-1.0, 1e6),
    )
    lock: str = declare(
        "enabled",
        "When safety parameters can only be narrowed: while a robot is enabled, always, or never.",
        choices=("enabled", "always", "never"),
        fixed=True,
    )
    payload_link: str = declare("", "Link that carries a load. Empty: none.", name="payload.link")
    payload_mass: float = declare(
        0.0, "Mass of the load.", "kg", name="payload.mass", bounds=(0.0, 1e4)
    )
    payload_com: tuple[float, ...] = declare(
        (0.0, 0.0, 0.0),
        "Centre of mass of the load in the frame of payload.link.",
        "m",
        name="payload.com",
        bounds=(-100.0, 100.0),
    )
    payload_inertia: tuple[float, ...] = declare(
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        "Inertia of the load about its centre of mass, in the axes of payload.link: Ixx Ixy Ixz Iyy Iyz Izz.",
        "kg*m^2",
        name="payload.inertia",
        bounds=(-1e4, 1e4),
    )
    diagnostics_period: float = declare(
        1.0, "Time between two messages on /diagnostics.", "s", bounds=(0.1, 60.0), fixed=True
    )
    namespaces: tuple[str, ...] = declare(
        (), "Robots of the same model, each with its own topics. Empty: one robot.", fixed=True
    )

    law_inputs: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Values of the parameters `law_inputs.<name>`; the law determines which of them exist."""

    @classmethod
    def of(cls, values: Mapping[str, Any] | None = None) -> Settings:
        """Settings from parameter values by name, with defaults for all others; ValueError for an invalid value."""
        return DEFAULTS._with(values or {})

    def with_changes(self, values: Mapping[str, Any]) -> Settings:
        """These settings with some parameters changed; ValueError for a fixed parameter or an invalid value."""
        for name in values:
            if name in BY_NAME and BY_NAME[name].fixed:
                raise ValueError(
                    f"{name} is read at start only: set it in the launch file and restart the node"
                )
        return self._with(values)

    def _with(self, values: Mapping[str, Any]) -> Settings:
        """These settings with some values replaced, checked one by one and together."""
        inputs = {name: x for name, x in values.items() if name.startswith(LAW_INPUTS)}
        for name in values:
            if name not in BY_NAME and name not in inputs:
                raise ValueError(f"there is no parameter {name!r}")
        parameters = [BY_NAME[name] for name in values if name not in inputs]
        settings = replace(self, **{p.field: check(p, values[p.name]) for p in parameters})
        if inputs:
            read = {n.removeprefix(LAW_INPUTS): check_law_input(n, x) for n, x in inputs.items()}
            settings = replace(settings, law_inputs={**settings.law_inputs, **read})
        settings._check_torque_source()
        settings._check_payload()
        settings._check_namespaces()
        return settings

    def _check_torque_source(self) -> None:
        """Raise ValueError if mode, law, policy and their parameters contradict each other."""
        makers = [name for name in ("law", "policy") if getattr(self, name)]
        if makers and self.mode != "gravity":
            raise ValueError(f"{makers[0]} takes the place of mode: leave mode out")
        if len(makers) > 1:
            raise ValueError("a law and a policy are two laws: leave one of them out")
        if self.policy_task and not self.policy:
            raise ValueError("policy_task is for a policy, and policy is empty")
        if not self.law and (self.law_options or self.law_inputs):
            raise ValueError("law_options and law_inputs are for a law, and law is empty")
        if np.any(self.friction_scale) and not self.needs_velocity:
            raise ValueError(
                "friction.scale needs velocities, and mode gravity uses none: law teaching is gravity "
                "with friction compensation"
            )

    def _check_payload(self) -> None:
        """Raise ValueError if a payload has no link."""
        if self.payload_mass > 0.0 and not self.payload_link:
            raise ValueError(
                "payload.mass is set but payload.link is empty: name the link that carries the load"
            )

    def _check_namespaces(self) -> None:
        """Raise ValueError for a namespace that is no relative name: "/a" and "a" have the same
        topics."""
        for name in self.namespaces:
            if not RELATIVE_NAME.fullmatch(name):
                raise ValueError(
                    f"namespaces must be relative names such as r0 or fleet/r0, got {name!r}"
                )

    def values(self) -> dict[str, Any]:
        """The values by parameter name."""
        return {p.name: getattr(self, p.field) for p in PARAMETERS}

    @property
    def needs_velocity(self) -> bool:
        return self.mode != "gravity" or bool(self.law or self.policy)

    @property
    def filters_states(self) -> bool:
        """True if positions or velocities are filtered."""
        return bool(self.position_filter or self.velocity_filter)

    @property
    def law_name(self) -> str:
        """The source of the torques, for messages."""
        if self.policy:
            return f"policy {self.policy}"
        return f"law {self.law}" if self.law else f"mode {self.mode}"


PARAMETERS: tuple[Parameter, ...] = tuple(
    replace(x.metadata["parameter"], name=x.metadata["parameter"].name or x.name)
    for x in fields(Settings)
    if "parameter" in x.metadata
)
BY_NAME = {parameter.name: parameter for parameter in PARAMETERS}
DEFAULTS = Settings()

SOURCES = frozenset(("robot_description", "robot_description_file"))
"""Parameters that give the source of the model."""
