"""The simulated arm: MuJoCo's dynamics of a URDF, and the behaviour of an effort controller."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.parameter import Parameter as RosParameter
from recording_node import RecordedLog
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

import warpdyn as wd
from ros2_node.demo import plant as module
from ros2_node.demo.plant import LONGEST_WAIT, READY, Arm, Plant

URDF = (Path(wd.__file__).parent / "robots" / "panda.urdf").read_text()
MODEL = wd.load_robot("panda")


def test_the_bias_at_rest_agrees_with_warpdyns_gravity_torques():
    """The torques are those of the independent joints, payload included."""
    com = (0.0, 0.02, 0.1)
    for payload in (None, ("panda_hand", 2.0, com)):
        arm = Arm(URDF, READY, payload=payload)
        model = MODEL if payload is None else MODEL.with_payload("panda_hand", 2.0, com)
        q = np.array([arm.data.qpos[arm.names.index(name)] for name in model.joint_names])
        expected = wd.rnea(model, q, 0 * q, 0 * q)
        bias = arm.bias_at_rest()
        for name in model.joint_names[:7]:
            here = bias[arm.names.index(name)]
            np.testing.assert_allclose(here, expected[model.v_indices([name])[0]], atol=1e-6)


def test_meshes_of_missing_packages_are_ignored():
    """A description with meshes is simulated like the same one without."""
    mesh = '<geometry><mesh filename="package://somewhere/meshes/link.STL"/></geometry>'
    shapes = f"<visual>{mesh}</visual><collision>{mesh}</collision>"
    with_meshes = Arm(URDF.replace("<inertial>", f"{shapes}<inertial>"), READY)
    plain = Arm(URDF, READY)
    assert shapes in URDF.replace("<inertial>", f"{shapes}<inertial>")
    np.testing.assert_allclose(with_meshes.bias_at_rest(), plain.bias_at_rest(), rtol=1e-12)


def test_the_arm_rests_with_its_bias_torque_and_falls_without():
    held, falling = Arm(URDF, READY), Arm(URDF, READY)
    for _ in range(200):
        held.step(held.bias_at_rest())
        falling.step(np.zeros(falling.model.nv))
    start = Arm(URDF, READY).data.qpos[held.hinges]
    assert np.abs(held.data.qpos[held.hinges] - start).max() < 1e-3
    assert np.abs(falling.data.qpos[falling.hinges] - start).max() > 0.05


def test_reset_restores_the_start():
    arm = Arm(URDF, READY)
    begin = arm.data.qpos.copy()
    arm.step(np.ones(arm.model.nv))
    arm.reset()
    np.testing.assert_array_equal(arm.data.qpos, begin)
    assert not arm.data.qvel.any()


@pytest.fixture
def plant(context, tmp_path):
    overrides = [RosParameter("trace", value=str(tmp_path / "trace.npz"))]
    plant = Plant(context=context, parameter_overrides=overrides)
    yield plant
    plant.destroy_node()


def test_the_last_command_holds_and_a_bad_one_is_dropped(plant):
    """Commands of the wrong size or with NaN change nothing. Effort controllers do the same."""
    good = np.arange(1.0, len(plant.order) + 1.0)
    plant._on_commands(Float64MultiArray(data=good.tolist()))
    np.testing.assert_array_equal(plant.torque[plant.columns], good)
    for bad in ([], [1.0], [*good[:-1], np.nan]):
        plant._on_commands(Float64MultiArray(data=[float(x) for x in bad]))
    np.testing.assert_array_equal(plant.torque[plant.columns], good)


def test_a_push_is_added_to_the_commands(plant):
    """It has one torque for each joint, in the order of the commands. A push of another length is
    ignored."""
    plant._on_push(Float64MultiArray(data=[50.0]))
    assert not plant.push.any()
    plant._on_push(Float64MultiArray(data=[50.0] + [0.0] * (len(plant.order) - 1)))
    plant._on_brake(SetBool.Request(data=False), SimpleNamespace())
    begin = plant.arm.data.qpos[plant.columns[0]]
    for _ in range(20):
        plant.step()
    assert plant.arm.data.qpos[plant.columns[0]] > begin + 1e-4
    plant._on_push(Float64MultiArray(data=[0.0] * len(plant.order)))
    plant._on_reset(Trigger.Request(), SimpleNamespace())


def test_mimic_joints_are_not_commanded(plant):
    assert plant.order == list(MODEL.joint_names)


def test_brakes_hold_the_arm_and_reset_restores_it(plant):
    """A step moves nothing while the brakes are on. The arm falls without brakes."""
    begin = plant.arm.data.qpos.copy()
    plant._on_brake(SetBool.Request(data=True), SimpleNamespace())
    for _ in range(20):
        plant.step()
    np.testing.assert_array_equal(plant.arm.data.qpos, begin)
    plant._on_brake(SetBool.Request(data=False), SimpleNamespace())
    for _ in range(20):
        plant.step()
    assert np.abs(plant.arm.data.qpos - begin).max() > 0.0
    plant._on_reset(Trigger.Request(), SimpleNamespace())
    np.testing.assert_array_equal(plant.arm.data.qpos, begin)


def test_the_trace_has_time_brakes_positions_torques_and_bias(plant):
    """It has one row for each step."""
    for _ in range(3):
        plant.step()
    plant.save()
    n = len(plant.arm.names)
    with np.load(plant.trace_file) as saved:
        assert saved["trace"].shape == (3, 2 + 3 * n)
        assert list(saved["names"]) == plant.arm.names
        np.testing.assert_array_equal(saved["trace"][-1, 2 : 2 + n], plant.arm.data.qpos)


def test_friction_holds_up_to_its_torque():
    """A joint pushed with less than its friction does not move; with more it does."""
    for push, moves in ((1.8, False), (2.4, True)):
        arm = Arm(URDF, READY, friction=2.0)
        begin = arm.data.qpos.copy()
        for _ in range(500):
            torque = arm.bias_at_rest().copy()
            torque[0] += push
            arm.step(torque)
        assert bool(abs(arm.data.qpos[0] - begin[0]) > 1e-3) == moves


def test_the_plant_steps_until_the_rounds_end(plant, monkeypatch):
    """There is one step in each round. Late steps are made up for, at most 0.05 s of them. At the
    end the trace is saved."""
    clock, due, calls = SimpleNamespace(now=5.0), [], []
    log = RecordedLog()
    monkeypatch.setattr(plant, "get_logger", lambda: log)
    monkeypatch.setattr(plant, "step", lambda: calls.append("step"))
    monkeypatch.setattr(plant, "save", lambda: calls.append("save"))
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))

    def rest(until, waiting):
        assert waiting() == plant.waiting
        due.append(until)
        clock.now = 5.01 if len(due) == 1 else 9.0

    rounds = SimpleNamespace(ended=lambda: len(due) == 3, rest=rest)
    module.play(plant, rounds)
    assert calls == ["step"] * 3 + ["save"]
    np.testing.assert_allclose(due, [5.0 + plant.period, 5.0 + 2 * plant.period, 8.95])
    assert log.lines == [f"simulating {', '.join(plant.arm.names)}"]


def test_in_lockstep_a_step_waits_for_a_command(plant, monkeypatch):
    """The time is that of the simulation. A step does not wait while the arm is braked, nor longer
    than LONGEST_WAIT. Without lockstep it never waits."""
    clock = SimpleNamespace(now=5.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    plant.braked = False
    plant.step()
    assert not plant.waiting
    monkeypatch.setattr(plant, "_lockstep", True)
    plant.step()
    assert plant.waiting
    plant._steps = round(3.25 / plant.period)
    stamp = plant._stamp()
    assert stamp.sec == 3 and abs(stamp.nanosec - 250_000_000) < 1000
    plant._on_commands(Float64MultiArray(data=[0.0] * len(plant.order)))
    assert not plant.waiting
    plant.step()
    assert plant.waiting
    clock.now += LONGEST_WAIT + 0.01
    assert not plant.waiting
    plant.step()
    plant.braked = True
    assert not plant.waiting
    plant._on_reset(Trigger.Request(), SimpleNamespace())


def test_a_step_waits_at_most_a_second_for_its_command(plant, monkeypatch):
    clock = SimpleNamespace(now=5.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(plant, "_lockstep", True)
    monkeypatch.setattr(plant, "braked", False)
    plant.step()
    for passed, waits in ((1.0, True), (1.0625, False)):
        clock.now = 5.0 + passed
        assert plant.waiting is waits
    plant._on_reset(Trigger.Request(), SimpleNamespace())


def test_the_plant_reads_its_parameters(context):
    """They are pose, load, damping, friction, rate, brakes, and the order of the commands."""
    values = {
        "pose_joints": ["panda_joint2"],
        "pose": [-0.5],
        "payload.link": "panda_hand",
        "payload.mass": 1.5,
        "payload.com": [0.0, 0.1, 0.2],
        "rate": 250.0,
        "damping": 0.25,
        "friction": 0.75,
        "braked": True,
        "lockstep": True,
        "command_joints": ["panda_joint3", "panda_joint1"],
    }
    overrides = [RosParameter(name, value=x) for name, x in values.items()]
    node = Plant(context=context, parameter_overrides=overrides)
    model, arm = node.arm.model, node.arm
    assert node.period == model.opt.timestep == 0.004 and node.braked and node._lockstep
    assert arm.data.qpos[arm.names.index("panda_joint2")] == -0.5
    assert np.count_nonzero(arm.data.qpos) == 1
    hinges = np.zeros(model.nv, dtype=bool)
    hinges[[arm.names.index(f"panda_joint{k}") for k in range(1, 8)]] = True
    np.testing.assert_array_equal(model.dof_damping[hinges], 0.25)
    np.testing.assert_array_equal(model.dof_frictionloss, np.where(hinges, 0.75, 0.0))
    load = model.body("payload")
    assert load.mass[0] == 1.5 and load.pos.tolist() == [0.0, 0.1, 0.2]
    assert node.columns == [arm.names.index(name) for name in node.order] == [2, 0]
    node.destroy_node()
    plain = Plant(context=context)
    assert plain.period == 0.001 and not plain.braked and not plain._lockstep
    assert "payload" not in [plain.arm.model.body(i).name for i in range(plain.arm.model.nbody)]
    np.testing.assert_array_equal(plain.arm.model.dof_damping[hinges], 0.5)
    assert not plain.arm.model.dof_frictionloss.any() and plain.trace_file == ""
    plain.step()
    assert plain.trace == []
    plain.destroy_node()
