"""A policy as the law of a robot: its gate, limits and watchdog, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from array import array
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from fleets import fault_of, launch, loss_of, panda_settings
from policy_files import TURNING, linear_policy, turning_weights

import warpdyn as wd
from ros2_node.control.fleet import Fleet, check_robot
from ros2_node.control.report import Reporter, ready_message
from ros2_node.control.safety.status import Status
from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.states.base_state import BaseMotion
from ros2_node.control.torques import policy_law
from ros2_node.control.torques.policy_law import check_description, check_joints, policy_and_task

TASK = "policy_files:Turn"
NAMES = ["left_joint", "right_joint"]
Q, V = np.array([0.1, -0.2]), np.array([0.3, 0.5])
LIMITS = np.array([20.0, 8.0])
SINGLE = 1e-5
"""The policy computes in float32; torques of up to 20 N·m."""


def here(x: float) -> BaseMotion:
    return BaseMotion((x, 0.0, 0.3), (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("policies") / "turn.onnx"
    return str(linear_policy(path, turning_weights(), task="Turn", robot="turning"))


def turning_settings(file: str, **values) -> Settings:
    given = {"robot_description": TURNING, "policy": file, "policy_task": TASK, "ramp_time": 0.0}
    return Settings.of({**given, **{n.replace("__", "."): x for n, x in values.items()}})


@pytest.fixture(scope="module")
def shared_policy_fleet(file: str) -> Fleet:
    return Fleet(turning_settings(file), "", [Counter(), Counter()])


@pytest.fixture
def fleet(shared_policy_fleet: Fleet) -> Fleet:
    for robot in shared_policy_fleet.robots:
        robot.disable(0.0)
        while robot.stop_step(1e9) is not None:
            pass
        robot.reset()
        robot.counts.clear()
        robot.states.forget()
        robot.states.arrived = robot.policy.base.arrived = robot.policy.command.arrived = -np.inf
        robot.policy._due = -np.inf
    return shared_policy_fleet


def feed(robot, now, q=Q, v=V):
    return robot.read(NAMES, array("d", q), array("d", v), int(now * 1e9) + 1, now)


def expected_torques(x=0.0, forward=0.0, turning=0.0, q=Q, v=V):
    """Torques from the definition of `Turn` and its weights, in the description's order of
    joints."""
    targets = np.array([0.5 * turning, 0.1 * (x + forward)])
    return np.array([30.0, 40.0]) * (targets - q) - 2.0 * v


def test_torques_of_a_policy_are_ramped_and_limited(fleet):
    """The policy reads odometry, cmd_vel and joints, in another order than the task's."""
    robot = fleet.robots[0]
    robot.read_base("trunk", here(0.5), 1, 1.0)
    robot.read_speeds(1.0, 0.0, 0.4, 1.0)
    assert feed(robot, 1.0)
    showable, command = launch(fleet, robot, 1.0)
    torque = expected_torques(0.5, 1.0, 0.4)
    assert showable and command is None
    np.testing.assert_allclose(robot.state.torque, torque, atol=SINGLE)
    assert robot.enable(1.0, 1.0)[0]
    assert feed(robot, 1.002, Q + 1e-3)
    _, command = launch(fleet, robot, 1.002)
    assert abs(expected_torques(0.5, 1.0, 0.4, Q + 1e-3)[1]) > LIMITS[1], (
        "the effort limit is at work"
    )
    np.testing.assert_allclose(
        command, np.clip(expected_torques(0.5, 1.0, 0.4, Q + 1e-3), -LIMITS, LIMITS), atol=SINGLE
    )


def test_targets_hold_for_a_period_and_drives_use_every_state(fleet):
    """The policy runs at 50 Hz. In between its last targets hold."""
    robot = fleet.robots[0]
    robot.read_base("", here(0.0), 1, 2.0)
    feed(robot, 2.0)
    robot.read_base("", here(1.0), 2, 2.01)
    feed(robot, 2.01, 0 * Q)
    fleet.compute()
    np.testing.assert_allclose(robot.state.torque, expected_torques(0.0, q=0 * Q), atol=SINGLE)
    feed(robot, 2.02, 0 * Q)
    fleet.compute()
    np.testing.assert_allclose(robot.state.torque, expected_torques(1.0, q=0 * Q), atol=SINGLE)


