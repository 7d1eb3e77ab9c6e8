"""A force-torque sensor: the contact wrench is its reading without the weight of the load."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from driven_arm import HAND, READY
from fleets import MODEL, chain_text, panda_settings

import warpdyn as wd
from ros2_node.control.references.wrench_sensor import WrenchSensor, load_beyond, rigid_pose
from ros2_node.control.settings.node_settings import Settings

G = np.array([0.0, 0.0, -9.81])


def sensor_of(frame=HAND, **values):
    values = {"ft_deadband": [0.0, 0.0], "ft_cutoff": 0.0, **values}
    return WrenchSensor(MODEL, frame, panda_settings(**values), Counter())


def rotations(count=10, seed=0):
    rng = np.random.default_rng(seed)
    q = READY + rng.uniform(-0.8, 0.8, (count, len(READY))) * [*[1.0] * 7, 0.0]
    return np.asarray(wd.fk(MODEL, q, frame=HAND)), rng


def test_the_weight_of_the_load_is_no_contact():
    """The fingers of the model and a payload act on the sensor at the hand in any pose.

    Only a force at a point remains.
    """
    sensor = sensor_of(payload__link=HAND, payload__mass=1.3, payload__com=[0.01, 0.02, 0.1])
    fingers, com = load_beyond(MODEL, HAND)
    assert (
        abs(fingers - sum(MODEL.link(x).mass for x in ("panda_leftfinger", "panda_rightfinger")))
        < 1e-12
    )
    poses, rng = rotations()
    for k, T in enumerate(poses):
        R, push = T[:3, :3], rng.normal(size=6)
        reading = np.zeros(6)
        for mass, at in ((fingers, com), (1.3, np.array([0.01, 0.02, 0.1]))):
            weight = R.T @ (mass * G)
            reading += np.concatenate([weight, np.cross(at, weight)])
        reading += np.concatenate([R.T @ push[:3], R.T @ push[3:]])
        assert sensor.read(HAND, reading[:3], reading[3:], float(k)) is None
        sensor.update(R, 1e-3)
        np.testing.assert_allclose(sensor.contact, push, atol=1e-12)


def test_a_sensor_may_be_on_another_link_than_the_frame():
    """The sensor is on link 8 below the hand and carries its weight. The contact torque is about
    the hand's origin."""
    sensor = sensor_of(ft_link="panda_link8")
    mass, com = load_beyond(MODEL, "panda_link8")
    assert mass > MODEL.link(HAND).mass
    offset = rigid_pose(MODEL, HAND, "panda_link8")
    poses, rng = rotations(seed=1)
    for k, T in enumerate(poses):
        R = T[:3, :3] @ offset[:3, :3]
        arm = T[:3, :3] @ offset[:3, 3]
        push = rng.normal(size=6)  # about the hand's origin
        at_sensor = np.concatenate([push[:3], push[3:] - np.cross(arm, push[:3])])
        weight = R.T @ (mass * G)
        reading = np.concatenate(
            [R.T @ at_sensor[:3] + weight, R.T @ at_sensor[3:] + np.cross(com, weight)]
        )
        sensor.read("panda_link8", reading[:3], reading[3:], float(k))
        sensor.update(T[:3, :3], 1e-3)
        np.testing.assert_allclose(sensor.contact, push, atol=1e-12)


def test_readings_pass_a_low_pass_and_a_dead_band():
    """The contact has reached 63 % after 1 / (2 pi cutoff).

    The dead band is subtracted from the magnitude.
    """
    sensor = sensor_of(ft_cutoff=10.0)
    R = np.eye(3)
    sensor.update(R, 1e-3)
    assert not sensor.contact.any(), "before the first reading"
    rest = np.array([*(load_beyond(MODEL, HAND)[0] * G), 0.0, 0.0, 0.0])
    rest[3:] = np.cross(load_beyond(MODEL, HAND)[1], rest[:3])
    sensor.read(HAND, rest[:3], rest[3:], 0.0)
    sensor.update(R, 1e-3)
    np.testing.assert_allclose(sensor.contact, 0.0, atol=1e-12)
    tau = 1.0 / (2.0 * np.pi * 10.0)
    for k in range(100):
        sensor.read(HAND, rest[:3] + 10.0 * np.eye(3)[0], rest[3:], 1e-3 * k)
        sensor.update(R, tau / 100)
    np.testing.assert_allclose(sensor.contact[0], 10.0 * (1.0 - np.exp(-1.0)), rtol=1e-9)
    banded = sensor_of(ft_deadband=[2.0, 0.5])
    banded.read(HAND, rest[:3] + np.array([3.0, 0, 4.0]), rest[3:] + 0.4 * np.eye(3)[1], 0.0)
    banded.update(R, 1e-3)
    np.testing.assert_allclose(banded.contact, [1.8, 0, 2.4, 0, 0, 0], atol=1e-12)


