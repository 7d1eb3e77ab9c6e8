"""The report of a test that lacks a ROS message which no wheel has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from generated_messages import remedy

TESTS = Path(__file__).resolve().parent


@pytest.mark.parametrize("package", ["tf2_msgs.msg", "control_msgs", "control_msgs.action"])
def test_a_missing_message_has_a_remedy(package: str) -> None:
    """An ImportError of such a package has a remedy. Any other error has none."""
    assert "run bash scripts/ros_messages.sh .venv" in remedy(ModuleNotFoundError(name=package))
    for other in (
        ModuleNotFoundError(name="numpy"),
        ImportError("x"),
        ValueError("tf2_msgs"),
        None,
    ):
        assert remedy(other) == ""


def test_a_test_without_the_message_reports_the_remedy(tmp_path: Path) -> None:
    """The remedy replaces the traceback, also for a file that cannot be collected."""
    _, _, lines = (TESTS / "conftest.py").read_text().partition("@pytest.hookimpl")
    hook = "@pytest.hookimpl" + lines.partition("def pytest_collection")[0]
    head = "from typing import Any\nimport pytest\nfrom generated_messages import remedy\n"
    (tmp_path / "conftest.py").write_text(head + hook)
    (tmp_path / "test_a.py").write_text("def test_a():\n    import tf2_msgs_none\n")
    (tmp_path / "test_b.py").write_text("import tf2_msgs_none\ndef test_b():\n    pass\n")
    (tmp_path / "generated_messages.py").write_text(
        (TESTS / "generated_messages.py").read_text().replace('"tf2_msgs"', '"tf2_msgs_none"')
    )
    for name, code in (("test_a.py", 1), ("test_b.py", 2)):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert "run bash scripts/ros_messages.sh .venv" in done.stdout, done.stdout
        assert "Traceback" not in done.stdout and done.returncode == code
