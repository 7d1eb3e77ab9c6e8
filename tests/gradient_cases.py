"""Every differentiable function of warpdyn on small robots, with every input by which it has
derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from hand_made_urdf import BALLS_REMADE, joint, link, urdf
from loop_robots import CONNECT, COUPLE, WELD, four_bar, two_arms
from robots import Robot, by_name
from states import states

import warpdyn as wd
from warpdyn.algorithms.simulation.contact_shapes import ContactPair, ContactShape
from warpdyn.execution.batched import FUNCTIONS
from warpdyn.model.actuators import Actuator

HOPPER = urdf(
    "hopper",
    link("body", 3.0, (0.02, 0.01, 0.1)),
    link("leg", 0.8, (0.05, 0.02, -0.2)),
    joint("hip", "revolute", "body", "leg", (0.1, 0, -0.05), (0.2, 0, 0), axis=(0, -1, 0)),
)

GRIPPER = urdf(
    "gripper",
    link("base"),
    link("palm", 1.0, (0.1, 0, 0.05)),
    link("left", 0.3, (0, 0.1, 0.02)),
    link("right", 0.2, (0, -0.03, 0.1)),
    joint("wrist", "revolute", "base", "palm", (0, 0, 0.4), (0.3, 0.5, 0), axis=(0, 1, 0)),
    joint("left_finger", "revolute", "palm", "left", (0, 0.1, 0.1), axis=(1, 0, 0)),
    joint(
        "right_finger",
        "revolute",
        "palm",
        "right",
        (0, -0.1, 0),
        axis=(1, 0, 0),
        mimic=("left_finger", -0.8, 0.2),
    ),
)

SOCKET = urdf(
    "socket",
    link("base"),
    link("arm", 1.2, (0.1, -0.05, 0.3)),
    link("hand", 0.5, (0.05, 0.02, 0.1)),
    joint("hip", "continuous", "base", "arm", (0.1, 0, 0.3), (0.2, -0.4, 1.1)),
    joint("elbow", "revolute", "arm", "hand", (0, 0.1, 0.4), axis=(0, 1, 0)),
)

MODELS = {
    "hopper": Robot("hopper", HOPPER, floating=True).model,
    "gripper": Robot("gripper", GRIPPER).model,
    "socket": Robot("socket", SOCKET, remade={"hip": BALLS_REMADE["hip"]}).model,
    "pendulum": by_name("double_pendulum").model,
    "cartpole": by_name("cartpole").model,
    "planar": by_name("planar").model,
}
MODELS["pushed"] = replace(
    MODELS["gripper"],
    actuators=(
        Actuator("servo", (("wrist", 2.0),), (3.0, 0.0, 0.0), (0.0, -3.0, -0.2)),
        Actuator("pull", (("wrist", 0.5), ("right_finger", -1.0)), (1.0, 0.3, -0.4)),
    ),
)
MODELS |= {"four bar": four_bar(floating=True), "welded": two_arms(WELD)}
MODELS |= {"connected": two_arms(CONNECT), "coupled": two_arms(COUPLE)}
MODELS["sprung"] = MODELS["gripper"].with_limits("wrist", lower=-0.05, upper=0.1)
MODELS["sprung socket"] = MODELS["socket"].with_springs(
    {"hip": 3.0}, rest={"hip": (0.3, -0.2, 0.5)}
)

SOLES = tuple(wd.ContactPoint("leg", (x, 0.02, -0.4), 0.05) for x in (-0.1, 0.0, 0.1))
BESIDE = tuple(
    ContactPair(ContactShape(None, kind, size, (0.3, 0.1, -0.2)), ContactShape("leg", *LEG))
    for LEG in (("capsule", (0.05, 0.2)), ("box", (0.05, 0.04, 0.2)))
    for kind, size in (("sphere", (0.1,)), ("box", (0.1, 0.05, 0.08)))
)
WEDGE = ((-0.1, -0.1, -0.1), (0.1, -0.1, -0.1), (0.0, 0.1, -0.1), (0.0, 0.0, 0.1))
MESH = (
    ContactPair(
        ContactShape(None, "mesh", (), (0.3, 0.1, -0.2), vertices=WEDGE),
        ContactShape("leg", "box", (0.05, 0.04, 0.2)),
    ),
)
STEP = {"dt": 0.01, "substeps": 3, "sweeps": 2}
SCAN = {"pattern": ((0.1, 0.2), (0.3, -0.1)), "terrain": wd.Plane((0.3, -0.2), 0.1)}

COUPLED = {
    "actuated": tuple(f"left{k}_joint" for k in (0, 2, 3))
    + tuple(f"right{k}_joint" for k in range(4))
}
"""One joint of eight follows another one."""

SOFT = {"points": SOLES[:2], "ground": wd.SoftGround(0.3, 20.0, 5.0)}

NOT_DIFFERENTIABLE = {"inverse_kinematics"}
"""It repeats until it is done; a TypeError says so."""

OF_FUNCTIONS = {"vjp", "jvp", "derivatives"}

PARAMETERS = (
    "mass",
    "com",
    "inertia",
    "placement",
    "axis",
    "armature",
    "viscous",
    "coulomb",
    "stiffness",
    "damping",
    "spring",
    "rest",
)

DYNAMIC = "gravity f_ext mass com inertia placement armature viscous"
INERTIAL = "mass com inertia placement"
OBSERVED = "q v tau momentum rate external"
PLACED = "placement"


@dataclass(frozen=True)
class Case:
    """A call: `given` are the names of its arrays, `more` those of keyword arrays and of varying
    parameters."""

    function: str
    robot: str
    given: str = "q"
    more: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    second: bool = False
    """Second derivatives are checked too."""

    def __str__(self) -> str:
        words = [
            self.function,
            self.robot,
            *(str(x) for x in self.options.values() if isinstance(x, str)),
        ]
        return "-".join(words + ["2"] * self.second)

    @property
    def model(self) -> wd.Model:
        return MODELS[self.robot or "pendulum"]

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Arrays by name: positional arguments, keyword arguments, parameters."""
        names = [*self.given.split(), *self.more.split()]
        return {name: value(self.model, name, k) for k, name in enumerate(names)}

    @property
    def called(self) -> Any:
        """The function by its own name, in any namespace."""
        return FUNCTIONS.get(self.function) or getattr(wd, self.function)

    def run(self, arrays: Mapping[str, Any]) -> tuple[Any, ...]:
        """The function's results."""
        positional, keywords = self.arguments(arrays)
        results = self.called(*positional, **keywords)
        return results if isinstance(results, tuple) else (results,)

    def arguments(self, arrays: Mapping[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """Positional and keyword arguments of the call."""
        positional = tuple(arrays[name] for name in self.given.split())
        keywords = {
            name: arrays[name]
            for name in self.more.split()
            if name not in PARAMETERS and name != "f_ext"
        }
        if "f_ext" in arrays:
            keywords["f_ext"] = {self.model.link_names[-1]: arrays["f_ext"]}
        varied = {
            name: {owner(self.model, name): arrays[name]}
            for name in self.more.split()
            if name in PARAMETERS
        }
        if varied:
            keywords["params"] = self.model.params(**varied)
        of_a_model = getattr(self.called, "of_a_model", True)
        return ((self.model,) if of_a_model else ()) + positional, {**self.options, **keywords}


def owner(model: wd.Model, quantity: str) -> str:
    """The link or joint whose parameter varies: the last one."""
    return (
        model.links[-1].name
        if quantity in ("mass", "com", "inertia")
        else model.moving_joints[-1].name
    )


def turn(draw: np.random.Generator, count: int) -> np.ndarray:
    quaternion = draw.normal(size=(count, 4))
    return quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)


def value(model: wd.Model, name: str, seed: int, count: int = 2) -> np.ndarray:
    """`count` environments of an input. Gravity is the same for all."""
    draw = np.random.default_rng([seed, len(name)])
    if name.startswith("q") and name != "quaternion":
        return states(model, count, seed).q
    if name == "pose":
        return np.hstack([draw.uniform(-1, 1, (count, 3)), turn(draw, count)])
    if name == "quaternion":
        return turn(draw, count)
    if name == "rotation":
        return wd.convert.quaternion_to_matrix(turn(draw, count))
    if name == "matrix":
        return wd.convert.pose_to_matrix(value(model, "pose", seed, count))
    if name == "matrices":
        return wd.convert.pose_to_matrix(value(model, "pose", seed, 3 * count)).reshape(
            count, 3, 4, 4
        )
    last = model.links[-1]
    widths = {
        "gravity": (3,),
        "f_ext": (count, 6),
        "point": (count, 3),
        "t": (count,),
        "twist": (count, 6),
    }
    widths |= {"wrench": (count, 6), "forces": (count, 3, 3)}
    if name in widths:
        return draw.uniform(-2, 2, widths[name])
    if name == "mass":
        return last.mass + draw.uniform(0.5, 1, count)
    if name == "com":
        return np.array(last.com) + draw.uniform(-0.1, 0.1, (count, 3))
    if name == "inertia":
        return np.array([0.03, 0.001, -0.002, 0.04, 0.0015, 0.035]) + draw.uniform(
            -1e-3, 1e-3, (count, 6)
        )
    if name == "placement":
        return np.hstack([draw.uniform(-0.3, 0.3, (count, 3)), turn(draw, count)])
    if name == "axis":
        return draw.normal(size=(count, 3))
    if name in PARAMETERS:
        return draw.uniform(0.2, 1.0, count)
    return draw.uniform(-1.5, 1.5, (count, model.nv))


CASES = (
    # kinematics
    Case("fk", "hopper", more="placement axis"),
    Case("fk", "gripper", options={"relative_to": "left"}),
    Case("fk", "socket", options={"frame": "hand", "form": "pose"}, second=True),
    Case("jacobian", "hopper", more="point", options={"frame": "leg"}),
    Case("jacobian", "gripper", more=PLACED, options={"reference": "local"}),
    Case("jacobian", "socket", options={"frame": "hand", "reference": "world"}, second=True),
    Case("pose_and_jacobian", "hopper", options={"frame": "leg"}),
    Case("frame_velocity", "gripper", "q v", PLACED),
    Case("frame_acceleration", "socket", "q v a", options={"frame": "hand", "kind": "classical"}),
    Case(
        "frame_acceleration",
        "gripper",
        "q v a",
        PLACED,
        options={"frame": "right", "reference": "local"},
    ),
    Case("frame_bias_acceleration", "gripper", "q v", options={"frame": "right"}),
    Case("jacobian_derivative", "socket", "q v", options={"frame": "hand"}),
    Case("kinematic_hessian", "gripper", options={"frame": "right"}),
    Case("manipulability", "pendulum", options={"frame": "tip", "part": "linear"}),
    Case("manipulability", "planar", options={"frame": "puck"}),
    # dynamics
    Case("rnea", "hopper", "q v a", f"{DYNAMIC} axis"),
    Case("rnea", "socket", "q v a", "gravity", second=True),
    Case("rnea", "gripper", "q v a", "f_ext mass com viscous", second=True),
    Case("rnea", "planar", "q v a", "f_ext"),
    Case("aba", "hopper", "q v tau", DYNAMIC),
    Case("aba", "gripper", "q v tau", "gravity mass armature", second=True),
    Case("aba", "socket", "q v tau", options={"method": "aba"}, second=True),
    Case("aba", "pendulum", "q v tau", "gravity armature", options={"method": "crba"}, second=True),
    Case("aba", "sprung", "q v tau", "stiffness damping coulomb"),
    Case("crba", "hopper", more=INERTIAL),
    Case("crba", "gripper", more=INERTIAL + " armature", second=True),
    Case("crba", "socket"),
    Case("mass_matrix_inverse", "gripper", more=INERTIAL + " armature"),
    Case("solve", "socket", "q b", INERTIAL),
    Case("solve", "gripper", "q b", second=True),
    Case("coriolis_matrix", "gripper", "q v", INERTIAL),
    Case("bias_forces", "socket", "q v", "gravity f_ext mass"),
    Case("gravity_torques", "hopper", "q", "gravity f_ext com"),
    Case("effect_torques", "sprung", "q v", "viscous coulomb stiffness damping spring rest"),
    Case("effect_torques", "sprung socket", "q v", "spring rest", second=True),
    Case("actuator_torques", "pushed", "q v control"),
    Case(
        "operational_space",
        "hopper",
        "q v",
        "gravity f_ext mass placement armature",
        {"frame": "leg"},
    ),
    Case(
        "operational_space_inertia",
        "socket",
        options={"frame": "hand", "reference": "local", "part": "angular"},
    ),
    Case("dynamically_consistent_inverse", "socket", options={"frame": "hand", "part": "angular"}),
    Case("momentum_observer", "hopper", OBSERVED, "gravity f_ext mass", {"dt": 0.01}),
    Case("external_wrench", "socket", "q external", PLACED, {"frame": "hand", "damping": 0.3}),
    Case("rnea_derivatives", "gripper", "q v a", DYNAMIC),
    Case("rnea_derivatives", "sprung", "q v a", "stiffness damping viscous"),
    Case("rnea_derivatives", "sprung socket", "q v a", "spring"),
    Case("aba_derivatives", "socket", "q v tau", "gravity f_ext com"),
    # simulation
    Case("step", "hopper", "q v tau", "gravity f_ext mass placement", STEP | {"points": SOLES}),
    Case("step", "sprung", "q v tau", "stiffness damping viscous", STEP),
    Case("step", "four bar", "q v tau", "mass", {"dt": 0.01, "substeps": 2}),
    # closed loops
    Case("loop_errors", "connected", more=PLACED, second=True),
    Case("loop_errors", "coupled"),
    Case("loop_jacobian", "four bar", more=PLACED),
    Case("loop_dynamics", "four bar", "q v tau", "gravity f_ext mass", second=True),
    Case("loop_dynamics", "welded", "q v tau", "armature"),
    Case("loop_inverse_dynamics", "coupled", "q v a", "mass", COUPLED),
    Case("close_loops", "connected", more=PLACED, options={"check": False, "most_steps": 3}),
    # sensors
    Case("imu", "gripper", "q v a", "gravity placement", {"frame": "right"}),
    Case("link_contact_forces", "hopper", "q forces", PLACED, {"points": SOLES, "frame": "leg"}),
    Case("contact_flags", "hopper", "forces", options={"points": SOLES}),
    Case("height_scan", "hopper", "q", "", SCAN),
    Case("step", "socket", "q v tau", "mass", {"dt": 0.02, "integrator": "rk4"}),
    Case("state_derivative", "hopper", "q v tau", "gravity f_ext mass placement", SOFT),
    Case("point_positions", "hopper", more=PLACED, options={"points": SOLES}),
    Case("point_velocities", "hopper", "q v", options={"points": SOLES}),
    Case("point_transforms", "hopper", options={"points": SOLES[:1]}),
    Case("point_jacobians", "hopper", options={"points": SOLES[:2], "part": "linear"}),
    Case("point_jacobian_derivatives", "hopper", "q v", options={"points": SOLES[:1]}),
    Case("point_heights", "hopper", options={"points": SOLES}),
    Case("pair_distances", "hopper", more=PLACED, options={"pairs": BESIDE}),
    Case("pair_distances", "hopper", options={"pairs": MESH}),
    Case("in_contact", "hopper", options={"points": SOLES[:1]}),
    # momentum, mass, energy
    Case("momentum", "hopper", "q v", INERTIAL),
    Case("momentum_jacobian", "gripper", options={"reference": "world"}),
    Case("centroidal_momentum", "hopper", "q v", second=True),
    Case("centroidal_momentum_matrix", "gripper", "q", INERTIAL),
    Case("centroidal_momentum_matrix_derivative", "gripper", "q v"),
    Case("centroidal_momentum_rate", "socket", "q v a"),
    Case("locked_inertia", "hopper", "q", INERTIAL, {"reference": "centroidal"}),
    Case("average_velocity", "gripper", "q v"),
    Case("average_velocity_jacobian", "gripper"),
    Case("average_centroidal_velocity", "hopper", "q v"),
    Case("average_centroidal_velocity_jacobian", "socket"),
    Case("com", "hopper", more="placement", second=True),
    Case("com_velocity", "gripper", "q v"),
    Case("com_acceleration", "socket", "q v a"),
    Case("com_bias_acceleration", "gripper", "q v", "placement"),
    Case("com_jacobian", "hopper", options={"subtree": "leg"}),
    Case("link_coms", "gripper"),
    Case("kinetic_energy", "hopper", "q v", INERTIAL + " armature", second=True),
    Case("potential_energy", "gripper", "q", "gravity mass com placement"),
    Case("mechanical_energy", "socket", "q v", "gravity mass com inertia"),
    Case("contact_power", "gripper", "q v a tau", "gravity mass viscous"),
    Case("joint_torque_regressor", "gripper", "q v a", "gravity placement"),
    Case("kinetic_energy_regressor", "socket", "q v"),
    Case("potential_energy_regressor", "gripper", "q", "gravity placement"),
    # the manifold
    Case("integrate", "hopper", "q d", second=True),
    Case("integrate", "socket", "q d"),
    Case("integrate", "planar", "q d"),
    Case("difference", "hopper", "q0 q1"),
    Case("difference", "socket", "q0 q1", second=True),
    Case("difference", "planar", "q0 q1"),
    Case("interpolate", "socket", "q0 q1 t"),
    Case("configuration_rate", "hopper", "q v", options={"baumgarte": 1.0}),
    Case("normalize", "socket"),
    Case("clamp", "sprung"),
    # representations
    Case("convert_configuration", "hopper", options={"target": "pinocchio"}),
    Case("convert_velocity", "hopper", "q v", options={"target": "newton"}),
    Case("convert_acceleration", "hopper", "q v a", options={"target": "mujoco"}),
    Case("convert_force", "hopper", "q tau", options={"target": "world"}),
    Case("convert_twist", "", "pose twist", options={"source": "local", "target": "world"}),
    Case("convert_wrench", "", "pose wrench", options={"source": "world", "target": "local"}),
    Case("convert_quaternion", "", "quaternion", options={"source": "xyzw", "target": "wxyz"}),
    Case("motion_transform", "", "pose"),
    Case("force_transform", "", "pose"),
    Case("matrix_to_pose", "", "matrix"),
    Case("matrix_to_quaternion", "", "rotation", second=True),
    Case("pose_to_matrix", "", "pose", second=True),
    Case("chain_product", "", "matrices"),
    Case("quaternion_to_matrix", "", "quaternion"),
)
