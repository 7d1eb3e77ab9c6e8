"""Environments with different masses, motors, delays and grounds, compared with plain steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd

rl = pytest.importorskip("warpdyn.rl")
import torch
from pushed_box import BOX, PUSHER, PushedBox
from rl_cases import ENVS, Hold, run

from warpdyn.rl.environment_step import EnvironmentStep
from warpdyn.rl.varied_simulation import (
    _default_of_sensor_or_joint,
    contact_memory,
    defaults,
)


class Heavy(Hold):
    """Links with other masses, joints with other friction, motors with other strength."""

    seconds = 5.0
    vary = {  # noqa: RUF012
        "mass": rl.Vary(0.5, 2.0, "log_uniform", "scale", "startup"),
        "com": rl.Vary(-0.02, 0.02, how="add", of="*lower*"),
        "viscous": rl.Vary(0.0, 0.3),
        "strength": rl.Vary(0.5, 1.0),
        "kp": rl.Vary(0.8, 1.2, how="scale"),
    }
    numbers = {"reach": np.array([100.0])}  # noqa: RUF012


class Uneven(Hold):
    """Both links are twice as heavy. The moments of inertia of the lower one have their own law."""

    vary = {  # noqa: RUF012
        "mass": rl.Vary(2.0, 2.0, how="scale"),
        "inertia": rl.Vary(3.0, 3.0, how="scale", of="*lower*"),
    }
    groups, noise, numbers = {}, {}, {"reach": np.array([100.0])}

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        return s.q


def test_moments_without_a_law_grow_with_the_mass() -> None:
    """Also if those of other links have one."""
    task = Uneven()
    before, after = run(task, 1)
    links = [x for x in task.model.links if x.mass > 0]
    factors = {x.name: 3.0 if "lower" in x.name else 2.0 for x in links}
    assert set(factors.values()) == {2.0, 3.0}
    moments = {x.name: factors[x.name] * np.array(x.symmetric.entries) for x in links}
    end = wd.step(
        *(task.model, before["q"], before["v"], 0 * before["v"]),
        dt=task.dt,
        substeps=task.substeps,
        control=task.drives,
        targets=before["place"] + before["action"],
        params=task.model.params(mass={x.name: 2.0 * x.mass for x in links}, inertia=moments),
    )
    assert np.allclose(after["q"], end.q, atol=1e-12)


def test_an_environment_with_drawn_numbers_moves_as_with_params() -> None:
    """Moments of inertia grow with the mass of a link.

    The task's functions see the nominal robot.
    """
    task = Heavy()
    before, after = run(task, 1)
    mass = dict(
        zip([x.name for x in task.model.links if x.mass > 0], before["mass"].T, strict=True)
    )
    links = [x for x in task.model.links if x.mass > 0]
    inertia = {
        x.name: np.outer(mass[x.name] / x.mass, np.array(x.symmetric.entries)) for x in links
    }
    moved = [x.name for x in links if "lower" in x.name]
    com = dict(zip(moved, before["com"].transpose(1, 0, 2), strict=True))
    joints = [j.name for j in task.model.joints if j.kind.nv == 1]
    viscous = dict(zip(joints, before["viscous"].T, strict=True))
    assert np.ptp(before["mass"]) > 0 and before["viscous"].shape == (ENVS, len(joints))
    end = wd.step(
        *(task.model, before["q"], before["v"], 0 * before["v"]),
        dt=task.dt,
        substeps=task.substeps,
        control=wd.PD(
            np.repeat(before["kp"][:, None], 2, 1),
            2.0,
            strength=np.repeat(before["strength"][:, None], 2, 1),
        ),
        targets=before["place"] + before["action"],
        params=task.model.params(mass=mass, inertia=inertia, com=com, viscous=viscous),
    )
    assert np.allclose(after["q"], end.q, atol=1e-12)
    nominal = wd.step(task.model, before["q"], before["v"], 0 * before["v"], dt=task.dt, substeps=2)
    assert not np.allclose(after["q"], nominal.q, atol=1e-6)


class Late(Hold):
    """Targets reach the drives after up to 35 ms; a step takes 20."""

    seconds = 5.0
    vary = {"latency": rl.Vary(0.0, 0.035)}  # noqa: RUF012
    groups, noise = {}, {}
    numbers = {"reach": np.array([100.0])}  # noqa: RUF012

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        return s.q


def test_delayed_targets_reach_the_drives_after_their_latency() -> None:
    """A latency is a whole number of simulation steps.

    The drives have the first target from the start.
    """
    task = Late()
    *before, _ = history = run(task, 4)
    steps = np.floor(before[0]["latency"] / task.dt + 0.5).astype(int)
    assert len({*steps}) > 1 and np.ptp(steps) <= 4
    targets = [b["place"] + b["action"] for b in before]
    for env in range(ENVS):
        sent = np.repeat([t[env] for t in targets], task.substeps, axis=0)
        late = np.concatenate([np.repeat(sent[:1], steps[env], axis=0), sent])[: len(sent)]
        q, v = before[0]["q"][env : env + 1], before[0]["v"][env : env + 1]
        for row in late:
            end = wd.step(
                *(task.model, q, v, 0 * v),
                dt=task.dt,
                control=task.drives,
                targets=row[None],
            )
            q, v = end.q, end.v
        assert np.allclose(q[0], history[-1]["q"][env], atol=1e-12)


class Climb(rl.Task):
    """A box of four points falls on tiles, one level higher with each episode."""

    dt, substeps, seconds = 0.005, 2, 0.05
    actions, largest_action = 1, 1.0
    scales = {"still": 1.0}  # noqa: RUF012
    keep = {"level": rl.Vary(0.0, 2.0), "lived": 0.0}  # noqa: RUF012

    def __init__(self) -> None:
        self.model = wd.load_robot("quadruped")
        self.points = wd.ContactPoints(self.model).only("*_foot")
        self.terrain = wd.HeightMap.tiles(("rough", "slope"), 4, size=5.0, cell=0.1, seed=3)
        self.tables = {"origins": self.terrain.origins.reshape(4, 6)}

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        row = np.floor(s.level)
        origin = np.stack([s.origins.look(row, float(k)) for k in range(3)])
        stance = np.array([0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5])
        place = wd.random.uniform(s.random, 2, -0.8, 0.8)
        q = np.concatenate([place, [0.33], np.array([0.0, 0.0, 0.0, 1.0]), stance])
        return {"q": q, "v": np.zeros(18), "origin": origin}

    def control(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"tau": np.zeros(18)}

    def observe(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        pattern = np.array([[0.0, 0.0], [0.3, 0.0]])
        return {"ground": robot.height_scan(s.q, pattern, terrain=s.terrain), "level": s.level}

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"still": -np.sum(s.v**2)}

    def promote(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"level": np.minimum(s.level + 1.0, 3.0), "lived": s.lived + s.age}


def test_environments_have_places_on_a_map_and_keep_their_level() -> None:
    """The height scan and the contacts use the ground at the place. Levels outlast an episode."""
    task = Climb()
    history = run(task, 7)
    first, fifth, last = history[0], history[5], history[-1]
    assert fifth["truncated"].all() and (fifth["lived"] == 5).all()
    assert np.allclose(fifth["level"], np.minimum(first["level"] + 1, 3))
    assert np.allclose(last["level"], fifth["level"]) and (last["lived"] == 5).all()
    for state in (first, fifth, last):
        rows = np.floor(state["level"]).astype(int)
        assert np.allclose(state["origin"], task.terrain.origins[rows, 0])
        placed = task.terrain.with_offset(state["origin"])
        seen = wd.height_scan(task.model, state["q"], [[0.0, 0.0], [0.3, 0.0]], terrain=placed)
        assert np.allclose(state["policy"][:, :2], seen, atol=1e-9)
    end = wd.step(
        *(task.model, first["q"], first["v"], 0 * first["v"]),
        dt=task.dt,
        substeps=task.substeps,
        points=task.points,
        impulses=first["impulses"],
        terrain=task.terrain.with_offset(first["origin"]),
    )
    assert np.allclose(history[1]["q"], end.q, atol=1e-10)


@pytest.mark.parametrize(
    ("vary", "error"),
    [
        (
            {"mass": rl.Vary(0.9, 1.1, of="wheel*")},
            "no link of double_pendulum that matches 'wheel",
        ),
        ({"latency": rl.Vary(0.9, 1.1, how="scale")}, 'latency must have how="abs"'),
        ({"kp": rl.Vary(-1.0, 2.0)}, "kp must not be negative, but its draws reach down to -1$"),
        ({"kp": rl.Vary(-31.0, 0.0, how="add")}, "kp must not be negative.* down to -1$"),
        ({"mass": rl.Vary(1.0, 0.4, "normal", "scale")}, "mass must not be negative"),
    ],
)
def test_invalid_variations_are_refused(vary: dict[str, Any], error: str) -> None:
    task = Hold()
    task.vary = vary
    with pytest.raises(rl.TaskError, match=error):
        EnvironmentStep(task, 0)


def test_the_ground_stiffness_is_scaled_from_the_steps_own() -> None:
    """A factor of 1 changes nothing. Feet sink deeper into a softer ground."""
    task = rl.make("quadruped_velocity")
    task.vary = {"friction": rl.Vary(0.8, 0.8)}
    heights = []
    for factor in (None, 1.0, 0.05):
        if factor is not None:
            task.vary = {**task.vary, "stiffness": rl.Vary(factor, factor, how="scale")}
        env = rl.VecEnv(task, 4, seed=2, dtype="float64")
        env.reset()
        for _ in range(10):
            env.step(torch.zeros(4, task.actions))
        heights.append(env.carried["q"][:, 2].clone())
    assert torch.allclose(heights[1], heights[0], atol=1e-9)
    assert (heights[2] < heights[0] - 0.001).all()


def test_numbers_of_pairs_default_to_the_description() -> None:
    """One number for all pairs, or one each if they differ.

    Numbers that the step computes have no default.
    """
    task = PushedBox()
    task.vary = {"pair_friction": rl.Vary(0.5, 2.0, how="scale"), "pair_dissipation": rl.Vary(1, 2)}
    found = defaults(task)
    assert found["pair_friction"].shape == () and found["pair_friction"] == 0.8
    assert found["pair_dissipation"] == 0.005
    task.pairs = wd.ContactPairs(task.model).only((PUSHER, BOX)).with_ground(BOX, friction=0.3)
    assert defaults(task)["pair_friction"].tolist() == [0.8, 0.3]
    task.pair_contact = wd.description.PairContact(friction=0.6)
    assert defaults(task)["pair_friction"] == 0.6
    for pairs, name in ((task.pairs, "pair_stiffness"), ((), "pair_friction")):
        task.pairs, task.vary = pairs, {name: rl.Vary(1.0, 2.0)}
        with pytest.raises(rl.TaskError, match=f"'{name}' is not a number that can vary"):
            defaults(task)


def test_numbers_of_the_ground_need_contact_points() -> None:
    """They would change nothing. With pairs, the message names the number of the pairs."""
    task = rl.make("panda_reach")
    task.vary = {"friction": rl.Vary(0.5, 1.0)}
    with pytest.raises(
        rl.TaskError, match=r"vary.friction belongs to contact points .* no points$"
    ):
        defaults(task)
    box = PushedBox()
    box.vary = {"stiffness": rl.Vary(1.0, 2.0)}
    with pytest.raises(rl.TaskError, match=r"no points; for its pairs: pair_stiffness$"):
        defaults(box)


def test_friction_moments_can_vary() -> None:
    """Points and pairs then pass six entries of an impulse on.

    The default is that of the description, or 0.
    """
    task = PushedBox()
    assert contact_memory(task)["pair_impulses"] == (task.pairs.contacts, 3)
    assert contact_memory(task)["impulses"] == (0, 3)
    task.vary = {"pair_torsional_friction": rl.Vary(0.01, 0.02)}
    assert defaults(task)["pair_torsional_friction"] == 0.0
    assert contact_memory(task)["pair_impulses"] == (task.pairs.contacts, 6)
    task.pair_contact = wd.description.PairContact(torsional_friction=0.015)
    assert defaults(task)["pair_torsional_friction"] == 0.015
    climb = Climb()
    climb.vary = {"rolling_friction": rl.Vary(0.01, 0.02)}
    assert (
        contact_memory(climb)["impulses"] == (4, 6) and defaults(climb)["rolling_friction"] == 0.0
    )
    climb.ground = wd.Ground(rolling_friction=0.03)
    assert defaults(climb)["rolling_friction"] == 0.03


def test_attributes_that_a_step_refuses_are_reported_for_the_task() -> None:
    task = Hold()
    task.integrator = "euler"
    env = rl.VecEnv(task, 1)
    env.reset()
    with pytest.raises(
        rl.TaskError, match=r"Hold: integrator must be one of semi_implicit, .*'euler'"
    ):
        env.step(torch.zeros(1, 2))


@pytest.mark.parametrize("name", ["quadratic_friction", "encoder_bias"])
def test_joints_of_several_freedoms_have_no_such_numbers(name: str) -> None:
    task = Hold()
    arm = wd.ModelBuilder("b").add_link("a").add_link("c", 1.0, (0, 0, 0), np.eye(3))
    task.model = arm.add_joint("j", "ball", "a", "c").build()
    task.vary = {name: rl.Vary(0.0, 1.0)}
    said = f"Hold.vary: {name} needs joints with one degree of freedom each"
    with pytest.raises(rl.TaskError, match=said):
        _default_of_sensor_or_joint(task, name)
