"""A robot in the browser, over DDS. A page receives the poses of joint_states or of a bag."""

from __future__ import annotations

import io
import re
import socket
from typing import Any

import msgspec
import numpy as np
import pytest
import viser
import zstandard
from described_launch import launch_reader  # noqa: F401  a fixture
from harness import PATIENCE, NodeProcess, Peer
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from std_msgs.msg import String
from websockets.sync.client import connect

import warpdyn as wd
from ros2_node.demo.named_robot import urdf_text

ROBOT = "double_pendulum"
MODEL = wd.load_robot(ROBOT)
NAMES = list(MODEL.joint_names)
ROD = "lower_rod"
"""Behind both joints."""


class Visitor:
    """A browser's connection to a page. It stores the properties of each node of the page."""

    def __init__(self, address: str) -> None:
        protocols: Any = [f"viser-v{viser.__version__}"]
        address = address.replace("http", "ws")
        self.connection = connect(address, subprotocols=protocols, max_size=None, compression=None)
        self.nodes: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def take(self, timeout: float = 0.02) -> None:
        """Receive the next frame, if there is one."""
        try:
            frame = self.connection.recv(timeout)
        except TimeoutError:
            return
        packed = int.from_bytes(frame[8:16], "little")
        stream = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(frame[16 : 16 + packed]))
        content = msgspec.msgpack.decode(stream.read())
        at, parts = 16 + packed, []
        for size in content["binaryBufferLengths"]:
            at += -at % 8
            parts.append(frame[at : at + size])
            at += size
        for message in content["messages"]:
            values = message.get("props") or message.get("updates") or {}
            if "name" in message:
                values = values | {k: message[k] for k in ("position",) if k in message}
                self.nodes.setdefault(message["name"], {}).update(
                    {k: _value(x, parts) for k, x in values.items()}
                )

    def link(self, name: str) -> np.ndarray:
        """The position of a link's first shape (3,). The mesh of a single robot moves itself."""
        node = next((x for n, x in self.nodes.items() if n.startswith(f"/robot/{name}/")), {})
        return np.asarray(node.get("position", np.full(3, np.nan)))

    def numbers(self) -> list[float]:
        """The values of the labels, from the first joint to the last."""
        labels = {
            n: x["text"] for n, x in self.nodes.items() if "/gravity torques/" in n and "text" in x
        }
        return [float(labels[n]) for n in sorted(labels)]


def _value(x: Any, parts: list[bytes]) -> Any:
    placed = isinstance(x, dict) and "__binary_index" in x
    return np.frombuffer(parts[x["__binary_index"]], x["dtype"]) if placed else x


def address_of(node: NodeProcess) -> str:
    line = node.wait_for(rf"{ROBOT} at http://[\d.:]+")
    return re.findall(r"http://[\d.:]+", line)[0]


def rod(q: Any) -> np.ndarray:
    return np.asarray(wd.fk(MODEL, np.array([q], dtype=float), form="pose"))[
        0, MODEL.link_index(ROD), :3
    ]


def test_the_page_follows_joint_states_and_torques(describe, context):
    """The topic describes the robot. A message that is no state is logged and not shown."""
    _, [(executable, parameters, line)] = describe("view.launch.py", port="0", namespace="seen")
    assert executable == "warpdyn_view" and parameters["torques"] is True
    with NodeProcess(arguments=line[1:], module="ros2_node.joint_view") as node:
        peer = Peer(context, "seen")
        peer.descriptions.publish(String(data=urdf_text(ROBOT)))
        with Visitor(address_of(node)) as page:
            for q in ([0.3, -0.8], [-0.5, 1.1]):
                wanted = np.asarray(wd.gravity_torques(MODEL, np.array([q])))[0]

                def is_shown(q=q, wanted=wanted):
                    page.take()
                    there = np.allclose(page.link(ROD), rod(q), atol=1e-5)
                    return there and np.allclose(page.numbers(), wanted, rtol=6e-3, atol=1e-9)

                peer.wait(
                    is_shown, "the robot at its joint states", each=lambda q=q: peer.send(NAMES, q)
                )
            peer.send(NAMES, [np.nan, 0.0])
            node.wait_for("not shown: nonfinite_position")
            assert np.allclose(page.link(ROD), rod([-0.5, 1.1]), atol=1e-5)
        peer.close()
        assert node.end() == 0


@pytest.fixture
def bag(tmp_path):
    """Two seconds of a double pendulum, as recorded by `ros2 bag`."""
    store = get_typestore(Stores.ROS2_HUMBLE)
    state, header, time = (
        store.types[x]
        for x in (
            "sensor_msgs/msg/JointState",
            "std_msgs/msg/Header",
            "builtin_interfaces/msg/Time",
        )
    )
    with Writer(tmp_path / "drive", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topic = writer.add_connection("/arm/joint_states", state.__msgtype__, typestore=store)
        for k in range(101):
            none = np.zeros(0)
            message = state(header(time(0, 0), ""), NAMES, np.array([0.01 * k, -0.5]), none, none)
            data = store.serialize_cdr(message, state.__msgtype__)
            writer.write(topic, 20_000_000 * k, data)
    return tmp_path / "drive"


def test_the_page_replays_a_bag(describe, bag):
    """The robot moves, and its pose always occurs in the bag."""
    values = {"robot": ROBOT, "bag": str(bag), "topic": "/arm/joint_states", "port": "0"}
    _, [(_, _, line)] = describe("view.launch.py", **values)
    with NodeProcess(arguments=line[1:], module="ros2_node.joint_view") as node:
        node.wait_for("2 s of /arm/joint_states")
        places = np.array([rod([0.01 * k, -0.5]) for k in range(101)])
        seen: list[int] = []
        with Visitor(address_of(node)) as page:
            for _ in range(int(PATIENCE / 0.02)):
                page.take()
                away = np.abs(places - page.link(ROD)).max(1)
                if np.isfinite(away).all():
                    assert away.min() < 0.02
                    seen.append(int(away.argmin()))
                if len(set(seen)) > 5 and max(seen) - min(seen) > 30:
                    break
        assert len(set(seen)) > 5 and max(seen) - min(seen) > 30


def test_an_unusable_port_or_robot_is_reported_in_one_line(describe):
    """The port is in use, or the robot is unknown."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for values, said in (
            ({"robot": ROBOT, "port": port}, f"port {port} of 127.0.0.1 cannot be used"),
            ({"robot": "no.urdf", "port": "0"}, "no.urdf: there is no such file"),
        ):
            _, [(_, _, line)] = describe("view.launch.py", **values)
            with NodeProcess(arguments=line[1:], module="ros2_node.joint_view") as node:
                node.wait_for(re.escape(said))
                assert node.process.wait(PATIENCE) == 2
                assert "Traceback" not in node.text()
