"""The tasks of this folder by short names."""

from __future__ import annotations

from .arm_tasks import GymnasiumPusher, GymnasiumReacher
from .free_tasks import GymnasiumAnt, GymnasiumHumanoid
from .gymnasium_task import GymnasiumTask
from .pendulum_tasks import GymnasiumInvertedDoublePendulum, GymnasiumInvertedPendulum
from .planar_tasks import GymnasiumHalfCheetah, GymnasiumHopper, GymnasiumWalker2d
from .swimmer_task import GymnasiumSwimmer

TASKS: dict[str, type[GymnasiumTask]] = {
    "inverted_pendulum": GymnasiumInvertedPendulum,
    "inverted_double_pendulum": GymnasiumInvertedDoublePendulum,
    "reacher": GymnasiumReacher,
    "hopper": GymnasiumHopper,
    "half_cheetah": GymnasiumHalfCheetah,
    "walker2d": GymnasiumWalker2d,
    "ant": GymnasiumAnt,
    "pusher": GymnasiumPusher,
    "humanoid": GymnasiumHumanoid,
    "swimmer": GymnasiumSwimmer,
}