def test_an_old_command_is_zero_and_a_large_one_is_clipped_to_training(fleet):
    robot = fleet.robots[0]
    robot.read_speeds(7.0, 0.0, 0.0, 3.0)
    for now, forward in ((3.0, 1.0), (3.3, 1.0), (3.6, 0.0)):
        robot.read_base("", here(0.0), int(1e9 * now), now)
        feed(robot, now, Q + 0.01 * now)
        fleet.compute()
        q = Q + 0.01 * now
        np.testing.assert_allclose(
            robot.state.torque, expected_torques(0.0, forward, q=q), atol=SINGLE
        )
    robot.read_speeds(np.nan, 0.0, 0.0, 4.0)
    assert robot.counts["speed_nonfinite"] == 1


def test_without_odometry_no_torque_is_shown_and_enable_says_why(fleet):
    """The answer is one line, before and after bad messages."""
    robot = fleet.robots[0]
    assert not feed(robot, 5.0) and robot.status(5.0) is Status.WAITING_FOR_BASE
    good, said = robot.enable(5.0, 5.0)
    assert not good and said == "there is no fresh odom, which the policy needs"
    robot.read_base("base_footprint", here(0.0), 1, 5.0)
    assert "(odometry_other_frame 1)" in robot.enable(5.0, 5.0)[1]
    level, message = Reporter(robot.counts).level(robot, 5.0, 5.0, 1.0)
    assert level == 1 and message.startswith("waiting for odom; odometry_other_frame (1)")


def test_lost_odometry_is_a_lost_state(fleet):
    """It starts the stop sequence, as for joint_states."""
    robot = fleet.robots[0]
    robot.read_base("", here(0.0), 1, 6.0)
    feed(robot, 6.0)
    assert robot.enable(6.0, 6.0)[0] and launch(fleet, robot, 6.0)[1] is not None
    for now in (6.05, 6.1, 6.15):
        feed(robot, now, Q + 0.01 * (now - 6.0))
        robot.watch(now, now)
    assert not robot.is_enabled and loss_of(robot) == "no valid odom for 0.1 s"
    assert robot.status(6.15) is Status.STOPPING


def test_enable_resets_the_policy(fleet):
    """Its last action is zero, and it runs at once."""
    robot = fleet.robots[0]
    robot.read_base("", here(1.0), 1, 7.0)
    feed(robot, 7.0)
    feed(robot, 7.02)
    assert np.abs(robot.policy.deployed.observation[-2:]).max() > 0.0, "the last action"
    assert robot.enable(7.021, 7.021)[0]
    np.testing.assert_array_equal(robot.policy.deployed.observation[-2:], np.zeros(2))


def test_each_robot_of_a_node_has_its_own_policy(fleet):
    for k, robot in enumerate(fleet.robots):
        robot.read_base("", here(float(k)), 1, 8.0)
        feed(robot, 8.0)
    fleet.compute()
    for k, robot in enumerate(fleet.robots):
        np.testing.assert_allclose(robot.state.torque, expected_torques(float(k)), atol=SINGLE)


def test_a_nonfinite_action_of_a_policy_is_a_fault(tmp_path):
    """It is never sent. The robot stops, and the fault names the joints."""
    weights = np.full((22, 2), np.inf)
    path = linear_policy(tmp_path / "inf.onnx", weights)
    fleet = Fleet(turning_settings(str(path)), "", [Counter()])
    robot = fleet.robots[0]
    robot.read_base("", here(0.0), 1, 0.0)
    feed(robot, 0.0)
    assert launch(fleet, robot, 0.0) == (False, None)
    assert "left_joint, right_joint is not finite: policy" in fault_of(robot)


