"""The node `warpdyn`: ROS messages, services and timers around a `Supervisor` and its robots."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

from .control.commands.torque_output import STOP_PERIOD
from .control.fleet import Event, Fleet
from .control.realtime import make_realtime
from .control.report import ready_message, remarks
from .control.robot import Robot
from .control.settings.node_settings import Settings
from .control.supervisor import Supervisor
from .control.torques.fleet_dynamics import check_device
from .ros import parameters
from .ros.batch_topics import BatchTopics
from .ros.commands import command_kind
from .ros.diagnostics import Diagnostics
from .ros.display import Display
from .ros.effort_topics import EffortTopics
from .ros.gate_services import GateServices
from .ros.guards import Guards
from .ros.messages import time_message
from .ros.outputs import WantedOutputs
from .ros.process import BAD_START, run_process
from .ros.publisher_counts import LOOK_PERIOD, PublisherCounts
from .ros.robot_topics import LawInputTopics, PolicyTopics, PoseTopics, SensorTopics, TwistTopics
from .ros.serialized_messages import Stamp, StateMessage, StateReader, nanoseconds
from .ros.shutdown import stop_robots, track_twice
from .ros.topics import LAST, LATCHED, RELIABLE, RobotNames, TorqueTopics, frame_prefix, overridable
from .ros.trajectory_topics import TrajectoryTopics
from .ros.wiring import Wiring


class WarpdynNode(Node):
    """The node. Each callback converts a message, asks the supervisor or a robot, and publishes the
    answer."""

    active = True
    """True if states are read; a managed node changes it (`lifecycle_node`)."""

    def __init__(self, **options: Any) -> None:
        super().__init__("warpdyn", **options)
        track_twice(self)
        settings = parameters.declare(self)
        check_device(settings.device)
        outputs = WantedOutputs(settings)
        self.exit_code: int | None = None
        self.ending: Callable[[], bool] = lambda: False
        self.handled = 0
        """Number of received states."""
        self._rate = settings.rate
        self._supervisor = Supervisor(settings, outputs)
        self._models = self._supervisor.models
        self._counts = self._supervisor.counts
        self._ros_clock = self.get_clock()
        self._simulating = False
        self._simulated: float | None = None
        """The simulated time [s], once it is known."""
        self._guarding = Guards(self._fail)
        self._wiring = Wiring(self, self._guarding, self._on_mismatch)
        names = self._supervisor.names
        self._robot_names = [
            RobotNames(f"{name}/", f"{name}/{self.get_name()}/") if name else RobotNames("", "~/")
            for name in names
        ]
        self._frames = [frame_prefix(settings, each) for each in self._robot_names]
        events = self._wiring.publisher_events
        kind = command_kind(settings.command_type)
        self._topics = [TorqueTopics(self, each, events, kind) for each in self._robot_names]
        self._readers = [StateReader() for _ in names]
        self._batch = BatchTopics(self, self._counts[0])
        self._display = Display(self, self._robot_names, settings, outputs)

        def robots() -> Sequence[Robot]:
            return self._supervisor.robots

        self._efforts = EffortTopics(self, self._wiring, self._robot_names, settings, robots)
        self._diagnostics = Diagnostics(self, names, self._counts, self._supervisor.clock)
        self._totals = [reporter.rates.totals for reporter in self._diagnostics.reporters]
        self._stamps: list[Any] = [Stamp(0, 0) for _ in names]
        # Functions on the way from a state to its command are guarded once here, not at each
        # message.
        guarded = self._guarding.callback
        self._flush = guarded(self._compute)
        self._answers = [guarded(self._answer, i, robot=i) for i in range(len(names))]
        self._frozen = False
        self._ending = threading.Lock()
        self._make_inputs()
        for topics in (PoseTopics, LawInputTopics, PolicyTopics, TwistTopics, SensorTopics):
            topics(self._wiring, self._robot_names, settings, robots, self._present)
        self._trajectories = TrajectoryTopics(
            self, self._wiring, self._robot_names, robots, self._present
        )
        self._publisher_counts = PublisherCounts(
            self, self._supervisor, self._diagnostics, self._robot_names, self._topics
        )
        self._gate = GateServices(
            self,
            self._wiring,
            self._supervisor,
            self._robot_names,
            self._topics,
            self._now,
            self._publisher_counts.look,
        )
        self._make_timers(settings)
        self.add_on_set_parameters_callback(
            self._guarding.parameters(self._on_parameters, SetParametersResult)
        )
        unlocked = make_realtime() if settings.realtime else []
        for text in [*parameters.unknown_overrides(self), *unlocked]:
            self.get_logger().warning(text)
        self._begin()

    def _begin(self) -> None:
        if not self._models.request(self.settings):
            self.get_logger().info(
                "waiting for robot_description: no parameter of that name, nor "
                "robot_description_file, is set, so it must come on its topic"
            )

    @property
    def _fleet(self) -> Fleet | None:
        """The robots that are computed at present."""
        return self._models.fleet if self.active else None

    @property
    def settings(self) -> Settings:
        """The present parameters."""
        return self._supervisor.settings

    def _make_inputs(self) -> None:
        subscribe = self._wiring.subscribe
        for i, (outer, private) in enumerate(self._robot_names):
            subscribe(
                JointState,
                outer + "joint_states",
                LAST,
                self._on_state_bytes,
                robot=i,
                override=overridable(),
                raw=True,
            )
            subscribe(JointTrajectory, private + "reference", RELIABLE, self._on_reference, robot=i)
            subscribe(WrenchStamped, private + "external_wrench", LAST, self._on_wrench, robot=i)
        subscribe(String, "robot_description", LATCHED, self._on_description)
        subscribe(
            Float64MultiArray, "~/batch/state", RELIABLE, self._on_batch, override=overridable()
        )

    def _make_timers(self, settings: Settings) -> None:
        every = self._wiring.every
        # States of many robots wake the node all the time and must not wait for other outputs.
        early = len(self._robot_names) == 1
        every(STOP_PERIOD, self._watch, early=early)
        every(settings.diagnostics_period, self._report)
        every(min(settings.diagnostics_period, LOOK_PERIOD), self._publisher_counts.look)
        if settings.rate:
            every(1.0 / settings.rate, self._cycle)
        if settings.publish_frequency:
            every(1.0 / settings.publish_frequency, self._show, early=early)

    def _fail(self, text: str, robot: int | None) -> None:
        self.get_logger().error(text, throttle_duration_sec=1.0)
        self._supervisor.fail(text, time.monotonic(), robot)

    def _on_mismatch(self, text: str, robot: int) -> None:
        self._counts[robot]["qos_mismatch"] += 1
        self._diagnostics.remark("QoS mismatch", text)

    def _present(self) -> float:
        """The watchdog's time at this moment."""
        return self._now(time.monotonic())

    def _now(self, steady: float) -> float:
        """The watchdog's time. A simulated time of 0 is none before the first /clock, and that of a
        world that was reset afterwards."""
        seconds = self._ros_clock.now().nanoseconds * 1e-9 if self._simulating else None
        self._simulated = seconds if seconds or self._simulated is not None else None
        return self._supervisor.advance(steady, self._simulated)

    # From states to torques.

    def _on_state_bytes(self, i: int, data: bytes) -> None:
        try:
            message = self._readers[i].read(data)
        except Exception:  # any error of rclpy for bytes that are not JointState
            self.handled += 1
            self._counts[i]["unreadable_message"] += 1
            return
        self._on_state(i, message)

    def _on_state(self, i: int, message: StateMessage | JointState) -> None:
        self.handled += 1
        self._totals[i]["joint_states"] += 1
        fleet = self._models.fleet if self.active else None
        if fleet is None:
            return
        if i in fleet.pending:  # the second state of this robot in one cycle: none is lost
            self.flush()
        now, stamp = self._now(time.monotonic()), message.header.stamp
        robot, at = fleet.robots[i], nanoseconds(stamp)
        if not robot.read(
            message.name, message.position, message.velocity, at, now, message.effort
        ):
            return
        self._stamps[i] = stamp
        if not self._rate:
            fleet.pending.add(i)
            if len(fleet.robots) == 1:
                self._flush(fleet)
        ros_now = time.time_ns() if self._simulated is None else int(self._simulated * 1e9)
        if robot.note(ros_now):
            self._answer(i, robot)  # the stop begins now, not at the next state
        if robot.effort_watch is not None:
            self._efforts.send(i, robot, stamp)
        self._wiring.catch_up(time.monotonic())

    @property
    def pending(self) -> bool:
        """True if states wait for a cycle."""
        return self._models.fleet is not None and bool(self._models.fleet.pending)

    def flush(self) -> None:
        """Compute for all states that have arrived since the last cycle."""
        if self._models.fleet is not None:
            self._flush(self._models.fleet)

    def _compute(self, fleet: Fleet) -> None:
        pending, fleet.pending = fleet.pending, set()
        fleet.compute()
        for i in pending:
            self._answers[i](fleet.robots[i])

    def _answer(self, i: int, robot: Robot) -> None:
        """Send the results for one robot."""
        topics, totals = self._topics[i], self._totals[i]
        showable, command = robot.command(self._supervisor.clock.now, time.monotonic())
        if command is not None:
            topics.send_command(command)
            totals["commands"] += 1
        if showable:
            topics.send_torque(robot.state.torque, self._stamps[i])
            totals["torques"] += 1

    def _cycle(self) -> None:
        """Compute all robots with a fresh state, at every tick of `rate`."""
        fleet, now = self._fleet, self._now(time.monotonic())
        if fleet is None:
            return
        for i, robot in enumerate(fleet.robots):
            if robot.age(now) <= self.settings.state_timeout:
                self._guarding.callback(robot.prepare, now, robot=i)()
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
        self._models.fleet.robots[i].refer(message.joint_names, numbers, now)

    def _on_wrench(self, i: int, message: WrenchStamped) -> None:
        if self._models.fleet is None:
            return
        now = self._now(time.monotonic())
        force, torque = message.wrench.force, message.wrench.torque
        wrench = (force.x, force.y, force.z), (torque.x, torque.y, torque.z)
        link = message.header.frame_id.removeprefix(self._frames[i])
        self._models.fleet.robots[i].wrench.read(link, *wrench, now)

    def _on_batch(self, message: Float64MultiArray) -> None:
        fleet = self._fleet
        if fleet is not None and self._batch.answer(fleet, message):
            self._display.batch_is_new = True
            self._totals[0]["batches"] += 1

    # The watchdog, and a new model.

    def _watch(self) -> None:
        self._simulating = getattr(self._ros_clock, "ros_time_is_active", False)
        steady = time.monotonic()
        for i, command in self._supervisor.watch(self._now(steady), steady):
            self._guarding.callback(self._topics[i].send_command, command, robot=i)()
        self._gate.watch(steady)
        self._trajectories.report()
        event = self._supervisor.step(steady)
        self._diagnostics.build(self._models.building, steady)
        if event is not Event.NOTHING:
            self._on_model(event)
        if self._diagnostics.has_changed(self._models.fleet, self.settings, steady):
            self._report()

    def _on_model(self, event: Event) -> None:
        """Log the result of building a model."""
        refusal, fleet, log = self._models.refusal, self._models.fleet, self.get_logger()
        self._diagnostics.remark("model refused", refusal)
        if event is Event.REFUSED:
            log.error(f"model refused: {refusal}")
            parameters.restore_payload(self, self.settings)
            if self._supervisor.lacks_its_model:
                self.exit_code = BAD_START
            return
        assert fleet is not None
        self._publisher_counts.look()
        model = fleet.dynamics.model
        if event is Event.PAYLOAD:
            log.info(f"payload changed: {model.name} has {fleet.dynamics.total_mass:.6g} kg")
            return
        # Objects loaded so far stay, so garbage collection need not scan them in a callback. This
        # is done
        # only once, because a replaced model must be collected.
        if not self._frozen:
            self._frozen = True
            gc.freeze()
        for topics, robot in zip(self._topics, fleet.robots, strict=True):
            topics.describe(model, robot.output.joints)
        self._display.describe(model, self.get_clock().now().to_msg())
        for text in (*model.warnings, *remarks(fleet.robots[0])):
            log.warning(text)
        log.info(ready_message(fleet.robots, self.settings))

    def _on_description(self, message: String) -> None:
        refusal = self._models.offer(message.data, self.settings)
        if refusal:
            self._counts[0]["description_refused"] += 1
            self._diagnostics.remark("model refused", refusal)
            self.get_logger().error(f"model refused: {refusal}", throttle_duration_sec=1.0)

    # Parameters.

    def _on_parameters(self, changed: list[RosParameter]) -> None:
        values = parameters.ours(changed)
        if values:
            self._supervisor.change(values)

    # Published outputs.

    def _show(self) -> None:
        if self._fleet is not None:
            stamps = [time_message(each) for each in self._stamps]
            self._display.show(self._fleet, stamps, self._supervisor.clock.now)

    def _report(self) -> None:
        steady = time.monotonic()
        if self._models.fleet is not None and self._batch.rest(self._models.fleet, steady):
            self._display.batch_is_new = False
        self._diagnostics.remark("QoS mismatch", "; ".join(self._wiring.mismatches(steady)))
        for i, robot in enumerate(self._supervisor.robots):
            unheard = self._topics[i].unheard if robot.is_enabled else ""
            self._diagnostics.remark("no controller", unheard, i)
        self._diagnostics.publish(self._models.fleet, self.settings, steady)

    # The end.

    def stop(self) -> None:
        """Run the stop sequence of every enabled robot, while there is a context to send it."""
        with self._ending:  # two threads that end the node run this one after the other
            if self._models.fleet is not None:
                stop_robots(self._models.fleet, self._topics, self.get_logger())

    def destroy_node(self) -> None:
        """Stop the robots first: `rclpy.shutdown()`, in any thread, calls this."""
        if hasattr(self, "_ending"):  # otherwise the constructor has raised
            self.stop()
            self._wiring.end_actions()
        super().destroy_node()


def main(args: list[str] | None = None) -> int:
    """Run until a signal ends it; returns the exit code."""
    return run_process(WarpdynNode, args)


if __name__ == "__main__":
    sys.exit(main())
