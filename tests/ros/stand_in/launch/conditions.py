"""launch.conditions"""

from typing import Any


class IfCondition:
    def __init__(self, predicate_expression: Any) -> None:
        self.expression = predicate_expression
