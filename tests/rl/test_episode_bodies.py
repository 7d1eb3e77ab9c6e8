"""Free bodies and forces of an episode are those of a `Simulation`, by the names of links."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pushed_box import BOX, PUSHER, PushedBox, rail

import warpdyn as wd
from warpdyn.rl.episode_bodies import EpisodeContacts, body_state, configuration

rl = pytest.importorskip("warpdyn.rl")
import torch

from warpdyn.rl.environment_step import EnvironmentStep

TASK = PushedBox()
ENVS = 6


@pytest.fixture(scope="module")
def text() -> EnvironmentStep:
    return EnvironmentStep(TASK, seed=3)


def begun(text: EnvironmentStep) -> dict[str, np.ndarray]:
    found = text.start(TASK.model, np.zeros(ENVS), *text.shared_arrays.values())._asdict()
    return {"ticks": np.zeros(ENVS)} | found


def step_environments(text: EnvironmentStep, state: Any, action: float) -> dict[str, np.ndarray]:
    arrays = [state[n] for n in text.carried]
    return text.step(
        TASK.model, *arrays, np.full((ENVS, 1), action), *text.shared_arrays.values()
    )._asdict()


def test_body_state_returns_the_pose_and_velocity_of_a_named_body() -> None:
    """Its columns of q and v, and the rotation of its quaternion in both orders."""
    quaternion = np.array([0.1, -0.2, 0.3, 0.9])
    quaternion /= np.linalg.norm(quaternion)
    x, y, z, w = quaternion
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    v = np.arange(7.0)
    for order in ("xyzw", "wxyz"):
        model = rail(order)
        turned = quaternion if order == "xyzw" else quaternion[[3, 0, 1, 2]]
        q = np.array([0.3, 1.0, 2.0, 3.0, *turned])
        body = body_state(model, q, v, BOX)
        assert np.array_equal(body.pose, q[1:]) and np.array_equal(body.velocity, v[1:])
        assert np.array_equal(body.position, [1.0, 2.0, 3.0])
        assert np.allclose(body.rotation, R, atol=1e-12)
    with pytest.raises(KeyError, match=r"rail has no free body named 'pusher'; .*it has box"):
        body_state(model, q, v, PUSHER)


def test_configuration_combines_joints_and_bodies() -> None:
    """Others are at the start configuration of the model."""
    model, pose = rail(), np.array([1.0, 2.0, 3.0, 0.0, 0.0, 1.0, 0.0])
    assert np.array_equal(configuration(model, np.array([0.4]), {BOX: pose}), [0.4, *pose])
    assert np.array_equal(configuration(model, None, {BOX: pose}), [0.0, *pose])
    home = configuration(model, np.array([0.4]), {})
    assert np.array_equal(home, [0.4, 0.1, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0])
    with pytest.raises(
        ValueError, match=r"joints must be \(joints,\) = \(1,\) for rail, got \(2,\)"
    ):
        configuration(model, np.zeros(2), {})
    with pytest.raises(ValueError, match=r"the pose of box must be \(7,\).* got \(3,\)"):
        configuration(model, None, {BOX: np.zeros(3)})
    with pytest.raises(KeyError, match="no free body named 'ball'"):
        configuration(model, None, {"ball": pose})


def test_forces_between_two_links_are_summed_over_their_contacts() -> None:
    """They act from the first link on the second one, in any order of the pair.

    Points on the ground count too.
    """
    pairs, forces = TASK.pairs, np.arange(6.0).reshape(2, 3)
    point, carried = wd.ContactPoint(BOX, (0.0, 0.0, -0.05), 0.0), np.array([[0.0, 0.0, 7.0]])
    without = EpisodeContacts((), pairs, None, forces)
    assert np.array_equal(without.force_between(PUSHER, BOX), forces[0])
    assert np.array_equal(without.force_between(BOX, PUSHER), -forces[0])
    assert np.array_equal(without.force_between("ground", BOX), forces[1])
    twice = EpisodeContacts((), [*pairs, pairs[0]], None, [*forces, np.full(3, 10.0)])
    assert np.array_equal(twice.force_between(PUSHER, BOX), forces[0] + 10)
    both = EpisodeContacts([point], pairs, carried, forces)
    assert np.array_equal(both.force_between("ground", BOX), forces[1] + carried[0])
    assert np.array_equal(both.force_between(BOX, "ground"), -forces[1] - carried[0])
    assert np.array_equal(both.force_on(BOX), forces.sum(0) + carried[0])
    assert np.array_equal(both.force_on(PUSHER), -forces[0])
    with pytest.raises(KeyError, match="no pair of rail and box; there are pusher and box"):
        both.force_between("rail", BOX)
    with pytest.raises(
        KeyError, match="rail has no contacts; links with contacts: ground, box, pusher"
    ):
        both.force_on("rail")


def test_in_contact_compares_forces_with_a_threshold() -> None:
    """The forces are those between two links, or between one link and any other.

    Forces that cancel are contacts.
    """
    forces = np.array([[0.0, 2.0, 0.0], [0.0, -2.0, 0.0]])
    contacts = EpisodeContacts((), TASK.pairs, None, forces)
    assert not contacts.force_on(BOX).any()
    flags = [
        contacts.in_contact(BOX, other, x) for other in (None, PUSHER) for x in (0.0, 1.9, 2.1)
    ]
    assert flags == [1.0, 1.0, 0.0] * 2
    still = EpisodeContacts((), TASK.pairs, None, np.zeros((2, 3)))
    assert still.in_contact(BOX, None, 0.0) == 0.0


def test_an_environment_moves_as_a_simulation_with_the_same_numbers(text: EnvironmentStep) -> None:
    """Friction, masses and the impulses of pairs are passed on.

    For several steps the box moves as in a `Simulation` and feels the same forces.
    """
    state = begun(text)
    assert np.ptp(state["pair_friction"]) > 0.1 and np.ptp(state["mass"]) > 0.1
    assert np.ptp(state["q"][:, 2]) > 0.01  # random places
    mass = state["mass"][:, 0]
    inertia = np.array(TASK.model.link(BOX).symmetric.entries) * (mass / 0.5)[:, None]
    sim = wd.Simulation(
        TASK.model,
        ENVS,
        points=[],
        pairs=TASK.pairs,
        pair_contact=wd.description.PairContact(
            friction=np.tile(state["pair_friction"][:, None], 2)
        ),
        control=TASK.drives,
        dt=TASK.dt,
        substeps=TASK.substeps,
        params=TASK.model.params(mass={BOX: mass}, inertia={BOX: inertia}),
        start=state["q"],
        dtype="float64",
    )
    pushed = 0.0
    for _ in range(12):
        after = step_environments(text, state, 1.0)
        sim.step(np.full((ENVS, 1), 0.2))
        assert np.allclose(after["q"], sim.q, atol=1e-9) and np.allclose(
            after["v"], sim.v, atol=1e-8
        )
        force = sim.force_between(PUSHER, BOX)
        assert np.allclose(after["critic"][:, -3:], force, atol=1e-6)
        earned = after["sums"][:, 1] - state["sums"][:, 1]
        assert np.allclose(earned, 0.1 * force[:, 0] * TASK.step_seconds, atol=1e-8)
        pushed, state = max(pushed, np.abs(force).max()), after
    assert pushed > 1.0 and (state["q"][:, 1] > 0.11).all()


def test_impulses_of_pairs_are_zero_when_an_episode_begins(text: EnvironmentStep) -> None:
    state = begun(text)
    for _ in range(5):
        state = step_environments(text, state, 1.0)
    assert state["pair_impulses"].any()
    state["age"][2] = text.length - 1
    after = step_environments(text, state, 1.0)
    assert after["truncated"].tolist() == [k == 2 for k in range(ENVS)]
    assert not after["pair_impulses"][2].any() and not after["pair_features"][2].any()
    assert not after["critic"][2, -3:].any() and after["critic"][3, -3:].any()


def test_a_launch_equals_the_oracle(text: EnvironmentStep) -> None:
    state = begun(text)
    for _ in range(4):
        state = step_environments(text, state, 1.0)
    after = step_environments(text, state, 0.5)
    arrays = [state[n] for n in text.carried]
    wanted = wd.oracle(
        text.step, TASK.model, *arrays, np.full((ENVS, 1), 0.5), *text.shared_arrays.values()
    )._asdict()
    for name, x in after.items():
        assert np.allclose(x, np.reshape(wanted[name], x.shape), atol=1e-8), name


def test_vec_env_carries_the_impulses_of_pairs() -> None:
    """An environment in a batch of one has the bits that it has among others."""
    env, alone = rl.VecEnv(TASK, 4, seed=1), rl.VecEnv(TASK, 1, seed=1, first=2)
    for each in (env, alone):
        each.reset()
        for _ in range(10):
            each.step(torch.ones(each.num_envs, 1))
        assert each.carried["pair_impulses"].shape[1:] == (5, 3)
    for name, x in alone.carried.items():
        assert torch.equal(x[0], env.carried[name][2]), name
    assert env.measures()["x"].shape == (4,)


def test_an_episode_without_its_task_has_no_bodies() -> None:
    s = rl.Episode({"q": np.zeros(8), "v": np.zeros(7)})
    with pytest.raises(AttributeError, match=r"make it as rl.Episode\(fields, task\)"):
        s.body(BOX)
    assert rl.Episode({"q": np.zeros(8), "v": np.zeros(7)}, TASK).body(BOX).pose.shape == (7,)
    with pytest.raises(AttributeError, match="an episode has no 'pair_forces'"):
        rl.Episode({}, TASK).force_between(PUSHER, BOX)
