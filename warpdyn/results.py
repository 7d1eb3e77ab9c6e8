"""Types of results that have several parts, for annotations and `isinstance`."""

from .execution.launch.state_checks import StateReport
from .functions.closed_loops import LoopDynamics
from .functions.inverse_kinematics import Solution
from .functions.simulation.simulation_step import Step
from .functions.simulation.state_derivative import StateDerivative

__all__ = ["LoopDynamics", "Solution", "StateDerivative", "StateReport", "Step"]
