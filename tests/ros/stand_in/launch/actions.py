"""launch.actions"""

from typing import Any


class DeclareLaunchArgument:
    def __init__(
        self,
        name: str,
        *,
        default_value: Any = None,
        description: str | None = None,
        choices: Any = None,
    ) -> None:
        self.name, self.default_value, self.description = name, default_value, description
