"""The topic of a force-torque sensor, and the service that sets its offset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import WrenchStamped
from std_srvs.srv import Trigger

from ..control.settings.node_settings import Settings
from ..control.torques.law import kernel_of_law
from .topics import LAST, RobotNames, RobotTopics
from .wiring import Wiring


class SensorTopics(RobotTopics):
    """`~/ft_wrench` and `~/tare` of each robot, if there is a law that reads a measured wrench."""

    def subscribe(self, wiring: Wiring, names: Sequence[RobotNames], settings: Settings) -> None:
        """Subscribe, if the settings ask for it."""
        if not settings.law or "contact_wrench" not in kernel_of_law(settings.law).signature.arrays:
            return
        for i, (_, private) in enumerate(names):
            wiring.subscribe(WrenchStamped, private + "ft_wrench", LAST, self._on_wrench, robot=i)
            wiring.serve(Trigger, private + "tare", self._tare, [i])

    def _on_wrench(self, i: int, message: WrenchStamped) -> None:
        robots = self._robots()
        if robots and (body := robots[i].references.body) is not None:
            f, m = message.wrench.force, message.wrench.torque
            frame = message.header.frame_id.removeprefix(self._prefixes[i])
            body.sensor.read(frame, (f.x, f.y, f.z), (m.x, m.y, m.z), self._now())

    def _tare(self, numbers: list[int], request: Any) -> tuple[bool, str]:
        robots = self._robots()
        body = robots[numbers[0]].references.body if robots else None
        if body is None:
            return False, "there is no model yet"
        if missing := body.missing(self._now()):
            return False, missing
        body.sensor.tare()
        return True, "the present wrench is taken for the sensor's offset"
