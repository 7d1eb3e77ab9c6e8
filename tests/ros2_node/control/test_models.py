"""How one model takes the place of another."""

from __future__ import annotations

import threading
import time
from collections import Counter

import pytest
from fleets import feed, panda_settings, wheel_text

from ros2_node.control.models import Event, Models
from ros2_node.control.settings import Settings


def step(models, settings, patience=60.0):
    """The next event of a build that is under way."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        event = models.step(settings, 0.0)
        if event is not Event.NOTHING or models.changing:
            return event
        time.sleep(0.002)
    raise AssertionError("the build has not ended")


def running(**values):
    """The panda, ready, with one robot."""
    settings = panda_settings(ramp_time=0.0, **values)
    models = Models([Counter()])
    assert models.request(settings) and step(models, settings) is Event.READY
    return models, settings


def test_nothing_is_built_until_something_describes_a_robot():
    """Parameters do, and so does the topic."""
    models = Models([Counter()])
    assert not models.request(Settings.of()) and models.fleet is None
    assert not models.building
    models.offer(wheel_text(), Settings.of())
    assert models.building
    assert step(models, Settings.of()) is Event.READY and models.fleet is not None
    assert not models.building
    assert models.fleet.dynamics.model.name == "wheel"


def test_parameters_win_over_the_topic_and_the_same_text_is_not_built_again():
    models, settings = running()
    before = models.fleet
    models.offer(wheel_text(), settings)
    time.sleep(0.01)
    assert models.step(settings, 0.0) is Event.NOTHING and models.fleet is before
    by_topic = Models([Counter()])
    by_topic.offer(wheel_text(), Settings.of())
    step(by_topic, Settings.of())
    by_topic.offer(wheel_text(), Settings.of())
    assert by_topic._thread is None


@pytest.mark.parametrize("text", ["", "hello", "<robot", '<robot name="x"/>'])
def test_a_bad_description_is_refused_and_the_old_robot_stays(text):
    models = Models([Counter()])
    models.offer(wheel_text(), Settings.of())
    step(models, Settings.of())
    before = models.fleet
    models.offer(text, Settings.of())
    assert step(models, Settings.of()) is Event.REFUSED
    assert models.refusal and models.fleet is before


def test_another_model_waits_for_the_stop_of_the_old_one_and_begins_disabled():
    """Even with start_enabled: who replaces another does not start by itself."""
    models, settings = running(start_enabled=True)
    robot = models.fleet.robots[0]
    feed(robot, 0.0)
    robot.enable(0.0, 0.0)
    other = Settings.of({**settings.values(), "robot_description": wheel_text()})
    models.request(other)
    assert step(models, other) is Event.NOTHING and models.changing
    assert not robot.enabled and robot.output.stopping
    assert models.step(other, 0.0) is Event.NOTHING, "the stop sequence runs"
    while robot.output.stop_step(1.0) is not None:
        pass
    assert models.step(other, 0.0) is Event.READY and not models.changing
    assert models.fleet.dynamics.model.name == "wheel" and not models.fleet.robots[0].enabled
    assert not models.fleet.robots[0].starting


def test_another_payload_goes_on_with_the_same_robots():
    """Enabled or not; only the inertias change."""
    models, settings = running()
    fleet = models.fleet
    model, mass = fleet.dynamics.model, fleet.dynamics.total_mass
    heavy = settings.changed({"payload.link": "panda_hand", "payload.mass": 2.0})
    models.request(heavy)
    assert step(models, heavy) is Event.PAYLOAD and models.fleet is fleet
    assert fleet.dynamics.model is model, "and its kernels"
    assert fleet.dynamics.total_mass == pytest.approx(mass + 2.0)


def test_of_the_requests_during_a_build_the_newest_follows():
    models = Models([Counter()])
    first = Settings.of({"robot_description": wheel_text()})
    models.request(first)
    last = first
    for name in ("second", "third"):
        last = Settings.of({"robot_description": wheel_text().replace('"wheel"', f'"{name}"')})
        models.request(last)
    while models.fleet is None:
        models.step(last, 0.0)
        time.sleep(0.002)
    assert models.fleet.dynamics.model.name == "third"


def test_reload_reads_the_file_again(tmp_path):
    """The same path with another text is another robot, not a payload."""
    file = tmp_path / "robot.urdf"
    file.write_text(wheel_text())
    settings = Settings.of({"robot_description_file": str(file)})
    models = Models([Counter()])
    models.request(settings)
    step(models, settings)
    file.write_text(wheel_text().replace('mass value="1"', 'mass value="3"'))
    before = models.fleet
    assert models.reload(settings)
    assert step(models, settings) is Event.NOTHING and models.changing, "it is no payload"
    assert models.step(settings, 0.0) is Event.READY and models.fleet is not before
    assert models.fleet.dynamics.model.total_mass == pytest.approx(6.0)


def test_a_description_that_takes_long_to_check_does_not_keep_commands_waiting(monkeypatch):
    """It is accepted, and the build decides; while enabled after half of `state_timeout`."""
    models, settings = running(state_timeout=0.1)
    other = settings.changed({"robot_description": "nonsense"})
    with pytest.raises(ValueError, match="the one before stays"):
        models.check(other)
    robot = models.fleet.robots[0]
    feed(robot, 0.0)
    robot.enable(0.0, 0.0)
    ended = threading.Event()
    monkeypatch.setattr("ros2_node.control.models.load_model", lambda s: ended.wait())
    models.check(other)
    ended.set()


def test_while_it_is_quiet_nothing_is_built_and_what_is_cleared_is_gone():
    """A build under way when it is cleared never becomes the robot; the topic's text is kept."""
    models = Models([Counter()])
    models.quiet = True
    models.offer(wheel_text(), Settings.of())
    assert models.request(Settings.of()) and not models.building
    models.quiet = False
    assert models.request(Settings.of()) and models.building
    models.clear()
    assert not models.building and models.step(Settings.of(), 0.0) is Event.NOTHING
    assert models.request(Settings.of())
    assert step(models, Settings.of()) is Event.READY
    models.clear()
    assert models.fleet is None and models.source is None


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, MemoryError])
def test_a_build_that_is_ended_from_within_is_a_refusal(monkeypatch, error):
    """The result of the build before must not be taken for its result."""
    models, settings = running()
    before = models.fleet

    def ends(*_, **__):
        raise error("the end")

    monkeypatch.setattr("ros2_node.control.models.Fleet", ends)
    models.reload(settings)
    assert step(models, settings) is Event.REFUSED
    assert models.fleet is before and "the end" in models.refusal
