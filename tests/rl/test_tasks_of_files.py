"""Tasks with robots and grounds from MJCF files or with closed loops, compared with simulations."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import warpdyn as wd

rl = pytest.importorskip("warpdyn.rl")
from loop_robots import four_bar
from rl_cases import ENVS, Hold, run

from warpdyn.rl.environment_step import EnvironmentStep
from warpdyn.rl.varied_simulation import as_described, defaults

SLIDER = """<mujoco><worldbody><geom type="plane" size="1 1 1" friction="0.1"/><body name="sledge" pos="0 0 0.1">
<joint name="along" type="slide" axis="1 0 0" damping="3" frictionloss="0.5"/>
<joint name="up" type="slide" axis="0 0 1"/><geom size="0.1" mass="2" friction="1.7"/></body></worldbody></mujoco>"""


class Sledge(Hold):
    """A robot from an MJCF file on its own contact points."""

    drives, actions, substeps = None, 1, 2
    groups: ClassVar[dict[str, Any]] = {}
    noise: ClassVar[dict[str, Any]] = {}
    vary: ClassVar[dict[str, Any]] = {"friction": rl.Vary(0.5, 1.5, how="scale")}

    def __init__(self) -> None:
        self.model = wd.load(SLIDER)
        self.points = wd.ContactPoints(self.model)

    def begin(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"q": np.zeros(2), "v": np.array([2.0, 0.0])}

    def control(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"tau": np.zeros(2)}

    def update(self, robot: Any, s: Any) -> dict[str, Any]:
        return {}

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"speed": s.v}

    def reward(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"still": s.v[0], "near": s.v[1]}

    def is_terminal(self, robot: Any, s: Any) -> Any:
        return False


def test_a_task_has_the_friction_and_passive_forces_of_its_mjcf_file() -> None:
    """A `Simulation` has the same values.

    The task's own values override them. Tasks with other robots do not change.
    """
    task = Sledge()
    described = as_described(task)
    (along, _) = described.model.joints
    assert along.effects[0].viscous == 3 and along.effects[0].coulomb == 0.5
    assert described.ground.friction == (1.7,) and not task.model.joints[0].effects
    assert defaults(described)["friction"].tolist() == [1.7]
    task.ground, task.passive_forces = wd.Ground(0.3), "model"
    assert as_described(task).model is task.model and as_described(task).ground.friction == 0.3
    ours = Hold()
    assert as_described(ours) is ours


ROD = """<mujoco><worldbody><body name="rod"><joint name="j" axis="0 1 0" range="-90 20"/>
<geom pos="0.5 0 0" size="0.1" mass="2"/></body></worldbody></mujoco>"""


FALLING = 25
"""Steps after which the rod is on its limit."""


class Rod(Sledge):
    """A rod that falls onto its joint limit, which deflects by 2 cm under its weight."""

    vary: ClassVar[dict[str, Any]] = {}
    seconds = 5.0

    def __init__(self) -> None:
        self.model = wd.load(ROD)

    def begin(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"q": np.zeros(1), "v": np.zeros(1)}

    def control(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"tau": np.zeros(1)}

    def reward(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"still": s.v[0], "near": s.q[0]}


@pytest.mark.parametrize(
    ("stops", "gravity"),
    [
        (None, (0.0, 0.0, -9.81)),
        ("springs", (0.0, 0.0, -9.81)),
        ("soft", (0.5, 0.0, -12.0)),
        ("none", (0.0, 0.0, -9.81)),
    ],
)
def test_joint_limits_and_gravity_of_a_task_equal_a_simulations(
    stops: Any, gravity: tuple[float, ...]
) -> None:
    """The limits of an MJCF file are constraint rows if `stops` is None.

    Rows pass their impulses on.
    """
    task = Rod()
    task.stops, task.gravity = stops, gravity
    *_, after = run(task, FALLING)
    options = {} if stops is None else {"stops": stops}
    sim = wd.Simulation(
        *(task.model, ENVS),
        points=[],
        dt=task.dt,
        substeps=2,
        dtype="float64",
        start=[0.0],
        gravity=gravity,
        **options,
    )
    for _ in range(FALLING):
        sim.step()
    assert np.allclose(after["q"], sim.q, atol=1e-9) and (np.abs(sim.q) > 0.1).all()
    rows = stops in (None, "rows", "soft")
    assert ("joint_impulses" in after) is rows
    assert not rows or (np.abs(after["joint_impulses"]) > 0.0).all()


def test_a_task_with_unread_collision_shapes_is_refused() -> None:
    """Its robot would sink into the ground."""
    task = Sledge()
    task.points.left_out = (("sledge", "the mesh a.stl", "there is no such file"),)
    with pytest.raises(ValueError, match="would sink into the ground"):
        EnvironmentStep(task, 0)


class Linkage(Sledge):
    """A four-bar whose crank turns."""

    vary: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.model = four_bar()
        self.start = wd.oracle(wd.loops.close, self.model, np.array([0.3, 0.0, 0.3]))

    def begin(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"q": self.start, "v": np.zeros(3)}

    def control(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"tau": np.concatenate([3.0 * s.action, np.zeros(2)])}


def test_closed_loops_of_a_task_move_as_in_a_simulation_and_stay_closed() -> None:
    """The errors of the loops are below 0.1 mm."""
    task = Linkage()
    *before, after = run(task, 8)
    sim = wd.Simulation(
        task.model, ENVS, points=[], dt=task.dt, substeps=2, dtype="float64", start=task.start
    )
    for each in before:
        sim.step(tau=np.concatenate([3.0 * each["action"], np.zeros((ENVS, 2))], axis=1))
    assert np.allclose(after["q"], sim.q, atol=1e-9) and np.ptp(sim.q[:, 0]) > 0.01
    assert np.abs(wd.loops.errors(task.model, after["q"])).max() < 1e-4


def test_an_environment_of_an_mjcf_file_moves_as_its_simulation() -> None:
    task = Sledge()
    task.vary = {}
    text = EnvironmentStep(task, 0)
    given = list(text.shared_arrays.values())
    state = text.start(text.task.model, np.zeros(1), *given)._asdict() | {"ticks": np.zeros(1)}
    after = text.step(
        text.task.model, *(state[n] for n in text.carried), np.zeros((1, 1)), *given
    )._asdict()
    sim = wd.Simulation(
        *(task.model, 1), dt=task.dt, substeps=2, dtype="float64", start=[0.0, 0.0], stops="none"
    )
    sim.reset(v=[2.0, 0.0])
    sim.step()
    assert np.allclose(after["q"], sim.q, atol=1e-9) and np.allclose(after["v"], sim.v, atol=1e-8)
    assert abs(sim.v[0, 0]) < 1.9
