"""External forces on a task's robot: those of `control`, and pushes that are held for some time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..model.scene.free_bodies import links_on, robot_base
from ..user_kernels import random_numbers
from ..user_kernels.random_numbers import Key
from .task import Episode, Task, TaskError
from .variation import HeldPush

PUSH = 5
"""Stream of the random numbers of pushes."""

Wrenches = Mapping[str, Any]
"""Force and moment about the link's origin, in the link's axes (6,) [N, N·m], by link."""


def wanted_and_forces(
    task: Task, robot: Any, s: Episode, commanded: Mapping[str, Any], key_of: Callable[[], Key]
) -> tuple[dict[str, Any], Wrenches]:
    """Targets and joint forces of the action, and the external forces on links.

    commanded: the result of `control`. key_of: returns the key of the step. It is called only if
    it is needed, because a task is recognised by its recording.
    """
    wanted = dict(commanded)
    if "f_ext" not in wanted and not isinstance(task.push, HeldPush):
        return wanted, {}
    forces = external_forces(task, robot, s, wanted, key_of().at(PUSH))
    wanted.pop("f_ext", None)
    return wanted, forces


def wanted_in_joints(
    task: Task, robot: Any, s: Episode, commanded: Mapping[str, Any], key_of: Callable[[], Key]
) -> dict[str, Any]:
    """Targets and joint forces of the action, with the external forces as joint forces, for another
    simulator."""
    wanted, forces = wanted_and_forces(task, robot, s, commanded, key_of)
    if forces:
        tau = wanted.get("tau", np.zeros(task.model.nv))
        wanted["tau"] = tau + generalised_forces(robot, s, forces)
    return wanted


def external_forces(task: Task, robot: Any, s: Episode, wanted: Wrenches, key: Key) -> Wrenches:
    """Forces on links in this step: `f_ext` of `control`, and the task's push if it is held.

    wanted: the result of `control`. TaskError: a link does not exist.
    """
    found = dict(wanted.get("f_ext", {}))
    if unknown := [name for name in found if name not in task.model.link_names]:
        raise TaskError(
            f"{task.name}.control: f_ext names {', '.join(unknown)}, which {task.model.name} does "
            f"not have; its links are {', '.join(task.model.link_names)}"
        )
    if isinstance(task.push, HeldPush):
        link = pushed_link(task, task.push)
        found[link] = found.get(link, 0.0) + held_push(task, task.push, robot, s, key)
    return found


def pushed_link(task: Task, push: HeldPush) -> str:
    """The link that is pushed: by default the robot's free base. TaskError if it cannot move."""
    model, link = task.model, push.link or robot_base(task.model)
    if link is None:
        raise TaskError(
            f"{task.name}.push: {model.name} has no free base; name the link to push, such as "
            f"link={model.moving_joints[-1].child!r}"
        )
    if link not in model.link_names:
        raise TaskError(f"{task.name}.push: {model.name} has no link {link!r}")
    if not model.floating_base and link in links_on(model, model.root):
        raise TaskError(f"{task.name}.push: link {link!r} of {model.name} is fixed in the world")
    return link


def held_push(task: Task, push: HeldPush, robot: Any, s: Episode, key: Key) -> Any:
    """The wrench of a push in this step (6,), zero between pushes."""
    link = pushed_link(task, push)
    period = max(round(push.seconds / task.step_seconds), 1)
    held = max(round(push.hold / task.step_seconds), 1)
    since = s.age - period * np.floor((s.age + 0.5) * (1.0 / period))
    active = (s.age > period - 0.5) & (since < held - 0.5)
    # The draw is that of the step in which the push began: the first one, if a training begins with
    # episodes that are older than it.
    begun = key._replace(count=np.maximum(key.count - since, 0.0))
    draws = random_numbers.uniform(begun, 2, [0.0, 0.0], [2 * np.pi, push.force])
    level = np.stack([np.cos(draws[0]), np.sin(draws[0]), 0.0]) * draws[1]
    force = robot.fk(s.q, frame=link)[:3, :3].T @ level
    return np.concatenate([np.where(active, force, 0.0), np.zeros(3)])


def generalised_forces(robot: Any, s: Episode, forces: Wrenches) -> Any:
    """The joint forces (nv,) with the same effect as forces on links at this configuration."""
    none = (0.0, 0.0, 0.0)
    free = robot.rnea(s.q, None, None, gravity=none)
    return free - robot.rnea(s.q, None, None, f_ext=dict(forces), gravity=none)
