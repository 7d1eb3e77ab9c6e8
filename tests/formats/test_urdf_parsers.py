"""Two packages provide the module urdf_parser_py, and the package that is installed last replaces
the other: urdf-parser-py, which warpdyn needs, and the older urdfdom_py of ROS, which other
packages need."""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from urdf_texts import LIMIT, joint, links, load, robot

from warpdyn.cli.command_line import robot_file
from warpdyn.formats import urdf

NAMED = r"class (Visual|Collision)\(.*?\n\]\)\n"
"""The two classes of shapes and their declarations. The packages differ in these only."""


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of urdfdom_py, in which shapes have no names."""
    folder = tmp_path / "urdf_parser_py"
    shutil.copytree(Path(str(urdf.parser.__file__)).parent, folder)
    file = folder / "urdf.py"

    def without_names(shape: re.Match[str]) -> str:
        kept = shape[0].replace(", name=None", "").replace("        self.name = name\n", "")
        return kept.replace("    xmlr.Attribute('name', str, False),\n", "")

    text, found = re.subn(NAMED, without_names, file.read_text(), flags=re.DOTALL)
    assert found == 2
    file.write_text(text)
    for name in [name for name in sys.modules if name.startswith("urdf_parser_py")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("urdf_parser_py.urdf")
    monkeypatch.setattr(urdf, "parser", module)
    assert "name" not in inspect.signature(module.Visual).parameters
    return module


SHAPES = """<link name="a">
    <visual name="v"><geometry><sphere radius="1"/></geometry></visual>
    <visual><geometry><box size="1 2 3"/></geometry></visual>
    <collision name="c"><geometry><cylinder radius="1" length="2"/></geometry></collision></link>
    <link name="b"><visual name="w"><geometry><mesh filename="m.stl"/></geometry></visual></link>"""


def test_the_older_parser_gives_the_same_model(
    request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]
) -> None:
    """Names of shapes are read, and the parser prints nothing about attributes that it does not
    know."""
    texts = [robot(SHAPES, joint()), robot(links("a", "b"), joint(kind="planar", inside=LIMIT))]
    before: list[Any] = [*map(load, texts), urdf.load_urdf(robot_file("panda"))]
    request.getfixturevalue("older")
    after: list[Any] = [*map(load, texts), urdf.load_urdf(robot_file("panda"))]
    for ours, theirs in zip(before, after, strict=True):
        assert theirs.links == ours.links and theirs.joints == ours.joints
    assert [shape.name for shape in after[0].link("a").visuals] == ["v", None]
    assert after[0].link("a").collisions[0].name == "c"
    assert after[0].link("b").visuals[0].name == "w"
    assert capfd.readouterr() == ("", "")
