"""The state in the conventions of Pinocchio, MuJoCo, Newton and Drake, compared with the kinematics
and dynamics of these libraries. Pinocchio and MuJoCo are test requirements; Newton, Drake and
iDynTree are optional."""

from __future__ import annotations

import re

import numpy as np
import pytest
import warp as wp
from hand_made_urdf import AXES, BRANCHES, FREE_INSIDE, MIMIC_BRANCHES, MIMIC_CHAIN, PLANAR
from robots import Robot
from states import States, error, states

import warpdyn as wd
from warpdyn.functions import representations as rep
from warpdyn.model.conventions import CONVENTIONS, column_map
from warpdyn.model.joints import KINDS
from warpdyn.model.poses_and_limits import Pose

PEER = {"float64": 1e-11, "float32": 2e-5}
"""Relative to the largest entry: these libraries solve the same equations in that precision."""

# Without planar joints that are not in the xy plane. Pinocchio reads them in another way.
PLANAR_XY = re.sub(r'<joint name="slip".*?</joint>|<link name="puck">.*?</link>', "", PLANAR)

ROBOTS = {
    robot.name: robot
    for robot in (
        Robot("branches", BRANCHES, floating=True),
        Robot("branches_wxyz", BRANCHES, floating=True, quaternion="wxyz"),
        Robot("axes", AXES),
        Robot("mimic_chain", MIMIC_CHAIN, floating=True),
        Robot("mimic_branches", MIMIC_BRANCHES),
        Robot("planar_xy", PLANAR_XY, floating=True),
        Robot("free_inside", FREE_INSIDE, floating=True),
        Robot("free_inside_wxyz", FREE_INSIDE, floating=True, quaternion="wxyz"),
    )
}
IN_ALL = [ROBOTS[name] for name in ("branches", "branches_wxyz")]
"""Robots with a free base and joints that every library has. Pinocchio orders the joints differently."""


def to(name: str, robot: Robot, s: States) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v and a in the library's columns, computed by the oracle."""
    model = robot.model
    return (
        wd.oracle(rep.convert_configuration, model, s.q, target=name),
        wd.oracle(rep.convert_velocity, model, s.q, s.v, target=name),
        wd.oracle(rep.convert_acceleration, model, s.q, s.v, s.a, target=name),
    )


def twists(model: wd.Model, q: np.ndarray, v: np.ndarray, link: str) -> np.ndarray:
    """Linear and angular velocity of a link in the world's axes."""
    return np.einsum("eij,ej->ei", wd.oracle(wd.jacobian, model, q, frame=link), v)


def simple(robot: Robot) -> bool:
    """True if every joint except the base has one coordinate."""
    return all(joint.kind.single for joint in robot.model.joints if joint.kind.nv)


PAIRS = [
    (name, robot)
    for name in CONVENTIONS
    for robot in ROBOTS.values()
    if CONVENTIONS[name].inside or simple(robot)
]


@pytest.mark.parametrize("name, robot", PAIRS, ids=lambda x: x if isinstance(x, str) else x.name)
def test_conversions_to_a_library_and_back_cancel(name: str, robot: Robot) -> None:
    """Angles may differ by full turns."""
    model, s = robot.model, states(robot.model, 3)
    q, v, a = to(name, robot, s)
    assert error(wd.oracle(rep.convert_configuration, model, q, source=name), s.q) <= 1e-14
    assert error(wd.oracle(rep.convert_velocity, model, s.q, v, source=name), s.v, v) <= 1e-13
    assert (
        error(wd.oracle(rep.convert_acceleration, model, s.q, v, a, source=name), s.a, a) <= 1e-13
    )
    tau = wd.oracle(rep.convert_force, model, s.q, s.tau, target=name)
    assert error(np.sum(tau * v, axis=1), np.sum(s.tau * s.v, axis=1), np.abs(tau * v)) <= 1e-13
    assert error(wd.oracle(rep.convert_force, model, s.q, tau, source=name), s.tau, tau) <= 1e-13


