"""The topics with inputs of a law that change at control rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from std_msgs.msg import Float64MultiArray

from ..control.settings.node_settings import Settings
from ..control.torques.law import inputs_of, kernel_of_law
from ..control.torques.law_input_targets import inputs_by_topic
from .topics import RELIABLE, RobotNames, RobotTopics
from .wiring import Wiring


class LawTopics(RobotTopics):
    """`~/law_inputs/<name>` of each robot, if there is an impedance law."""

    def subscribe(self, wiring: Wiring, names: Sequence[RobotNames], settings: Settings) -> None:
        """Subscribe, if the settings ask for it."""
        if not settings.law:
            return
        self._inputs = inputs_by_topic(settings, inputs_of(kernel_of_law(settings.law)))
        for i, (_, private) in enumerate(names):
            for name in self._inputs:
                topic = f"{private}law_inputs/{name}"
                wiring.subscribe(Float64MultiArray, topic, RELIABLE, self._reader(name), robot=i)

    def _reader(self, name: str) -> Callable[[int, Float64MultiArray], None]:
        def read(i: int, message: Float64MultiArray) -> None:
            if robots := self._robots():
                robots[i].refer_law_input(name, message.data)

        return read
