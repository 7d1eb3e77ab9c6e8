"""Laws that a person moves, over real DDS: teaching, twists, a sensor, and law inputs by topic."""

from __future__ import annotations

import numpy as np
import yaml
from driven_arm import HAND, READY
from geometry_msgs.msg import TwistStamped, WrenchStamped
from harness import ROOT
from law_side import MODEL, NAMES, STIFFNESS, Side, joint_law, reference  # noqa: F401  a fixture
from oracle import Oracle
from std_msgs.msg import Float64MultiArray

from ros2_node.control.references.wrench_sensor import load_beyond


def test_teaching_floats_and_helps_against_friction(context):
    """The torques are gravity, light damping, a brake beyond max_speed, and a share of the friction
    that changes while enabled. Mode gravity refuses friction compensation."""
    oracle = Oracle()
    side = Side(
        context,
        "led",
        {
            "law": "teaching",
            "law_inputs.damping": 0.5,
            "law_inputs.max_speed": 0.4,
            "friction.coulomb": [3.0] * 7 + [0.0],
            "friction.viscous": 1.0,
            "friction.speed": 0.1,
        },
    )
    try:
        peer, weight = side.peer, oracle.torque(NAMES, READY)
        assert peer.enable(each=side.send).success
        side.wait_for_torque(weight, "the weight")
        side.v[1] = 0.3
        damping = -0.5 * side.v
        side.wait_for_torque(weight + damping, "the damping")
        assert peer.set_parameter("friction.scale", 0.8, each=side.send).successful
        helped = 0.8 * (3.0 * 0.3 / np.hypot(0.3, 0.1) + 0.3)
        side.wait_for_torque(
            weight + damping + np.array([0, helped, 0, 0, 0, 0, 0, 0]), "friction compensated"
        )
        assert not peer.set_parameter("friction.scale", 1.5, each=side.send).successful
        side.v[1] = 0.6
        M = oracle.mass_matrix(NAMES, READY)
        brake = -0.2 / 0.05 / np.linalg.inv(M)[1, 1]
        helped = 0.8 * (3.0 * 0.6 / np.hypot(0.6, 0.1) + 0.6)
        side.wait_for_torque(
            weight + np.array([0, helped + brake - 0.3, 0, 0, 0, 0, 0, 0]), "the brake"
        )
        side.v[:] = np.nan
        peer.wait_for_value("rejected.nonfinite_velocity", bool, each=side.send)
    finally:
        side.close()


def test_the_law_of_the_documentation_runs(context, tmp_path):
    """The test uses the code, parameters and check of docs/ros2_own_law.md."""
    page = (ROOT / "docs" / "ros2_own_law.md").read_text()
    (tmp_path / "my_laws.py").write_text(page.split("```python\n")[1].split("```")[0])
    lines = [line.strip() for line in page.splitlines() if line.startswith("    law")]
    parameters = yaml.safe_load("\n".join(lines))
    assert parameters.pop("law") == "my_laws.py:spring"
    side = Side(context, "own", {**parameters, "law": f"{tmp_path}/my_laws.py:spring"})
    try:
        peer, oracle = side.peer, Oracle()
        assert peer.enable(each=side.send).success
        place = oracle.pose(NAMES, READY, HAND)[:3, 3]
        J = oracle.jacobian(NAMES, READY, HAND)[:3]
        for target in ([0.4, 0.0, 0.5], [0.4, 0.1, 0.6]):
            name = "law_inputs.target"
            assert peer.set_parameter(name, target, each=side.send).successful
            tau = oracle.torque(NAMES, READY) + J.T @ (300.0 * (target - place))
            side.wait_for_torque(
                np.clip(tau, -MODEL.effort_limit, MODEL.effort_limit), "the spring"
            )
        answer = peer.set_parameter("law_inputs.stiffness", -1.0, each=side.send)
        assert not answer.successful and "stiffness must be at least 0" in answer.reason
    finally:
        side.close()