@pytest.mark.parametrize("robot", IN_ALL[:1], ids=lambda robot: robot.name)
@pytest.mark.parametrize("name", CONVENTIONS)
def test_conversion_kernels_equal_the_oracle(name: str, robot: Robot, device: str, dtype) -> None:
    """Configurations are converted to and from each library."""
    model, s = robot.model, states(robot.model).rounded(dtype)
    q = wd.oracle(rep.convert_configuration, model, s.q, target=name)
    for given, sides, wanted in ((s.q, {"target": name}, q), (q, {"source": name}, s.q)):
        placed = wp.array(
            given, dtype=wp.float64 if dtype == np.float64 else wp.float32, device=device
        )
        found = rep.convert_configuration(model, placed, **sides).numpy()
        assert error(found, wanted) <= (1e-14 if dtype == np.float64 else 5e-7)


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_converted_states_have_pinocchios_poses_and_forces(robot: Robot) -> None:
    """Inverse dynamics at the converted q, v, a gives warpdyn's torques. Mimic joints are free in
    Pinocchio, and their torques are added to that of their leader."""
    pin = pytest.importorskip("pinocchio")
    model, s = robot.model, states(robot.model, 3)
    peer = pin.buildModelFromXML(
        robot.text, *((pin.JointModelFreeFlyer(),) if robot.floating else ())
    )
    data, (q, v, a) = peer.createData(), to("pinocchio", robot, s)
    assert q.shape[1] == peer.nq and v.shape[1] == peer.nv
    T = wd.oracle(wd.fk, model, s.q)
    tau = []
    for e in range(3):
        pin.framesForwardKinematics(peer, data, q[e])
        found = np.array(
            [data.oMf[peer.getFrameId(link, pin.BODY)].homogeneous for link in model.link_names]
        )
        assert error(found, T[e]) <= PEER["float64"]
        tau.append(pin.rnea(peer, data, q[e], v[e], a[e]).copy())
    back = wd.oracle(rep.convert_force, model, s.q, np.array(tau), source="pinocchio")
    assert error(back, wd.oracle(wd.rnea, model, s.q, s.v, s.a)) <= PEER["float64"]


def on_a_free_joint(robot: Robot) -> str:
    """The URDF with MuJoCo's joint of a free base."""
    compiler = '<mujoco><compiler fusestatic="false" balanceinertia="false"/></mujoco>'
    free = (
        '<link name="world"/><joint name="free" type="floating"><parent link="world"/>'
        f'<child link="{robot.model.root}"/></joint>'
    )
    return robot.text.replace("</robot>", f"{free if robot.floating else ''}{compiler}</robot>")


@pytest.mark.parametrize("robot", [*IN_ALL, ROBOTS["axes"]], ids=lambda robot: robot.name)
def test_converted_states_have_mujocos_poses_and_accelerations(robot: Robot) -> None:
    """Poses and velocities of links are compared, and the acceleration due to converted forces."""
    mujoco = pytest.importorskip("mujoco")
    model, s = robot.model, states(robot.model, 3)
    peer = mujoco.MjModel.from_xml_string(on_a_free_joint(robot))
    peer.opt.gravity, peer.opt.disableflags = (
        (0, 0, -9.81),
        int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT),
    )
    peer.dof_damping[:] = 0
    data = mujoco.MjData(peer)
    q, v, _ = to("mujoco", robot, s)
    qdd = wd.oracle(wd.aba, model, s.q, s.v, s.tau)
    wanted = wd.oracle(rep.convert_acceleration, model, s.q, s.v, qdd, target="mujoco")
    forces = wd.oracle(rep.convert_force, model, s.q, s.tau, target="mujoco")
    link = model.link_names[-1]
    body = mujoco.mj_name2id(peer, mujoco.mjtObj.mjOBJ_BODY, link)
    T, twist = wd.oracle(wd.fk, model, s.q, frame=link), twists(model, s.q, s.v, link)
    for e in range(3):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q[e], v[e], forces[e]
        mujoco.mj_forward(peer, data)
        assert error(data.xpos[body], T[e, :3, 3]) <= PEER["float64"]
        assert error(data.xmat[body].reshape(3, 3), T[e, :3, :3]) <= PEER["float64"]
        velocity = np.zeros(6)  # angular, then linear, of the body's frame in the world's axes
        mujoco.mj_objectVelocity(peer, data, mujoco.mjtObj.mjOBJ_XBODY, body, velocity, 0)
        assert error(np.roll(velocity, 3), twist[e]) <= PEER["float64"]
        assert error(data.qacc, wanted[e]) <= PEER["float64"]


