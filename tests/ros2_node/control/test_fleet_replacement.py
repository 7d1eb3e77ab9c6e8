"""Replacement of one model by another."""

from __future__ import annotations

import resource
import threading
import time
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp
from fleets import feed, launch, panda_settings, wheel_text

from ros2_node.control import fleet as module
from ros2_node.control.fleet import LARGEST_TEXT, BuildResult, Event, Models, _error_message
from ros2_node.control.safety.gate import Phase
from ros2_node.control.settings.node_settings import Settings
from warpdyn.execution.compile import compiler_process
from warpdyn.execution.compile.compiler_process import _Compiler


def step(models, settings, patience=60.0):
    """The next event of a running build."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        event = models.step(settings, 0.0)
        if event is not Event.NOTHING or models.changing:
            return event
        time.sleep(0.002)
    raise AssertionError("the build has not ended")


def running(**values):
    """The panda with one robot, ready."""
    settings = panda_settings(ramp_time=0.0, **values)
    models = Models([Counter()])
    assert models.request(settings) and step(models, settings) is Event.READY
    return models, settings


def test_nothing_is_built_without_a_robot_description():
    """Parameters or the topic may describe the robot."""
    models = Models([Counter()])
    assert not models.request(Settings.of()) and models.fleet is None
    assert not models.building
    models.offer(wheel_text(), Settings.of())
    assert models.building
    assert step(models, Settings.of()) is Event.READY and models.fleet is not None
    assert not models.building
    assert models.fleet.dynamics.model.name == "wheel"


def test_parameters_override_the_topic_and_equal_texts_are_not_rebuilt():
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
def test_a_bad_description_is_refused_and_the_old_robot_remains(text):
    models = Models([Counter()])
    models.offer(wheel_text(), Settings.of())
    step(models, Settings.of())
    before = models.fleet
    models.offer(text, Settings.of())
    assert step(models, Settings.of()) is Event.REFUSED
    assert models.refusal and models.fleet is before


def test_the_next_description_or_clear_removes_the_refusal():
    """A node without a robot then does not name the error of an earlier description."""
    models = Models([Counter()])
    assert models.refusal == ""
    for forget in (lambda: models.offer(wheel_text(), Settings.of()), models.clear):
        models.offer("hello", Settings.of())
        assert step(models, Settings.of()) is Event.REFUSED and models.refusal
        forget()
        if models.building:
            assert step(models, Settings.of()) is Event.READY
        assert models.refusal == ""


def test_a_new_model_waits_for_the_old_stop_and_begins_disabled():
    """This holds with start_enabled, too: a robot that replaces another does not start."""
    models, settings = running(start_enabled=True)
    robot = models.fleet.robots[0]
    feed(robot, 0.0)
    robot.enable(0.0, 0.0)
    other = Settings.of({**settings.values(), "robot_description": wheel_text()})
    models.request(other)
    assert step(models, other) is Event.NOTHING and models.changing
    assert not robot.is_enabled and robot.output.stopping
    assert models.step(other, 0.0) is Event.NOTHING, "the stop sequence runs"
    while robot.stop_step(1.0) is not None:
        pass
    assert models.step(other, 0.0) is Event.READY and not models.changing
    assert models.fleet.dynamics.model.name == "wheel" and not models.fleet.robots[0].is_enabled
    assert models.fleet.robots[0].gate.phase is Phase.OFF


@pytest.mark.parametrize("ending", ["killed", "full disk", "no memory"])
def test_an_enabled_robot_survives_a_failed_compile(ending, tmp_path, monkeypatch):
    """The model is refused with the reason, whatever ends its compiler.

    The present model continues to command. The next request compiles again.
    """
    models, settings = running()
    fleet, robot = models.fleet, models.fleet.robots[0]
    feed(robot, 0.0)
    robot.enable(0.0, 0.0)
    before = launch(fleet, robot, 0.1)[1].copy()
    assert np.abs(before).max() > 1.0

    def end(compiler, request):
        pid = compiler.process.pid
        if ending == "killed":
            compiler.process.kill()
        elif ending == "full disk":
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (512, 512))
        else:
            resource.prlimit(pid, resource.RLIMIT_AS, (60 << 20, 60 << 20))
        return ask(compiler, request)

    ask = _Compiler.ask
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path))
    monkeypatch.setattr(compiler_process, "_idle", [])
    heavier = wheel_text().replace('izz="1"', f'izz="{0.5 + ord(ending[0]) / 128}"')
    other = Settings.of({**settings.values(), "robot_description": heavier})
    with pytest.MonkeyPatch.context() as change:
        change.setattr(_Compiler, "ask", end)
        models.request(other)
        assert step(models, settings) is Event.REFUSED and models.refusal
    assert ("make room" if ending == "full disk" else "free memory") in models.refusal
    assert models.fleet is fleet and robot.is_enabled and not models.changing
    feed(robot, 0.15)
    np.testing.assert_allclose(launch(fleet, robot, 0.2)[1], before, atol=1e-9)
    models.request(other)
    assert step(models, other) is Event.NOTHING and models.changing


def test_another_payload_keeps_the_same_robots():
    """They may be enabled. Only the inertias change."""
    models, settings = running()
    fleet = models.fleet
    model, mass = fleet.dynamics.model, fleet.dynamics.total_mass
    heavy = settings.with_changes({"payload.link": "panda_hand", "payload.mass": 2.0})
    models.request(heavy)
    assert step(models, heavy) is Event.PAYLOAD and models.fleet is fleet
    assert fleet.dynamics.model is model, "and its kernels"
    assert fleet.dynamics.total_mass == pytest.approx(mass + 2.0)


def test_only_the_newest_request_during_a_build_is_built():
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
    assert step(models, settings) is Event.NOTHING and models.changing, "it is not a payload"
    assert models.step(settings, 0.0) is Event.READY and models.fleet is not before
    assert models.fleet.dynamics.model.total_mass == pytest.approx(6.0)


def test_a_slow_check_of_a_description_does_not_delay_commands(monkeypatch):
    """The description is accepted, and the build decides. While a robot is enabled, this happens
    after half of `state_timeout`."""
    models, settings = running(state_timeout=0.1)
    other = settings.with_changes({"robot_description": "nonsense"})
    with pytest.raises(ValueError, match="the one before stays"):
        models.check(other)
    robot = models.fleet.robots[0]
    feed(robot, 0.0)
    robot.enable(0.0, 0.0)
    ended = threading.Event()
    monkeypatch.setattr("ros2_node.control.fleet.load_model", lambda s: ended.wait())
    models.check(other)
    ended.set()


def test_quiet_delays_builds_and_clear_discards_them():
    """A build that runs when the models are cleared never becomes the robot. The topic's text is
    kept."""
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


def test_a_running_build_ends_before_its_robot_is_cleared(monkeypatch):
    """The build waits until it has been found. Otherwise it might end before."""
    models, settings = Models([Counter()]), panda_settings()
    fleet, may_end = module.Fleet, threading.Event()

    def build_later(*arguments, **options):
        assert may_end.wait(60.0)
        return fleet(*arguments, **options)

    monkeypatch.setattr(module, "Fleet", build_later)
    before = set(threading.enumerate())
    assert models.request(settings)
    (build,) = set(threading.enumerate()) - before
    threading.Timer(0.05, may_end.set).start()
    models.clear()
    assert not build.is_alive() and models.step(settings, 0.0) is Event.NOTHING


def test_a_huge_description_from_the_topic_is_refused():
    """The reason is reported at once. The present robot, and the next one, are not affected."""
    models = Models([Counter()])
    text = "<robot>" + " " * LARGEST_TEXT + "</robot>"
    refused = models.offer(text, Settings.of())
    assert refused.startswith("robot_description has 16 MB; a description of more than 16 MB")
    assert models.refusal == refused and models.text == "" and not models.building


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, MemoryError])
def test_a_build_that_raises_is_a_refusal(monkeypatch, error):
    """The result of the previous build must not be taken for its result."""
    models, settings = running()
    before = models.fleet

    def ends(*_, **__):
        raise error("the end")

    monkeypatch.setattr("ros2_node.control.fleet.Fleet", ends)
    models.reload(settings)
    assert step(models, settings) is Event.REFUSED
    assert models.fleet is before and "the end" in models.refusal


def test_settings_without_a_description_need_no_check(monkeypatch):
    """The description then comes from the topic. Other settings are checked."""
    models, asked = Models([Counter()]), []
    monkeypatch.setattr(models, "_check", lambda settings: asked.append(settings))
    models.check(Settings.of())
    assert not asked
    settings = panda_settings()
    models.check(settings)
    assert asked == [settings]


def test_parameters_set_during_a_build_may_refuse_the_robot(monkeypatch):
    """They do not fit the new robot, and the old robot remains."""
    models, settings = running()
    before = models.fleet

    def refuse(settings):
        raise ValueError("six numbers for seven joints")

    built = BuildResult(SimpleNamespace(change=refuse), "", ("", "", "a text"))
    assert models._swap(built, settings) is Event.REFUSED
    assert models.refusal == "six numbers for seven joints" and models.fleet is before


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no joints"), "no joints"),
        (OSError(2, "No such file"), "[Errno 2] No such file"),
        (KeyError("joint a"), "joint a"),
        (KeyError(), "KeyError: "),
        (RuntimeError("odd"), "RuntimeError: odd"),
        (MemoryError(), "MemoryError: "),
    ],
)
def test_a_refusal_has_the_text_of_unexpected_errors(error, text):
    assert _error_message(error) == text


def test_a_description_is_compared_with_the_shown_robot(monkeypatch):
    """The comparison comes before the check of the settings. A node that shows no robot makes
    none."""
    asked = []
    monkeypatch.setattr(module, "check_robot", lambda model, settings: asked.append(model.name))

    def differ(model):
        raise ValueError(f"{model.name} has other joints")

    settings = panda_settings()
    models = Models([Counter()])
    models._check(settings)
    assert asked == ["panda"]
    models._publications = SimpleNamespace(check=differ)
    with pytest.raises(ValueError, match="panda has other joints"):
        models.check(settings)
    assert asked == ["panda"]


def test_a_description_of_the_largest_size_is_accepted(monkeypatch):
    """The refusal of a larger one has both sizes."""
    models, text = Models([Counter()]), wheel_text()
    monkeypatch.setattr(module, "LARGEST_TEXT", len(text))
    assert models.offer(text, Settings.of()) == "" and models.text == text
    monkeypatch.setattr(module, "LARGEST_TEXT", 3 * 2**20)
    larger = " " * (5 * 2**20)
    assert (
        models.offer(larger, Settings.of())
        == models.refusal
        == (
            "robot_description has 5 MB; a description of more than 3 MB is not read: is it a URDF file?"
        )
    )
    assert models.text == text
    models.clear()


@pytest.mark.parametrize(
    ("idle", "state_timeout", "seconds"),
    [(True, 0.1, 1.0), (False, 0.1, 0.05), (False, 60.0, 1.0), (None, 0.1, 1.0)],
)
def test_a_check_has_a_time_limit(idle, state_timeout, seconds, monkeypatch):
    """The limit is a second. While a robot is enabled it is half of `state_timeout`, if that is
    less."""
    waited = []

    class Reader:
        def __init__(self, target, **options):
            self.start = target
            self.join = waited.append

    monkeypatch.setattr(module.threading, "Thread", Reader)
    models = Models([Counter()])
    monkeypatch.setattr(models, "_check", lambda settings: None)
    models.fleet = None if idle is None else SimpleNamespace(idle=idle)
    models.check(panda_settings(state_timeout=state_timeout))
    assert waited == [pytest.approx(seconds)]
