"""One environment's next step on plain numbers equals the launch, for a task with every feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from rl_cases import Hold

import warpdyn as wd

HOPPER = """<robot name="hopper">
<link name="trunk"><inertial><mass value="2"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02"
 iyz="0" izz="0.02"/></inertial></link>
<joint name="knee" type="revolute"><parent link="trunk"/><child link="shin"/><axis xyz="0 1 0"/>
 <limit lower="-1" upper="1" effort="8" velocity="20"/></joint>
<link name="shin"><inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/><inertia ixx="0.002" ixy="0"
 ixz="0" iyy="0.002" iyz="0" izz="0.001"/></inertial></link></robot>"""


class Hopper(rl.Task):
    """A trunk on one leg on uneven ground. It uses each form of each feature of a task."""

    dt, substeps, seconds = 0.005, 2, 0.08
    actions, largest_action = 1, 1.0
    drives = wd.PD(20.0, 0.5)
    scales = {"high": 1.0, "gentle": -0.1, "chance": 1.0}  # noqa: RUF012
    numbers = {"lowest": np.array([0.12])}  # noqa: RUF012
    keep = {"level": rl.Vary(0.0, 2.0), "lived": 0.0}  # noqa: RUF012
    groups = {"policy": ("speed", "knee", "ground"), "critic": ("speed", "push", "more")}  # noqa: RUF012
    noise = {"speed": rl.Noise(0.1, "normal"), "knee": rl.Noise(0.05)}  # noqa: RUF012
    history = {"policy": 3, "critic": 2}  # noqa: RUF012
    push = rl.Push(0.5, 0.03)
    vary = {  # noqa: RUF012
        "friction": rl.Vary(0.4, 1.0, when="interval", seconds=0.04),
        "mass": rl.Vary(1.0, 0.2, "normal", "scale", "startup", of="trunk"),
        "com": rl.Vary(-0.01, 0.01, how="add"),
        "damping": rl.Vary(0.5, 2.0, "log_uniform"),
        "strength": rl.Vary(0.8, 1.0),
        "kp": rl.Vary(0.9, 1.1, how="scale"),
        "latency": rl.Vary(0.0, 0.015),
        "gravity": rl.Vary(-0.1, 0.1, how="add"),
    }

    def __init__(self) -> None:
        model = wd.load_urdf(HOPPER, floating_base=True)
        self.model = model.with_limit_springs(stiffness=50.0, damping=0.5)
        self.points = (wd.ContactPoint("shin", (0.0, 0.0, -0.2), 0.02),)
        self.terrain = wd.HeightMap.tiles(("rough", "slope"), 3, size=5.0, cell=0.25, seed=3)
        self.tables = {"origins": self.terrain.origins.reshape(3, 6)}

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        row = np.floor(s.level)
        origin = np.stack([s.origins.look(row, float(k)) for k in range(3)])
        place = wd.random.uniform(s.random, 2, -0.5, 0.5)
        still = np.array([0.24, 0.0, 0.0, 0.0, 1.0, 0.1])
        v = wd.random.normal(s.random.at(40), 7, 0.0, 0.1)
        return {"q": np.concatenate([place, still]), "v": v, "origin": origin, "touches": 0.0}

    def control(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        chance = wd.random.uniform(s.random, 1, -0.1, 0.1)
        return {"targets": s.action + chance, "tau": 0.01 * s.v}

    def update(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"touches": s.touches + np.where(s.forces[0, 2] > 0.1, 1.0, 0.0)}

    def observe(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        ground = robot.height_scan(s.q, np.array([[0.0, 0.0], [0.2, 0.0]]), terrain=s.terrain)
        chance = wd.random.uniform(s.random, 1)
        return {
            **{"speed": s.v, "knee": s.q[7], "ground": ground, "push": s.v - s.last_v},
            "more": np.concatenate([s.forces[0], s.torques, s.last_action, chance, s.gravity]),
        }

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        chance = wd.random.uniform(s.random)
        return {"high": s.q[2], "gentle": np.sum(s.v**2), "chance": chance * s.time}

    def is_terminal(self, robot: Any, s: rl.Episode) -> Any:
        return s.q[2] < s.lowest[0]

    def promote(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        up = wd.random.uniform(s.random)
        return {"level": np.clip(s.level + up, 0.0, 2.9), "lived": s.lived + s.age}


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_a_launch_equals_the_tasks_functions_on_plain_numbers(autoreset: str) -> None:
    """Noise, history, pushes, delays, masses, grounds, levels and ends agree to float32."""
    env = rl.VecEnv(Hopper(), 3, seed=5, autoreset=autoreset)
    env.reset()
    draw, ends = torch.Generator().manual_seed(0), 0
    for k in range(12):
        action = 2.0 * torch.rand((3, 1), generator=draw) - 1.0
        wanted = rl.plain_step(env, action[k % 3].numpy(), k % 3)
        env.step(action)
        found = {**env.carried, **env._seen[env._turn]}
        assert set(found) == set(wanted)
        for name, x in found.items():
            tight = 2e-3 * (1.0 + np.abs(wanted[name])) if name == "forces" else 2e-4
            assert np.allclose(x[k % 3], wanted[name], atol=tight, rtol=2e-4), name
        ends += int(wanted["terminated"] + wanted["truncated"])
    assert ends >= 1


def test_print_works_in_the_functions_of_a_task(capsys: Any) -> None:
    """Each function runs in Python with numbers. The environments do not move."""

    class PrintingHold(Hold):
        def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
            print("off by", s.q - s.place)
            return super().reward(robot, s)

    env = rl.VecEnv(PrintingHold(), 4)
    env.reset()
    before = env.state()
    found = rl.plain_step(env, [0.5, -0.5], 2)
    (last,) = capsys.readouterr().out.splitlines()
    place = env.carried["place"][2].numpy()
    assert last.startswith("off by [0.") and found["q"].shape == (2,)
    told = np.array(last[last.index("[") + 1 : -1].split(","), float)
    assert np.allclose(told, found["q"] - place, atol=1e-4)
    assert all(torch.equal(x, before[n]) for n, x in env.state().items())
    with pytest.raises(IndexError, match="there are environments 0 to 3, got 4"):
        rl.plain_step(env, [0.0, 0.0], 4)