@pytest.mark.parametrize(
    "robot", [Robot("mimic_chain", MIMIC_CHAIN), ROBOTS["mimic_branches"]], ids=lambda r: r.name
)
def test_mujoco_has_columns_for_mimic_joints(robot: Robot) -> None:
    """All links have MuJoCo's poses at the converted q."""
    mujoco = pytest.importorskip("mujoco")
    model, s = robot.model, states(robot.model, 2)
    peer = mujoco.MjModel.from_xml_string(on_a_free_joint(robot))
    data, (q, *_) = mujoco.MjData(peer), to("mujoco", robot, s)
    for e, T in enumerate(wd.oracle(wd.fk, model, s.q)):
        data.qpos[:] = q[e]
        mujoco.mj_kinematics(peer, data)
        for k, link in enumerate(model.link_names):
            body = mujoco.mj_name2id(peer, mujoco.mjtObj.mjOBJ_BODY, link)
            if body > 0:  # the root of a fixed robot is MuJoCo's world
                assert error(data.xpos[body], T[k, :3, 3], np.ones(1)) <= PEER["float64"]


BALL = """<mujoco><worldbody><body name="bob" pos="0 0.1 0"><joint name="hook" type="ball"/>
<inertial pos="0 0.05 -0.3" mass="0.5" diaginertia="0.02 0.03 0.01"/></body></worldbody></mujoco>"""


def test_ball_joints_convert_to_mujoco_and_pinocchio() -> None:
    """Pose and velocity of a link on a ball joint are compared at the converted q and v, and
    Pinocchio's inverse dynamics."""
    mujoco, pin = pytest.importorskip("mujoco"), pytest.importorskip("pinocchio")
    com, J = (0.0, 0.05, -0.3), np.diag([0.02, 0.03, 0.01])
    bob = wd.Link("bob", mass=0.5, com=com, inertia=tuple(map(tuple, J.tolist())))
    joint = wd.Joint("hook", KINDS["ball"], "base", "bob", pose=Pose((0.0, 0.1, 0.0)))
    model = wd.Model.assemble("pendulum", [wd.Link("base"), bob], [joint])
    s = states(model, 3)
    peer = mujoco.MjModel.from_xml_string(BALL)
    data = mujoco.MjData(peer)
    other = pin.Model()
    number = other.addJoint(
        0, pin.JointModelSpherical(), pin.SE3(np.eye(3), np.array([0.0, 0.1, 0.0])), "hook"
    )
    other.appendBodyToJoint(number, pin.Inertia(0.5, np.array(com), J), pin.SE3.Identity())
    T = wd.oracle(wd.fk, model, s.q, frame="bob")
    tau = wd.oracle(wd.rnea, model, s.q, s.v, s.a)
    for e in range(3):
        data.qpos[:] = wd.oracle(rep.convert_configuration, model, s.q[e], target="mujoco")
        data.qvel[:] = wd.oracle(rep.convert_velocity, model, s.q[e], s.v[e], target="mujoco")
        mujoco.mj_forward(peer, data)
        assert error(data.xmat[1].reshape(3, 3), T[e, :3, :3]) <= PEER["float64"]
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(peer, data, mujoco.mjtObj.mjOBJ_XBODY, 1, velocity, 0)
        assert error(np.roll(velocity, 3), twists(model, s.q, s.v, "bob")[e]) <= PEER["float64"]
        q = wd.oracle(rep.convert_configuration, model, s.q[e], target="pinocchio")
        assert (
            error(pin.rnea(other, other.createData(), q, s.v[e], s.a[e]), tau[e]) <= PEER["float64"]
        )


