"""launch.substitutions"""

from typing import Any


class LaunchConfiguration:
    def __init__(self, variable_name: str, *, default: Any = None) -> None:
        self.name = variable_name

    def perform(self, values: dict[str, str]) -> str:
        return values[self.name]  # an argument that is not declared is a KeyError


class PathJoinSubstitution:
    def __init__(self, substitutions: Any) -> None:
        self.parts = list(substitutions)

    def perform(self, values: dict[str, str]) -> str:
        return "/".join(
            part if isinstance(part, str) else part.perform(values) for part in self.parts
        )
