"""Motion tracking: beginnings and ends of episodes, observations, rewards, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch

import warpdyn as wd
from warpdyn.model.assembly import rebuild
from warpdyn.rl.environment_step import EnvironmentStep
from warpdyn.rl.settings.task_settings import make_with_settings
from warpdyn.rl.tasks.humanoid_tasks import HUMANOID_TO_REAL
from warpdyn.rl.tasks.tracking_tasks import with_losses
from warpdyn.rl.training_task import training_task
from warpdyn.rl.variation import SIM_TO_REAL_ARM

ENVS = 16
ARM = wd.load_robot("double_pendulum")


@pytest.fixture(scope="module")
def humanoid() -> Any:
    """The bundled humanoid with the bundled clip, without pushes."""
    task = rl.MotionTracking()
    task.push = None
    return rl.VecEnv(task, ENVS, seed=1)


def swing(frames: int = 41, rate: float = 40.0) -> Any:
    """A swing of an arm's joints, which ends in its first configuration."""
    angle = 2.0 * np.pi * np.arange(frames)[:, None] / (frames - 1)
    return rl.MotionClip(rate, tuple(ARM.joint_names), 0.3 * np.sin(angle) * [1.0, -0.5])


def arm(repeat: str = "never", **options: Any) -> Any:
    gains = {"kp": 400.0, "kd": 10.0, "effort": 200.0}
    return rl.MotionTracking(ARM, swing(), repeat=repeat, **gains, **options)


def on_reference(env: Any, frame: float | None = None) -> torch.Tensor:
    """All environments in the state of the clip at their frames, or at one frame."""
    env.reset(seed=1)
    task, state = env.task, env.carried
    if frame is not None:
        state["frame"][:] = frame
    rows = torch.tensor(task.tables["motion"])[state["frame"].long()]
    nq, nv = task.model.nq, task.model.nv
    state["q"][:], state["v"][:] = rows[:, :nq].float(), rows[:, nq : nq + nv].float()
    return rows


def test_episodes_begin_near_random_frames_of_the_clip(humanoid: Any) -> None:
    """Reference state initialisation: joints within 0.05 rad, the base where it is in the clip."""
    humanoid.reset(seed=1)
    frames, q = humanoid.carried["frame"], humanoid.carried["q"].double()
    assert (frames == frames.floor()).all() and frames.min() >= 0
    assert frames.max() < humanoid.task.reference.frames and frames.std() > 80
    rows = torch.tensor(humanoid.task.tables["motion"])[frames.long()]
    assert (q[:, :7] - rows[:, :7]).abs().max() < 1e-5
    off = (q[:, 7:] - rows[:, 7:36]).abs()
    assert 0.04 < off.max() <= 0.05 + 1e-5
    found = humanoid.measures()
    assert found["place_error"].max() < 1e-3 and found["joints_error"].max() < 0.05


def test_measured_errors_equal_those_of_the_state(humanoid: Any) -> None:
    """A base is off by 0.1 m, and joints are off by 0.1 rad."""
    on_reference(humanoid)
    humanoid.carried["q"][0, 0] += 0.1
    humanoid.carried["q"][1, 7:] += 0.1
    found = humanoid.measures()
    assert found["place_error"][0] == pytest.approx(0.1, abs=1e-3)
    assert found["bodies_error"][0] == pytest.approx(0.1, abs=1e-3)
    assert found["joints_error"][1] == pytest.approx(0.1, abs=1e-3)
    for name, x in found.items():
        assert x[2:].max() < 2e-3, name


def test_following_the_clip_earns_nearly_the_largest_reward(humanoid: Any) -> None:
    """The robot makes one step from the state of the clip. A large error ends the episode."""
    on_reference(humanoid)
    humanoid.carried["q"][0, 1] += 0.5
    humanoid.carried["q"][1, 3:7] = torch.tensor([0.0, 0.5, 0.0, 0.75**0.5])
    humanoid.carried["q"][2, 7 + 15 : 7 + 22] += 2.0
    _, reward, fell, late, _ = humanoid.step(torch.zeros(ENVS, humanoid.task.actions))
    assert fell[:3].all() and not fell[3:].any() and not late.any()
    task = humanoid.task
    best = sum(x for x in task.scales.values() if x > 0) * task.step_seconds
    assert (reward[3:] > 0.85 * best).all() and (reward[3:] <= best).all()


