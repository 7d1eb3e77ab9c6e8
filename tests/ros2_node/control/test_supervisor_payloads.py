"""Payloads of a supervisor's robots: refused, compiled, put down."""

from __future__ import annotations

import re
import threading

import numpy as np
import pytest
from fleets import MODEL, Q, feed, panda_settings, wheel_text
from supervisors import ready, wait_for_build

import warpdyn as wd
from ros2_node.control.fleet import Event, Models
from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.supervisor import Supervisor


def test_only_a_load_on_another_link_compiles_kernels():
    """The robots continue meanwhile. Other parameters build nothing."""
    supervisor = ready(panda_settings())
    supervisor.change({"ramp_time": 2.0})
    assert supervisor.models._thread is None
    dynamics = supervisor.fleet.dynamics
    mass = dynamics.total_mass
    supervisor.change({"payload.link": "panda_hand", "payload.mass": 1.5})
    assert wait_for_build(supervisor) is Event.PAYLOAD and dynamics.total_mass == pytest.approx(
        mass + 1.5
    )
    supervisor.change({"payload.mass": 2.5, "payload.com": [0.0, 0.0, 0.1]})
    assert supervisor.models._thread is None and dynamics.total_mass == pytest.approx(mass + 2.5)
    for bad in ({"payload.inertia": [1.0, 0.0, 0.0, 1.0, 0.0, 9.0]}, {"payload.mass": -1.0}):
        with pytest.raises(ValueError, match="payload"):
            supervisor.change(bad)
    assert dynamics.total_mass == pytest.approx(mass + 2.5)


def test_a_payload_too_heavy_for_the_present_pose_is_refused():
    """A change of `payload.mass` to 200 kg is refused, enabled or not.

    So is ~/enable of a node that started with this mass. A refused value changes nothing.
    """
    supervisor = ready(panda_settings(payload__link="panda_hand", payload__mass=200.0))
    (robot,) = supervisor.robots
    feed(robot, 0.0)
    said = r"payload.mass 200 kg alone exceeds effort limits .*panda_joint2 \d+\.?\d* of 87"
    good, text = supervisor.enable([0], True, 0.0, 0.0)
    assert not good and re.search(said, text)
    supervisor.change({"payload.mass": 2.0})
    assert supervisor.enable([0], True, 0.0, 0.0)[0]
    for bad in ({"payload.mass": 200.0}, {"payload.com": [0.0, 0.0, 90.0]}):
        with pytest.raises(ValueError, match="alone exceeds effort limits"):
            supervisor.change({"ramp_time": 3.0, **bad})
    assert supervisor.settings.payload_mass == 2.0 and supervisor.settings.ramp_time == 1.0
    assert supervisor.fleet.dynamics.payload.mass == 2.0
    supervisor.change({"effort_limit_scale": 0.01})  # narrower limits are always accepted


def test_a_payload_is_compared_with_the_limits_set_in_the_same_call():
    supervisor = ready(panda_settings(payload__link="panda_hand", payload__mass=2.0))
    feed(supervisor.robots[0], 0.0)
    with pytest.raises(
        ValueError, match=r"payload.mass 3 kg alone exceeds .*panda_joint2 .* of 5 "
    ):
        supervisor.change({"payload.mass": 3.0, "effort_limits": 5.0})
    supervisor.change({"effort_limits": 5.0})
    supervisor.change({"payload.mass": 3.0, "effort_limits": 0.0})
    assert supervisor.fleet.dynamics.payload.mass == 3.0


def test_start_enabled_waits_for_a_payload_within_the_limits():
    values = {"payload__link": "panda_hand", "payload__mass": 200.0, "start_enabled": True}
    supervisor = ready(panda_settings(**values))
    (robot,) = supervisor.robots
    for enabled in (False, True):
        feed(robot, 0.0)
        supervisor.fleet.compute()
        robot.command(0.0, 0.0)
        assert robot.is_enabled == enabled
        supervisor.change({"payload.mass": 2.0})


