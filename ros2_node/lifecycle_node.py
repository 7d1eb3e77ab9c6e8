"""The node as a managed node, controlled by `ros2 lifecycle` and lifecycle managers.

configure reads the model, compiles and warms its kernels; activate accepts states and ~/enable;
deactivate runs the stop sequence; cleanup releases the model; shutdown, and an error in any of
these, do both. docs/ros2_drivers.md has the table.

When unconfigured or inactive, the node publishes only diagnostics.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.lifecycle.node import LifecycleNodeMixin

from .node import WarpdynNode
from .ros.process import run_process

PATIENCE = 5.0
"""Time for which configure waits for a robot_description on its topic [s]."""
DONE, REFUSED = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class WarpdynLifecycleNode(LifecycleNodeMixin, WarpdynNode):
    """`WarpdynNode` whose model and gate follow the states of a managed node."""

    active = False

    def __init__(self, **options: Any) -> None:
        WarpdynNode.__init__(self, **options)
        LifecycleNodeMixin.__init__(self)
        self._withhold()

    def _begin(self) -> None:
        self._models.quiet = True
        self.get_logger().info(f"unconfigured: ros2 lifecycle set {self._full_name} configure")

    @property
    def _full_name(self) -> str:
        return self.get_fully_qualified_name()

    def _withhold(self) -> None:
        configured = not self._models.quiet
        self._supervisor.withheld = (
            f"the node is {'inactive' if configured else 'unconfigured'}: ros2 lifecycle set "
            f"{self._full_name} {'activate' if configured else 'configure'}"
        )
        self._diagnostics.remark("managed", self._supervisor.withheld)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Build the model, and wait until it is ready or refused."""
        self._await_description()
        self._models.quiet = False
        if not self._models.request(self.settings):
            self._models.quiet = True
            self.get_logger().error(
                "not configured: no robot_description has come; start its publisher, or set "
                "robot_description_file"
            )
            return REFUSED
        while self._models.fleet is None and (self._models.building or self._models.changing):
            if self.ending():
                break
            time.sleep(0.002)
            self._watch()
        self.exit_code = None  # a managed node stays, and may be configured again
        if self._models.fleet is None:  # `_watch` has logged the reason
            self._models.quiet = True
            return REFUSED
        self._withhold()
        return DONE

    def _await_description(self) -> None:
        """Wait for a message if the robot's description comes from the topic, because no callback
        runs during a transition."""
        settings, end = self.settings, time.monotonic() + PATIENCE
        if settings.robot_description or settings.robot_description_file:
            return
        topic = self.resolve_topic_name("robot_description")
        (waited,) = (s for s in self.subscriptions if s.topic_name == topic)
        while not self._models.text and time.monotonic() < end and not self.ending():
            with waited.handle:
                taken = waited.handle.take_message(waited.msg_type, False)
            if taken is not None:
                self._on_description(taken[0])
            else:
                time.sleep(0.01)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Accept states; with `start_enabled`, enable at the first state unless a fault is latched."""
        self._supervisor.withheld = ""
        self._diagnostics.remark("managed", "")
        self._gate.start()
        self.active = True
        return DONE

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Run the stop sequence; no more states are read."""
        self.active = False
        self.stop()
        if self._models.fleet is not None:
            self._models.fleet.pending.clear()
        self._withhold()
        return DONE

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Release the model."""
        self._models.clear()
        self._models.quiet = True
        self._withhold()
        return DONE

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Deactivate and clean up, in any state."""
        self.on_deactivate(state)
        return self.on_cleanup(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Shut down; the node can be configured again."""
        return self.on_shutdown(state)

    def destroy_node(self) -> None:
        """Destroy the node, including rclpy's state machine, which would otherwise keep the node's
        name in the graph."""
        super().destroy_node()
        vars(self).pop("_state_machine", None)


def main(args: list[str] | None = None) -> int:
    """Run until a signal ends it; returns the exit code."""
    return run_process(WarpdynLifecycleNode, args)


if __name__ == "__main__":
    sys.exit(main())
