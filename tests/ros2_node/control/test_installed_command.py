"""The installed commands: each starts its module, and without ROS 2 prints one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import ros2_node
from ros2_node.control import installed_command

ROOT = Path(__file__).resolve().parents[3]

WITHOUT = """
import sys
for name in ("rclpy", "mujoco", "sensor_msgs", "std_msgs"):
    sys.modules[name] = None  # as if it were not installed
import ros2_node, ros2_node.demo
run = "run_" + sys.argv[1]
sys.exit(getattr(ros2_node if sys.argv[1] == "node" else ros2_node.demo, run)())
"""


@pytest.mark.parametrize("name", ["node", "state_source", "plant"])
def test_without_ros_a_command_prints_one_line(name: str) -> None:
    """The line says what is missing, and how to install it."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, name], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "source a ROS 2 installation, or pip install" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_every_command_is_installed() -> None:
    """setup.py names each function once."""
    text = (ROOT / "setup.py").read_text()
    for name in ("node", "state_source", "plant"):
        package = "ros2_node" if name == "node" else "ros2_node.demo"
        assert text.count(f"warpdyn_{name} = {package}:run_{name}") == 1


def test_other_import_errors_are_not_hidden() -> None:
    """A module of our own that cannot be imported is a defect."""

    def main() -> int:
        raise ModuleNotFoundError("No module named 'warpdyn.nothing'", name="warpdyn.nothing")

    with pytest.raises(ModuleNotFoundError, match="nothing"):
        installed_command.run(main)
    assert installed_command.run(lambda: None) == 0 and installed_command.run(lambda: 3) == 3


@pytest.mark.parametrize(
    ("command", "module"),
    [("run_node", "node"), ("run_lifecycle_node", "lifecycle_node"), ("run_view", "joint_view")],
)
def test_a_command_returns_the_status_of_its_module(
    command: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for status, code in ((5, 5), (None, 0)):
        stand_in = SimpleNamespace(main=lambda status=status: status)
        monkeypatch.setitem(sys.modules, f"ros2_node.{module}", stand_in)
        assert getattr(ros2_node, command)() == code


def test_the_view_command_without_a_viewer_prints_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another import that fails is a defect."""
    lacks = ["warpdyn.viewer needs viser: pip install warpdyn[viewer]", "no name 'x' in viser"]

    class Lacking:
        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            if name == "ros2_node.joint_view":
                raise ImportError(lacks[0])

    monkeypatch.delitem(sys.modules, "ros2_node.joint_view", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Lacking(), *sys.meta_path])
    assert ros2_node.run_view() == 2
    assert capsys.readouterr().err == f"{lacks.pop(0)}\n"
    with pytest.raises(ImportError, match="no name 'x'"):
        ros2_node.run_view()