def test_a_topic_changes_an_input_of_the_law(joints):
    """Half the stiffness gives half the spring torque. A value beyond the range is refused and
    counted."""
    peer = joints.peer
    weight = Oracle().torque(NAMES, READY)
    joints.begin()
    step = np.array([0.05, 0, 0, 0, 0, 0, 0, 0])
    joints.publish("reference", reference(READY + step))
    joints.wait_for_torque(weight + STIFFNESS * step, "the spring")
    joints.publish("law_inputs/stiffness", Float64MultiArray(data=(0.5 * STIFFNESS).tolist()))
    joints.wait_for_torque(weight + 0.5 * STIFFNESS * step, "half the spring")
    beyond = Float64MultiArray(data=(2.1 * STIFFNESS).tolist())
    joints.wait_for_refusal("law_inputs/stiffness", beyond, "law_input_refused")
    assert "law_input_range" in peer.values["last law input refused"]
    joints.wait_for_torque(weight + 0.5 * STIFFNESS * step, "half the spring still")
    joints.publish("reference", reference(READY))


def test_a_twist_moves_the_hand(context):
    """The wanted pose moves and its spring pulls. Without messages the pose does not move."""
    parameters = {
        "law": "cartesian_impedance",
        "law_options": [f"frame={HAND}"],
        "law_inputs.stiffness": [500.0, 500.0, 500.0, 30.0, 30.0, 30.0],
        "max_pose_error": [0.1, 0.4],
        "twist_link": HAND,
        "twist_timeout": 1.0,
    }
    side = Side(context, "jogged", parameters)
    try:
        weight = Oracle().torque(NAMES, READY)
        assert side.peer.enable(each=side.send).success
        side.wait_for_torque(weight, "the weight")
        message = TwistStamped()
        message.header.frame_id, message.twist.linear.x = MODEL.root, 0.2

        def jog():
            side.publish("twist", message)
            side.send()

        pull = Oracle().jacobian(NAMES, READY, HAND).T @ [500.0 * 0.09, 0, 0, 0, 0, 0]
        side.peer.wait(
            lambda: np.allclose(side.peer.commands[-1], weight + pull, atol=1e-6),
            "a spring of 0.9 max_pose_error",
            each=jog,
        )
        message.header.frame_id = "camera"
        side.wait_for_refusal("twist", message, "twist_refused")
        side.wait_for_torque(weight + pull, "the spring still")
    finally:
        side.close()


def test_a_force_on_the_sensor_moves_the_hand(context):
    """~/enable is refused without a wrench.

    The weight of the fingers is no contact. A push moves the virtual body, and the hand follows it.
    A sensor that stops sending stops the arm.
    """
    parameters = {
        "law": "admittance",
        "law_options": [f"frame={HAND}"],
        "law_inputs.virtual_mass": [5.0, 5.0, 5.0, 0.5, 0.5, 0.5],
        "law_inputs.virtual_damping": [100.0, 100.0, 100.0, 5.0, 5.0, 5.0],
    }
    side = Side(context, "sensed", parameters)
    try:
        peer, oracle = side.peer, Oracle()
        answer = peer.enable(each=side.send)
        assert not answer.success and "no ft_wrench" in answer.message
        mass, com = load_beyond(MODEL, HAND)
        down = oracle.pose(NAMES, READY, HAND)[:3, :3].T @ [0.0, 0.0, -9.81 * mass]
        message = WrenchStamped()
        message.header.frame_id = HAND
        f, m = message.wrench.force, message.wrench.torque
        push = np.zeros(3)

        def feel():
            f.x, f.y, f.z = (down + push).tolist()
            m.x, m.y, m.z = np.cross(com, down).tolist()
            side.publish("ft_wrench", message)
            side.send()

        peer.wait(lambda: peer.enable(each=feel).success, "enabling", each=feel)
        weight = oracle.torque(NAMES, READY)
        peer.wait(
            lambda: peer.commands and np.allclose(peer.commands[-1], weight, atol=1e-6),
            "the weight",
            each=feel,
        )
        push[2] = 20.0
        peer.wait(
            lambda: np.abs(peer.commands[-1] - weight).max() > 5.0, "the way of the push", each=feel
        )
        assert peer.set_parameter("state_timeout", 0.5, each=feel).successful
        peer.wait_for_message("no ft_wrench for 0.5 s", each=side.send)
    finally:
        side.close()
