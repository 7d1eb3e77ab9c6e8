"""The node `warpdyn`: rclpy around `Models` and `Fleet`. An exception in a callback is a fault with a stop command."""

from __future__ import annotations

import gc
import signal
import sys
import time
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import rclpy
import warp as wp
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from .control.clock import WatchClock
from .control.fleet import Fleet
from .control.models import Event, Models
from .control.settings import MODEL_PARAMETERS, Settings
from .control.torque_output import STOP_PERIOD
from .ros import parameters
from .ros.diagnostics import Diagnostics
from .ros.display import Display
from .ros.topics import LAST, LATCHED, RELIABLE, RobotTopics, labelled, nanoseconds, overridable

BAD_START = 2
"""Exit code when parameters, device or the first model cannot be used."""
ACKNOWLEDGE = Duration(nanoseconds=200_000_000)
"""How long the last commands may take to be acknowledged when the node ends."""


class WarpdynNode(Node):
    """Topics, services and timers; what they do is in `Models`, `Fleet` and `Robot`."""

    def __init__(self, **options: Any) -> None:
        super().__init__("warpdyn", **options)
        self.settings: Settings = parameters.declare(self)
        check_device(self.settings.device)
        self.exit_code: int | None = None
        self.handled = 0
        """How many states have come in."""
        spaces = self.settings.namespaces
        own = self.get_name() + "/"
        self._names = list(spaces) or [""]
        self._counts: list[Counter[str]] = [Counter() for _ in self._names]
        self._watch_clock = WatchClock()
        self._ros_clock = self.get_clock()
        self._simulating = False
        self._simulated: float | None = None
        """The simulated time [s], once there is one."""
        self._models = Models(self._counts)
        self._topics = [
            RobotTopics(
                self,
                f"{s}/" if s else "",
                f"{s}/{own}" if s else "~/",
                self.settings,
                self._mismatch_events,
            )
            for s in self._names
        ]
        self._display = Display(self, self._names, self._topics, self.settings)
        self._diagnostics = Diagnostics(self, self._names, self._counts, self._watch_clock)
        self._totals = [reporter.rates.totals for reporter in self._diagnostics.reporters]
        self._stamps = [Time() for _ in self._names]
        self._make_inputs()
        self._make_services()
        self._make_timers()
        self.add_on_set_parameters_callback(self._on_parameters)
        if not self._models.request(self.settings):
            self.get_logger().info("waiting for robot_description")

    def _make_inputs(self) -> None:
        for i, topics in enumerate(self._topics):
            self._subscribe(
                JointState, topics.outer + "joint_states", LAST, self._on_state, i, overridable()
            )
            self._subscribe(
                JointTrajectory, topics.own + "reference", RELIABLE, self._on_reference, i
            )
            self._subscribe(WrenchStamped, topics.own + "external_wrench", LAST, self._on_wrench, i)
        self._subscribe(String, "robot_description", LATCHED, self._on_description)
        self._subscribe(
            Float64MultiArray, "~/batch/state", RELIABLE, self._on_batch, None, overridable()
        )
        self._batch_torques = self.create_publisher(
            Float64MultiArray, "~/batch/torques", RELIABLE, qos_overriding_options=overridable()
        )
        self._batch_message = Float64MultiArray()

    def _subscribe(
        self,
        kind: Any,
        topic: str,
        qos: QoSProfile,
        function: Callable,
        robot: int | None = None,
        override: Any = None,
    ) -> None:
        events = SubscriptionEventCallbacks(
            incompatible_qos=self._guarded(self._on_mismatch, f"a publisher of {topic}", robot or 0)
        )
        callback = self._guarded(function) if robot is None else self._guarded(function, robot)
        self.create_subscription(
            kind, topic, callback, qos, event_callbacks=events, qos_overriding_options=override
        )

    def _mismatch_events(self, topic: str) -> PublisherEventCallbacks:
        return PublisherEventCallbacks(
            incompatible_qos=self._guarded(self._on_mismatch, f"a subscriber of {topic}", 0)
        )

    def _make_services(self) -> None:
        for i, topics in enumerate(self._topics):
            if topics.outer:
                self.create_service(
                    SetBool, topics.own + "enable", self._serving(self._enable, [i])
                )
                self.create_service(Trigger, topics.own + "reset", self._serving(self._reset, [i]))
        everyone = list(range(len(self._names)))
        self.create_service(SetBool, "~/enable", self._serving(self._enable, everyone))
        self.create_service(Trigger, "~/reset", self._serving(self._reset, everyone))
        self.create_service(Trigger, "~/reload", self._serving(self._reload, everyone))

    def _make_timers(self) -> None:
        settings = self.settings
        self._every(STOP_PERIOD, self._watch)
        self._every(settings.diagnostics_period, self._report)
        if settings.rate:
            self._every(1.0 / settings.rate, self._cycle)
        if settings.publish_frequency:
            self._every(1.0 / settings.publish_frequency, self._show)

    def _every(self, period: float, function: Callable[[], None]) -> None:
        guarded = self._guarded(function)
        self.create_timer(period, lambda: guarded(), clock=Clock(clock_type=ClockType.STEADY_TIME))

    # Guards.

    def _guarded(self, function: Callable, *first: Any) -> Callable:
        """The callback with its first arguments set; an exception stops the robots instead of the process."""

        def callback(*rest: Any) -> None:
            try:
                function(*first, *rest)
            except Exception as error:
                self._fail(f"{function.__name__}: {type(error).__name__}: {error}")

        return callback

    def _serving(self, function: Callable, robots: list[int]) -> Callable:
        def callback(request: Any, response: Any) -> Any:
            try:
                response.success, response.message = function(robots, request)
            except Exception as error:
                self._fail(f"{function.__name__}: {type(error).__name__}: {error}")
                response.success, response.message = False, str(error)
            return response

        return callback

    def _fail(self, text: str) -> None:
        self.get_logger().error(text, throttle_duration_sec=1.0)
        for robot in self._models.fleet.robots if self._models.fleet else ():
            robot.fail(text, time.monotonic())

    def _now(self, steady: float) -> float:
        """The watchdog's time; a jump of the simulated clock makes the robots forget."""
        self._simulated = (
            (self._ros_clock.now().nanoseconds * 1e-9 or None) if self._simulating else None
        )
        jumps = self._watch_clock.jumps
        now = self._watch_clock.advance(steady, self._simulated)
        if self._watch_clock.jumps != jumps:
            for robot in self._models.fleet.robots if self._models.fleet else ():
                robot.states.forget()
                robot.counts["clock_jump"] += 1
        return now

    # States in, torques out.

    def _on_state(self, i: int, message: JointState) -> None:
        self.handled += 1
        self._totals[i]["joint_states"] += 1
        fleet = self._models.fleet
        if fleet is None:
            return
        if i in fleet.pending:  # the second state of this robot in one cycle: none is lost
            self._flush(fleet)
        now, stamp = self._now(time.monotonic()), message.header.stamp
        robot = fleet.robots[i]
        if not robot.read(
            message.name, message.position, message.velocity, nanoseconds(stamp), now
        ):
            return
        self._stamps[i] = stamp
        if not self.settings.rate:
            fleet.pending.add(i)
            if len(self._names) == 1:
                self._flush(fleet)
        robot.states.note(time.time_ns() if self._simulated is None else int(self._simulated * 1e9))

    @property
    def pending(self) -> bool:
        """Whether states wait for a cycle."""
        return self._models.fleet is not None and bool(self._models.fleet.pending)

    def flush(self) -> None:
        """Compute for all states that have come in since the last cycle."""
        if self._models.fleet is not None:
            self._guarded(self._flush, self._models.fleet)()

    def _flush(self, fleet: Fleet) -> None:
        pending, fleet.pending = fleet.pending, set()
        fleet.compute()
        now, steady = self._watch_clock.now, time.monotonic()
        for i in pending:
            robot, topics, totals = fleet.robots[i], self._topics[i], self._totals[i]
            showable, command = robot.command(now, steady)
            if command is not None:
                topics.send_command(command)
                totals["commands"] += 1
            if showable:
                topics.send_torque(robot.torque, self._stamps[i])
                totals["torques"] += 1

    def _cycle(self) -> None:
        """With `rate`: all robots whose state is fresh."""
        fleet, now = self._models.fleet, self._now(time.monotonic())
        if fleet is None:
            return
        for i, robot in enumerate(fleet.robots):
            if robot.states.age(now) <= self.settings.state_timeout:
                robot.prepare(now)
                fleet.pending.add(i)
        self.flush()

    def _on_reference(self, i: int, message: JointTrajectory) -> None:
        if self._models.fleet is None:
            return
        if len(message.points) != 1:
            self._counts[i]["reference_wrong_length"] += 1
            return
        point, now = message.points[0], self._now(time.monotonic())
        numbers = (point.positions, point.velocities, point.accelerations)
        self._models.fleet.robots[i].reference.read(message.joint_names, numbers, now)

    def _on_wrench(self, i: int, message: WrenchStamped) -> None:
        if self._models.fleet is None:
            return
        force, torque, now = (
            message.wrench.force,
            message.wrench.torque,
            self._now(time.monotonic()),
        )
        wrench = (force.x, force.y, force.z), (torque.x, torque.y, torque.z)
        self._models.fleet.robots[i].wrench.read(message.header.frame_id, *wrench, now)

    def _on_batch(self, message: Float64MultiArray) -> None:
        fleet = self._models.fleet
        if fleet is None:
            return
        started = time.perf_counter()
        batch, dims = fleet.batch, [d.size for d in message.layout.dim]
        try:
            robots = batch.robots_in(len(message.data), dims)
        except ValueError as error:
            self._counts[0]["batch_rejected"] += 1
            self.get_logger().error(f"~/batch/state rejected: {error}", throttle_duration_sec=1.0)
            return
        bad = batch.bad_robots
        torque = batch.compute(
            np.frombuffer(message.data).reshape(robots, 2, fleet.dynamics.model.nv)
        )
        if batch.bad_robots != bad:
            self._counts[0]["batch_bad_robot"] += batch.bad_robots - bad
        sizes = [d.size for d in self._batch_message.layout.dim]
        if sizes != list(torque.shape):
            self._batch_message = labelled(torque, ("robot", "dof"))
        else:
            self._batch_message.data = array("d", torque.tobytes())
        self._batch_torques.publish(self._batch_message)
        self._display.batch_is_new = True
        self._totals[0]["batches"] += 1
        fleet.batch_timing.add(time.perf_counter() - started)

    # The watchdog, and a new model.

    def _watch(self) -> None:
        self._simulating = getattr(self._ros_clock, "ros_time_is_active", False)
        steady = time.monotonic()
        now = self._now(steady)
        fleet = self._models.fleet
        for robot, topics in zip(fleet.robots if fleet else (), self._topics, strict=False):
            command = robot.watch(now, steady)
            if command is not None:
                topics.send_command(command)
        event = self._models.step(self.settings, steady)
        if event is not Event.NOTHING:
            self._on_model(event)
        if self._diagnostics.changed(self._models.fleet, self.settings, steady):
            self._report()

    def _on_model(self, event: Event) -> None:
        self._diagnostics.remark("model refused", self._models.refusal)
        fleet, log = self._models.fleet, self.get_logger()
        if event is Event.REFUSED:
            for counts in self._counts:
                counts["description_refused"] += 1
            log.error(f"model refused: {self._models.refusal}")
            if fleet is None and (
                self.settings.robot_description or self.settings.robot_description_file
            ):
                self.exit_code = BAD_START
            return
        assert fleet is not None
        model = fleet.dynamics.model
        if event is Event.PAYLOAD:
            log.info(f"payload changed: {model.name} has {model.total_mass:.6g} kg")
            return
        gc.freeze()  # what has been loaded stays: let no collection walk through it in a callback
        self._display.describe(model, self.get_clock().now().to_msg())
        output = fleet.robots[0].output
        for text in model.warnings:
            log.warning(text)
        if output.unlimited:
            log.warning(
                f"no effort limit in the description for {', '.join(output.unlimited)}: they are not clamped"
            )
        log.info(
            f"ready: {model.name}, {model.total_mass:.6g} kg, {len(fleet.robots)} robot(s), mode {self.settings.mode}, "
            f"on {self.settings.device}, commands for {', '.join(output.joints)}"
        )

    def _on_description(self, message: String) -> None:
        self._models.offer(message.data, self.settings)

    # Services and parameters.

    def _enable(self, robots: list[int], request: SetBool.Request) -> tuple[bool, str]:
        fleet = self._models.fleet
        if fleet is None:
            why = f": {self._models.refusal}" if self._models.refusal else ""
            return not request.data, "there is no model yet" + why
        if self._models.changing and request.data:
            return False, "a new model is being taken; try again"
        steady = time.monotonic()
        now = self._now(steady)
        chosen = [fleet.robots[i] for i in robots]
        answers = [r.enable(now, steady) if request.data else r.disable(steady) for r in chosen]
        return self._together(robots, answers)

    def _reset(self, robots: list[int], request: Trigger.Request) -> tuple[bool, str]:
        self._diagnostics.remark("QoS mismatch", "")
        if self._models.fleet is None:
            return True, "there is no model yet"
        return self._together(robots, [self._models.fleet.robots[i].reset() for i in robots])

    def _reload(self, robots: list[int], request: Trigger.Request) -> tuple[bool, str]:
        if not self._models.reload(self.settings):
            return False, "there is no robot_description to read again"
        return True, "the model is being read again; the log and /diagnostics say how it went"

    def _together(
        self, robots: Sequence[int], answers: Sequence[tuple[bool, str]]
    ) -> tuple[bool, str]:
        if len(answers) == 1:
            return answers[0]
        bad = [
            f"{self._names[i]}: {text}"
            for i, (good, text) in zip(robots, answers, strict=True)
            if not good
        ]
        return not bad, "; ".join(bad) or f"{len(answers)} robots: {answers[0][1]}"

    def _on_parameters(self, changed: list[RosParameter]) -> SetParametersResult:
        try:
            values = parameters.ours(changed)
            if values:
                self._set(values)
        except ValueError as error:
            return SetParametersResult(successful=False, reason=str(error))
        except Exception as error:
            self._fail(f"parameters: {type(error).__name__}: {error}")
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _set(self, values: dict[str, Any]) -> None:
        settings, fleet = self.settings.changed(values), self._models.fleet
        if fleet is not None:
            links = fleet.dynamics.model.link_names
            if settings.payload_link and settings.payload_link not in links:
                raise ValueError(
                    f"payload.link {settings.payload_link!r} is not one of {', '.join(links[:40])}"
                )
            fleet.change(settings)
        self.settings = settings
        if MODEL_PARAMETERS & values.keys():
            self._models.request(settings)

    def _on_mismatch(self, who: str, robot: int, event: Any) -> None:
        self._counts[robot]["qos_mismatch"] += 1
        policy = getattr(event.last_policy_kind, "name", str(event.last_policy_kind))
        self._diagnostics.remark(
            "QoS mismatch", f"{who} does not match this node's {policy.rpartition('POLICY_')[2]}"
        )

    # What is shown.

    def _show(self) -> None:
        if self._models.fleet is not None:
            self._display.show(self._models.fleet, self._stamps, self._watch_clock.now)

    def _report(self) -> None:
        self._diagnostics.publish(self._models.fleet, self.settings, time.monotonic())

    # The end.

    def stop(self) -> None:
        """The stop sequence of every enabled robot, acknowledged, before the context goes."""
        fleet = self._models.fleet
        if fleet is None:
            return
        fleet.stop(time.monotonic())
        pairs = [
            (r, t) for r, t in zip(fleet.robots, self._topics, strict=True) if r.output.stopping
        ]
        while not fleet.idle:
            for robot, topics in pairs:
                command = robot.output.stop_step(time.monotonic())
                if command is not None:
                    topics.send_command(command)
            time.sleep(STOP_PERIOD)
        for _, topics in pairs:
            topics.commands.wait_for_all_acked(ACKNOWLEDGE)


