"""Diagnostics of the node: timings, rates, levels and lines. No ROS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from .robot import Robot
from .safety.gate import FAULTS, LOSSES
from .safety.status import Status
from .settings.node_settings import Settings
from .states.name_maps import unreadable_joints
from .states.rejection_reasons import NOTICES, REJECTIONS
from .torques.payload import joints_without_mass

OK, WARN, ERROR = 0, 1, 2
"""Levels of diagnostic_msgs/DiagnosticStatus."""


class Rates:
    """Counts of events, and their rates since the last call of `look`."""

    def __init__(self) -> None:
        self.totals: Counter[str] = Counter()
        self._before: Counter[str] = Counter()
        self._looked = 0.0

    def look(self, steady: float) -> dict[str, float]:
        """Events per second since the last call."""
        passed = steady - self._looked
        rates = {
            k: (n - self._before[k]) / passed if passed > 0.0 else 0.0
            for k, n in self.totals.items()
        }
        self._before, self._looked = Counter(self.totals), steady
        return rates


WARNED = (Status.WAITING, Status.WAITING_FOR_BASE, Status.STOPPING, Status.FLOATING)
"""Statuses that are warnings."""


class Reporter:
    """Level, message and values of one robot's diagnostics."""

    def __init__(self, counts: Counter[str]) -> None:
        self.counts = counts
        self.rates = Rates()
        self.remarks: dict[str, str] = {}
        """Standing remarks by subject, such as a refused robot_description; each is a warning."""
        self.lines: dict[str, str] = {}
        """Further lines, which the node adds."""
        self._noticed: Counter[str] = Counter()
        self._recent: dict[str, float] = {}

    def level(
        self, robot: Robot | None, now: float, steady: float, period: float
    ) -> tuple[int, str]:
        """The present level and message. Counts of the last period are warnings."""
        parts = self._recent_counts(steady, period)
        parts += [f"{subject}: {text}" for subject, text in self.remarks.items()]
        if robot is None:
            return WARN, "; ".join(["waiting for a model", *parts])
        parts += _conditions(robot, steady)
        status, gate = robot.status(now), robot.gate
        # A stop sequence is short. The next status gives the reason for it.
        text = gate.reason if status is not Status.STOPPING else ""
        head = f"{status.value}: {text}" if text else status.value
        if gate.phase in FAULTS or gate.phase in LOSSES:
            level = ERROR
        elif parts or status in WARNED:
            level = WARN
        else:
            level = OK
        return level, "; ".join([head, *parts])

    def _recent_counts(self, steady: float, period: float) -> list[str]:
        """The reasons of WARNINGS that were counted in the last period, with their counts."""
        if self.counts != self._noticed:
            for reason, n in self.counts.items():
                if n != self._noticed[reason] and reason in WARNINGS:
                    self._recent[reason] = steady
            self._noticed = Counter(self.counts)
        recent = [reason for reason, at in self._recent.items() if steady - at <= period]
        return [f"{reason} ({self.counts[reason]})" for reason in recent]

    def values(
        self, robot: Robot | None, settings: Settings, now: float, steady: float, timing: str
    ) -> dict[str, str]:
        """Key and value of each line."""
        lines = {
            "state": robot.status(now).value if robot else "waiting for a model",
            "mode": settings.policy or settings.law or settings.mode,
            "enabled": str(robot.is_enabled if robot else False).lower(),
            "model": robot.dynamics.model.name if robot else "none",
            "device": settings.device,
        }
        for name, rate in self.rates.look(steady).items():
            lines[f"{name} rate"] = f"{rate:.1f} Hz"
        if robot:
            lines |= _robot_lines(robot, now)
        lines["compute time"] = timing
        lines |= self._count_lines("rejected", REJECTIONS)
        lines |= self._count_lines("noticed", (*NOTICES, "state_lost", "fault"))
        lines["last fault"] = (robot.last_fault if robot else "") or "none"
        return lines | self.lines | self.remarks

    def _count_lines(self, kind: str, reasons: Iterable[str]) -> dict[str, str]:
        """The lines of the counts that are not zero."""
        return {f"{kind}.{r}": str(self.counts[r]) for r in reasons if self.counts[r]}


