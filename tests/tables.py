"""Published robots and numbers, to be checked digit by digit.

PUMA 560: Corke and Armstrong-Hélouvry, A search for consensus among model parameters reported for the PUMA 560 robot,
ICRA 1994; values as in petercorke/robotics-toolbox-python, tests/test_DHRobot.py and models/DH/Puma560.py (MIT).
RBDL: rbdl/rbdl, tests/DynamicsTests.cc (zlib); their bodies of radius of gyration 1 and mass 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from warpdyn.model import Model
from warpdyn.model.description import Joint, Link
from warpdyn.model.joints import KINDS
from warpdyn.model.poses_and_limits import Pose

PRINTED = 6e-5
"""What four printed decimals leave open, and one unit of their rounding."""

PUMA_QN = (0.0, math.pi / 4, math.pi, 0.0, math.pi / 4, 0.0)

# d, a, alpha | Ixx, Iyy, Izz about the centre of mass | centre of mass | m | Jm, G, B, Tc+, Tc-
_PUMA = (
    ((0.67183, 0, math.pi / 2), (0, 0.35, 0), (0, 0, 0), 0.0, (200e-6, -62.6111, 1.48e-3, 0.395, -0.435)),
    ((0, 0.4318, 0), (0.13, 0.524, 0.539), (-0.3638, 0.006, 0.2275), 17.4, (200e-6, 107.815, 0.817e-3, 0.126, -0.071)),
    ((0.15005, 0.0203, -math.pi / 2), (0.066, 0.086, 0.0125), (-0.0203, -0.0141, 0.07), 4.8,
     (200e-6, -53.7063, 1.38e-3, 0.132, -0.105)),
    ((0.4318, 0, math.pi / 2), (1.8e-3, 1.3e-3, 1.8e-3), (0, 0.019, 0), 0.82,
     (33e-6, 76.0364, 71.2e-6, 11.2e-3, -16.9e-3)),
    ((0, 0, -math.pi / 2), (0.3e-3, 0.4e-3, 0.3e-3), (0, 0, 0), 0.34, (33e-6, 71.923, 82.6e-6, 9.26e-3, -14.5e-3)),
    ((0, 0, 0), (0.15e-3, 0.15e-3, 0.04e-3), (0, 0, 0.032), 0.09, (33e-6, 76.686, 36.7e-6, 3.96e-3, -10.5e-3)),
)  # fmt: skip
PUMA_ARMATURE = np.array([G * G * Jm for *_, (Jm, G, _, _, _) in _PUMA])


@cache
def puma() -> Model:
    """The arm without its motors, in standard Denavit-Hartenberg frames: joint i turns about z of frame i - 1."""
    links, joints, X = [Link("base")], [], Pose()
    for i, ((d, a, alpha), moments, com, mass, _) in enumerate(_PUMA, 1):
        c, s = math.cos(alpha), math.sin(alpha)
        inertia = tuple(
            tuple(float(moments[r] if r == k else 0.0) for k in range(3)) for r in range(3)
        )
        links += [Link(f"turned{i}"), Link(f"link{i}", mass, tuple(map(float, com)), inertia)]
        parent = "base" if i == 1 else f"link{i - 1}"
        joints.append(
            Joint(f"joint{i}", KINDS["revolute"], parent, f"turned{i}", X, (0.0, 0.0, 1.0))
        )
        offset = Pose((float(a), 0.0, float(d)), ((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)))
        joints.append(Joint(f"fixed{i}", KINDS["fixed"], f"turned{i}", f"link{i}", offset))
    return Model.assemble("puma560", links, joints)


def puma_motors(v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Torques of reflected inertia, viscous and Coulomb friction: Jm G² a + B G² v + |G| Tc(sign
    v)."""
    tau = []
    for (*_, (Jm, G, B, up, down)), rate, acceleration in zip(_PUMA, v, a, strict=True):
        coulomb = up if rate > 0 else down if rate < 0 else 0.0
        tau.append(Jm * G * G * acceleration + B * G * G * rate + abs(G) * coulomb)
    return np.array(tau)


