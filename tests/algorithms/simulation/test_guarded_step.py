"""A launch on plain numbers: states that are not finite are reset, and time counts launches."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

import warpdyn as wd
from warpdyn.algorithms.simulation import guarded_step as module
from warpdyn.algorithms.simulation.guarded_step import guarded_step
from warpdyn.algorithms.simulation.imu import imu
from warpdyn.algorithms.simulation.link_contact_forces import Measurements
from warpdyn.algorithms.simulation.scene import Scene
from warpdyn.execution.request.evaluate import tree_of

MODEL = wd.load_robot("double_pendulum")
GRAVITY = (0.0, 0.0, -9.81)
SCENE = Scene(
    arrays=(),
    points=(),
    guarded=False,
    speed_limits=(),
    stops=(),
    dt=0.01,
    substeps=2,
    sweeps=4,
)


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_a_state_that_is_not_finite_is_reset_to_the_start_and_counted(broken: float) -> None:
    tree, start = tree_of(MODEL), [0.4, 0.5]

    def after(speed: float) -> tuple:
        return guarded_step(
            *(tree, [0.1, 0.2], [speed, 0.0], [0.0, 0.0], start, [1.5], [3.0]),
            **{"scene": SCENE, "sensors": None, "gravity": GRAVITY, "f_ext": {}},
        )

    q, v, impulses, forces, torques, time, failures = after(broken)
    assert (q, v, torques, time, failures) == (start, [0.0] * 2, [0.0] * 2, [0.0], [4.0])
    assert (impulses, forces) == ([], [])
    q, *_, time, failures = after(0.1)
    assert q != start and time == [pytest.approx(1.52)] and failures == [3.0]


def test_sensors_are_read_at_the_end_of_a_launch() -> None:
    """The acceleration is that of the last step. After a failure the robot is at rest at the start,
    and its sensors read zero."""
    tree, start = tree_of(MODEL), [0.4, 0.5]
    link = MODEL.link_names[-1]
    sensors = Measurements(units=(link,), links=(link,), threshold=1.0)

    def after(speed: float, substeps: int) -> tuple:
        return guarded_step(
            *(tree, [0.1, 0.2], [speed, -0.3], [0.5, 0.6], start, [0.0], [0.0]),
            **{"scene": SCENE._replace(substeps=substeps), "sensors": sensors},
            **{"gravity": GRAVITY, "f_ext": {}},
        )

    q, v, *_, failures, unit, points, forces, links = after(0.7, 2)
    before = after(0.7, 1)[1]
    a = [(x - y) / SCENE.dt for x, y in zip(v, before, strict=True)]
    (wanted,) = imu(tree, q, v, a, GRAVITY, {}, frames=(link,))
    assert unit == [pytest.approx(wanted, rel=1e-9)] and any(wanted)
    assert (failures, points, forces, links) == ([0.0], [], [[0.0] * 6], [0.0])
    *_, failures, unit, points, forces, links = after(math.nan, 2)
    assert (failures, points, forces, links) == ([1.0], [], [[0.0] * 6], [0.0])
    assert unit == [[0.0] * len(wanted)]


@pytest.mark.parametrize("point_moments", [(), (3, 0)])
def test_forces_of_links_have_the_friction_moments_of_their_points(
    monkeypatch: pytest.MonkeyPatch, point_moments: tuple[int, ...]
) -> None:
    """These are impulses per dt. Without an IMU no acceleration is computed, so that no state before
    the last step is needed."""
    asked: list[Any] = []
    for name in ("link_contact_forces", "mean_acceleration"):
        monkeypatch.setattr(module, name, lambda *args, **more: asked.append((args[3], more)) or [])
    sensors = Measurements(units=(), links=(MODEL.link_names[-1],), threshold=1.0)
    rows = [[0.1, 0.2, 0.3, 4.0, 5.0, 6.0], [0.0, 0.0, 0.0, 7.0, 8.0, 9.0]]
    end: Any = SimpleNamespace(
        results={"q": [0.1, 0.2], "v": [0.3, 0.4], "impulses": rows, "forces": []},
        **{"q_before": [], "v_before": []},
    )
    margin: Any = SimpleNamespace(margin=0.7)
    scene = SCENE._replace(point_moments=point_moments, soft_points=(None, margin))
    finite: dict[str, list] = {"forces": []}
    found = module._readings(tree_of(MODEL), end, finite, scene, sensors, GRAVITY, {}, None)
    assert [*found] == ["imu", "contacts", "link_forces", "link_contacts"] and found["imu"] == []
    ((moments, more),) = asked
    wanted = [[400.0, 500.0, 600.0], [700.0, 800.0, 900.0]] if point_moments else None
    assert moments == (wanted and [pytest.approx(x) for x in wanted])
    assert (more["halfway"], more["frames"]) == ([None, 0.7], sensors.links)


def test_late_targets_are_shifted_in_a_launch() -> None:
    """Before the first launch there are no earlier targets: the present ones take their place."""
    arrays = {
        "targets": [0.5, 0.6],
        "kp": [1.0] * 2,
        "kd": [0.0] * 2,
        "effort": [9.0] * 2,
        "latency": [3.0],
        "earlier_targets": [[1.0, 2.0], [3.0, 4.0]],
    }
    for time, earlier in ((0.0, [[0.5, 0.6]] * 2), (0.02, [[0.5, 0.6], [1.0, 2.0]])):
        *_, failures, shifted = guarded_step(
            *(tree_of(MODEL), [0.1, 0.2], [0.0, 0.0], [0.0, 0.0], [0.4, 0.5], [time], [3.0]),
            *arrays.values(),
            **{"scene": SCENE._replace(arrays=tuple(arrays)), "sensors": None},
            **{"gravity": GRAVITY, "f_ext": {}},
        )
        assert failures == [3.0] and shifted == earlier


@pytest.mark.parametrize(
    ("units", "links", "pairs", "keep", "locate"),
    [
        (None, None, ("pair",), False, False),
        ((), (), ("pair",), False, False),
        ((), ("rod",), (), False, False),
        ((), ("rod",), ("pair",), True, True),
        (("rod",), (), ("pair",), True, False),
        (("rod",), (), (), True, False),
    ],
)
def test_a_launch_keeps_what_its_sensors_need(
    monkeypatch: pytest.MonkeyPatch, units: Any, links: Any, pairs: Any, keep: bool, locate: bool
) -> None:
    """An IMU needs the state before the last step, and links with pairs the places of their contacts.
    Contacts of a state that is not finite are forgotten."""
    options: dict[str, bool] = {}

    def launch(*_: Any, **asked: bool) -> None:
        options.update(asked)
        raise InterruptedError

    monkeypatch.setattr(module, "launch", launch)
    sensors = None if units is None else Measurements(units, links, 1.0)
    with pytest.raises(InterruptedError):
        guarded_step(
            *(tree_of(MODEL), [0.1, 0.2], [0.0, 0.0], [0.0, 0.0], [0.4, 0.5], [0.0], [0.0]),
            **{"scene": SCENE._replace(pairs=pairs), "sensors": sensors},
            **{"gravity": GRAVITY, "f_ext": {}},
        )
    assert options == {"keep": keep, "locate": locate, "clear": True}
