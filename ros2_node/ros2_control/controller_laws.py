"""Laws that become controllers: the node's own, and a user's kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warpdyn.functions.export.identifiers import identifier
from warpdyn.model import Model
from warpdyn.user_kernels.own_kernel import OwnKernel

from ..control.torques.law import ROWS, from_module_of
from ..laws.cartesian_impedance import cartesian_impedance, largest_cartesian_impedance
from ..laws.computed_torque import computed_torque
from ..laws.gravity_compensation import gravity_compensation
from ..laws.joint_impedance import joint_impedance, largest_joint_impedance

WITHOUT_DEFAULT = "no value: it must be set"
"""The comment of a parameter that has no default."""


@dataclass(frozen=True)
class ControllerLaw:
    """A law with its options, for one model."""

    name: str
    kernel: OwnKernel
    options: Mapping[str, Any] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Bounds of the numbers of an input, by its name."""
    springs: tuple[str, ...] = ()
    """Inputs that must be positive semidefinite matrices."""
    repels: bool = False
    """True if the controller pushes joints back before their position limits, unless a parameter
    forbids this."""
    example: Callable[[Model], Mapping[str, list[float]]] = lambda model: {}
    """Values of inputs without a default, for the example of parameters."""

    @property
    def class_name(self) -> str:
        """The law's name in C++ class names, such as JointImpedance."""
        return "".join(word[:1].upper() + word[1:] for word in self.name.split("_"))

    @property
    def frame(self) -> str | None:
        """The link whose pose the law holds."""
        return self.options.get("frame") if "pose_desired" in self.kernel.signature.arrays else None

    @property
    def tracks_positions(self) -> bool:
        """True if the law reads a desired position, from which the robot must not be too far."""
        return "q_desired" in self.kernel.signature.arrays

    @property
    def moves_posture(self) -> bool:
        """True if the law reads a posture, which follows the desired position at joint speed."""
        return "q_posture" in self.kernel.signature.arrays and not self.tracks_positions

    def inputs(self, model: Model) -> dict[str, tuple[int, ...]]:
        """The arrays that are parameters, with their shapes."""
        arrays = self.kernel.signature.arrays
        return {name: each.sizes(model) for name, each in arrays.items() if name not in ROWS}

    def default(self, name: str, model: Model) -> np.ndarray | None:
        """The default of an input, in its shape; None where it has none."""
        each = self.kernel.signature.arrays[name]
        if each.default is None:
            return None
        return np.broadcast_to(np.asarray(each.default[0], dtype=float), each.sizes(model))

    def form(self, name: str) -> str:
        """The form of the list of a parameter, as `Form` of parameter_values.hpp."""
        shape = self.kernel.signature.arrays[name].shape
        if shape in (("nq",), ("nv",)):
            return "one_for_all"
        return "diagonal" if len(shape) == 2 and shape[0] == shape[1] else "plain"

    def torques(self, model: Model) -> OwnKernel:
        """The law as a kernel in which every parameter is an input and no wrench acts on a link."""
        arrays = self.kernel.signature.arrays
        shapes = {name: each.shape for name, each in arrays.items() if name != "f_ext"}
        more = {"f_ext": np.zeros((model.nlinks, 6))} if "f_ext" in arrays else {}

        def function(robot: Any, values: dict[str, Any]) -> Any:
            return self.kernel(robot, **values, **more, **self.options)

        return OwnKernel.of_shapes(self.name, shapes, function)


def built_in_laws(frame: str | None) -> dict[str, ControllerLaw]:
    """The laws that come with the node, by name. frame: the link that the Cartesian impedance holds;
    None leaves this law out."""
    laws = [
        ControllerLaw("gravity_compensation", gravity_compensation),
        ControllerLaw(
            "computed_torque",
            computed_torque,
            bounds={"kp": (0.0, 1e5), "kd": (0.0, 1e4)},
            repels=True,
        ),
        ControllerLaw(
            "joint_impedance",
            joint_impedance,
            bounds={name: (0.0, most) for name, most in largest_joint_impedance.items()},
            repels=True,
            example=_joint_springs,
        ),
    ]
    if frame is not None:
        # Entries of a stiffness off its diagonal may be negative, and a force bound is above 0.
        bounds = {name: (0.0, most) for name, most in largest_cartesian_impedance.items()}
        stiffest = largest_cartesian_impedance["stiffness"]
        bounds |= {"stiffness": (-stiffest, stiffest), "max_force": (1e-6, bounds["max_force"][1])}
        law = ControllerLaw(
            "cartesian_impedance",
            cartesian_impedance,
            {"frame": frame},
            bounds,
            springs=("stiffness",),
            repels=True,
            example=lambda model: {"stiffness": [500.0] * 3 + [30.0] * 3},
        )
        laws.append(law)
    return {law.name: law for law in laws}


def users_law(kernel: OwnKernel, options: Mapping[str, Any]) -> ControllerLaw:
    """The law of a user's kernel, bounded by `largest_<law>` of its module."""
    largest = from_module_of(kernel, "largest") or {}
    bounds = {name: (-x, x) for name, x in largest.items()}
    return ControllerLaw(identifier(kernel.__name__), kernel, dict(options), bounds)


def check_law(law: ControllerLaw, model: Model) -> None:
    """Raise ValueError for a law that no controller can run: results of another shape, a missing
    frame, an unknown link."""
    if law.name == "guarded":
        raise ValueError("no law can be called guarded, which the package itself defines")
    for name, each in law.kernel.signature.arrays.items():
        if name in ROWS and each.shape != ROWS[name]:
            raise ValueError(
                f"law {law.name}: {name} comes from the controller with shape {ROWS[name]}, not "
                f"{each.shape}; give it another name to have it as a parameter"
            )
        if name not in ROWS and identifier(name) != name:
            raise ValueError(f"law {law.name}: the array {name!r} needs a name of ASCII letters")
    if "pose_desired" in law.kernel.signature.arrays and law.frame not in model.link_names:
        raise ValueError(
            f"law {law.name} reads pose_desired: its option frame must be a link of {model.name}, "
            f"got {law.frame!r}"
        )


def _joint_springs(model: Model) -> Mapping[str, list[float]]:
    """Stiffnesses that reach half of the effort limit at 0.5 rad, the largest tracking error."""
    limit = np.where(np.isfinite(model.effort_limit), model.effort_limit, 0.0)
    return {"stiffness": [float(x) if x > 0.0 else 10.0 for x in limit]}