def test_the_policy_observes_the_reference_ahead(humanoid: Any) -> None:
    """Joints at all times ahead, and the base in the robot's own axes."""
    on_reference(humanoid)
    humanoid.step(torch.zeros(ENVS, humanoid.task.actions))
    task, seen = humanoid.task, humanoid.observations["policy"]
    names = humanoid.kernels.observation.entries["policy"]
    ends = dict(zip(names, np.cumsum(list(names.values())), strict=True))
    reference = seen[:, ends["reference"] - names["reference"] : ends["reference"]]
    frames = humanoid.carried["frame"].long()
    for k, ahead in enumerate(task.steps_ahead):
        rows = torch.tensor(task.tables["motion"])[frames + ahead]
        wanted = rows[:, 7:36] - torch.tensor(task.reference.middle)
        found = reference[:, 29 * k : 29 * (k + 1)].double()
        assert (found - wanted).abs().max() < 1e-5
    assert task.steps_ahead == (1, 5, 15)
    base = seen[:, ends["base"] - names["base"] : ends["base"]]
    assert base.shape == (ENVS, 27) and base[:, [3, 7, 12, 16]].min() > 0.9  # cosines


def test_actions_are_added_to_the_joint_positions_of_the_clip(humanoid: Any) -> None:
    """An action of 1 moves the target of its joint by 0.25 rad, and no other."""
    task = humanoid.task
    s = rl.Episode({"motion": Rows(task), "frame": 10.0, "action": np.eye(29)[3]})
    targets = task.control(None, s)["targets"]
    wanted = task.tables["motion"][11, 7:36] + 0.25 * np.eye(29)[3]
    np.testing.assert_allclose(targets, wanted)


def test_the_shipped_policy_follows_the_clip(humanoid: Any) -> None:
    """The policy follows for four seconds from random frames. Drives without a policy fall."""
    policy = rl.Policy(rl.bundled_policy("motion_tracking"))
    for acting, least, most in ((True, 0.9, 1.0), (False, 0.0, 0.3)):
        humanoid.reset(seed=2)
        up = torch.ones(ENVS, dtype=torch.bool)
        for _ in range(200):
            seen = humanoid.observations["policy"].numpy()
            up &= ~humanoid.step(policy(seen) if acting else np.zeros((ENVS, 29)))[2]
        assert least <= up.float().mean() <= most
        if acting:
            assert humanoid.measures()["joints_error"][up].mean() < 0.08


class Rows:
    """A task's table in the form that its functions take."""

    def __init__(self, task: Any):
        self.table = task.tables["motion"]

    def look(self, rows: Any, columns: Any) -> np.ndarray:
        return self.table[np.asarray(rows, int), np.asarray(columns, int)]


def test_drives_of_a_fixed_arm_follow_a_clip() -> None:
    """It has no base and no contacts. The episode is truncated at the end of the clip."""
    task = arm()
    assert task.push is None and "friction" not in task.vary and "place" not in task.scales
    env = rl.VecEnv(task, ENVS, seed=3)
    on_reference(env, 45.0)
    ends = [env.step(torch.zeros(ENVS, 2))[2:4] for _ in range(5)]
    assert not any(fell.any() for fell, _ in ends)
    assert [bool(late.all()) for _, late in ends] == [False, False, False, False, True]
    assert env.measures()["joints_error"].max() < 0.1


def test_training_varies_the_robot_by_its_base() -> None:
    """A humanoid learns with the domain randomisation of humanoids and the task's own pushes, an arm
    with that of arms, and a recipe without any keeps none."""
    task = rl.MotionTracking()
    learned = training_task(task, task.recipe)
    assert learned.vary.keys() >= HUMANOID_TO_REAL.vary.keys() and learned.terrain is not None
    assert learned.push == rl.MotionTracking.push
    fixed = arm()
    assert fixed.recipe.vary == SIM_TO_REAL_ARM
    learned = training_task(fixed, fixed.recipe)
    assert learned.vary.keys() == SIM_TO_REAL_ARM.vary.keys() and learned.push is None

    class Plain(rl.MotionTracking):
        recipe = replace(rl.MotionTracking.recipe, vary=None)

    assert Plain(ARM, swing(), repeat="never", effort=200.0).recipe.vary is None


def test_an_onboard_policy_observes_no_pose_or_velocity_of_the_base() -> None:
    """The reference of the base is that of the clip: the direction of gravity, the height and the
    velocity. The critic observes what the other task's policy does. Robots with a fixed base are
    refused."""
    task = rl.MotionTrackingOnboard()
    env = rl.VecEnv(task, 4, seed=2)
    env.reset()
    observations, *_ = env.step(torch.zeros(4, task.actions))
    observation = EnvironmentStep(task, 0).observation
    entries = observation.entries
    assert not {"velocity", "base", "joint_errors"} & set(entries["policy"])
    known = EnvironmentStep(rl.MotionTracking(), 0).observation.entries["policy"]
    assert entries["critic"] == known
    assert observation.shapes["policy"] == (3 * sum(entries["policy"].values()),)
    seen = observations["policy"][:, -entries["policy"]["reference_base"] :].numpy()
    rows = np.asarray(task.tables["motion"])
    for k, frame in enumerate(env.carried["frame"].long().numpy()):
        for n, ahead in enumerate(task.steps_ahead):
            row = rows[frame + ahead]
            up = np.asarray(wd.convert.quaternion_to_matrix(row[3:7]))[2]
            wanted = [*-up, row[2], *row[task.model.nq : task.model.nq + 6]]
            np.testing.assert_allclose(seen[k, 10 * n : 10 * n + 10], wanted, atol=2e-6)
    with pytest.raises(rl.TaskError, match="double_pendulum has a fixed base: use motion_tracking"):
        rl.MotionTrackingOnboard(ARM, swing(), effort=200.0)


