"""The README's example does what it says, and its other statements that can be checked are true."""

from __future__ import annotations

import ast
import re
import struct
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd
from benchmarks import readme, report

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


def test_the_example_prints_what_stands_below_it() -> None:
    """The Python block, run as a newcomer would, prints the block after it."""
    code, printed = re.search(
        r"```python\n(.*?)```\nprints\n```\n(.*?)```", README.read_text(), re.DOTALL
    ).groups()
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == printed


def setup_argument(name: str) -> ast.expr:
    """What setup.py gives `setup` by that name."""
    calls = [
        node
        for node in ast.walk(ast.parse((ROOT / "setup.py").read_text()))
        if isinstance(node, ast.Call)
    ]
    call = next(call for call in calls if ast.unparse(call.func) == "setup")
    return next(keyword.value for keyword in call.keywords if keyword.arg == name)


def test_every_extra_has_a_row_with_its_size() -> None:
    """The table of what can be installed is that of setup.py: no extra too few, none too many."""
    rows = dict(re.findall(r"^\| `\.\[(\w+)\]` \|.*\| (.*?) \|$", README.read_text(), re.MULTILINE))
    extras = setup_argument("extras_require")
    assert isinstance(extras, ast.Dict)
    assert set(rows) == {ast.literal_eval(key) for key in extras.keys if key}
    assert all(re.match(r"\d\.\d GB", size) for size in rows.values())


def test_what_is_always_installed_is_named() -> None:
    """The first row of the table names each requirement."""
    row = re.search(r"^\| `\.` \|.*$", README.read_text(), re.MULTILINE)
    assert row
    words = {"warp-lang": "warp"}
    for line in ast.literal_eval(setup_argument("install_requires")):
        name = re.match(r"[\w-]+", line)
        assert name and words.get(name[0], name[0]) in row[0].lower(), line


def test_it_opens_with_a_picture() -> None:
    """One that is wide enough to be read at 900 pixels and small enough to be loaded at once."""
    picture = re.search(r"!\[.+\]\((\S+\.png)\)", README.read_text().partition("\n## ")[0])
    assert picture
    data = (ROOT / picture[1]).read_bytes()
    width, _ = struct.unpack(">II", data[16:24])
    assert width >= 900 and len(data) < 200_000


def test_the_picture_shows_what_is_computed_and_stored() -> None:
    """Its arm falls and stays above the floor; its bars are the figures of the folder that README names."""
    plt = pytest.importorskip("matplotlib.pyplot")
    path = ROOT / "docs/pictures/make_opening.py"
    spec = spec_from_file_location("make_opening", path)
    assert spec is not None and spec.loader is not None
    picture = module_from_spec(spec)
    spec.loader.exec_module(picture)
    model = wd.load_robot("panda")
    q = np.array([picture.START, *picture.fall(model, picture.START)])
    height = wd.fk(model, q, frame="panda_hand_tcp")[:, 2, 3]
    assert np.all(np.diff(height) < 0) and height[-1] > 0
    assert {shape[0] for shape in picture.SHAPES} <= set(model.link_names)

    figure, axes = plt.subplots()
    picture.draw_bars(axes)
    widths = [bar.get_width() for bar in axes.patches]
    plt.close(figure)
    run = report.read(figures_page.chosen())
    assert widths[0::2] == [1e3 / run.main("panda", a)["ns"] for a in picture.ALGORITHMS]
    assert len(widths) == 2 * len(picture.ALGORITHMS)
