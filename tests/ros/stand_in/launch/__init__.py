"""A recording stand-in for the ROS package `launch`, limited to what our launch files use."""

from collections.abc import Sequence
from typing import Any


class LaunchDescription:
    def __init__(self, initial_entities: Sequence[Any] | None = None) -> None:
        self.entities = list(initial_entities or ())
