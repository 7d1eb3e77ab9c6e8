"""Subscriptions, services and timers, each guarded, each saying when QoS does not match."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions

from .guards import Guards


class Wiring:
    """Makes a node's inputs. `mismatched` gets who does not match, which policy, and the robot's
    number."""

    def __init__(
        self, node: Node, guards: Guards, mismatched: Callable[[str, str, int], None]
    ) -> None:
        self._node, self._guards, self._mismatched = node, guards, mismatched

    def subscribe(
        self,
        kind: type,
        topic: str,
        qos: QoSProfile,
        function: Callable,
        *,
        robot: int | None = None,
        override: QoSOverridingOptions | None = None,
    ) -> None:
        """Call the function with each message; with the robot's number first, where the topic is
        one robot's."""
        first = () if robot is None else (robot,)
        events = SubscriptionEventCallbacks(
            incompatible_qos=self._guards.callback(
                self._on_mismatch, f"a publisher of {topic}", robot or 0
            )
        )
        self._node.create_subscription(
            kind,
            topic,
            self._guards.callback(function, *first, robot=robot),
            qos,
            event_callbacks=events,
            qos_overriding_options=override,
        )

    def publisher_events(self, topic: str) -> PublisherEventCallbacks:
        """Event callbacks of a publisher whose subscribers must match."""
        return PublisherEventCallbacks(
            incompatible_qos=self._guards.callback(self._on_mismatch, f"a subscriber of {topic}", 0)
        )

    def serve(self, kind: type, name: str, function: Callable, robots: list[int]) -> None:
        """Answer requests with what the function returns for these robots: success and message."""
        self._node.create_service(kind, name, self._guards.service(function, robots))

    def every(self, period: float, function: Callable[[], None]) -> None:
        """Call the function again and again, by the steady clock [s]."""
        guarded = self._guards.callback(function)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._node.create_timer(period, lambda: guarded(), clock=steady)

    def _on_mismatch(self, who: str, robot: int, event: Any) -> None:
        policy = getattr(event.last_policy_kind, "name", str(event.last_policy_kind))
        self._mismatched(who, policy.rpartition("POLICY_")[2], robot)
