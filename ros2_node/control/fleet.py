"""The robots that share one model: computed in one launch, and replaced together. Loading and
compiling happen in a thread. No ROS."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from warpdyn.model import Model

from .commands.torque_output import TorqueOutput
from .launch_times import Timing
from .parameter_change import ParameterChange
from .robot import Robot
from .robot_description import load_model
from .settings.node_settings import Settings
from .torques.flat_batch import FlatBatch
from .torques.fleet_dynamics import FleetDynamics


class Publications(Protocol):
    """Outputs of a fleet other than its torques, which the build of a fleet checks and compiles."""

    def check(self, model: Model) -> None:
        """Raise ValueError if the model lacks a link or joint that the outputs need."""

    def warm(self, dynamics: FleetDynamics) -> None:
        """Compute all outputs once, so that no kernel is compiled in a callback."""


class Fleet:
    """All robots of one node. `counts` (one Counter for each robot) outlive a change of the
    model."""

    def __init__(
        self,
        settings: Settings,
        text: str,
        counts: Sequence[Counter[str]],
        publications: Publications | None = None,
        model: Model | None = None,
    ) -> None:
        """`model`: the model that the settings describe, if it is loaded already."""
        self.settings = settings
        model = model or load_model(settings, text)
        if publications is not None:
            publications.check(model)
        self.dynamics = FleetDynamics(model, settings, len(counts))
        self.dynamics.compute()  # compiles, so that no callback does
        self.dynamics.check(settings)
        if publications is not None:
            publications.warm(self.dynamics)
        self.robots = [Robot(self.dynamics, i, settings, c) for i, c in enumerate(counts)]
        for robot in self.robots:
            robot.warm()
        self.batch = FlatBatch(self.dynamics, settings, self.robots[0].output)
        self.batch.warm()
        self.pending: set[int] = set()
        """Robots whose new state waits for a cycle."""
        self.timing = Timing()
        self.batch_timing = Timing()

    def compute(self) -> None:
        """Compute all robots in one launch, and record its time."""
        started = time.perf_counter()
        self.dynamics.compute()
        self.timing.add(time.perf_counter() - started)

    def change(self, settings: Settings) -> None:
        """Use new parameters that do not change the model; ValueError, without any change, if they do not fit."""
        if settings.mode != self.settings.mode and not self.idle:
            raise ValueError("mode cannot change while enabled: call ~/enable with false first")
        change = ParameterChange(self.dynamics, self.robots)
        try:
            for robot in self.robots:
                robot.change(settings)
            self._check_limits(settings)
            if self.dynamics.law is not None:
                self.dynamics.law.check(settings)
            self.dynamics.friction.change(settings)
            reloaded = self.dynamics.payload.change(settings)
        except ValueError:
            for robot in self.robots:
                robot.change(self.settings)
            self.dynamics.friction.change(self.settings)
            change.cancel()
            raise
        before, self.settings = self.settings, settings
        self.dynamics.change_gravity(settings.gravity)
        if reloaded:
            self._rebase()
        if self.dynamics.law is not None:
            self.dynamics.law.change(settings)
        self.batch.change(settings)
        change.finish(before, settings)

    def _check_limits(self, settings: Settings) -> None:
        """Raise ValueError if enabled robots would lose effort limits that ~/enable requires."""
        for robot in self.robots:
            if robot.is_enabled and robot.output.unlimited and not settings.unlimited_effort:
                raise ValueError(
                    f"while enabled, {', '.join(robot.output.unlimited)} cannot do without effort limits: "
                    "keep effort_limits or unlimited_effort as they are"
                )

    def stop(self, steady: float) -> None:
        """Begin the stop sequence of every enabled robot."""
        for robot in self.robots:
            robot.disable(steady)

    @property
    def idle(self) -> bool:
        """True if no robot sends commands."""
        return all(robot.idle for robot in self.robots)

    def can_blend_to(self, other: Fleet) -> bool:
        """True if another fleet has the same model, so that enabled robots can continue with its payload."""
        return other.dynamics.model is self.dynamics.model

    def blend_to(self, other: Fleet) -> None:
        """Take the payload of another fleet. The commands do not jump."""
        change = ParameterChange(self.dynamics, self.robots)
        self.dynamics.carry(other.dynamics.payload)
        self.batch = FlatBatch(self.dynamics, self.settings, self.robots[0].output)
        self._rebase()
        for robot in self.robots:
            robot.output.blend()
        change.finish(self.settings, self.settings)

    def _rebase(self) -> None:
        """Give the observers of external torques another payload; they keep their estimates."""
        for robot in self.robots:
            if robot.effort_watch is not None:
                robot.effort_watch.torques.rebase(self.dynamics.payload)


def check_robot(model: Model, settings: Settings) -> None:
    """Raise ValueError if these settings do not fit the model. Nothing is compiled."""
    Robot(FleetDynamics(model, settings, 1), 0, settings, Counter())


PATIENCE = 1.0
"""The longest time for the check of a description in a parameter [s]; while a robot is enabled, at
most half of `state_timeout`."""
LARGEST_TEXT = 16 * 1024 * 1024
"""Size of a description on the topic above which it is refused [B]."""
ENDED = "the thread that built the model ended without a result"
Source = tuple[str, str, str]
"""The source of a model: robot_description, robot_description_file, or else the topic's text."""


