"""The README's example does what it says, and its other statements that can be checked are true."""

from __future__ import annotations

import ast
import re
import struct
import subprocess
import sys
from pathlib import Path

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