def test_the_ready_message_names_the_policy(fleet, file):
    assert f"policy {file}, on cpu" in ready_message(fleet.robots, fleet.settings)
    with pytest.raises(ValueError, match="this node has a law"):
        fleet.batch.robots_in(16, ())


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"policy": "nothing.onnx"}, r"policy: nothing.onnx: no such policy file"),
        ({"policy": "trot"}, r"policy: no policy of trot comes with warpdyn"),
        ({"policy": __file__}, r"policy: .*test_policy_law.py is not an ONNX policy"),
        ({"policy_task": ""}, r"policy: .* is of Turn, which does not come with warpdyn: name it"),
        ({"policy_task": "turning"}, r"policy: there is no task 'turning'"),
        (
            {"policy_task": "policy_files:nix"},
            r"policy: policy_files has no task 'nix'; it has Turn",
        ),
        ({"policy_task": "no_such_module:Turn"}, r"policy: there is no module 'no_such_module'"),
        (
            {"policy_task": "cartpole_swing_up"},
            r"policy .* moves 'slider' of cartpole, and turning",
        ),
        ({"joints": ["left_joint"]}, r"moves 'right_joint': it must be among joints"),
        ({"mode": "computed_torque"}, r"policy takes the place of mode"),
        ({"law": "a:b"}, r"a law and a policy are two laws"),
    ],
)
def test_an_unusable_policy_is_refused_with_one_line(file, values, said):
    """Nothing is compiled before the refusal."""
    with pytest.raises(ValueError, match=said):
        check_robot(wd.load_urdf(TURNING), turning_settings(file, **values))


def test_a_policy_task_without_a_policy_is_refused():
    with pytest.raises(ValueError, match="policy_task is for a policy, and policy is empty"):
        Settings.of({"policy_task": "quadruped_velocity"})


def test_a_policy_with_another_observation_size_is_refused(tmp_path):
    path = linear_policy(tmp_path / "narrow.onnx", np.zeros((7, 2)))
    with pytest.raises(ValueError, match="observes 7 numbers; Turn for turning gives 22"):
        Fleet(turning_settings(str(path)), "", [Counter()])


def test_command_joints_must_be_moved_by_the_policy(file):
    _, task = policy_and_task(file, TASK)
    more = TURNING.replace(
        "</robot>",
        '<link name="c"/><joint name="camera" type="continuous"><parent link="trunk"/>'
        '<child link="c"/><axis xyz="0 0 1"/><limit effort="1" velocity="1"/></joint></robot>',
    )
    more = more.replace('<link name="c"/>', '<link name="c"><inertial><mass value="1"/><inertia '
                        'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>')  # fmt: skip
    model = wd.load_urdf(more)
    with pytest.raises(ValueError, match="does not move 'camera': leave it out of command_joints"):
        check_joints(model, task, turning_settings(file))
    settings = turning_settings(file, command_joints=["right_joint", "left_joint"])
    assert check_joints(model, task, settings) == ("right_joint", "left_joint")


def test_a_task_with_an_object_is_refused(file: str) -> None:
    """No topic has the pose of the cube."""
    lift = pytest.importorskip("warpdyn.rl").make("panda_lift")
    panda = wd.load_robot("panda")
    with pytest.raises(
        ValueError, match="PandaLift observes the pose of 'cube', an object, and no topic has it"
    ):
        check_joints(panda, lift, turning_settings(file))


ALONE = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"onnxruntime", "torch", "gymnasium", "rsl_rl", "onnx"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
from ros2_node.control.torques.policy_law import policy_and_task
from ros2_node.control.fleet import Fleet
print("warpdyn.rl" in sys.modules)
try:
    policy_and_task("any.onnx", "")
except ValueError as error:
    print(error)
