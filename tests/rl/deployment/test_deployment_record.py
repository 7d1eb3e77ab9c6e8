"""A policy file's deployment record moves a robot as `DeployedPolicy` does, without warpdyn."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import onnx
from rl_cases import Hold

import warpdyn as wd
from warpdyn.rl.bundled_policies import policies
from warpdyn.rl.deployment.deployment_record import deployment_record
from warpdyn.rl.deployment.policy_match import check_match
from warpdyn.rl.deployment.portable_program import run_portable
from warpdyn.rl.deployment.robot_step import RobotStep

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", policies())
def test_each_shipped_policy_has_the_deployment_record_of_its_task(
    name: str, tmp_path: Path
) -> None:
    """Both are compared as JSON.

    Results of linear algebra may differ between machines in last bits.
    """
    record = rl.Policy(rl.bundled_policy(name)).deployment
    copied = Path(shutil.copy(rl.bundled_policy(name), tmp_path))
    rl.describe(rl.make(name), copied)
    present = rl.Policy(copied).deployment
    check_match(name, record, present)
    for part in ("format", "task", "robot", "q", "v", "joints", "observation", "command"):
        assert record[part] == present[part]
    for part, x in record["action"].items():
        np.testing.assert_allclose(x, present["action"][part], rtol=1e-9, atol=1e-11)
    assert record["programs"]["observe"]["steps"] or name == "cartpole_swing_up"


@pytest.mark.parametrize(
    "name", ["cartpole_swing_up", "panda_reach", "quadruped_velocity", "motion_tracking"]
)
def test_the_record_gives_the_commands_of_a_deployed_policy(name: str) -> None:
    """Observations, targets and forces agree for several steps with changing states and commands.

    Tables in the record are rounded.
    """
    policy = rl.Policy(rl.bundled_policy(name))
    tables, near = policy.deployment.get("tables"), 1e-9
    if tables is not None:
        near = 1e-5
    record, deployed = policy.deployment, rl.DeployedPolicy(rl.make(name), policy)
    memory = {f"memory_{n}": np.array(x["start"]) for n, x in record["memory"].items()}
    task, draw = deployed.task, np.random.default_rng(0)
    action, first, command = np.zeros(task.actions), 1.0, np.zeros(deployed.commands)
    for _ in range(6):
        q = np.array(task.model.neutral) + draw.uniform(-0.2, 0.2, task.model.nq)
        if task.model.floating_base:
            q[3:7] /= np.linalg.norm(q[3:7])
        v, asked = draw.normal(size=task.model.nv), draw.uniform(-2, 2, deployed.commands)
        wanted = deployed.step(q, v, asked if deployed.commands else None)
        if deployed.commands:
            limits = record["command"]
            most = np.array(limits["rate"]) * record["period"]
            change = np.clip(asked, limits["lowest"], limits["highest"]) - command
            command = command + np.clip(change, -most, most)
        inputs = {"q": q, "v": v, "command": command, "action": action, "first": first}
        seen = run_portable(record["programs"]["observe"], {**inputs, **memory}, tables)
        np.testing.assert_allclose(seen["observation"], deployed.observation, atol=near)
        memory |= {f"memory_{n}": x for n, x in seen.items() if n in record["memory"]}
        action, first = policy(seen["observation"]), 0.0
        given = run_portable(record["programs"]["act"], {"action": action, **memory}, tables)
        if wanted.targets is not None:
            np.testing.assert_allclose(given["targets"], wanted.targets, atol=near)
        if "tau" in given:
            columns = record["joints"]["v"]
            np.testing.assert_allclose(given["tau"][columns], wanted.tau, atol=near)


def test_the_record_describes_the_quadruped() -> None:
    task = rl.make("quadruped_velocity")
    record = rl.Policy(rl.bundled_policy("quadruped_velocity")).deployment
    joints, terms = record["joints"], {t["name"]: t for t in record["observation"]["terms"]}
    assert tuple(joints["names"]) == task.model.joint_names[-12:]
    np.testing.assert_allclose(joints["stance"], task.stance)  # type: ignore[attr-defined]
    assert joints["kp"] == [25.0] * 12 and record["rate"] == 50.0
    assert record["action"]["scale"] == [0.25] * 12 and record["action"]["largest"] == 6.0
    assert terms["speeds"]["formulas"][0] == "0.05 * v[6]"
    assert sum(term["size"] for term in terms.values()) == record["observation"]["size"] == 50
    assert record["command"]["highest"] == [1.0, 1.0, 1.0]
    assert record["memory"]["phase"]["formulas"][0].startswith("(phase[0] + 0.0525")


class RandomObservation(Hold):
    """A task whose observation is random."""

    def update(self, robot: Any, s: Any) -> dict[str, Any]:
        from warpdyn.random import uniform

        return {"passed": uniform(s.random, ())}

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        return {**super().observe(robot, s), "off": s.q - s.place + s.passed}


def test_the_record_describes_noise_history_and_random_draws() -> None:
    task = Hold()
    task.history = {"policy": 2}
    seen = deployment_record(task)["observation"]
    assert (seen["size"], seen["history"]) == (12, 2)
    assert seen["terms"][0]["noise in training"] == {"size": 0.01, "law": "normal"}
    assert (
        deployment_record(RandomObservation())["programs"]
        == "it needs 'uniform', which has no portable form"
    )


def test_describe_adds_a_record_and_keeps_the_network(tmp_path: Path) -> None:
    path = tmp_path / "policy.onnx"
    whole = onnx.load(str(rl.bundled_policy("cartpole_swing_up")))
    network = hashlib.sha256(whole.graph.SerializeToString()).hexdigest()
    del whole.metadata_props[:]
    onnx.save(whole, str(path))
    assert rl.Policy(path).deployment == {}
    for _ in range(2):
        rl.describe(rl.CartpoleSwingUp(), path)
    after = onnx.load(str(path))
    assert hashlib.sha256(after.graph.SerializeToString()).hexdigest() == network
    assert [x.key for x in after.metadata_props] == ["deployment"]
    assert rl.Policy(path).deployment["task"] == "CartpoleSwingUp"
    with pytest.raises(rl.TaskError, match="Hold for double_pendulum gives 6"):
        rl.describe(Hold(), path)


def test_the_program_of_the_deployment_page_runs_without_warpdyn(tmp_path: Path) -> None:
    """It has 60 lines without the blank ones, and imports neither warpdyn nor Torch."""
    page = (ROOT / "docs/rl_deployment.md").read_text()
    code = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[-1]
    lines = [line for line in code.splitlines() if line.strip()]
    assert len(lines) <= 60 and max(map(len, lines)) <= 100
    assert "import warpdyn" not in code
    file = tmp_path / "run.py"
    file.write_text(
        code + "\nimport sys\nassert 'warpdyn' not in sys.modules and 'torch' not in sys.modules\n"
    )
    found = {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, str(file)], env=os.environ | found, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    printed = page.split("A whole program")[1].split("prints\n```\n")[1].split("```")[0]
    assert done.stdout == printed


def test_the_record_has_a_hash_of_its_programs() -> None:
    """It has 16 hexadecimal digits. Equal programs have equal hashes."""
    records = [deployment_record(Hold(), RobotStep(Hold())) for _ in range(2)]
    assert re.fullmatch("[0-9a-f]{16}", records[0]["hash"])
    assert records[0]["hash"] == records[1]["hash"]


class MixedActions(Hold):
    """A task with small actions and a matrix from them to the targets, which begin away from zero.
    Actions beyond 0.25 have no further effect."""

    largest_action = 0.4

    def __init__(self, matrix: list[list[float]]) -> None:
        super().__init__()
        self.matrix = np.array(matrix)

    def control(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        moved = self.matrix @ np.clip(s.action, -0.25, 0.25)
        return {"targets": s.place + np.array([0.3, -0.7]) + moved}


def test_scales_are_changes_for_an_action_of_one_within_the_bounds_of_actions() -> None:
    """A full matrix stays a matrix, (joints, actions); a diagonal one is a list of joints. They are
    measured with half of the largest action, because an action of one would be cut to the largest."""
    for matrix, scale in (
        ([[0.5, -0.2], [0.1, 0.25]], [[0.5, -0.2], [0.1, 0.25]]),
        ([[0.5, 0.0], [0.0, 0.25]], [0.5, 0.25]),
    ):
        record = deployment_record(MixedActions(matrix))
        start = np.add(record["memory"]["place"]["start"], [0.3, -0.7])
        np.testing.assert_allclose(record["joints"]["stance"], start, atol=1e-12)
        assert record["action"] == {"size": 2, "largest": 0.4, "scale": scale}


def test_the_record_has_the_friction_that_acts_in_training() -> None:
    """Not that of the description: a robot of URDF moves without it, unless its model is given it. In
    a simulation of the record, joints would be slowed down by other torques than in training."""
    task = Hold()
    described = (replace(joint, damping=0.5, friction=0.4) for joint in task.model.joints)
    task.model = replace(task.model, joints=tuple(described))
    record = deployment_record(task)["joints"]
    assert record["damping"] == record["friction"] == [0.0, 0.0]
    task.model = task.model.with_friction(
        viscous={"shoulder": 0.3, "elbow": 0.2}, coulomb={"shoulder": 0.0, "elbow": 0.7}
    )
    record = deployment_record(task)["joints"]
    assert record["damping"] == [0.3, 0.2] and record["friction"] == [0.0, 0.7]


def test_the_record_of_a_file_of_mujoco_has_its_friction() -> None:
    """There the friction of the description acts."""
    task = Hold()
    task.model = wd.load(
        """<mujoco><worldbody><body><joint name="shoulder" axis="0 1 0" damping="0.4"/><geom size="0.1"/>
        <body name="tip" pos="0 0 0.3"><joint name="elbow" axis="0 1 0" frictionloss="0.6"/><geom size="0.1"/>
        </body></body></worldbody></mujoco>"""
    )
    record = deployment_record(task)["joints"]
    assert record["damping"] == [0.4, 0.0] and record["friction"] == [0.0, 0.6]
