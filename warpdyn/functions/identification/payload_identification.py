"""Payload of a link, identified from motions and joint torques by weighted linear regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from ...model import Model
from ...model.coordinate_ranges import continue_angles
from ...model.model import check_model
from .. import inertial
from ..dynamics import rnea
from ..manifold import interpolate
from ..regressors import joint_torque_regressor
from .nearest_body import nearest_body

NUMBERS = ("mass", "com x", "com y", "com z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
"""Names of the payload's numbers: kg; m; kg·m² about the centre of mass."""
LENGTH = 0.1
"""Length that scales moments so that they compare with masses [m]."""
HIDDEN = 1e-8
"""A direction is unknown if its singular value is below this share of the largest."""
ROUGH_MASS, ROUGH_COM, ROUGH_INERTIA = 0.2, 0.02, 0.5
"""Largest standard deviation of a number that counts as known: a share of the mass; metres; a share
of the largest principal moment."""
PAUSE = 2.5
"""Number of sampling periods without a sample that make a pause, if it is also longer than the
filter resolves."""
MARGIN = 2
"""Samples on each side that finite differences of velocities need."""


@dataclass(frozen=True, eq=False)
class IdentifiedPayload:
    """A payload with its standard deviations, which cover noise but not errors of the model."""

    link: str
    parameters: np.ndarray
    """(10,), in the form of `wd.inertial`, about the origin of the link's frame; physically
    consistent."""
    estimate: np.ndarray
    """(10,), the direct result of the regression."""
    covariance: np.ndarray
    """(10, 10), covariance of the estimate; infinite on the diagonal for numbers with no effect on
    the torques."""
    consistent: bool
    """True if a physical body can have the estimate; if not, `parameters` are those of the nearest
    body."""
    condition: float
    """Largest over smallest singular value of the weighted regressor, with moments scaled by 0.1 m;
    infinite if some direction has no effect on the torques."""
    noise: np.ndarray
    """(joints,), standard deviation of each joint's torque around the fit [N, N·m]."""
    samples: int

    @property
    def mass(self) -> float:
        return float(self.parameters[0])

    @property
    def com(self) -> np.ndarray:
        """(3,) in the link's frame [m]."""
        return np.asarray(inertial.to_body(self.parameters)[1])

    @property
    def inertia(self) -> np.ndarray:
        """(3, 3) about the centre of mass, in the link's axes [kg·m²]."""
        return np.asarray(inertial.to_body(self.parameters)[2])

    @property
    def values(self) -> np.ndarray:
        """(10,) in the order of `NUMBERS`."""
        return _values(self.parameters)

    @property
    def deviations(self) -> np.ndarray:
        """(10,) standard deviations of `values`; infinite for numbers with no effect on the
        torques."""
        finite = np.where(np.isfinite(self.covariance), self.covariance, 0.0)
        at = self.estimate if self.estimate[0] > 0.0 else self.parameters
        J = _slopes(at)
        deviations = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", J, finite, J), 0.0))
        hidden = ~np.isfinite(self.covariance.diagonal())
        return np.where((np.abs(J[:, hidden]) > 1e-9).any(axis=1), np.inf, deviations)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Names of the numbers that this motion does not determine, by the bounds `ROUGH_MASS`,
        `ROUGH_COM` and `ROUGH_INERTIA`."""
        largest = max(float(np.linalg.eigvalsh(self.inertia)[-1]), 1e-9)
        rough = [ROUGH_MASS * self.mass, *[ROUGH_COM] * 3, *[ROUGH_INERTIA * largest] * 6]
        bad = self.deviations > rough
        return tuple(name for name, each in zip(NUMBERS, bad, strict=True) if each)

    def __str__(self) -> str:
        units = ["kg", *["m"] * 3, *["kg·m²"] * 6]
        lines = [f"payload on {self.link}, from {self.samples} samples"]
        for name, x, s, unit in zip(NUMBERS, self.values, self.deviations, units, strict=True):
            value = "not known" if name in self.unknown else f"{x:.4g} ± {s:.2g} {unit}"
            lines.append(f"  {name}: {value}")
        if not self.consistent:
            lines.append("  the regression gave no possible body; this is the nearest one")
        lines.append(f"  condition number {self.condition:.3g}")
        return "\n".join(lines)


def identify_payload(
    model: Model,
    link: str,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau: ArrayLike,
    *,
    noise: ArrayLike | None = None,
    joints: Sequence[str] | None = None,
    friction: bool = False,
    gravity: Sequence[float] | None = None,
) -> IdentifiedPayload:
    """Mass, centre of mass and inertia of a payload on `link`, in addition to the model's own
    links.

    q: (N, nq).  v, a, tau: (N, nv), for N samples with independent noise [N, N·m].  noise: standard
    deviations of the torques, by joint; None: those of the residuals. joints: the joints with
    measured torques; None: all. friction: also fit an offset, viscous and Coulomb friction for each
    joint, in addition to the model's.
    tau - rnea(q, v, a) = Y pi with the regressor's columns of the link; least squares, each joint
    weighted by its noise. A result that no physical body can have is replaced by the nearest body,
    in the metric of the regression. ValueError: the mass is negative by more than three standard
    deviations, or the payload has no effect on the torques.
    Atkeson, An and Hollerbach (1986); Wensing, Kim and Slotine (2018); Rucker and Wensing (2022).
    """
    check_model(model)
    q, v, a, tau = (np.asarray(x, dtype=float) for x in (q, v, a, tau))
    Y, rest, rubs = _linear(model, link, q, v, a, tau, joints, gravity)
    return _regression(link, Y, rest, rubs if friction else None, noise)


def identify_payload_in_motion(
    model: Model,
    link: str,
    time: ArrayLike,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    *,
    cutoff: float = 10.0,
    joints: Sequence[str] | None = None,
    friction: bool = False,
    gravity: Sequence[float] | None = None,
) -> IdentifiedPayload:
    """`identify_payload` for a recorded motion, without accelerations.

    time: (N,) increasing [s].  q: (N, nq).  v, tau: (N, nv).  cutoff: of the low-pass filter [Hz],
    above the frequencies of the motion and below a quarter of the sampling rate. joints, friction:
    as in `identify_payload`.
    The function differentiates velocities, which adds noise. It then filters residual and regressor
    with the same low-pass filter. It keeps samples that are far enough apart for independent noise.
    Samples near a pause of several sampling periods in `time` are left out.
    (Gautier, Dynamic identification of robots with power model, ICRA 1997, also filters both in
    parallel.)
    """
    check_model(model)
    instants = np.asarray(time, dtype=float)
    if instants.ndim != 1 or len(instants) < 10 or not (np.diff(instants) > 0.0).all():
        raise ValueError("time must be at least 10 increasing instants [s]")
    if not (isinstance(cutoff, (int, float, np.number)) and cutoff > 0.0):
        raise ValueError(f"cutoff must be a frequency above 0 [Hz], got {cutoff!r}")
    h = float(np.median(np.diff(instants)))
    samples = 0.5 / (cutoff * h)
    if samples < 2.0 - 1e-6:  # less the rounding of the instants
        raise ValueError(
            f"samples every {h:g} s are too few for a cutoff of {cutoff:g} Hz: "
            f"it must be at most {0.25 / h:g} Hz"
        )
    zero = round(samples)
    even = np.arange(instants[0], instants[-1], h)
    if len(even) < 40 * zero:
        raise ValueError(
            f"the motion lasts {instants[-1] - instants[0]:.3g} s; with a cutoff of {cutoff:g} Hz "
            f"at least {40 * zero * h:.3g} s are needed"
        )
    q, v, tau = _at_instants(model, even, instants, q, v, tau)
    a = (v[:-4] - 8.0 * v[1:-3] + 8.0 * v[3:-1] - v[4:]) / (12.0 * h)
    q, v, tau = (np.ascontiguousarray(x[MARGIN:-MARGIN]) for x in (q, v, tau))
    parts = (_low_pass(x, zero) for x in _linear(model, link, q, v, a, tau, joints, gravity))
    Y, rest, rubs = parts
    pause = max(PAUSE * h, 0.25 / cutoff)
    whole = _without_pauses(instants, even, pause, zero)
    if np.count_nonzero(whole) < 10 < len(whole):
        raise ValueError(
            f"only {np.count_nonzero(whole)} filtered samples are left between the pauses of more "
            f"than {pause:.2g} s in time, at least 10 are needed: record a motion without pauses"
        )
    friction_columns = rubs[whole] if friction else None
    return _regression(link, Y[whole], rest[whole], friction_columns, None)


def _at_instants(
    model: Model, at: np.ndarray, instants: np.ndarray, q: ArrayLike, v: ArrayLike, tau: ArrayLike
) -> list[np.ndarray]:
    """Configurations, velocities and torques of a motion at other instants, between its samples."""
    rows = [np.asarray(x, dtype=float) for x in (q, v, tau)]
    if any(x.shape[:1] != instants.shape for x in rows):
        raise ValueError(
            f"q, v and tau must have a row for each of the {len(instants)} instants, got "
            f"{', '.join(str(len(np.atleast_1d(x))) for x in rows)}"
        )
    for name, x, width in zip(("q", "v", "tau"), rows, (model.nq, model.nv, model.nv), strict=True):
        if x.shape[1:] != (width,):
            raise ValueError(f"{name} must be ({len(instants)}, {width}), got {x.shape}")
    q = continue_angles(model, rows[0])
    after = np.clip(np.searchsorted(instants, at, side="right"), 1, len(instants) - 1)
    share = (at - instants[after - 1]) / (instants[after] - instants[after - 1])
    between = np.asarray(interpolate(model, q[after - 1], q[after], share))
    others = (np.stack([np.interp(at, instants, c) for c in x.T], axis=1) for x in rows[1:])
    return [between, *others]


def _without_pauses(instants: np.ndarray, even: np.ndarray, pause: float, zero: int) -> np.ndarray:
    """True for each filtered sample that no instant within a pause contributes to."""
    pauses = np.diff(instants) > pause
    inside = pauses[np.clip(np.searchsorted(instants, even, side="right") - 1, 0, len(pauses) - 1)]
    differences = np.any(sliding_window_view(inside, 2 * MARGIN + 1), axis=1)
    return np.asarray(~np.any(_windows(np.asarray(differences), zero), axis=-1))


def _linear(
    model: Model,
    link: str,
    q: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    tau: np.ndarray,
    joints: Sequence[str] | None,
    gravity: Sequence[float] | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Regressor of the link (N, joints, 10), torques minus the model's (N, joints), and each
    joint's rate, the sign of the rate and one (N, joints, 3)."""
    columns = range(model.nv) if joints is None else measured_columns(model, joints)
    check_torques(model, tau, len(q))
    Y = np.asarray(joint_torque_regressor(model, q, v, a, links=[link], gravity=gravity))
    rest = tau - rnea(model, q, v, a, gravity=gravity)
    rubs = np.stack([v, np.sign(v), np.ones_like(v)], axis=-1)
    chosen = list(columns)
    return Y[:, chosen], rest[:, chosen], rubs[:, chosen]


