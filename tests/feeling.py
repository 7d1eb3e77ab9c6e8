"""A panda that reads external efforts, and the messages it reads."""

from __future__ import annotations

from array import array

from fleets import NAMES, Q, panda_fleet


def feeling_fleet(robots=1, **values):
    wanted = {
        "effort_source": "message",
        "external_wrench_link": "panda_hand",
        "payload__link": "panda_hand",
        "observer_gain": 200.0,
        "ramp_time": 0.0,
    }
    return panda_fleet(robots, **{**wanted, **values})


def feel(robot, now, effort, q=Q, v=None):
    """Let a robot read a state with efforts."""
    v = 0 * Q if v is None else v
    stamp = round(now * 1e9) + 1
    return robot.read(NAMES, array("d", q), array("d", v), stamp, now, array("d", effort))
