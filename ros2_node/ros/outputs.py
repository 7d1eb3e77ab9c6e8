"""Outputs of the node in addition to torques: a record for each output, all in one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from rclpy.node import Node

from warpdyn.functions.dynamics import crba
from warpdyn.functions.kinematics import fk, jacobian
from warpdyn.functions.poses import matrix_to_quaternion
from warpdyn.model import Model

from ..control.settings.node_settings import Settings
from ..control.torques.flat_batch import FlatBatch
from ..control.torques.fleet_dynamics import FleetDynamics
from .messages import topic_word
from .publishers import Arrays, LinkNames, LinkPoses, Publishers, TipPoses, Topics, Transforms
from .topics import RobotNames

Compute = Callable[[FleetDynamics, Settings], np.ndarray]


@dataclass(frozen=True)
class OutputTopic:
    """One output at `publish_frequency`, with all data except the value of the parameter that
    requests it."""

    name: str
    """Topic below the node's name; with <link>, a topic for each link; "/..." is one for all
    robots."""
    parameter: str
    """Field of `Settings` that requests it: true, or the names of links."""
    compute: Compute | None
    """Function for the values of all robots, (R, ...). It runs once when a model is built, so that
    its kernel is compiled. Outputs with the same function share one run. None: there is nothing to
    publish except for a new model."""
    publish: Callable[[Node, Sequence[RobotNames], Topics, Settings], Publishers]
    """Function that opens the topics."""
    batch: Callable[[FlatBatch], np.ndarray] | None = None
    """Function for the values of the robots in a flat batch, for ~/batch/<name>."""
    batch_labels: Sequence[str] = ()
    latched: bool = False
    """True if part of it is published once for each model, even if `publish_frequency` is zero."""
    needs: str = ""
    """Package of its messages, if the node can run without it."""

    def is_requested(self, settings: Settings) -> bool:
        """True if the parameters request it."""
        return bool(getattr(settings, self.parameter))

    def links(self, settings: Settings) -> Sequence[str]:
        """The links that the parameter names."""
        value = getattr(settings, self.parameter)
        return value if isinstance(value, tuple) else ()

    def topics(self, private: str, settings: Settings) -> list[str]:
        """Names of the topics of the robot whose names start with `private`."""
        if "<link>" not in self.name:
            return [private + self.name]
        words = [topic_word(link) for link in self.links(settings)]
        return [private + self.name.replace("<link>", word) for word in words]


def _poses(dynamics: FleetDynamics, settings: Settings) -> np.ndarray:
    """(R, nlinks, 7) position and quaternion xyzw of every link in the root link."""
    return np.asarray(fk(dynamics.model, dynamics.state.q, form="pose"))


def _joint_poses(dynamics: FleetDynamics, settings: Settings) -> np.ndarray:
    """(R, moving joints, 7) of every moving joint's child link in its parent link."""
    model = dynamics.model
    moving = [j for j in model.joints if j.kind.nv]
    T = fk(model, dynamics.state.q)
    parents = T[:, [model.link_index(j.parent) for j in moving]]
    children = T[:, [model.link_index(j.child) for j in moving]]
    X = np.linalg.inv(parents) @ children
    quaternions = matrix_to_quaternion(np.ascontiguousarray(X[..., :3, :3]).reshape(-1, 3, 3))
    quaternions = np.asarray(quaternions).reshape(*X.shape[:2], 4)
    return np.concatenate([X[..., :3, 3], quaternions], axis=-1)


def _mass_matrices(dynamics: FleetDynamics, settings: Settings) -> np.ndarray:
    """(R, 1, nv, nv) joint-space inertia."""
    return np.asarray(crba(dynamics.model, dynamics.state.q, params=dynamics.payload.params))[
        :, None
    ]


def _jacobians(dynamics: FleetDynamics, settings: Settings) -> np.ndarray:
    """(R, links, 6, nv) linear then angular velocity of each link, in the root link's axes."""
    J = jacobian(
        dynamics.model,
        dynamics.state.q,
        frames=list(settings.jacobian_links),
        reference="local_world_aligned",
    )
    return np.asarray(J)


OUTPUTS = (
    OutputTopic("link_names", "publish_link_poses", None, LinkNames),
    OutputTopic(
        "link_poses",
        "publish_link_poses",
        _poses,
        LinkPoses,
        batch=FlatBatch.poses,
        batch_labels=("robot", "link", "7"),
    ),
    OutputTopic("poses/<link>", "tip_links", _poses, TipPoses),
    OutputTopic("/tf", "publish_tf", _joint_poses, Transforms, latched=True, needs="tf2_msgs"),
    OutputTopic(
        "mass_matrix", "publish_mass_matrix", _mass_matrices, partial(Arrays, ("dof", "dof"))
    ),
    OutputTopic(
        "jacobian/<link>", "jacobian_links", _jacobians, partial(Arrays, ("linear_angular", "dof"))
    ),
)


class WantedOutputs:
    """The outputs that the parameters request, with checks for the building of a model."""

    def __init__(self, settings: Settings, outputs: Sequence[OutputTopic] = OUTPUTS) -> None:
        self._settings = settings
        self.outputs = [output for output in outputs if output.is_requested(settings)]
        for output in self.outputs:
            _check_topics(output, settings)

    def check(self, model: Model) -> None:
        """Raise a ValueError if the model lacks a requested link."""
        for output in self.outputs:
            for link in output.links(self._settings):
                if link not in model.link_names:
                    raise ValueError(
                        f"{model.name} has no link {link!r}; its links are {', '.join(model.link_names[:40])}"
                    )

    def warm(self, dynamics: FleetDynamics) -> None:
        """Compute everything once, so that no kernel is compiled in a callback."""
        for compute in dict.fromkeys(output.compute for output in self.outputs):
            if compute is not None:
                compute(dynamics, self._settings)


def _check_topics(output: OutputTopic, settings: Settings) -> None:
    """Raise ValueError if two links have the same topic."""
    links: dict[str, str] = {}
    for topic, link in zip(output.topics("~/", settings), output.links(settings), strict=False):
        if links.setdefault(topic, link) != link:
            raise ValueError(
                f"{output.parameter}: {links[topic]!r} and {link!r} have the same topic {topic}; name one"
            )
