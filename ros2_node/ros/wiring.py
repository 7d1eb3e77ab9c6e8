"""Guarded subscriptions, services and timers, with reports of QoS mismatches."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import Any

from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSCompatibility, QoSProfile, qos_check_compatible
from rclpy.qos_overriding_options import QoSOverridingOptions

from .guards import Guards

EARLY = 0.1
"""Share of a period by which `catch_up` may call a function early."""
SETTLED = 2.0
"""Time after which the graph reflects an event [s]."""


class Recurring:
    """A guarded function that a timer calls repeatedly; `catch_up` may call it earlier."""

    def __init__(self, node: Node, period: float, function: Callable[[], None]) -> None:
        self._function, self._wait = function, (1.0 - EARLY) * period
        self._due = 0.0
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(period, lambda: self._call(time.monotonic()), clock=steady)

    def _call(self, steady: float) -> None:
        self._due = steady + self._wait
        self._function()

    def catch_up(self, steady: float) -> None:
        """Call the function now if it is nearly due; the timer then waits for a whole period."""
        if steady >= self._due:
            self._timer.reset()
            self._call(steady)


class Wiring:
    """Factory of a node's inputs. `mismatched` receives a text about a QoS mismatch, with its
    policy, and the robot's number."""

    def __init__(self, node: Node, guards: Guards, mismatched: Callable[[str, int], None]) -> None:
        self._node, self._guards, self._mismatched = node, guards, mismatched
        self._standing: dict[str, tuple[str, float]] = {}
        """Topic and time on the steady clock [s] of each mismatch, by its message."""
        self._early: list[Recurring] = []
        self._actions: list[ActionServer] = []

    def subscribe(
        self,
        kind: type,
        topic: str,
        qos: QoSProfile,
        function: Callable,
        *,
        robot: int | None = None,
        override: QoSOverridingOptions | None = None,
        raw: bool = False,
    ) -> None:
        """Call the function with each message, or with its bytes if `raw` is true; for a robot's
        own topic, with the robot's number first."""
        first = () if robot is None else (robot,)
        events = SubscriptionEventCallbacks(
            incompatible_qos=self._guards.callback(
                self._on_mismatch, "publisher", topic, robot or 0
            )
        )
        self._node.create_subscription(
            kind,
            topic,
            self._guards.callback(function, *first, robot=robot),
            qos,
            event_callbacks=events,
            qos_overriding_options=override,
            raw=raw,
        )

    def publisher_events(self, topic: str) -> PublisherEventCallbacks:
        """Event callbacks of a publisher whose subscribers must match."""
        return PublisherEventCallbacks(
            incompatible_qos=self._guards.callback(self._on_mismatch, "subscriber", topic, 0)
        )

    def serve(self, kind: type, name: str, function: Callable, robots: list[int]) -> None:
        """Answer requests with the function's result for these robots: success and message. If it
        is a coroutine, other callbacks run while it waits."""
        if not iscoroutinefunction(function):
            self._node.create_service(kind, name, self._guards.service(function, robots))
            return
        answer, group = self._guards.slow_service(function, robots), ReentrantCallbackGroup()
        self._node.create_service(kind, name, answer, callback_group=group)

    def serve_action(
        self,
        kind: Any,
        name: str,
        *,
        begin: Callable[[int, Any], None],
        cancel: Callable[[int, Any], None],
        result: Callable[[Any], Awaitable[Any]],
        robot: int,
    ) -> None:
        """Accept all goals of an action. `begin` gets the robot's number and the handle of a goal, which it executes.
        `cancel` gets them when a client cancels it. `result` waits for the goal's result."""
        stop = self._guards.callback(cancel, robot, robot=robot)

        def cancel_goal(handle: Any) -> CancelResponse:
            stop(handle)
            return CancelResponse.ACCEPT

        server = ActionServer(
            self._node,
            kind,
            name,
            result,
            callback_group=ReentrantCallbackGroup(),
            handle_accepted_callback=self._guards.callback(begin, robot, robot=robot),
            cancel_callback=cancel_goal,
        )
        self._actions.append(server)

    def end_actions(self) -> None:
        """Destroy the action servers, which would keep the node's handle."""
        while self._actions:
            self._actions.pop().destroy()

    def every(self, period: float, function: Callable[[], None], *, early: bool = False) -> None:
        """Call the function periodically by the steady clock [s]. `early`: `catch_up` may call it
        slightly before its time."""
        recurring = Recurring(self._node, period, self._guards.callback(function))
        if early:
            self._early.append(recurring)

    def catch_up(self, steady: float) -> None:
        """Call functions that are nearly due, in a process that a message has woken. A timer that
        wakes it takes 160 us of CPU time, three times as much as its function (Intel Xeon, 2.5
        GHz)."""
        for recurring in self._early:
            recurring.catch_up(steady)

    def mismatches(self, steady: float) -> list[str]:
        """Texts of the mismatches that persist. DDS reports when one begins; its end is found in
        the graph, once the graph has settled."""
        for text, (topic, since) in list(self._standing.items()):
            if steady - since > SETTLED and not self._mismatched_on(topic):
                del self._standing[text]
        return list(self._standing)

    def forget_mismatches(self) -> None:
        """Forget all mismatches."""
        self._standing.clear()

    def _mismatched_on(self, topic: str) -> bool:
        """True if a publisher and a subscriber of a topic, one of them this node's, do not
        match."""
        me = self._node.get_name(), self._node.get_namespace()
        return any(
            me in ((p.node_name, p.node_namespace), (s.node_name, s.node_namespace))
            and qos_check_compatible(p.qos_profile, s.qos_profile)[0] == QoSCompatibility.ERROR
            for p in self._node.get_publishers_info_by_topic(topic)
            for s in self._node.get_subscriptions_info_by_topic(topic)
        )

    def _on_mismatch(self, kind: str, topic: str, robot: int, event: Any) -> None:
        policy = getattr(event.last_policy_kind, "name", str(event.last_policy_kind))
        policy = policy.rpartition("POLICY_")[2]
        text = f"a {kind} of {topic} does not match this node's {policy}"
        self._standing[text] = topic, time.monotonic()
        self._mismatched(text, robot)
