"""Acceleration of a body's points: the forward step of Newton-Euler after Luh, Walker and Paul."""

from __future__ import annotations

from dataclasses import dataclass

from .spatial import ZERO, ZERO_MOTION, Matrix, Motion, Placement, Vector


@dataclass(frozen=True, slots=True)
class PointMotion:
    """Angular velocity and acceleration of a body, and the acceleration of its frame's origin.

    In the body's axes [rad/s, rad/s², m/s²]. With W = [dw]× + [w]×[w]× a point x of the body
    accelerates by acc + W x, which does not depend on linear velocities.
    """

    w: Vector
    dw: Vector
    W: Matrix
    acc: Vector

    @classmethod
    def without_rotation(cls, acc: Vector = ZERO) -> PointMotion:
        """Motion in which every point accelerates by `acc`; for the world that is minus gravity."""
        return cls(ZERO, ZERO, Matrix.cross(ZERO), acc)

    def across(
        self, X: Placement, vJ: Motion = ZERO_MOTION, aJ: Motion = ZERO_MOTION
    ) -> PointMotion:
        """Motion of a child placed by X, or of a frame fixed in this body.

        vJ, aJ: velocity and acceleration of the joint between, in the child's axes.
        Luh, Walker and Paul, ASME J. Dynamic Systems, Measurement, and Control 102 (1980), for any
        motion subspace.
        """
        w_carried = X.R.to_child(self.w)
        w = w_carried + vJ.angular
        dw = X.R.to_child(self.dw) + aJ.angular + w_carried.cross(vJ.angular)
        W = Matrix.acceleration_tensor(w, dw)
        # The origin slides along vJ: 2 w_carried × vJ is its Coriolis acceleration, and another
        # vJ.angular × vJ.linear appears because vJ is written in axes that turn with the child.
        acc = X.R.to_child(self.acc + self.W @ X.p) + aJ.linear + (w_carried + w).cross(vJ.linear)
        return PointMotion(w, dw, W, acc)
