"""The tasks of this folder by short names."""

from __future__ import annotations

from .gymnasium_task import GymnasiumTask
from .pendulum_tasks import GymnasiumInvertedDoublePendulum, GymnasiumInvertedPendulum
from .planar_tasks import GymnasiumHalfCheetah, GymnasiumHopper, GymnasiumWalker2d

TASKS: dict[str, type[GymnasiumTask]] = {
    "inverted_pendulum": GymnasiumInvertedPendulum,
    "inverted_double_pendulum": GymnasiumInvertedDoublePendulum,
    "hopper": GymnasiumHopper,
    "half_cheetah": GymnasiumHalfCheetah,
    "walker2d": GymnasiumWalker2d,
}
