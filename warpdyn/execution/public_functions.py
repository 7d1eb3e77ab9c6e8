"""Public functions by name, and common names in robotics for those that warpdyn calls by their
algorithm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from .request.call import Call


class PublicFunction(Protocol):
    """A function of arrays, as `batched` makes it."""

    __name__: str
    describe: Callable[..., Call[Any]]
    of_a_model: bool

    def __call__(self, *args: Any, **options: Any) -> Any:
        """The result, for arrays of any supported library."""


FUNCTIONS: dict[str, PublicFunction] = {}
"""warpdyn's functions of arrays by name, the first of each name; without functions that take a
function, such as `vjp`."""

FIELD_WORDS = {
    "acceleration": "aba",
    "center_of_mass": "com",
    "composite_rigid_body": "crba",
    "coriolis": "coriolis_matrix",
    "fd": "aba",
    "forward_dynamics": "aba",
    "forward_kinematics": "fk",
    "gravity": "gravity_torques",
    "gravity_compensation": "gravity_torques",
    "id": "rnea",
    "ik": "inverse_kinematics",
    "inertia_matrix": "crba",
    "inverse_dynamics": "rnea",
    "mass_matrix": "crba",
    "nonlinear_effects": "bias_forces",
    "randomize": "randomise",
}
"""Names of functions by the names that users look for."""
