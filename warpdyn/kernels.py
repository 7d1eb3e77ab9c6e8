"""Names for use in your own kernels (`wd.kernel`), and functions that compile kernels before their
first use."""

from .execution.compiling_block import compiling
from .functions.export.compile_ahead import compile
from .user_kernels.array_functions import solve_symmetric
from .user_kernels.loops import repeat
from .user_kernels.one_robot import OneRobot as Robot
from .user_kernels.refusals import RecordingError
from .user_kernels.rows_in_loops import loop
from .user_kernels.signature import shared, table

__all__ = [
    "RecordingError",
    "Robot",
    "compile",
    "compiling",
    "loop",
    "repeat",
    "shared",
    "solve_symmetric",
    "table",
]