def test_loads_on_earlier_links_make_no_new_kernel(monkeypatch):
    """So the memory depends on the number of links that have ever carried a load, not on the number
    of changes."""
    supervisor = ready(panda_settings(payload__link="panda_link5", payload__mass=1.0))
    dynamics = supervisor.fleet.dynamics
    bare = dynamics.model.total_mass
    supervisor.change({"payload.link": "", "payload.mass": 0.0})
    assert wait_for_build(supervisor) is Event.PAYLOAD and dynamics.total_mass == bare

    def refuse_kernel(*arguments, **options):
        raise AssertionError("a kernel is made")

    monkeypatch.setattr("warpdyn.execution.launch.launch._make_kernel", refuse_kernel)
    for k in range(1, 4):
        supervisor.change({"payload.link": "panda_link5", "payload.mass": float(k)})
        assert wait_for_build(supervisor) is Event.PAYLOAD, supervisor.models.refusal
        assert dynamics.total_mass == pytest.approx(bare + k)
        supervisor.change({"payload.link": "", "payload.mass": 0.0})
        assert wait_for_build(supervisor) is Event.PAYLOAD and dynamics.total_mass == bare


def test_a_load_set_while_its_kernels_compile_is_not_lost():
    supervisor = ready(panda_settings())
    mass = supervisor.fleet.dynamics.total_mass
    supervisor.change({"payload.link": "panda_link5"})
    supervisor.change({"payload.mass": 3.0})
    assert wait_for_build(supervisor) is Event.PAYLOAD
    assert supervisor.fleet.dynamics.total_mass == pytest.approx(mass + 3.0)


def test_a_load_that_is_put_down_does_not_wait_for_the_kernels_of_another_link(monkeypatch):
    supervisor = ready(panda_settings(payload__link="panda_hand", payload__mass=1.0))
    (robot,) = supervisor.robots
    feed(robot, 1.0)
    build, released = Models._build, threading.Event()

    def build_slowly(*arguments):
        released.wait(60.0)
        build(*arguments)

    monkeypatch.setattr(Models, "_build", build_slowly)
    supervisor.change({"payload.link": "panda_link7", "payload.mass": 0.0})
    supervisor.fleet.compute()
    assert supervisor.models.building
    np.testing.assert_allclose(robot.state.torque, wd.rnea(MODEL, Q, 0 * Q, 0 * Q), atol=1e-9)
    supervisor.change({"payload.mass": 2.0})
    good, text = supervisor.enable([0], True, 1.0, 1.0)
    assert not good and text.startswith("the payload on panda_link7 is not in the torques yet")
    released.set()
    assert wait_for_build(supervisor) is Event.PAYLOAD and robot.enable(1.0, 1.0)[0]
    assert supervisor.fleet.dynamics.total_mass == pytest.approx(MODEL.total_mass + 2.0)


def test_a_payload_is_applied_after_a_bad_text_on_the_topic():
    settings = Settings.of()
    supervisor = Supervisor(settings)
    supervisor.models.offer(wheel_text(), settings)
    assert wait_for_build(supervisor) is Event.READY
    supervisor.change({"payload.com": [0.0, 0.0, 0.5]})
    supervisor.models.offer("nonsense", settings)
    assert wait_for_build(supervisor) is Event.REFUSED
    assert supervisor.settings.payload_com == (0.0, 0.0, 0.5)
    supervisor.change({"payload.link": "b", "payload.mass": 1.0})
    assert wait_for_build(supervisor) is Event.PAYLOAD
    assert supervisor.fleet.dynamics.total_mass == pytest.approx(3.0)


def test_a_payload_whose_kernels_fail_leaves_the_one_before(monkeypatch):
    """The parameters describe the payload that the torques carry, and its mass can change."""
    supervisor = ready(panda_settings(payload__link="panda_hand", payload__mass=1.0))
    (robot,) = supervisor.robots
    feed(robot, 1.0)

    def fail_to_build(*arguments):
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("ros2_node.control.fleet.Fleet", fail_to_build)
        supervisor.change({"payload.link": "panda_link7", "payload.mass": 2.0})
        assert wait_for_build(supervisor) is Event.REFUSED
    settings = robot._settings
    assert (settings.payload_link, settings.payload_mass) == ("panda_hand", 1.0)
    assert supervisor.fleet.settings is supervisor.settings is settings
    supervisor.change({"payload.mass": 0.0})
    supervisor.fleet.compute()
    np.testing.assert_allclose(robot.state.torque, wd.rnea(MODEL, Q, 0 * Q, 0 * Q), atol=1e-9)
