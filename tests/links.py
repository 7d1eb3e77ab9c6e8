"""Sums over the links of a robot, from their description and poses, to check momentum and
inertia."""

from __future__ import annotations

import numpy as np

import warpdyn as wd
from warpdyn.functions import inertial


def cross(u: np.ndarray, w: np.ndarray) -> np.ndarray:
    """u × w; `w` may have columns, (B, 3, n)."""
    return np.cross(u, w) if w.ndim == u.ndim else np.cross(u[..., None], w, axis=1)


def shift_forces(h: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Forces (B, 6) or (B, 6, n) about a point that is displaced by `by` from their present one."""
    return np.concatenate([h[:, :3], h[:, 3:] - cross(by, h[:, :3])], axis=1)


def times(A: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.einsum("eij,ej->ei", A, v)


class Links:
    """Every link's mass, placement and inertia in the world, from the description and `fk`."""

    def __init__(self, model: wd.Model, q: np.ndarray):
        self.model, self.q = model, q
        self.T = wd.oracle(wd.fk, model, q)
        self.m = np.array([link.mass for link in model.links])
        coms = np.array([[*link.com, 1.0] for link in model.links])
        self.c = np.einsum("elij,lj->eli", self.T, coms)[..., :3]
        self.com = np.einsum("l,eli->ei", self.m, self.c) / self.m.sum()
        R = self.T[..., :3, :3]
        self.J = R @ np.array([link.inertia for link in model.links]) @ np.swapaxes(R, -1, -2)

    def inertia(self, point: np.ndarray) -> np.ndarray:
        """(B, 6, 6) inertia of all links about a point, in world axes."""
        vectors = inertial.from_body(self.m, self.c - point[:, None], self.J)
        return inertial.to_spatial_inertia(vectors).sum(axis=1)

    def momentum(self, v: np.ndarray) -> np.ndarray:
        """(B, 6) momentum about the centre of mass: the sum over the moving links."""
        total = np.zeros((len(self.q), 6))
        for i, link in enumerate(self.model.link_names):
            V = times(wd.oracle(wd.jacobian, self.model, self.q, frame=link), v)
            w = V[:, 3:]
            linear = self.m[i] * (V[:, :3] + np.cross(w, self.c[:, i] - self.T[:, i, :3, 3]))
            angular = times(self.J[:, i], w) + np.cross(self.c[:, i] - self.com, linear)
            total += np.hstack([linear, angular])
        return total
