"""The topic /diagnostics: a message per period, and immediately when a level changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from ..control.fleet import Fleet
from ..control.report import Reporter
from ..control.safety.watchdog_clock import WatchdogClock
from ..control.settings.node_settings import Settings
from .topics import MANY


class Diagnostics:
    """One status for each robot; `names` are their namespaces."""

    def __init__(
        self, node: Node, names: Sequence[str], counts: Sequence[Counter[str]], clock: WatchdogClock
    ) -> None:
        title = node.get_fully_qualified_name().lstrip("/")
        self._titles = [f"{title}: {name}" if name else title for name in names]
        self.reporters = [Reporter(c) for c in counts]
        self._levels = [-1] * len(names)
        self._building = False
        self._building_since = 0.0
        self._node, self._clock = node, clock
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", MANY)

    def remark(self, subject: str, text: str, robot: int | None = None) -> None:
        """Set a standing warning on one robot, or on all; an empty text removes it."""
        for reporter in self.reporters if robot is None else [self.reporters[robot]]:
            reporter.remarks.pop(subject, None)
            if text:
                reporter.remarks[subject] = text[:500]

    def add_lines(self, lines: Mapping[str, str], robot: int) -> None:
        """Show these lines, by key, among the values of one robot from now on."""
        self.reporters[robot].lines.update(lines)

    def build(self, building: bool, steady: float) -> None:
        """Record whether a model is being built; call it often."""
        if building and not self._building:
            self._building_since = steady
        self._building = building

    def has_changed(self, fleet: Fleet | None, settings: Settings, steady: float) -> bool:
        """True if a level differs from the published one."""
        now, period = self._clock.now, settings.diagnostics_period
        robots = fleet.robots if fleet else [None] * len(self.reporters)
        pairs = zip(self.reporters, robots, strict=True)
        return [
            reporter.level(robot, now, steady, period)[0] for reporter, robot in pairs
        ] != self._levels

    def publish(self, fleet: Fleet | None, settings: Settings, steady: float) -> None:
        now = self._clock.now
        message = DiagnosticArray()
        message.header.stamp = self._node.get_clock().now().to_msg()
        for i, (title, reporter) in enumerate(zip(self._titles, self.reporters, strict=True)):
            robot = fleet.robots[i] if fleet else None
            level, text = reporter.level(robot, now, steady, settings.diagnostics_period)
            self._levels[i] = level
            # A paused clock and a model under construction explain values that do not change.
            if self._clock.is_paused:
                text += "; the simulation is paused: nothing ages"
            if self._building:
                text += f"; building a model for {steady - self._building_since:.0f} s"
            values = reporter.values(
                robot, settings, now, steady, fleet.timing.text() if fleet else "none yet"
            )
            if fleet and fleet.batch_timing.count:
                values["batch time"] = fleet.batch_timing.text()
            message.status.append(
                DiagnosticStatus(
                    name=title,
                    hardware_id=robot.dynamics.model.name if robot else "",
                    level=bytes([level]),
                    message=text,
                    values=[KeyValue(key=k, value=v) for k, v in values.items()],
                )
            )
        self._publisher.publish(message)
