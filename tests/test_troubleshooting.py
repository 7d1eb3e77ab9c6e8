"""The messages that docs/troubleshooting.md quotes are those that warpdyn raises."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp

import ros2_node
import warpdyn as wd
from warpdyn.cli.main import main

PAGE = (Path(__file__).parents[1] / "docs/troubleshooting.md").read_text()

PANDA, QUADRUPED = wd.load_robot("panda"), wd.load_robot("quadruped")
Q, ROWS = np.zeros((4, 8)), np.zeros((2, 18))
JOINT = '<joint name="j" type="{}"><parent link="a"/><child link="b"/><axis xyz="{}"/>{}</joint>'
LINKS = '<link name="a"/><link name="b"/>'


def text(*parts: str) -> str:
    return f'<robot name="r">{"".join(parts)}</robot>'


def massless() -> None:
    model = wd.load(text(LINKS, JOINT.format("continuous", "0 0 1", "")))
    wd.aba(model, *np.zeros((3, 1, 1)))


LIMIT = '<limit effort="1" velocity="1"/>'
CASES: dict[str, Callable[[], Any]] = {
    "no file": lambda: wd.load("panda"),
    "no bundled robot": lambda: wd.load_robot("ur10"),
    "two roots": lambda: wd.load(text(LINKS)),
    "no axis": lambda: wd.load(text(LINKS, JOINT.format("revolute", "0 0 0", LIMIT))),
    "mimic": lambda: wd.rnea(PANDA, *np.zeros((3, 4, 9))),
    "free base": lambda: wd.rnea(QUADRUPED, ROWS, ROWS, ROWS),
    "two dtypes": lambda: wd.rnea(PANDA, Q, Q.astype(np.float32), Q),
    "integers": lambda: wd.rnea(PANDA, Q.astype(int), Q, Q),
    "in place": lambda: wd.rnea(PANDA, Q, Q, Q, out=Q),
    "gravity": lambda: wd.rnea(PANDA, Q, Q, Q, gravity=9.81),
    "params": lambda: wd.rnea(PANDA, Q, Q, Q, params={"mass": 1}),
    "target": lambda: wd.inverse_kinematics(PANDA, np.zeros((4, 3)), frame="panda_hand"),
    "massless": massless,
}


@pytest.mark.parametrize("case", CASES)
def test_the_page_quotes_an_error(case: str) -> None:
    """The quotation is word for word, without the robot's name in front."""
    with pytest.raises((TypeError, ValueError, wd.ModelError)) as caught:
        CASES[case]()
    said = re.sub("^r: ", "", str(caught.value))
    assert f"`{said}`" in PAGE


def test_the_page_quotes_the_error_of_an_unknown_link() -> None:
    """It quotes the beginning; the robot's names follow."""
    with pytest.raises(KeyError) as caught:
        wd.fk(PANDA, Q, frame="hand")
    assert caught.value.args[0].startswith("panda has no link named 'hand'")
    assert "`panda has no link named 'hand'`" in PAGE


def test_the_page_quotes_the_warning_of_an_impossible_inertia() -> None:
    """The inertia breaks the triangle inequality."""
    inertia = '<inertia ixx="1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
    body = f'<link name="b"><inertial><mass value="1"/>{inertia}</inertial></link>'
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        wd.load(text('<link name="a"/>', body, JOINT.format("continuous", "0 0 1", "")))
    words = "break the triangle inequality"
    assert words in str(seen[0].message) and f"`{words}`" in PAGE


def test_the_page_quotes_errors_with_torch() -> None:
    """The calls mix arrays of Warp and Torch, or ask for gradients of a bound call or into
    `out`."""
    torch = pytest.importorskip("torch")
    q, zero = torch.zeros(4, 8, requires_grad=True), torch.zeros(4, 8)
    said = []
    for call in (
        lambda: wd.rnea(PANDA, wp.zeros((4, 8), float, "cpu"), Q, Q),
        lambda: wd.bind(wd.rnea, PANDA, q, zero, zero),
        lambda: wd.rnea(PANDA, q, zero, zero, out=torch.zeros(4, 8)),
    ):
        with pytest.raises((TypeError, NotImplementedError)) as caught:
            call()
        said.append(str(caught.value))
    assert not [words for words in said if f"`{words}`" not in PAGE]


XACRO = text('<link name="a"/>').replace(
    "name=", 'xmlns:xacro="http://www.ros.org/wiki/xacro" name=', 1
)
BALL = '<body name="b"><joint/><geom type="sphere" size="0.1"/></body>'


@pytest.mark.parametrize("package", ["xacro", "mujoco"])
def test_the_page_quotes_the_error_of_a_missing_format_package(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It quotes the end of the error; the beginning names the file and the body."""
    monkeypatch.setitem(sys.modules, package, None)
    file = tmp_path / "arm.xacro"
    file.write_text(XACRO)
    with pytest.raises(wd.ModelError) as caught:
        if package == "xacro":
            wd.load_xacro(file)
        else:
            wd.load_mjcf(f"<mujoco><worldbody>{BALL}</worldbody></mujoco>")
    quoted = re.findall(rf"`([^`]*not installed: pip install {package}[^`]*)`", PAGE)
    assert len(quoted) == 1 and str(caught.value).endswith(quoted[0])


def test_the_page_quotes_errors_of_commands_without_their_packages(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands draw pictures without Matplotlib, run the node without ROS, or use a device that
    does not exist."""
    said = []
    for package, run in (
        ("matplotlib", lambda: main(["bench", "panda", "--plot", "b.png"])),
        ("rclpy", ros2_node.run_node),
        ("", lambda: main(["bench", "panda", "--device", "cuda:7"])),
    ):
        with monkeypatch.context() as without, pytest.raises(SystemExit):
            without.setattr(sys, "argv", ["command"])
            if package:
                without.setitem(sys.modules, package, None)
            for module in [name for name in sys.modules if name.startswith("ros2_node.")]:
                # Another test may have imported ROS already. A new import sets the package's
                # attributes, too, and they have to be the old modules again.
                child = module.removeprefix("ros2_node.")
                if "." not in child and hasattr(ros2_node, child):
                    without.setattr(ros2_node, child, getattr(ros2_node, child))
                without.delitem(sys.modules, module)
            sys.exit(run())
        said.append(capsys.readouterr().err.strip().splitlines()[-1])
    *of_packages, of_device = (line.removeprefix("warpdyn: error: ") for line in said)
    assert not [words for words in of_packages if f"`{words}`" not in PAGE]
    here = of_device.replace("cuda:7", "cuda:0").partition(";")[
        0
    ]  # then the devices of the machine
    assert f"`{here};" in PAGE
