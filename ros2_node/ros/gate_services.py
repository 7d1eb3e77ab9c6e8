"""The services that open and close the way to the controllers: ~/enable, ~/reset, ~/reload."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import SetBool, Trigger

from ..control.commands.controller_joints import Verdict
from ..control.safety.gate import STARTING
from ..control.safety.status import Status
from ..control.settings.node_settings import Settings
from ..control.supervisor import Answer, Supervisor
from .controllers import Controllers
from .topics import RobotNames, TorqueTopics
from .wiring import Wiring


class GateServices:
    """Answers for one robot, or for all. With `command_controller`, ~/enable and automatic starts
    ask the controllers first.

    now: function that returns the watchdog's time for a time of the steady clock [s]. look:
    function that counts the publishers of states and commands; called before robots are enabled.
    """

    def __init__(
        self,
        node: Node,
        wiring: Wiring,
        supervisor: Supervisor,
        names: Sequence[RobotNames],
        topics: Sequence[TorqueTopics],
        now: Callable[[float], float],
        look: Callable[[], None] = lambda: None,
    ) -> None:
        settings: Settings = supervisor.settings
        self._supervisor, self._topics, self._now = supervisor, topics, now
        self._look = look
        self._wiring, self._log = wiring, node.get_logger()
        self._controllers = Controllers(node, settings.command_controller, names)
        self._asked: dict[int, Future[Verdict]] = {}
        """Answers of the controllers of robots that start automatically."""
        self._closings = [0] * len(names)
        """Number of requests to close each robot's gate."""
        enable = self.enable_in_order if settings.command_controller else self.enable
        for i, (outer, private) in enumerate(names):
            if outer:
                wiring.serve(SetBool, private + "enable", enable, [i])
                wiring.serve(Trigger, private + "reset", self.reset, [i])
        everyone = list(range(len(names)))
        wiring.serve(SetBool, "~/enable", enable, everyone)
        wiring.serve(Trigger, "~/reset", self.reset, everyone)
        wiring.serve(Trigger, "~/reload", self.reload, everyone)

    def start(self) -> None:
        """Let the robots start automatically again, if `start_enabled` is set."""
        for robot in self._supervisor.robots:
            robot.start()

    def watch(self, steady: float) -> None:
        """Ask controllers, process their answers and start robots. Must be called often."""
        self._controllers.watch(steady)
        for i, robot in enumerate(self._supervisor.robots if self._controllers else ()):
            verdict = self._asked.get(i)
            # The gate may have been closed meanwhile, or belong to another model.
            if robot.gate.phase not in STARTING:
                self._asked.pop(i, None)
            elif verdict is None:
                if robot.status(self._supervisor.clock.now) is Status.READY:
                    self._asked[i] = self._controllers.ask(i, robot.output.joints, steady)
            elif verdict.done() and (answer := verdict.result()) is not None:
                self._begin(i, answer, steady)

    def _begin(self, i: int, verdict: Verdict, steady: float) -> None:
        del self._asked[i]
        if verdict.refusal:
            self._log.error(f"not started: {verdict.refusal}")
            self._supervisor.robots[i].withdraw()
            return
        good, text = self._supervisor.enable([i], True, self._now(steady), steady)
        if good:  # else the controller is asked again, for example if a state has just become stale
            self._log.info("; ".join(filter(None, [f"started: {text}", verdict.remark])))

    def enable(self, robots: list[int], request: SetBool.Request) -> Answer:
        """Answer ~/enable; the answer names topics without subscribers."""
        if not request.data:
            for i in robots:
                self._closings[i] += 1
        else:
            self._look()
        steady = time.monotonic()
        good, text = self._supervisor.enable(robots, request.data, self._now(steady), steady)
        if good and request.data:
            text = "; ".join([text, *(t for i in robots if (t := self._topics[i].unheard))])
        return good, text

    async def enable_in_order(self, robots: list[int], request: SetBool.Request) -> Answer:
        """Answer ~/enable, after the controllers have reported the order of their joints."""
        verdicts: list[Verdict] = []
        asked_of, closings = list(self._supervisor.robots), [self._closings[i] for i in robots]
        if request.data and self._supervisor.robots:
            steady = time.monotonic()
            orders = [self._supervisor.robots[i].output.joints for i in robots]
            pairs = zip(robots, orders, strict=True)
            asked = [self._controllers.ask(i, joints, steady) for i, joints in pairs]
            verdicts = [answer for verdict in asked if (answer := await verdict) is not None]
        if refusals := [each.refusal for each in verdicts if each.refusal]:
            return False, "; ".join(refusals)
        if request.data and closings != [self._closings[i] for i in robots]:
            return False, "~/enable was called with false while the controller was asked"
        if list(self._supervisor.robots) != asked_of:
            return False, "another model came while the controller was asked: try again"
        good, text = self.enable(robots, request)
        return good, "; ".join([text, *(each.remark for each in verdicts if each.remark and good)])

    def reset(self, robots: list[int], request: Trigger.Request) -> Answer:
        """Answer ~/reset."""
        self._wiring.forget_mismatches()
        return self._supervisor.reset(robots)

    def reload(self, robots: list[int], request: Trigger.Request) -> Answer:
        """Answer ~/reload."""
        return self._supervisor.reload()