def _low_pass(x: np.ndarray, zero: int) -> np.ndarray:
    """(samples, ...) filtered by a windowed sinc with zeros `zero` samples apart; the results are
    `zero` samples apart too."""
    k = np.arange(-4 * zero, 4 * zero + 1)
    kernel = np.sinc(k / zero) * np.hamming(len(k))
    return np.asarray(_windows(x, zero) @ (kernel / kernel.sum()))


def _windows(x: np.ndarray, zero: int) -> np.ndarray:
    """The samples (samples, ...) that each result of `_low_pass` reads, along a last axis."""
    return sliding_window_view(x, 8 * zero + 1, axis=0)[::zero]


def _regression(
    link: str, Y: np.ndarray, rest: np.ndarray, rubs: np.ndarray | None, noise: ArrayLike | None
) -> IdentifiedPayload:
    """Weighted least squares. Y: (N, joints, 10).  rest: (N, joints).  rubs: (N, joints, 3), one
    set of columns for each joint."""
    scale = LENGTH ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    A = Y * scale
    if not (np.isfinite(A).all() and np.isfinite(rest).all()):
        raise ValueError("motion and torques must be finite")
    if len(A) < 10:
        raise ValueError(f"at least 10 samples are needed, got {len(A)}")
    if rubs is not None:  # project out the effects of each joint's friction and offset
        rest = rest.copy()
        for j in range(rest.shape[1]):
            U, s, _ = np.linalg.svd(rubs[:, j], full_matrices=False)
            U = U[:, s > 1e-9 * s[0]]
            A[:, j] -= U @ (U.T @ A[:, j])
            rest[:, j] -= U @ (U.T @ rest[:, j])
    given = noise is not None
    sigma = np.ones(rest.shape[1]) if noise is None else np.asarray(noise, dtype=float)
    if sigma.shape != rest.shape[1:] or not ((sigma > 0.0) & np.isfinite(sigma)).all():
        raise ValueError(
            f"noise must be {rest.shape[1]} standard deviations above 0, one for each joint, got {sigma}"
        )
    for _ in range(1 if given else 4):
        left, s, Vt = np.linalg.svd((A / sigma[:, None]).reshape(-1, 10), full_matrices=False)
        if not s[0] > 0.0:
            raise ValueError(f"no joint carries link {link!r}: no torque depends on its payload")
        kept = s > HIDDEN * s[0]
        inverse = np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)
        x = Vt.T @ (inverse * (left.T @ (rest / sigma).ravel()))
        if not given:
            e = rest - A @ x
            taken = kept.sum() / rest.shape[1] + (0 if rubs is None else rubs.shape[2])
            sigma = np.sqrt((e * e).sum(axis=0) / max(len(rest) - taken, 1.0))
            sigma = np.maximum(sigma, 1e-12 + 1e-6 * sigma.max())
    covariance = (Vt.T * inverse**2) @ Vt * np.outer(scale, scale)
    hidden = (np.abs(Vt[~kept]) > 1e-6).any(axis=0)
    covariance[hidden, hidden] = np.inf
    estimate = x * scale
    condition = float(s[0] / s[-1]) if kept.all() else np.inf
    mass, deviation = estimate[0], float(np.sqrt(covariance[0, 0]))
    if mass < -3.0 * deviation:
        raise ValueError(
            f"the payload's mass would be {mass:.3g} ± {deviation:.2g} kg: the model is heavier than "
            "the robot, or the efforts have another sign, unit or scale"
        )
    consistent = bool(inertial.physically_consistent(estimate))
    parameters = estimate
    if not consistent:
        information = (Vt.T * np.maximum(s, HIDDEN * s[0]) ** 2) @ Vt
        parameters = nearest_body(estimate, information, scale)
    return IdentifiedPayload(
        link, parameters, estimate, covariance, consistent, condition, sigma, len(A)
    )


