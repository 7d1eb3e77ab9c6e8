"""launch_ros.parameter_descriptions"""

from typing import Any


class ParameterValue:
    def __init__(self, value: Any, *, value_type: Any = None) -> None:
        self.value, self.value_type = value, value_type
