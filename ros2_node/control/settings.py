"""The node's parameters: one table that declares, checks and documents them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

Number = float | tuple[float, ...]


@dataclass(frozen=True)
class Parameter:
    """One parameter: its default gives its type, its bounds are inclusive."""

    name: str
    default: Any
    description: str
    unit: str = ""
    choices: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    length: int | None = None
    per_joint: bool = False
    """A number for all joints, or a list with one for each of command_joints."""
    fixed: bool = False
    """Read at start only."""

    @property
    def field(self) -> str:
        """Name of the attribute of `Settings`."""
        return self.name.replace(".", "_")


PARAMETERS = (
    Parameter(
        "robot_description",
        "",
        "URDF text. Wins over robot_description_file; with neither, the topic is used.",
    ),
    Parameter(
        "robot_description_file",
        "",
        "Path of a URDF file, or the name of a robot bundled with warpdyn.",
    ),
    Parameter("device", "cpu", 'Where kernels run: "cpu", "cuda:0", ...', fixed=True),
    Parameter(
        "executor",
        "events",
        "rclpy executor; events costs less than half the CPU of single.",
        choices=("single", "events"),
        fixed=True,
    ),
    Parameter(
        "mode",
        "gravity",
        "What the torques do: hold against gravity; produce the reference's accelerations; or track the reference.",
        choices=("gravity", "inverse_dynamics", "computed_torque"),
    ),
    Parameter(
        "joints",
        (),
        "Joints read from joint_states; empty = all of the model. The others stay at zero.",
        fixed=True,
    ),
    Parameter(
        "command_joints",
        (),
        "Order of ~/commands, as in the controller's own list; empty = joints.",
        fixed=True,
    ),
    Parameter("tip_links", (), "Links whose pose is published on ~/poses/<link>.", fixed=True),
    Parameter(
        "gravity",
        (0.0, 0.0, -9.81),
        "Gravitational acceleration in the root link's frame.",
        "m/s^2",
        low=-1e3,
        high=1e3,
        length=3,
    ),
    Parameter(
        "rate",
        0.0,
        "Cycles a second with the latest state; 0 = one cycle for each joint_states.",
        "Hz",
        low=0.0,
        high=5000.0,
        fixed=True,
    ),
    Parameter(
        "publish_frequency",
        50.0,
        "Poses, TF, mass matrix and Jacobians; 0 = never.",
        "Hz",
        low=0.0,
        high=1000.0,
        fixed=True,
    ),
    Parameter("publish_link_poses", True, "Publish ~/link_poses.", fixed=True),
    Parameter(
        "publish_tf",
        False,
        "Publish /tf and /tf_static; robot_state_publisher usually does.",
        fixed=True,
    ),
    Parameter("frame_prefix", "", "Put before every frame name.", fixed=True),
    Parameter("publish_mass_matrix", False, "Publish ~/mass_matrix.", fixed=True),
    Parameter(
        "jacobian_links", (), "Links whose Jacobian is published on ~/jacobian/<link>.", fixed=True
    ),
    Parameter(
        "velocity_source",
        "message",
        "Velocities: those of joint_states, zero, or differences of the positions. Mode gravity needs none.",
        choices=("message", "zero", "finite_difference"),
    ),
    Parameter(
        "state_timeout",
        0.1,
        "A state older than this is stale, and so is a wrench.",
        "s",
        low=0.01,
        high=60.0,
    ),
    Parameter(
        "reference_timeout",
        0.5,
        "A reference older than this asks for rest at its position; 0 = never.",
        "s",
        low=0.0,
        high=3600.0,
    ),
    Parameter(
        "stale_action",
        "ramp_down",
        "How torques end: ramp down to zero, zero at once, or hold the last (for arms with brakes).",
        choices=("ramp_down", "zero", "hold"),
    ),
    Parameter("start_enabled", False, "Enable by itself at the first valid state.", fixed=True),
    Parameter(
        "ramp_time",
        1.0,
        "Torques rise from zero in this time after ~/enable.",
        "s",
        low=0.0,
        high=60.0,
    ),
    Parameter(
        "torque_scale",
        1.0,
        "Factor on the commands, for all joints or a list in command_joints order.",
        low=0.0,
        high=1.5,
        per_joint=True,
    ),
    Parameter(
        "effort_limit_scale",
        1.0,
        "Factor on the effort limits of the description.",
        low=0.0,
        high=1.0,
    ),
    Parameter(
        "max_torque_rate",
        0.0,
        "Largest change of a command; 0 = no limit.",
        "N*m/s",
        low=0.0,
        high=1e6,
        per_joint=True,
    ),
    Parameter(
        "missing_joint_policy",
        "reject",
        "A needed joint that no fresh message carries: reject the state, or hold its last position (zero if none).",
        choices=("reject", "hold"),
    ),
    Parameter("payload.link", "", "Link that carries a load; empty = none."),
    Parameter("payload.mass", 0.0, "Mass of the load.", "kg", low=0.0, high=1e4),
    Parameter(
        "payload.com",
        (0.0, 0.0, 0.0),
        "Centre of mass of the load in the frame of payload.link.",
        "m",
        low=-100.0,
        high=100.0,
        length=3,
    ),
    Parameter(
        "kp",
        100.0,
        "Mode computed_torque: gain on the position error.",
        "1/s^2",
        low=0.0,
        high=1e5,
        per_joint=True,
    ),
    Parameter(
        "kd",
        20.0,
        "Mode computed_torque: gain on the velocity error.",
        "1/s",
        low=0.0,
        high=1e4,
        per_joint=True,
    ),
    Parameter(
        "diagnostics_period",
        1.0,
        "Between two messages on /diagnostics.",
        "s",
        low=0.1,
        high=60.0,
        fixed=True,
    ),
    Parameter(
        "namespaces",
        (),
        "Robots of the same model, each with topics of its own; empty = one robot.",
        fixed=True,
    ),
)
BY_NAME = {parameter.name: parameter for parameter in PARAMETERS}


@dataclass(frozen=True)
class Settings:
    """Checked parameter values; the meaning of each stands in `PARAMETERS`."""

    robot_description: str
    robot_description_file: str
    device: str
    executor: str
    mode: str
    joints: tuple[str, ...]
    command_joints: tuple[str, ...]
    tip_links: tuple[str, ...]
    gravity: tuple[float, ...]
    rate: float
    publish_frequency: float
    publish_link_poses: bool
    publish_tf: bool
    frame_prefix: str
    publish_mass_matrix: bool
    jacobian_links: tuple[str, ...]
    velocity_source: str
    state_timeout: float
    reference_timeout: float
    stale_action: str
    start_enabled: bool
    ramp_time: float
    torque_scale: Number
    effort_limit_scale: float
    max_torque_rate: Number
    missing_joint_policy: str
    payload_link: str
    payload_mass: float
    payload_com: tuple[float, ...]
    kp: Number
    kd: Number
    diagnostics_period: float
    namespaces: tuple[str, ...]

    @classmethod
    def of(cls, values: Mapping[str, Any] | None = None) -> Settings:
        """Settings from parameter values by name, defaults for the rest; ValueError names what is wrong."""
        values = values or {}
        for name in values:
            if name not in BY_NAME:
                raise ValueError(f"there is no parameter {name!r}")
        checked = {
            p.field: check(p, values[p.name]) if p.name in values else p.default for p in PARAMETERS
        }
        settings = cls(**checked)
        if len(set(settings.namespaces)) != len(settings.namespaces):
            raise ValueError("namespaces must differ from each other")
        if settings.payload_mass > 0.0 and not settings.payload_link:
            raise ValueError(
                "payload.mass is set but payload.link is empty: name the link that carries the load"
            )
        return settings

    def changed(self, values: Mapping[str, Any]) -> Settings:
        """These settings with some parameters changed; a fixed one, or a bad value, is a ValueError."""
        for name in values:
            if name in BY_NAME and BY_NAME[name].fixed:
                raise ValueError(
                    f"{name} is read at start only: set it in the launch file and restart the node"
                )
        return Settings.of({**self.values(), **values})

    def values(self) -> dict[str, Any]:
        """The values by parameter name."""
        return {p.name: getattr(self, p.field) for p in PARAMETERS}

    @property
    def needs_velocity(self) -> bool:
        return self.mode != "gravity"


assert tuple(f.name for f in fields(Settings)) == tuple(p.field for p in PARAMETERS)

MODEL_PARAMETERS = frozenset(
    ("robot_description", "robot_description_file", "payload.link", "payload.mass", "payload.com")
)
"""Parameters whose change builds the model again."""


def check(parameter: Parameter, value: Any) -> Any:
    """The value as its parameter needs it: integers become numbers, lists tuples; else ValueError."""
    name, default = parameter.name, parameter.default
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false, got {value!r}")
        return value
    if isinstance(default, str):
        if not isinstance(value, str):
            raise ValueError(f"{name} must be a text, got {value!r}; put it in quotes")
        if parameter.choices and value not in parameter.choices:
            raise ValueError(f"{name} must be one of {', '.join(parameter.choices)}, got {value!r}")
        return value
    if isinstance(default, float) and not (parameter.per_joint and _is_list(value)):
        return _number(parameter, value)
    if not _is_list(value):
        raise ValueError(f"{name} must be a list, got {value!r}")
    if parameter.per_joint or (default and isinstance(default[0], float)):
        numbers = tuple(_number(parameter, x) for x in value)
        if parameter.length is not None and len(numbers) != parameter.length:
            raise ValueError(f"{name} must be {parameter.length} numbers, got {len(numbers)}")
        if not numbers:
            raise ValueError(f"{name} is an empty list: give one number, or one for each joint")
        return numbers
    if not all(isinstance(x, str) for x in value):
        raise ValueError(f"{name} must be a list of names, got {value!r}")
    names = tuple(x for x in value if x)  # [""] is how a launch file spells an empty list
    if len(set(names)) != len(names):
        raise ValueError(f"{name} names something twice: {', '.join(names)}")
    return names


def _is_list(value: Any) -> bool:
    return hasattr(value, "typecode") or (
        isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    )


def _number(parameter: Parameter, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{parameter.name} must be a number, got {value!r}")
    if not parameter.low <= value <= parameter.high:  # false for NaN
        unit = f" {parameter.unit}" if parameter.unit else ""
        raise ValueError(
            f"{parameter.name} must lie in {parameter.low:g} .. {parameter.high:g}{unit}, got {value:g}"
        )
    return float(value)
