"""Services of a robot that reads efforts: gravity diagnosis and payload identification."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from feeling import feel, feeling_fleet
from fleets import MODEL, NAMES, Q
from watched_efforts import HELD, PUSH, go, watched_fleet  # noqa: F401  a fixture

import warpdyn as wd
from ros2_node.control.efforts import effort_watch
from ros2_node.control.efforts.effort_watch import EffortWatch


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ({"payload.link": "panda_link7"}, 0),
        ({"payload.link": ""}, 0),
        ({"payload.link": "panda_hand", "payload.mass": 1.0}, 1),
        ({"collision_threshold": 4.0}, 1),
        ({"torque_scale": 0.9}, 1),
    ],
)
def test_another_payload_link_restarts_the_gravity_diagnosis(values, kept):
    """Poses at rest were measured with the load on the old link. Any other change keeps them."""
    fleet = feeling_fleet(**{"payload.link": "panda_hand"})
    robot = fleet.robots[0]
    go(fleet, HELD, 0.0, 20, dt=0.1)
    assert len(robot.effort_watch.rest) == 1
    fleet.change(fleet.settings.with_changes(values))
    assert len(robot.effort_watch.rest) == kept


def test_services_report_missing_inputs(fleet):
    robot = fleet.robots[0]
    good, text = robot.effort_watch.diagnose()
    assert not good and text.startswith("0 poses at rest")
    bare = feeling_fleet(payload__link="").robots[0]
    assert bare.effort_watch.identify() == (
        False,
        "set payload.link: name the link that carries the load",
    )


def test_gravity_is_diagnosed_without_a_payload_link(monkeypatch):
    """Its kernels are compiled when the robot is created, so that the service compiles nothing
    while commands wait."""
    made = []

    def diagnose(*arguments, **options):
        made.append(options)
        return real(*arguments, **options)

    real = wd.diagnose_gravity
    monkeypatch.setattr(effort_watch, "diagnose_gravity", diagnose)
    fleet = feeling_fleet(payload__link="")
    robot, now = fleet.robots[0], 1.0
    assert len(made) == 1
    for k in range(3):
        q = Q + 0.2 * k
        feel(robot, now - 0.01, HELD, q, np.ones(8))  # the robot moves to the pose
        now, _ = go(fleet, wd.gravity_torques(MODEL, q), now, 60, dt=0.02, q=q)
    good, text = robot.effort_watch.diagnose()
    assert good and text.startswith("3 poses at rest") and "panda_joint2: agrees" in text
    assert set(made[0]) == set(made[1]) and made[0]["link"] is made[1]["link"] is None


IDENTIFIED = {
    (): [
        "payload.mass: 1.25",
        "payload.com: [0.1, 0.2, 0.3]",
        "payload.inertia: [1, 2, 3, 4, 5, 6]",
    ],
    ("Ixx",): [
        "payload.mass: 1.25",
        "payload.com: [0.1, 0.2, 0.3]",
        "(payload.inertia: turn the link faster to know it)",
    ],
    ("com y", "Ixy"): ["payload.mass: 1.25", "(payload.inertia: turn the link faster to know it)"],
}
"""Lines to set, by the numbers that are not known."""


@pytest.mark.parametrize("unknown", [*IDENTIFIED, ("mass",), ("mass", "com x")])
def test_an_identified_payload_is_reported_as_parameters(monkeypatch, unknown):
    """Only the parameters that the motion determines are reported, and none if the mass is
    unknown."""
    values = np.array([1.25, *[0.125, 0.25, 0.375], *range(1, 7)])

    class IdentifiedPayload:
        mass, com = 1.25, np.array([0.1, 0.2, 0.3])

        def __str__(self):
            return "found it"

    found = IdentifiedPayload()
    found.values, found.unknown = values, unknown
    asked = {}

    def identify(model, link, *signals, **options):
        asked.update(options, link=link)
        return found

    monkeypatch.setattr(effort_watch, "identify_payload_in_motion", identify)
    names = ("identification_cutoff", "identification_friction", "gravity")
    settings = SimpleNamespace(payload_link="hand", **{name: name for name in names})
    watch = SimpleNamespace(_model=None, _settings=settings, joints=["a"])
    text = EffortWatch._identify(watch, *[np.zeros(1)] * 4)
    if "mass" in unknown:
        assert text == "found it\nnothing to set: move more joints, and faster"
    else:
        assert text.splitlines() == [
            "found it",
            "to set:",
            *("  " + x for x in IDENTIFIED[unknown]),
        ]
    assert asked == {
        "link": "hand",
        "cutoff": "identification_cutoff",
        "friction": "identification_friction",
        "gravity": "gravity",
        "joints": ["a"],
    }


def test_a_motion_is_recorded_between_two_calls(monkeypatch):
    """Each state has its time, position, velocity and torques. A state without torques, or with
    other known joints than before, spoils the record."""
    fleet = feeling_fleet(identification_time=5.0)
    watch = fleet.robots[0].effort_watch
    heard = []
    monkeypatch.setattr(
        watch.record, "_find", lambda *rows: heard.append([x.copy() for x in rows]) or "found"
    )

    def answer():
        watch.record.end()
        watch.record._thread.join(10.0)
        return watch.identify()

    go(fleet, HELD, 0.0, 2, dt=0.03125)
    assert watch.identify() == (True, "listening for 5 s: move the arm, then call again")
    for k in range(12):
        feel(fleet.robots[0], 1.0 + 0.03125 * k, HELD + k, Q + 0.001 * k, 0.01 * k + 0 * Q)
        fleet.robots[0].note(0)
    assert answer() == (True, "found")
    time, q, v, tau = heard[0]
    np.testing.assert_allclose(time, 0.03125 * np.arange(12), rtol=1e-6)
    for k, rows in enumerate(zip(q, v, tau, strict=True)):
        for found, wanted in zip(rows, (Q + 0.001 * k, 0.01 * k + 0 * Q, HELD + k), strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-12)
    for effort in (np.where(np.arange(8) == 7, np.nan, HELD), ()):
        watch.identify()
        now, _ = go(fleet, HELD, 3.0, 5, dt=0.03125)
        now, _ = go(fleet, effort, now, 1, dt=0.03125)
        go(fleet, HELD, now, 9, dt=0.03125)
        assert answer()[1].startswith("states were lost or efforts were missing")


def test_gravity_is_not_diagnosed_from_commands():
    """Commanded torques come from the model itself."""
    watch = feeling_fleet(effort_source="command", payload__link="").robots[0].effort_watch
    text = "measured efforts are needed: start the node with effort_source: message"
    assert watch.diagnose() == watch.identify() == (False, text)
    assert watch.report() == {
        "largest external torque": "none",
        "efforts known of": "none",
        "poses at rest": "0",
    }


def test_the_report_has_the_external_torque_of_largest_magnitude(fleet):
    go(fleet, HELD - PUSH, 0.0, 200)
    report = fleet.robots[0].effort_watch.report()
    assert report["largest external torque"] == "-6 N·m in panda_joint2"
    assert report["poses at rest"] == "0"


def test_gravity_is_diagnosed_from_three_poses(fleet):
    watch = fleet.robots[0].effort_watch
    for count in range(4):
        good, text = watch.diagnose()
        assert good == (count >= 3)
        if not good:
            assert text == (
                f"{count} poses at rest so far: bring the arm to at least 3, a second each"
            )
        watch.rest.add(0.8, Q + 0.2 * count, np.zeros(8), HELD, np.ones(8, dtype=bool))


@pytest.mark.parametrize(
    ("values", "warmed"),
    [
        ({}, ["observer", "diagnosis", "rnea", "regressor panda_hand"]),
        ({"payload__link": ""}, ["observer", "diagnosis"]),
        ({"effort_source": "command"}, ["observer"]),
    ],
)
def test_kernels_of_the_services_are_compiled_in_advance(values, warmed, monkeypatch):
    """They have the shapes and options of the later calls. With effort_source: command there are no
    services."""
    watch, called = feeling_fleet(**values).robots[0].effort_watch, []

    def kernel(name):
        def call(model, *arrays, links=(), gravity):
            assert [x.shape for x in arrays] == [(3, model.nq), (3, model.nv), (3, model.nv)]
            assert gravity == (0.0, 0.0, -9.81)
            called.append(" ".join([name, *links]))

        return call

    monkeypatch.setattr(watch.torques, "warm", lambda: called.append("observer"))
    monkeypatch.setattr(
        watch, "_diagnosis", lambda q, tau: called.append("diagnosis") or len(q) == len(tau) == 3
    )
    monkeypatch.setattr(effort_watch, "rnea", kernel("rnea"))
    monkeypatch.setattr(effort_watch, "joint_torque_regressor", kernel("regressor"))
    watch.warm()
    assert called == warmed


@pytest.mark.parametrize("known", [range(8), (1, 3), ()])
@pytest.mark.parametrize("link", ["panda_hand", ""])
def test_gravity_is_diagnosed_for_joints_with_known_efforts(known, link, monkeypatch):
    """While no joint is known, all joints are diagnosed. The present load and gravity are used."""
    fleet = feeling_fleet(payload__link=link, gravity=[0.0, 0.0, -1.62])
    watch, asked = fleet.robots[0].effort_watch, []
    monkeypatch.setattr(
        effort_watch,
        "diagnose_gravity",
        lambda *given, **options: asked.append((given, options)) or 1.5,
    )
    watch.efforts.known[:] = np.isin(np.arange(8), known)
    q, tau = np.zeros((3, 8)), np.ones((3, 8))
    assert watch._diagnosis(q, tau) == "1.5"
    (((model, *arrays), options),) = asked
    joints = [NAMES[k] for k in known] or NAMES
    assert model is MODEL or model.name == "panda"
    assert arrays[0] is q and arrays[1] is tau and list(options.pop("joints")) == joints
    assert options == {
        "link": link or None,
        "gravity": (0.0, 0.0, -1.62),
        "params": fleet.dynamics.payload.params,
    }