def _values(parameters: np.ndarray) -> np.ndarray:
    """Mass, centre of mass and inertia about the centre of mass (..., 10), in the order of
    `NUMBERS`."""
    m, c, inertia = inertial.to_body(parameters)
    entries = [inertia[..., i, j] for i in range(3) for j in range(i, 3)]
    return np.stack([m, *np.moveaxis(c, -1, 0), *entries], axis=-1)


def _slopes(parameters: np.ndarray) -> np.ndarray:
    """(10, 10) derivatives of `_values` with respect to the parameters, from finite
    differences."""
    size = max(abs(float(parameters[0])), 1e-6)
    steps = np.diag(1e-6 * size * LENGTH ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2]))
    forward, back = _values(parameters + steps), _values(parameters - steps)
    return np.asarray((forward - back) / (2.0 * steps.sum(axis=1)[:, None])).T


def measured_columns(model: Model, joints: Sequence[str]) -> list[int]:
    """Columns of v of the joints with measured torques. ValueError: there is none, or one twice,
    whose noise would count as independent."""
    columns = model.v_indices(joints)
    if not columns or len(set(columns)) < len(columns):
        raise ValueError(f"joints must name at least one joint, and each once, got {list(joints)}")
    return columns


def check_torques(model: Model, tau: np.ndarray, samples: int) -> None:
    """Raise unless there are torques of all joints in each sample."""
    if tau.shape != (samples, model.nv):
        raise ValueError(
            f"tau must be (N, nv) = ({samples}, {model.nv}), torques of all joints, got {tau.shape}"
        )
