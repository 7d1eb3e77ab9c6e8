"""Requests and timed tasks of the node, free of ROS: enable, reset, change, watch, stop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .fleet import Event, Fleet, Models, Publications
from .robot import Robot
from .safety.payload_limits import overload
from .safety.safety_lock import check_lock
from .safety.watchdog_clock import WatchdogClock
from .settings.node_settings import SOURCES, Settings
from .torques.payload import check_link, numbers

PAYLOAD = ("payload_link", "payload_mass", "payload_com")
"""Parameters that decide the weight of a payload at each joint."""
Answer = tuple[bool, str]
"""Success of a request, and the text of the reply."""


class Supervisor:
    """The robots of one node, one for each namespace, under one set of settings.

    `now` is the watchdog's time, which `advance` computes from the steady and the simulated clock;
    `steady` is the steady clock. Both are in seconds.
    """

    def __init__(self, settings: Settings, publications: Publications | None = None) -> None:
        self.settings = settings
        self.names = list(settings.namespaces) or [""]
        self.counts: list[Counter[str]] = [Counter() for _ in self.names]
        """Counts by robot and reason; they outlive a change of the model."""
        self.clock = WatchdogClock(self._forget_states)
        self.advance = self.clock.advance
        """The watchdog's time for readings of the steady and the simulated clock."""
        self.models = Models(self.counts, publications)
        self._other_publishers = ["" for _ in self.names]
        self.withheld = ""
        """The reason why no robot may be enabled; empty if there is none."""

    @property
    def fleet(self) -> Fleet | None:
        """The fleet; None before there is a model."""
        return self.models.fleet

    @property
    def robots(self) -> Sequence[Robot]:
        """The robots; empty before there is a model."""
        return self.models.fleet.robots if self.models.fleet else ()

    # Time.

    def _forget_states(self) -> None:
        """Let the robots forget their states, after a jump of the simulated clock."""
        for robot in self.robots:
            robot.forget()
            robot.counts["clock_jump"] += 1

    def watch(self, now: float, steady: float) -> Iterator[tuple[int, np.ndarray]]:
        """The robots in a stop sequence, by number, each with its next command; call it every STOP_PERIOD."""
        for i, robot in enumerate(self.robots):
            try:
                command = robot.watch(now, steady)
            except Exception as error:  # of one robot: the watchdog of the others goes on
                robot.fail(f"watchdog: {type(error).__name__}: {error}", steady)
                continue
            if command is not None:
                yield i, command

    def step(self, steady: float) -> Event:
        """Use a model that has been built, if there is one; call it often."""
        event = self.models.step(self.settings, steady)
        if event is Event.READY:  # other robots, on the same topics
            for robot, text in zip(self.robots, self._other_publishers, strict=True):
                robot.other_publishers = text
        if event is Event.REFUSED:
            for counts in self.counts:
                counts["description_refused"] += 1
            self._restore_settings()
        return event

    def _restore_settings(self) -> None:
        """Describe the running robot again, and the payload that it carries, after a refused build."""
        if self.models.source is not None:
            text, file = self.models.source
            self.settings = replace(
                self.settings, robot_description=text, robot_description_file=file
            )
        if self.fleet is None:
            return
        restored = self.fleet.dynamics.payload.replace_in(self.settings)
        if restored is not self.settings:
            self.settings = restored
            self.fleet.change(restored)

    @property
    def lacks_its_model(self) -> bool:
        """True if the parameters describe a model and none runs. After a refusal this lasts until
        the parameters change."""
        described = self.settings.robot_description or self.settings.robot_description_file
        return bool(described) and self.fleet is None

    def set_other_publishers(self, i: int, text: str) -> None:
        """Set the message about other publishers of one robot's states or commands; empty if there
        are none. They prevent ~/enable, but an enabled robot continues."""
        self._other_publishers[i] = text
        for robot in self.robots[i : i + 1]:
            robot.other_publishers = text

    def fail(self, text: str, steady: float, robot: int | None = None) -> None:
        """Latch a fault and stop: one robot, or all if `robot` is None."""
        for each in self.robots if robot is None else self.robots[robot : robot + 1]:
            each.fail(text, steady)

    # Requests.

    def enable(self, robots: Sequence[int], on: bool, now: float, steady: float) -> Answer:
        """Open the gates of some robots, or begin their stop sequences."""
        if self.fleet is None:
            why = self.models.refusal or (self.withheld if on else "")
            return not on, ": ".join(filter(None, ["there is no model yet", why]))
        if self.withheld and on:
            return False, self.withheld
        if self.models.changing and on:
            return False, "a new model is being taken; try again"
        chosen = [self.fleet.robots[i] for i in robots]
        answers = [r.enable(now, steady) if on else r.disable(steady) for r in chosen]
        return self._together(robots, answers)

    def reset(self, robots: Sequence[int]) -> Answer:
        """Clear latched faults; the gates stay closed."""
        if self.fleet is None:
            return True, "there is no model yet"
        return self._together(robots, [self.fleet.robots[i].reset() for i in robots])

    def reload(self) -> Answer:
        """Read the model again."""
        if self.models.quiet:
            return False, self.withheld
        if not self.models.reload(self.settings):
            return False, "there is no robot_description to read again"
        return True, "the model is being read again; the log and /diagnostics say how it went"

    def _together(self, robots: Sequence[int], answers: Sequence[Answer]) -> Answer:
        if len(answers) == 1:
            return answers[0]
        bad = [
            f"{self.names[i]}: {text}"
            for i, (good, text) in zip(robots, answers, strict=True)
            if not good
        ]
        answer = "; ".join(bad) or f"{len(answers)} robots: {answers[0][1]}"
        live = [self.names[i] for i in robots if self.robots[i].is_enabled]
        return not bad, f"{answer}; live: {', '.join(live) or 'none'}"

    def change(self, values: Mapping[str, Any]) -> None:
        """Change some parameters by name; ValueError, without any change, if a value is invalid or
        wider than `lock` allows."""
        settings, fleet = self.settings.with_changes(values), self.fleet
        check_lock(self.settings, settings, any(robot.is_enabled for robot in self.robots))
        if any(getattr(settings, name) != getattr(self.settings, name) for name in SOURCES):
            self.models.check(settings)
        elif fleet is not None and settings.payload_link:
            check_link(fleet.dynamics.model, settings.payload_link)
            numbers(fleet.dynamics.model, settings)
            self._check_payload(settings)
        if fleet is not None:
            fleet.change(settings)
        before, self.settings = self.settings, settings
        if SOURCES & values.keys() or settings.payload_link != before.payload_link:
            self.models.request(settings)

    def _check_payload(self, settings: Settings) -> None:
        """Raise ValueError if the weight of another payload alone exceeds an effort limit in a
        robot's present pose."""
        before = self.settings
        if all(getattr(settings, name) == getattr(before, name) for name in PAYLOAD):
            return
        for name, robot in zip(self.names, self.robots, strict=True):
            if heavy := overload(robot.dynamics.model, settings, robot.states, robot.output):
                raise ValueError(f"{name}: {heavy}" if name else heavy)