@pytest.mark.slow
@pytest.mark.parametrize("robot", IN_ALL, ids=lambda robot: robot.name)
def test_converted_states_have_drakes_poses_and_forces(robot: Robot) -> None:
    """Inverse dynamics at the converted q, v, a gives warpdyn's torques. Poses and velocities of
    links are compared too."""
    plants = pytest.importorskip("pydrake.multibody.plant", reason="Drake is not installed")
    parsing = pytest.importorskip("pydrake.multibody.parsing")
    forces = pytest.importorskip("pydrake.multibody.tree")
    model, s = robot.model, states(robot.model, 3)
    plant = plants.MultibodyPlant(0.0)
    parsing.Parser(plant).AddModelsFromString(robot.text, "urdf")
    plant.Finalize()
    context, link = plant.CreateDefaultContext(), model.link_names[-1]
    q, v, a = to("drake", robot, s)
    twist, T, tau = twists(model, s.q, s.v, link), wd.oracle(wd.fk, model, s.q, frame=link), []
    for e in range(3):
        plant.SetPositions(context, q[e])
        plant.SetVelocities(context, v[e])
        body = plant.GetBodyByName(link)
        assert (
            error(plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4(), T[e]) <= PEER["float64"]
        )
        found = plant.EvalBodySpatialVelocityInWorld(context, body)
        assert (
            error(np.hstack([found.translational(), found.rotational()]), twist[e])
            <= PEER["float64"]
        )
        gravity = forces.MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, gravity)
        tau.append(plant.CalcInverseDynamics(context, a[e], gravity))
    back = wd.oracle(rep.convert_force, model, s.q, np.array(tau), source="drake")
    assert error(back, wd.oracle(wd.rnea, model, s.q, s.v, s.a)) <= PEER["float64"]


@pytest.mark.slow
@pytest.mark.parametrize("robot", IN_ALL, ids=lambda robot: robot.name)
def test_converted_states_have_newtons_poses_and_velocities(robot: Robot) -> None:
    """Newton's kinematics has float32. Velocities are those at the centre of mass."""
    newton = pytest.importorskip("newton", reason="Newton is not installed")
    model, s = robot.model, states(robot.model, 3)
    builder = newton.ModelBuilder()
    builder.add_urdf(robot.text, floating=True)
    with wp.ScopedDevice("cpu"):
        peer = builder.finalize(device="cpu")
    names = [label.rpartition("/")[2] for label in peer.body_label]
    q, v, _ = to("newton", robot, s)
    T = wd.oracle(wd.fk, model, s.q)
    for e in range(3):
        state = peer.state()
        joint_q, joint_qd = (wp.array(row[e], dtype=wp.float32, device="cpu") for row in (q, v))
        newton.eval_fk(peer, joint_q, joint_qd, state)
        found_q, found_v = state.body_q.numpy(), state.body_qd.numpy()
        for k, link in enumerate(model.link_names):
            pose, body = T[k if T.ndim == 3 else (e, k)], names.index(link)
            assert error(found_q[body, :3], pose[:3, 3], np.ones(1)) <= PEER["float32"]
            linear, angular = np.split(twists(model, s.q, s.v, link)[e], 2)
            at_com = linear + np.cross(angular, pose[:3, :3] @ model.link(link).com)
            assert error(found_v[body], np.hstack([at_com, angular]), np.ones(1)) <= PEER["float32"]


REPRESENTATIONS = {"body": "BODY_FIXED", "mixed": "MIXED", "inertial": "INERTIAL_FIXED"}


