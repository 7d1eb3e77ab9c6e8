"""The teacher of a distillation: a policy's file, checked against the task of the student."""

from __future__ import annotations

from copy import copy
from pathlib import Path

from .deployment.deployment_record import deployment_record
from .deployment.policy_match import check_match
from .deployment.robot_step import RobotStep
from .environment_step import EnvironmentStep
from .initial_policy import network_of_onnx
from .learners.networks import Network
from .policy import Policy
from .task import Task


def read_teacher(task: Task, path: Path) -> Network:
    """The network of a teacher, which observes the last group of the student's task: the critic's.

    path: `policy.onnx` of a task with the same robot, rate and actions.

    TaskError: the teacher observes other terms than that group, or its actions mean something else;
    the message names the difference.
    """
    view, policy = as_teacher_sees(task), Policy(path)
    (width,) = EnvironmentStep(view, 0).observations[next(iter(view.groups), "policy")]
    policy.check(view, width)
    if policy.deployment:
        check_match(path, policy.deployment, deployment_record(view, RobotStep(view)))
    return network_of_onnx(path)


def as_teacher_sees(task: Task) -> Task:
    """The task with the last group of its observations as the only one, without noise."""
    view = copy(task)
    if task.groups:
        group = list(task.groups)[-1]
        view.groups = {group: task.groups[group]}
        view.history = {g: n for g, n in task.history.items() if g == group}
    view.noise = {}
    return view
