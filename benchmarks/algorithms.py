"""Algorithms that are measured: public function, input arrays, and primal function of a gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import warpdyn as wd


@dataclass(frozen=True)
class Algorithm:
    """An algorithm and its function.

    `framed`: the function takes one frame, the link behind the most joints. `gradient`: the vector-Jacobian
    product of the function.
    """

    name: str
    title: str
    function: Callable[..., Any]
    arrays: tuple[str, ...]
    framed: bool = False
    gradient: bool = False

    @property
    def of(self) -> str | None:
        """Name of the algorithm that this one differentiates; None if it is not a gradient."""
        return self.name.removesuffix("_vjp") if self.gradient else None


Q, QV, QVA, QVTAU = ("q",), ("q", "v"), ("q", "v", "a"), ("q", "v", "tau")

_LIST = (
    Algorithm("fk_frame", "pose of one frame", wd.fk, Q, framed=True),
    Algorithm("fk", "poses of all links", wd.fk, Q),
    Algorithm("jacobian", "Jacobian of one frame", wd.jacobian, Q, framed=True),
    Algorithm("jacobian_derivative", "dJ/dt of one frame", wd.jacobian_derivative, QV, framed=True),
    Algorithm("rnea", "inverse dynamics", wd.rnea, QVA),
    Algorithm("gravity_torques", "gravity torques", wd.gravity_torques, Q),
    Algorithm("crba", "mass matrix", wd.crba, Q),
    Algorithm("aba", "forward dynamics", wd.aba, QVTAU),
    Algorithm("mass_matrix_inverse", "inverse of the mass matrix", wd.mass_matrix_inverse, Q),
    Algorithm("coriolis_matrix", "Coriolis matrix", wd.coriolis_matrix, QV),
    Algorithm(
        "centroidal_momentum_matrix", "centroidal momentum matrix", wd.centroidal_momentum_matrix, Q
    ),
    Algorithm("rnea_derivatives", "derivatives of inverse dynamics", wd.rnea_derivatives, QVA),
    Algorithm("aba_derivatives", "derivatives of forward dynamics", wd.aba_derivatives, QVTAU),
    Algorithm(
        "fk_frame_vjp", "gradient of the pose of one frame", wd.fk, Q, framed=True, gradient=True
    ),
    Algorithm("fk_vjp", "gradient of all poses", wd.fk, Q, gradient=True),
    Algorithm("rnea_vjp", "gradient of inverse dynamics", wd.rnea, QVA, gradient=True),
    Algorithm("aba_vjp", "gradient of forward dynamics", wd.aba, QVTAU, gradient=True),
)

ALGORITHMS = {algorithm.name: algorithm for algorithm in _LIST}