def check_device(device: str) -> None:
    """ValueError when kernels cannot run there."""
    known = [d.alias for d in wp.get_devices()]
    try:
        wp.get_device(device)
    except Exception as error:
        raise ValueError(
            f"device {device!r} is not there; this machine has {', '.join(known)}"
        ) from error


def make_executor(node: WarpdynNode) -> Executor:
    executor: Executor | None = None
    if node.settings.executor == "events":
        try:
            from rclpy.experimental import EventsExecutor

            executor = EventsExecutor()
        except ImportError:
            node.get_logger().warning(
                "this rclpy has no EventsExecutor: executor single, at twice the CPU time"
            )
    executor = executor or SingleThreadedExecutor()
    executor.add_node(node)
    return executor


def spin(node: WarpdynNode, stopped: Callable[[], bool]) -> None:
    """Handle events until told to stop; with several robots, compute when no event is left."""
    executor = make_executor(node)
    while rclpy.ok() and not stopped() and node.exit_code is None:
        before, pending = node.handled, node.pending
        executor.spin_once(timeout_sec=0.0 if pending else 0.2)
        if pending and node.handled == before:
            node.flush()


def main(args: list[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM; the robots are stopped before the context goes."""
    signals: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, frame: signals.append(received))
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    node: WarpdynNode | None = None
    try:
        node = WarpdynNode()
        spin(node, lambda: bool(signals))
        node.stop()
        return node.exit_code or 0
    except ExternalShutdownException:
        return 0
    except ValueError as error:
        rclpy.logging.get_logger("warpdyn").fatal(str(error))
        return BAD_START
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    sys.exit(main())