def _conditions(robot: Robot, steady: float) -> list[str]:
    """The conditions of a robot that are warnings while they last."""
    parts = []
    if robot.effort_watch is not None and (text := robot.effort_watch.unguarded_message):
        parts.append(text)
    if robot.is_enabled and (joints := robot.output.saturated_joints(steady)):
        parts.append(f"at the effort limit: {joints}")
    if robot.is_enabled and (joints := robot.limits.limit_message(robot.state.q)):
        parts.append(f"joint_limit: {joints}")
    return parts


def _robot_lines(robot: Robot, now: float) -> dict[str, str]:
    """Key and value of the lines that need a model."""
    age, load = robot.age(now), robot.dynamics.payload
    lines = {
        "state age": f"{age:.3f} s" if np.isfinite(age) else "no state yet",
        "command joints": " ".join(robot.output.joints),
        "payload": f"{load.mass:g} kg on {load.link}" if load.link else "none",
    }
    if robot.effort_watch is not None:
        lines |= robot.effort_watch.report()
    if robot.setpoint.refusal:
        lines["last reference refused"] = robot.setpoint.refusal
    if robot.setpoint.clipped:
        lines["last reference clipped"] = robot.setpoint.clipped
    lines["trajectory"] = robot.trajectory.status
    if robot.trajectory.refusal:
        lines["last trajectory refused"] = robot.trajectory.refusal
    lines["joint_limit"] = robot.limits.limit_message(robot.state.q) or "none"
    if robot.pose is not None and robot.pose.refusal:
        lines["last pose refused"] = robot.pose.refusal
    lines |= _input_lines(robot)
    inputs = robot.references.law_inputs
    if inputs is not None and inputs.refusal:
        lines["last law input refused"] = inputs.refusal
    lines["commands clamped"] = str(robot.output.clamped)
    lines["commands rate limited"] = str(robot.output.rate_limited)
    return lines


def _input_lines(robot: Robot) -> dict[str, str]:
    """Key and value of the lines about ~/twist and ~/ft_wrench, if the robot has them."""
    twist, body, lines = robot.references.twist, robot.references.body, {}
    if twist is not None:
        lines["twist slowed by"] = twist.slowed_by or "nothing"
        if twist.refusal:
            lines["last twist refused"] = twist.refusal
    if body is not None:
        lines["contact wrench"] = " ".join(f"{x:.3g}" for x in body.sensor.contact)
        if body.sensor.refusal:
            lines["last ft_wrench refused"] = body.sensor.refusal
    return lines


WARNINGS = frozenset((*REJECTIONS, *NOTICES)) - {"unknown_joint"}
"""Counts that raise the level to WARN while they grow. Unknown joints are not among them, because several robots may
share a topic."""


def ready_message(robots: Sequence[Robot], settings: Settings) -> str:
    """The log line that describes the running node."""
    dynamics = robots[0].dynamics
    return (
        f"ready: {dynamics.model.name}, {dynamics.total_mass:.6g} kg, {len(robots)} robot(s), "
        f"{settings.law_name}, on {settings.device}, "
        f"commands for {', '.join(robots[0].output.joints)}"
    )


def remarks(robot: Robot) -> list[str]:
    """Remarks that a user should read before enabling a robot."""
    texts = []
    unread = unreadable_joints(robot.dynamics.model)
    if unread and robot.policy is None:  # a policy reads the pose of its base from odom
        texts.append(
            f"joint_states cannot carry {', '.join(unread)}, which have several coordinates: the torques "
            "are those of a robot on which they rest in their neutral pose"
        )
    if unlimited := robot.output.unlimited:
        texts.append(
            f"no effort limit for {', '.join(unlimited)}: ~/enable needs effort_limits, or "
            "unlimited_effort, with which they are not clamped"
        )
    load = robot.dynamics.payload
    if massless := joints_without_mass(robot.dynamics.model, robot.output.joints, load):
        texts.append(
            f"the description has no mass beyond {', '.join(massless)}: the gravity torques of these "
            "joints are zero. Give their links an <inertial>"
        )
    return texts
