"""Closed loops of a robot (`Model.loops`): errors, Jacobian, dynamics, and closed configurations.
Functions outside this namespace, other than simulated steps, are those of the tree with open loops."""

from .functions.closed_loops import close_loops as close
from .functions.closed_loops import loop_dynamics as dynamics
from .functions.closed_loops import loop_errors as errors
from .functions.closed_loops import loop_inverse_dynamics as inverse_dynamics
from .functions.closed_loops import loop_jacobian as constraint_jacobian

__all__ = ["close", "constraint_jacobian", "dynamics", "errors", "inverse_dynamics"]
