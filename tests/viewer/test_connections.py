"""Which clients may connect to a page, and which values it accepts from a browser."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
import msgspec
import viser
from viser import _messages
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from warpdyn.viewer import connections

PATIENCE = 20.0
"""How long a page may take to follow a message [s]."""


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    """A page with sliders for an arm of two joints."""
    shown = viewer.show(wd.load_robot("double_pendulum"))
    yield shown
    shown.stop()


def connect_to(page: Any, **options: Any) -> Any:
    address = page.address.replace("http://", "ws://")
    return connect(address, subprotocols=[f"viser-v{viser.__version__}"], **options)


def test_pages_of_other_origins_may_not_connect(page: Any) -> None:
    """They have another origin, no origin, another port, or another host name for this machine."""
    port = page.stage.server.get_port()
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{port + 1}", "file://"):
        with pytest.raises(InvalidStatus) as caught:
            connect_to(page, origin=origin)
        assert caught.value.response.status_code == 403, origin
    rebound = {"Upgrade": "websocket", "Origin": "http://evil.example:1", "Host": "evil.example:1"}
    assert "another name" in connections.refusal(rebound, "127.0.0.1")
    assert connections.refusal(rebound, "0.0.0.0") == ""


def test_the_page_itself_and_other_programs_may_connect(page: Any) -> None:
    """The page may use another name of this machine. A program that is no browser sends no
    origin."""
    for options in ({"origin": page.address}, {}):
        with connect_to(page, **options) as socket:
            assert socket.recv(timeout=PATIENCE)
    own = {"Upgrade": "websocket", "Origin": "http://localhost:9", "Host": "localhost:9"}
    assert connections.refusal(own, "127.0.0.1") == ""
    assert connections.refusal({"Host": "x", "Origin": "http://y"}, "127.0.0.1") == ""


def send_updates(page: Any, updates: list[tuple[str, dict[str, Any]]]) -> None:
    """Send messages of a browser one after the other."""
    with connect_to(page, origin=page.address) as socket:
        socket.recv(timeout=PATIENCE)
        camera = {"type": "ViewerCameraMessage", "wxyz": [1, 0, 0, 0], "position": [0, 0, 1]}
        camera |= {"fov": 1.0, "near": 0.1, "far": 10.0, "image_height": 100, "image_width": 100}
        camera |= {"look_at": [0, 0, 0], "up_direction": [0, 0, 1]}
        socket.send(msgspec.msgpack.encode(camera))
        for uuid, each in updates:
            message = {"type": "GuiUpdateMessage", "uuid": uuid, "updates": each}
            socket.send(msgspec.msgpack.encode(message))
        time.sleep(0.2)


def test_values_of_a_browser_are_bounded(page: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """A slider's value is limited. Values of another type or attribute change nothing."""
    slider = page.controls.sliders[0]
    uuid, view, high = slider._impl.uuid, page.robots["robot"], slider.max
    odd: list[Any] = ["x", [1], None, True, {"a": 1}, float("nan"), float("inf")]
    updates = [(uuid, {"value": x}) for x in odd]
    updates += [(uuid, {"max": 1e9}), (uuid, {"update_cb": []}), ("nobody", {"value": 1.0})]
    send_updates(page, [*updates, (uuid, {"value": 1e9, "max": 1e9})])
    end = time.monotonic() + PATIENCE
    while view.q[0, 0] != np.float32(high) and time.monotonic() < end:
        time.sleep(0.01)
    assert (slider.value, slider.max) == (high, high)
    assert view.q[0, 0] == pytest.approx(high) and slider._impl.update_cb
    said = capfd.readouterr()
    assert "Traceback" not in said.out + said.err


def test_each_control_accepts_only_possible_values() -> None:
    """The type of its value, its limits and its options decide."""
    slider = SimpleNamespace(value=0.5, min=-1.0, max=1.0)
    assert [connections.possible_value(slider, x) for x in (7, -7.0, 0.25, "1", True)] == [
        *(1.0, -1.0, 0.25, None, None)
    ]
    box = SimpleNamespace(value=True)
    assert [connections.possible_value(box, x) for x in (False, 1, "x")] == [False, None, None]
    frames = SimpleNamespace(value="a", options=("a", "b"))
    assert [connections.possible_value(frames, x) for x in ("b", "c", 1)] == ["b", None, None]


@pytest.mark.parametrize(
    ("wxyz", "position", "good"),
    [
        ((1.0, 0.0, 0.0, 0.0), (0.1, 0.0, 1), True),
        ((0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0), False),
        ((1.0, 0.0, 0.0, 0.0), (0.0, float("nan"), 0.0), False),
        ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0), False),
        ("wxyz", (0.0, 0.0, 0.0), False),
        (("a", 0.0, 0.0, 0.0), (0.0, 0.0, 0.0), False),
    ],
)
def test_poses_of_handles_must_be_finite(wxyz: Any, position: Any, good: bool) -> None:
    message = _messages.TransformControlsUpdateMessage("/reach", wxyz, position)
    assert connections._finite_pose(message) is good


def test_an_unknown_viser_gives_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its server cannot be restricted. The page says so and still works."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with connections.own_origin_only("127.0.0.1"):
            pass  # no server has started with the known functions
        connections.check_values(SimpleNamespace(gui=object()))  # type: ignore[arg-type]
    assert ["is not checked" in str(each.message) for each in caught] == [True, True]


@pytest.mark.parametrize(
    ("now", "value", "wanted"),
    [
        ((1, 2), (3, 4), (3, 4)),
        ((1, 2), [3, 4], [3, 4]),
        ((1, 2), 3, None),
        ((1, 2), "ab", None),
        (None, [1], [1]),
        (True, False, False),
        (True, 1, None),
        (1.0, True, None),
        (1.0, 5, 3.0),
        (1, -5.0, -2.0),
        (1.0, 2.5, 2.5),
        (1.0, float("inf"), None),
        ("a", "b", "b"),
        ("a", "c", None),
        ("a", 1, None),
    ],
)
def test_possible_values_have_the_type_of_the_control(now: Any, value: Any, wanted: Any) -> None:
    """The controls are a slider from -2 to 3, a dropdown of a and b, a checkbox, and a pair of
    numbers."""
    handle = SimpleNamespace(value=now, min=-2.0, max=3.0, options=("a", "b"))
    found = connections.possible_value(handle, value)
    assert found == wanted and type(found) is type(wanted)
    free = SimpleNamespace(value=now)
    unbounded = {5: 5, -5.0: -5.0, "c": "c"}.get(
        value if not isinstance(value, list) else "", wanted
    )
    kept = unbounded if wanted is not None or (now, value) == ("a", "c") else None
    assert connections.possible_value(free, value) == kept