def test_tare_makes_the_contact_zero():
    sensor = sensor_of()
    sensor.read(HAND, [1.0, 2.0, 3.0], [0.1, 0.2, 0.3], 0.0)
    sensor.update(np.eye(3), 1e-3)
    assert sensor.contact.any()
    sensor.tare()
    sensor.update(np.eye(3), 1e-3)
    np.testing.assert_allclose(sensor.contact, 0.0, atol=1e-12)


def test_bad_wrenches_and_links_are_refused():
    sensor = sensor_of()
    for frame, force in (("camera", [0.0] * 3), (HAND, [np.nan] * 3), (HAND, [1e9] * 3)):
        assert sensor.read(frame, force, [0.0] * 3, 0.0)
    assert sensor._counts == {"ft_wrench_refused": 3} and sensor.arrived == -np.inf
    with pytest.raises(ValueError, match="a joint lies between them"):
        sensor_of(ft_link="panda_link3")
    with pytest.raises(ValueError, match="is not a link of panda"):
        sensor_of(ft_link="nose")
    with pytest.raises(ValueError, match="a joint lies between them"):
        sensor_of(payload__link="panda_link2", payload__mass=1.0)


def test_a_payload_link_without_a_mass_adds_no_load():
    """The load consists of the model's own links until a payload has a mass."""
    mass, com = load_beyond(MODEL, HAND)
    for values in ({"payload__link": HAND}, {}):
        sensor = sensor_of(**values)
        assert sensor._mass == mass
        np.testing.assert_array_equal(sensor._com, com)
    assert sensor_of(payload__link=HAND, payload__mass=1.3)._mass == mass + 1.3
    with pytest.raises(ValueError, match=r"payload\.mass is set but payload\.link is empty"):
        sensor_of(payload__mass=1.3)


def filtered_force(times, cutoff=1.0, cycle=0.01):
    """The contact's first component after readings of 1 N at these times, each followed by a cycle
    [s]."""
    sensor = sensor_of(ft_cutoff=cutoff)
    sensor._mass = 0.0
    for k, now in enumerate(times):
        sensor.read(HAND, [float(k > 0), 0.0, 0.0], [0.0] * 3, now)
        sensor.update(np.eye(3), cycle)
    return sensor.contact[0]


def test_the_filter_restarts_after_a_pause_of_0_1_s():
    share = 1.0 - np.exp(-2.0 * np.pi * 0.01)
    assert filtered_force([0.0, 0.1]) == pytest.approx(share)
    assert filtered_force([0.0, 0.1001]) == 1.0
    longest = 1.0 - np.exp(-2.0 * np.pi * 0.1)
    for cycle in (0.1, 0.2, 9.0):
        assert filtered_force([0.0, 0.05], cycle=cycle) == pytest.approx(longest)


def test_wrenches_are_bounded_by_ten_thousand_and_refusals_reported():
    sensor = sensor_of()
    assert sensor.read(HAND, [1e4, -1e4, 0.0], [0.0] * 3, 1.0) is None and sensor.refusal == ""
    for frame, force, said in (
        (HAND, [1.0001e4, 0.0, 0.0], "a number is not finite, or too large to be right"),
        ("camera", [0.0] * 3, "frame_id 'camera' is not ft_link panda_hand"),
    ):
        assert sensor.read(frame, force, [0.0] * 3, 2.0) == said == sensor.refusal
    assert sensor.arrived == 1.0


def test_a_dead_band_removes_a_small_wrench():
    """A wrench of just its size becomes zero. Force and moment each have a dead band."""
    sensor = sensor_of(ft_deadband=[2.0, 0.5])
    sensor._mass = 0.0
    for force, torque, left in (
        ([0.0, 2.0, 0.0], [0.0, 0.0, 0.25], [0.0] * 6),
        ([0.0, 2.5, 0.0], [0.0, 0.0, -1.0], [0.0, 0.5, 0.0, 0.0, 0.0, -0.5]),
    ):
        sensor._is_first = True
        sensor.read(HAND, force, torque, 0.0)
        sensor.update(np.eye(3), 0.01)
        np.testing.assert_allclose(sensor.contact, left, atol=1e-12)


def test_the_refusal_lists_at_most_forty_links():
    chain, links = wd.load_urdf(chain_text(42)), ", ".join(f"l{k}" for k in range(40))
    with pytest.raises(ValueError) as error:
        WrenchSensor(chain, "l3", Settings.of({"ft_link": "nose"}), Counter())
    assert str(error.value) == f"ft_link 'nose' is not a link of chain, which has {links}"


def test_a_link_that_carries_nothing_has_no_load():
    mass, com = load_beyond(MODEL, "panda_leftfinger")
    assert mass == 0.0 and not com.any()
