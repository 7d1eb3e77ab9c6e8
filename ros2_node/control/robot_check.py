"""Check of a model and parameters against each other, which compiles no kernel."""

from __future__ import annotations

from collections import Counter

from warpdyn import Model

from .robot import Robot
from .settings.node_settings import Settings
from .torques.fleet_dynamics import FleetDynamics


def check_robot(model: Model, settings: Settings) -> None:
    """ValueError when no robot of this model can be made with these settings. Nothing is
    compiled."""
    Robot(FleetDynamics(model, settings, 1), 0, settings, Counter())
