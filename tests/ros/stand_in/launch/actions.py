"""launch.actions"""

from collections.abc import Callable, Sequence
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
        assert choices is None or len(choices), "launch refuses an empty list"
        if choices and isinstance(default_value, str):
            assert default_value in choices
        self.name, self.default_value, self.description = name, default_value, description
        self.choices = choices


class OpaqueFunction:
    def __init__(
        self, *, function: Callable[[Any], Sequence[Any] | None], condition: Any = None
    ) -> None:
        self.function, self.condition = function, condition


class Shutdown:
    def __init__(self, *, reason: str = "reason not given") -> None:
        self.reason, self.condition = reason, None


class LogInfo:
    def __init__(self, *, msg: str, condition: Any = None) -> None:
        self.msg, self.condition = msg, condition