@dataclass(frozen=True)
class BuildResult:
    """A finished build: the fleet, or the reason why it failed."""

    fleet: Fleet | None
    refusal: str
    source: Source


class Event(Enum):
    """The result of a step."""

    NOTHING = "nothing"
    READY = "ready"
    """Another model runs; its robots are disabled."""
    PAYLOAD = "payload"
    """The same robot, enabled or not, continues with a load on another link."""
    REFUSED = "refused"
    """The old model stays; `refusal` says why."""


class Models:
    """The running fleet, and the build of the next one. A failed build changes nothing. The fleet
    of another model takes over only after the robots are disabled.

    One build runs at a time. Of the requests that arrive meanwhile, the newest is built next.
    """

    def __init__(
        self, counts: Sequence[Counter[str]], publications: Publications | None = None
    ) -> None:
        self.fleet: Fleet | None = None
        self.text = ""
        """The description that the topic gave last."""
        self.refusal = ""
        self.quiet = False
        """True if nothing is built, whatever is requested or offered."""
        self._counts, self._publications = counts, publications
        self._source: Source | None = None
        """The source of the fleet that runs."""
        self._waiting: tuple[Settings, Source, bool] | None = None
        self._finished: BuildResult | None = None
        self._thread: threading.Thread | None = None
        self._next: BuildResult | None = None
        self._released: Sequence[TorqueOutput] = ()
        """Outputs of robots that `clear` has removed. Their controllers still hold the last commands."""

    def request(self, settings: Settings, again: bool = False) -> bool:
        """Build a fleet for these settings. again: also if the model is the running one. Returns
        false if there is no description yet."""
        source = _source(settings, self.text)
        if not any(source):
            return False
        if self.quiet:
            return True
        self._waiting = (settings, source, again)
        if self._thread is None:
            self._begin()
        return True

    def check(self, settings: Settings) -> None:
        """Raise ValueError with the reason if these settings do not fit the robot that the
        parameters describe. This reads the description and compiles nothing.

        Commands wait for it. If it takes too long, the build reports the error later.
        """
        if not (settings.robot_description or settings.robot_description_file):
            return
        refused: list[str] = []

        def read() -> None:
            try:
                self._check(settings)
            except Exception as error:
                refused.append(_error_message(error))

        reader = threading.Thread(target=read, name="description check", daemon=True)
        reader.start()
        idle = self.fleet is None or self.fleet.idle
        reader.join(PATIENCE if idle else min(PATIENCE, 0.5 * settings.state_timeout))
        if refused:
            raise ValueError(f"the robot cannot be used, the one before stays: {refused[0]}")

    def _check(self, settings: Settings) -> None:
        model = load_model(settings)
        if self._publications is not None:
            self._publications.check(model)
        check_robot(model, settings)

    def offer(self, text: str, settings: Settings) -> str:
        """Use a description from the topic, unless parameters describe the robot or the description
        is already in use. Returns the reason if it is too large, else an empty text."""
        if settings.robot_description or settings.robot_description_file:
            return ""
        if len(text) > LARGEST_TEXT:
            self.refusal = (
                f"robot_description has {len(text) / 2**20:.0f} MB; a description of more than "
                f"{LARGEST_TEXT / 2**20:.0f} MB is not read: is it a URDF file?"
            )
            return self.refusal
        if text == self.text and text and not self.refusal:
            return ""
        self.text = text or " "  # an empty text is refused like any other bad one
        self.request(settings)
        return ""

    def reload(self, settings: Settings) -> bool:
        """Read the description again, from the file if it came from one."""
        return self.request(settings, again=True)

    def clear(self) -> None:
        """Remove the robots. Wait for a running build and drop its result. The topic's description is kept."""
        if self._thread is not None:
            self._thread.join()
        self._thread = self._finished = self._waiting = self._next = None
        if self.fleet is not None:
            self._released = [robot.output for robot in self.fleet.robots]
        self.fleet = self._source = None
        self.refusal = ""

    @property
    def changing(self) -> bool:
        """True while a finished model waits for the stop sequences of the old one."""
        return self._next is not None

    @property
    def building(self) -> bool:
        """True while a model is read, compiled or warmed."""
        return self._thread is not None

    def step(self, settings: Settings, steady: float) -> Event:
        """Check for finished builds; call it often. settings: the present settings."""
        built = self._look()
        if built is not None:
            return self._take(built, settings, steady)
        if self._next is not None and (self.fleet is None or self.fleet.idle):
            return self._swap(self._next, settings)
        return Event.NOTHING

    def _look(self) -> BuildResult | None:
        if self._thread is None or self._thread.is_alive():
            return None
        self._thread, built = None, self._finished or BuildResult(None, ENDED, ("", "", ""))
        if self._waiting is not None:
            self._begin()
            return None  # what was built is out of date already
        return built

    def _take(self, built: BuildResult, settings: Settings, steady: float) -> Event:
        fleet = built.fleet
        if fleet is None:
            return self._refuse(built.refusal)
        self.refusal = ""
        if self.fleet is not None and self.fleet.can_blend_to(fleet):
            self.fleet.blend_to(fleet)
            self.fleet.change(settings)  # what was set during the build
            return Event.PAYLOAD
        self._next = built
        if self.fleet is not None:
            self.fleet.stop(steady)
            return Event.NOTHING
        return self._swap(built, settings)

    def _swap(self, built: BuildResult, settings: Settings) -> Event:
        self._next = None
        assert built.fleet is not None
        try:
            built.fleet.change(settings)  # what was set during the build
        except ValueError as error:
            return self._refuse(str(error))
        if self.fleet is not None:
            for robot, old in zip(built.fleet.robots, self.fleet.robots, strict=True):
                robot.replace(old)
        else:
            for robot, output in zip(built.fleet.robots, self._released, strict=False):
                robot.output.continue_from(output)
        self.fleet, self._source = built.fleet, built.source
        return Event.READY

    def _refuse(self, why: str) -> Event:
        """Reject a build: the old robot and its source stay."""
        self.refusal = why
        if self._source is not None:
            self.text = self._source[2]
        return Event.REFUSED

    @property
    def source(self) -> tuple[str, str] | None:
        """Parameters robot_description and robot_description_file of the running robot."""
        return None if self._source is None else self._source[:2]

    def _begin(self) -> None:
        assert self._waiting is not None
        settings, source, again = self._waiting
        # If only the load differs, the running model and its kernels stay in use.
        fleet = self.fleet if source == self._source and not again else None
        model = fleet.dynamics.model if fleet is not None else None
        self._thread = threading.Thread(
            target=self._build, args=(settings, source, model), name="model builder", daemon=True
        )
        self._waiting = self._finished = None
        self._thread.start()

    def _build(self, settings: Settings, source: Source, model: Model | None) -> None:
        try:
            fleet = Fleet(settings, source[2], self._counts, self._publications, model)
            self._finished = BuildResult(fleet, "", source)
        except BaseException as error:
            # No description may end the node, whatever exception it causes.
            self._finished = BuildResult(None, _error_message(error), source)


def _error_message(error: BaseException) -> str:
    """The message of an exception for the user, with its type if it was not expected."""
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    return (
        str(error)
        if isinstance(error, (ValueError, OSError))
        else f"{type(error).__name__}: {error}"
    )


def _source(settings: Settings, text: str) -> Source:
    if settings.robot_description or settings.robot_description_file:
        return settings.robot_description, settings.robot_description_file, ""
    return "", "", text
