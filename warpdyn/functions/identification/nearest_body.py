"""The physical body whose inertial parameters are nearest to an estimate."""

from __future__ import annotations

import numpy as np

from .. import inertial


def nearest_body(estimate: np.ndarray, information: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Physically consistent inertial parameters (10,) that minimise eᵀ information e, with e =
    (parameters - estimate) / scale.

    estimate, scale: (10,), in the order of `wd.inertial`.  information: (10, 10), positive
    semidefinite. Only for an `estimate` that is not consistent itself.

    Parameters are consistent if their pseudo-inertia is positive definite. This is a convex cone, so
    there is one minimum. A barrier method finds it (Boyd and Vandenberghe, Convex Optimization, 2004, section
    11.3): Newton's method minimises t eᵀ information e - log det(pseudo-inertia) for growing t. The
    iterates stay inside the cone, and the result is at most 4 / t above the minimum.
    """
    weights = information + 1e-14 * np.trace(information) * np.eye(10)
    # The pseudo-inertia of one unit of each scaled parameter.
    units = inertial.to_pseudo_inertia(np.diag(scale))
    wanted = estimate / scale

    def misfit(x: np.ndarray) -> float:
        return float((x - wanted) @ weights @ (x - wanted))

    def objective(x: np.ndarray, t: float) -> float:
        eigenvalues = np.linalg.eigvalsh(np.tensordot(x, units, 1))
        outside = eigenvalues[0] <= 0.0
        return np.inf if outside else t * misfit(x) - float(np.log(eigenvalues).sum())

    # Start at a solid sphere with the estimated mass and centre.
    mass = max(float(estimate[0]), 1e-3)
    com = np.clip(estimate[1:4] / mass, -1.0, 1.0)
    x = inertial.from_body(mass, com, 0.4 * mass * scale[4] * np.eye(3)) / scale
    t = 4.0 / misfit(x)
    for _ in range(30):
        for _ in range(50):
            W = np.linalg.solve(np.tensordot(x, units, 1), units)
            slope = 2.0 * t * weights @ (x - wanted) - np.trace(W, axis1=1, axis2=2)
            curvature = 2.0 * t * weights + np.einsum("aij,bji->ab", W, W)
            step = -np.linalg.solve(curvature, slope)
            decrease, share, now = -slope @ step, 1.0, objective(x, t)
            while objective(x + share * step, t) > now - 0.1 * share * decrease and share > 1e-12:
                share *= 0.5
            if decrease < 1e-6 or share <= 1e-12:
                break
            x = x + share * step
        if 4.0 / t < 1e-8 * misfit(x):
            break
        t *= 10.0
    return np.asarray(x * scale)