def test_a_repeated_motion_has_no_end() -> None:
    env = rl.VecEnv(arm(repeat="auto"), ENVS, seed=3)
    env.reset(seed=env.kernels.seed)
    for _ in range(55):
        _, _, fell, late, _ = env.step(torch.zeros(ENVS, 2))
        assert not (fell | late).any()
    assert env.carried["frame"].max() < 50 and env.measures()["joints_error"].max() < 0.1


def test_default_drives_follow_the_effort_limits() -> None:
    task = rl.MotionTracking()
    effort = task.model.effort_limit[task.model.joint_columns]
    np.testing.assert_allclose(task.drives.kp, 2.5 * effort)
    np.testing.assert_allclose(task.drives.kd, 0.025 * 2.5 * effort)
    assert [tip.link for tip in task.tips] == [
        "left_ankle_roll_link",
        "right_ankle_roll_link",
        "left_wrist_yaw_link",
        "right_wrist_yaw_link",
    ]


def test_a_setting_selects_the_clip(tmp_path: Path) -> None:
    """The robot is the bundled humanoid or another one."""
    path = tmp_path / "swing.csv"
    swing().write(path)
    gains = {"model": ARM, "kp": 60.0, "effort": 100.0}
    task = make_with_settings("motion_tracking", [f"clip={path}", "repeat=always"], gains)
    assert task.reference.repeat and task.motion.name == str(path)
    words = [f"clip={path}", "scales.joints=3"]
    task = make_with_settings("motion_tracking", words, gains)
    assert task.scales["joints"] == 3.0 and "place" not in task.scales and not task.vary
    with pytest.raises(rl.TaskError, match=r"lacks the joint left_hip_pitch_joint of humanoid and"):
        make_with_settings("motion_tracking", [f"clip={path}"])
    with pytest.raises(rl.TaskError, match="of double_pendulum needs a motion: --set clip=FILE"):
        make_with_settings("motion_tracking", [], gains)


def test_robots_without_efforts_feet_or_named_bodies_are_refused() -> None:
    """The message says what to give."""
    free = wd.load_robot("double_pendulum")
    with pytest.raises(rl.TaskError, match=r"has no effort limit: --effort N"):
        rl.MotionTracking(free, swing(), effort=np.inf)
    with pytest.raises(rl.TaskError, match=r"no link of humanoid .* is named paw; it has"):
        rl.MotionTracking(feet="paw")
    with pytest.raises(rl.TaskError, match="repeat must be 'auto', 'always', 'never', got 'yes'"):
        arm(repeat="yes")
    with pytest.raises(rl.TaskError, match="no link of double_pendulum is named paw; it has"):
        arm(bodies="paw")


def test_a_robot_without_losses_gets_some() -> None:
    """Rotor inertia and friction that the caller has chosen stay as they are, also of one joint. The
    friction was replaced, and the damping of a description had no effect."""

    def losses(model: wd.Model) -> list[tuple[Any, ...]]:
        joints = [each for each in with_losses(model).joints if each.kind.nv]
        return [(x.armature, *((e.viscous, e.coulomb) for e in x.effects)) for x in joints]

    assert losses(ARM) == [(0.01, (0.1, 0.0)), (0.01, (0.1, 0.0))]
    rotor = ARM.with_armature({"elbow": 0.3})
    assert losses(rotor) == [(0.0, (0.1, 0.0)), (0.3, (0.1, 0.0))]
    viscous = ARM.with_friction(viscous={"shoulder": 0.3, "elbow": 0.2})
    assert losses(viscous) == [(0.01, (0.3, 0.0)), (0.01, (0.2, 0.0))]
    dry = ARM.with_friction(coulomb={"shoulder": 0.4, "elbow": 0.2})
    assert losses(dry) == [(0.01, (0.0, 0.4)), (0.01, (0.0, 0.2))]
    damped = [replace(j, damping=0.7) if j.name == "elbow" else j for j in ARM.joints]
    assert losses(rebuild(ARM, ARM.links, damped)) == [(0.01,), (0.01, (0.7, 0.0))]
