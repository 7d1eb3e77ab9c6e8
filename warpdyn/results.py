"""Types of results that have several parts, for annotations and `isinstance`."""

from .execution.launch.state_checks import StateReport
from .functions.closed_loops import LoopDynamics
from .functions.inverse_kinematics import Solution
from .functions.screws import Screws
from .functions.simulation.state_derivative import StateDerivative
from .functions.simulation.step_results import Step

__all__ = ["LoopDynamics", "Screws", "Solution", "StateDerivative", "StateReport", "Step"]