@pytest.mark.parametrize("name", REPRESENTATIONS)
@pytest.mark.parametrize("robot", IN_ALL[:1], ids=lambda robot: robot.name)
def test_base_velocities_and_wrenches_equal_idyntrees(robot: Robot, name: str) -> None:
    """The base's velocity and acceleration, its wrench, and the velocity of a frame are compared in
    each representation."""
    idyn = pytest.importorskip("idyntree.bindings", reason="iDynTree is not installed")
    model, s = robot.model, states(robot.model, 3)
    loader = idyn.ModelLoader()
    assert loader.loadReducedModelFromString(robot.text, list(model.joint_names))
    peer = idyn.KinDynComputations()
    assert peer.loadRobotModel(loader.model()) and peer.setFloatingBase(model.root)
    assert peer.setFrameVelocityRepresentation(
        getattr(idyn, REPRESENTATIONS[name] + "_REPRESENTATION")
    )
    v = wd.oracle(rep.convert_velocity, model, s.q, s.v, source="local", target=name)
    a = wd.oracle(rep.convert_acceleration, model, s.q, s.v, s.a, source="local", target=name)
    tau = wd.oracle(
        rep.convert_force,
        model,
        s.q,
        wd.oracle(wd.rnea, model, s.q, s.v, s.a),
        source="local",
        target=name,
    )
    T, link = wd.oracle(wd.fk, model, s.q, frame=model.root), model.link_names[-1]
    for e in range(3):
        peer.setRobotState(T[e], s.q[e, 7:], v[e, :6], v[e, 6:], np.array([0, 0, -9.81]))
        J = wd.oracle(wd.jacobian, model, s.q[e], frame=link, reference=name)
        assert error(peer.getFrameVel(link).toNumPy(), J @ s.v[e]) <= PEER["float64"]
        found = idyn.FreeFloatingGeneralizedTorques(peer.model())
        base, joints = idyn.Vector6.FromPython(a[e, :6]), idyn.VectorDynSize.FromPython(a[e, 6:])
        wrenches = idyn.LinkWrenches(peer.model())
        wrenches.zero()
        assert peer.inverseDynamics(base, joints, wrenches, found)
        assert error(found.baseWrench().toNumPy(), tau[e, :6]) <= PEER["float64"]
        assert error(found.jointTorques().toNumPy(), tau[e, 6:]) <= PEER["float64"]


def test_listed_joints_must_move_and_be_listed_once() -> None:
    """Each refusal has its reason. A joint type that the library writes differently is named."""
    model = wd.load_robot("panda")
    names = list(model.joint_names)
    for joints, reason in (
        ([*names, "panda_hand_joint"], '"panda_hand_joint" is fixed'),
        ([*names, names[0]], f'"{names[0]}" stands there twice'),
    ):
        with pytest.raises(
            ValueError, match=f"^joints must name moving joints, each once; {reason}$"
        ):
            column_map(model, "pinocchio", tuple(joints))
    with pytest.raises(ValueError, match=f"has coordinates; {names[1]}, {names[2]} are missing$"):
        column_map(model, "pinocchio", (names[0], *names[3:]))
    builder = wd.ModelBuilder("kinds").add_link("base").add_link("b", 1.0, inertia=np.eye(3))
    builder.add_joint("flat", "planar", "base", "b", axis=(1.0, 0.0, 0.0))
    for library in CONVENTIONS:
        words = (
            f'^joint "flat" is planar, whose columns differ in {library}; convert them separately$'
        )
        with pytest.raises(ValueError, match=words):
            column_map(builder.build(), library, None)


KINDS_OF_LIBRARIES = {
    "mujoco": {"ball"},
    "newton": set(),
    "drake": set(),
    "pinocchio": {"ball", "planar", "floating"},
}
"""Joints of several coordinates that a library writes with columns of its own."""


@pytest.mark.parametrize("library", KINDS_OF_LIBRARIES)
@pytest.mark.parametrize("kind", ["ball", "planar", "floating"])
def test_joints_with_several_coordinates_convert_if_the_library_has_them(
    library: str, kind: str
) -> None:
    """The joint is inside a tree. The planar joint is about z."""
    builder = wd.ModelBuilder("kinds").add_link("base").add_link("a", 1.0, inertia=np.eye(3))
    builder.add_link("b", 1.0, inertia=np.eye(3))
    builder.add_joint("turn", "revolute", "base", "a", axis=(0, 0, 1))
    model = builder.add_joint("many", kind, "a", "b", axis=(0, 0, 1)).build()
    if kind in KINDS_OF_LIBRARIES[library]:
        assert len(column_map(model, library, None).v_to) == model.nv
    else:
        with pytest.raises(
            ValueError, match=f'"many" is {kind}, whose columns differ in {library}'
        ):
            column_map(model, library, None)
