"""Supervisors whose model runs, and the end of their builds."""

from __future__ import annotations

import time

from ros2_node.control.fleet import Event
from ros2_node.control.supervisor import Supervisor


def ready(settings):
    """A supervisor whose model runs."""
    supervisor = Supervisor(settings)
    assert supervisor.models.request(settings)
    while supervisor.step(0.0) is Event.NOTHING:
        time.sleep(0.002)
    return supervisor


def wait_for_build(supervisor):
    """The event of the running build."""
    while (event := supervisor.step(0.0)) is Event.NOTHING:
        time.sleep(0.002)
    return event