"""


def test_learning_packages_are_imported_only_for_a_policy():
    root = str(Path(__file__).resolve().parents[4])
    done = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "False",
        "policy: warpdyn.rl needs onnxruntime, which is not installed: pip install onnxruntime, "
        "or, to learn as well, pip install '.[rl]' in warpdyn's folder",
    ]


def test_robots_without_a_policy_ignore_odometry_and_speeds():
    from fleets import panda_fleet

    robot = panda_fleet().robots[0]
    robot.read_base("", here(0.0), 0, 0.0)
    robot.read_speeds(1.0, 0.0, 0.0, 0.0)
    assert robot.policy is None and not robot.counts and panda_settings().policy == ""


def test_an_expired_wrench_is_removed_under_a_policy_too(fleet):
    """The policy does not use it, but the observer of external torques would count it for ever."""
    robot = fleet.robots[0]
    link = robot.dynamics.model.link_names[-1]
    assert robot.wrench.read(link, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0) is None
    assert robot.state.wrench.any()
    robot.prepare(9.0)
    assert not robot.state.wrench.any()


def test_a_robot_with_other_joints_than_in_training_is_refused():
    """The refusal names a joint of another kind, or with limits that exclude the stance. A file
    without a record is not compared."""
    model = wd.load_urdf(TURNING, floating_base=True)
    joints = {"names": ["left_joint"], "kinds": ["revolute"], "stance": [0.5]}
    policy = SimpleNamespace(path="a.onnx", deployment={"joints": joints})
    check_description(model, policy)
    joints["stance"] = None
    check_description(model, policy)
    joints["stance"] = [1.5]
    with pytest.raises(ValueError, match=r"'left_joint' at 1.5; the limits of turning are -1 to 1"):
        check_description(model, policy)
    joints["kinds"] = ["prismatic"]
    with pytest.raises(ValueError, match=r"'left_joint' as a prismatic joint; that of turning is"):
        check_description(model, policy)
    check_description(model, SimpleNamespace(path="a.onnx", deployment={}))
    for damaged, said in (
        ({"names": 3}, "its deployment record cannot be read"),
        ({"names": ["a"], "kinds": ["revolute"], "stance": ["x"]}, "record cannot be read"),
        ({"names": ["arm"], "kinds": ["revolute"], "stance": [0.0]}, "moves 'arm', which turning"),
    ):
        policy.deployment = {"joints": damaged}
        with pytest.raises(ValueError, match=said):
            check_description(model, policy)


def test_a_policy_follows_no_joint_reference(fleet, file):
    """No reference is compared with the joints, and a twist of a link is refused."""
    robot = fleet.robots[0]
    assert not robot.setpoint.watched and not robot.references._moves_posture
    robot.setpoint.stay(Q + 9.0)
    feed(robot, 1.0)
    assert not robot.setpoint.astray(Q)
    link = fleet.dynamics.model.link_names[-1]
    with pytest.raises(ValueError, match="tracks neither joints nor a frame"):
        Fleet(turning_settings(file, twist_link=link), "", [Counter()])


def test_a_task_is_found_by_its_name_or_class(monkeypatch):
    """The policy file names it, and the parameter overrides the file."""
    tasks = {"turn": type("Turn", (), {}), "walk": type("Walk", (), {})}
    monkeypatch.setattr("warpdyn.rl.tasks.TASKS", tasks)
    monkeypatch.setattr("warpdyn.rl.tasks.make", lambda name: f"task {name}")
    for of, named, task in (
        ("turn", "", "task turn"),
        ("Walk", "", "task walk"),
        ("Walk", "mine:Task", "task mine:Task"),
    ):
        policy = SimpleNamespace(path="a.onnx", about={"task": of})
        assert policy_law._task(policy, named) == task
    for about, said in (({"task": "Fly"}, "Fly"), ({}, "a task that it does not name")):
        with pytest.raises(ValueError) as error:
            policy_law._task(SimpleNamespace(path="a.onnx", about=about), "")
        assert str(error.value) == (
            f"a.onnx is of {said}, which does not come with warpdyn: name it, "
            "policy_task:=package.module:Task"
        )


def test_a_task_whose_base_does_not_fit_odometry_is_refused(file):
    """Its velocities may be in world axes, or the robot may have a fixed base and a speed
    command."""
    robot = wd.load_urdf(TURNING)
    free = wd.load_urdf(TURNING, floating_base=True)
    world = wd.load_urdf(TURNING, floating_base=True, base_velocity="local_world_aligned")
    for model, commanded, said in (
        (free, "speeds", ""),
        (robot, None, ""),
        (
            world,
            None,
            "Turn has its base's velocities as 'local_world_aligned'; odometry gives the base's own "
            'axes, "local"',
        ),
        (
            robot,
            "speeds",
            "Turn is commanded by 'speeds', and cmd_vel has the speeds of a free base alone",
        ),
    ):
        task = SimpleNamespace(name="Turn", model=model, commanded=commanded)
        if said:
            with pytest.raises(ValueError) as error:
                check_joints(robot, task, turning_settings(file))
            assert str(error.value) == said
        else:
            assert check_joints(robot, task, turning_settings(file)) == model.joint_names


def test_kernels_of_a_policy_are_created_once(fleet):
    law = fleet.dynamics.law
    deployed = [policy.deployed for policy in law.policies]
    assert len(set(map(id, deployed))) == len(deployed) == 2
    law.bind(fleet.dynamics.payload)
    assert [policy.deployed for policy in law.policies] == deployed