@dataclass(frozen=True)
class PumaCase:
    """All joints at velocity v and acceleration a, at `PUMA_QN`. `printed` is the rounding of the
    last printed digit."""

    name: str
    v: float
    a: float
    gravity: tuple[float, float, float]
    tau: tuple[float, ...]
    printed: float


_DOWN, _NONE = (0.0, 0.0, -9.81), (0.0, 0.0, 0.0)
PUMA_RNE = (
    PumaCase("at_rest", 0, 0, _DOWN, (0, 31.6399, 6.0351, 0, 0.0283, 0), 6e-5),
    PumaCase(
        "accelerating", 0, 1, _DOWN, (3.35311, 36.0025, 7.42596, 0.190043, 0.203441, 0.194133), 6e-5
    ),
    PumaCase("both", 1, 1, _DOWN, (32.4952, 60.867, 17.7436, 1.45452, 1.29911, 0.713781), 6e-4),
    PumaCase("moving", 1, 0, _DOWN, (29.1421, 56.5044, 16.3528, 1.26448, 1.12392, 0.519648), 6e-5),
    PumaCase(
        "weightless", 1, 1, _NONE, (32.4952, 29.2271, 11.7085, 1.45452, 1.27086, 0.713781), 6e-5
    ),
)
PUMA_M_DIAGONAL = (3.6594, 4.4137, 0.9378, 0.1925, 0.1713, 0.1941)
PUMA_M = {
    (0, 1): -0.4044,
    (0, 2): 0.1006,
    (0, 3): -0.0025,
    (1, 2): 0.3509,
    (1, 4): 0.0024,
    (2, 4): 0.0015,
}
"""Entries above the diagonal, from zero; the diagonal has the motors' inertia in it."""
PUMA_ITORQUE = ((1, 2, 3, 1, 2, 3), (3.1500, 9.4805, 3.6189, 0.1901, 0.3519, 0.5823))
PUMA_ACCEL = (
    (0.1, 0.2, 0.8, 0.2, 0.5, 1.0),
    (1, 3.2, 1.8, 0.1, 0.7, 4.6),
    (-7.4102, -9.8432, -10.9694, -4.4314, -0.9881, 21.0228),
)
"""Velocity, applied torque, acceleration; friction and motors included."""


@dataclass(frozen=True)
class Chain:
    """Bodies of mass 1 and unit inertia: (parent, axis, joint position, centre of mass), and their fall from rest."""

    name: str
    bodies: tuple[tuple[int, str, tuple[float, float, float], tuple[float, float, float]], ...]
    qdd: tuple[float, ...]

    @property
    def model(self) -> Model:
        eye = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
        axes = dict(zip("xyz", eye, strict=True))
        links = [
            Link("base"),
            *(Link(f"l{i}", 1.0, com, eye) for i, (_, _, _, com) in enumerate(self.bodies)),
        ]
        joints = [
            Joint(
                f"j{i}",
                KINDS["revolute"],
                "base" if parent < 0 else f"l{parent}",
                f"l{i}",
                Pose(place),
                axes[axis],
            )
            for i, (parent, axis, place, _) in enumerate(self.bodies)
        ]
        return Model.assemble(self.name, links, joints)


_X, _Y, _Z, _O = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
RBDL_GRAVITY = (0.0, -9.81, 0.0)
RBDL = (
    Chain("double_chain", ((-1, "z", _O, _X), (0, "z", _X, _X)), (-5.886, 3.924)),
    Chain(
        "triple_chain",
        ((-1, "z", _O, _X), (0, "z", _X, _X), (1, "z", _X, _X)),
        (-6.03692307692308, 3.77307692307692, 1.50923076923077),
    ),
    Chain("chain_3d", ((-1, "z", _O, _X), (0, "y", _X, _Y)), (-3.924, 0.0)),
    Chain(
        "tree_3d",
        ((-1, "z", _O, _X), (0, "y", _X, _Y), (1, "x", _Y, _Z), (0, "y", (-0.5, 0, 0), _Y), (3, "x", (0, -0.5, 0), _Z)),
        (-1.60319066147860, -0.534396887159533, 4.10340466926070, 0.267198443579767, 5.30579766536965),
    ),
)  # fmt: skip
"""Accelerations under `RBDL_GRAVITY` from rest at zero, no applied torque."""
