"""The README's example runs. Its numbers, those of docs/figures.md and the table of extras are
true."""

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
from benchmarks import figures_page, report

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
FIGURES = ROOT / "docs/figures.md"
INSTALLATION = ROOT / "docs/installation.md"


def test_the_example_prints_the_output_below_it() -> None:
    """The Python block, run as a newcomer would run it, prints the block after it."""
    code, printed = re.search(
        r"```python\n(.*?)```\nprints\n```\n(.*?)```", README.read_text(), re.DOTALL
    ).groups()
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == printed


def setup_argument(name: str) -> ast.expr:
    """The value of one argument of `setup` in setup.py."""
    calls = [
        node
        for node in ast.walk(ast.parse((ROOT / "setup.py").read_text()))
        if isinstance(node, ast.Call)
    ]
    call = next(call for call in calls if ast.unparse(call.func) == "setup")
    return next(keyword.value for keyword in call.keywords if keyword.arg == name)


def extra_rows() -> list[tuple[str, str]]:
    """Each extra in the table of docs/installation.md, with its size."""
    table = r"^\| `\.\[(\w+)\]` \|.*\| (.*?) \|$"
    return re.findall(table, INSTALLATION.read_text(), re.MULTILINE)


def classifiers(start: str) -> list[str]:
    """The rest of each classifier in setup.py that begins with `start`."""
    words = ast.literal_eval(setup_argument("classifiers"))
    return [word.removeprefix(start) for word in words if word.startswith(start)]


def test_the_status_line_agrees_with_the_package_metadata() -> None:
    """It names the version, stage, Python versions, system, licence and supported devices."""
    pythons = classifiers("Programming Language :: Python :: 3.")
    (stage,) = classifiers("Development Status :: ")
    (system,) = classifiers("Operating System :: POSIX :: ")
    licence = re.search('"Apache[^"]+"', (ROOT / "setup.py").read_text())
    assert licence
    status = (
        f"Version {wd.__version__} ({stage.split()[-1].lower()}) · Python 3.{pythons[0]} to 3.{pythons[-1]}"
        f" · {system} · {ast.literal_eval(licence[0])} · CPUs and NVIDIA GPUs"
    )
    assert README.read_text().splitlines()[2] == status


def test_the_first_screen_shows_how_to_install_and_run() -> None:
    """The first 40 lines have a picture, the installation, both commands, ten lines of code that
    begin by line 30, and their output."""
    screen = README.read_text().splitlines()[:40]
    text = "\n".join(screen)
    for each in (
        "](docs/pictures/",
        "    pip install .",
        "bash scripts/demo.sh",
        "bash scripts/test.sh",
    ):
        assert each in text, each
    begin, end = screen.index("```python"), screen.index("prints")
    assert begin < 30 and end - begin - 2 <= 12
    assert text.index("prints") < text.rindex("```")


def test_the_speeds_in_the_readme_are_stored_results() -> None:
    """The kernel's time, its ratio to Pinocchio, and the plain and bound calls are rounded from the
    folders that docs/figures.md names."""
    run, calls = (
        report.read(figures_page.chosen(place))
        for place in (figures_page.PLACE, figures_page.CALLS)
    )
    kernel, (pinocchio,) = (
        run.main("panda", "rnea")["ns"],
        [r["ns"] for r in run.rivals("panda", "rnea") if r["peer"] == "pinocchio"],
    )
    ns = next(
        r["ns"]
        for r in calls.calls
        if (r["robot"], r["algorithm"], r["batch"]) == ("panda", "rnea", 1)
    )
    plain, bound = f"{ns['plain'] / 1e3:.2f} us", f"{ns['own'] / 1e3:.2f} us"
    text = README.read_text()
    assert f"takes {report.short(kernel)} ns in a batch of 16,384" in text
    assert f"takes {pinocchio / kernel:.0f} times as long" in text
    assert f"A call for one robot takes {plain}, or {bound} when it is bound" in text
    assert f"panda takes {plain}, the bound call {bound}" in FIGURES.read_text()
    assert run.about["hardware"].startswith("AMD EPYC") and calls.about["date"] in text
    for page in (ROOT / "docs/faq.md", ROOT / "docs/README.md"):
        assert bound in page.read_text(), f"{page.name} has another time of a bound call"


def test_starts_accuracy_and_targets_agree_with_the_stored_report() -> None:
    """The page and the report have the same compile and import times, worst errors and missed
    targets."""
    page, folder = FIGURES.read_text(), figures_page.chosen()
    assert folder is not None
    stored = (folder / "report.md").read_text()
    starts = re.findall(r"^\| ([^|]+) \| (\d[\d.]+) \|$", page, re.MULTILINE)
    assert len(starts) == 4
    for name, seconds in starts:
        assert f"| {name} [s] | {seconds} |" in stored, name
    missed = re.findall(r"^\| (\w+) of (\w+), .* \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    assert len(missed) == 2
    for algorithm, robot, asked, reached in missed:
        assert re.search(rf"{robot} .*{algorithm} {reached} \(\d+%\), asked {asked}", stored), robot
    reached, asked = re.search(r"^(\d+) of the (\d+) figures asked", stored, re.MULTILINE).groups()
    assert f"{int(asked) - int(reached)} of {asked}" in page
    worst = (folder / "accuracy.md").read_text()
    for bits in (64, 32):
        robots, error = re.search(rf"Worst of (\d+) robots in float{bits}: (\S+)", worst).groups()
        assert f"{error} in float{bits}" in page and f"[{robots} robots]" in page
        assert f"on {robots} robots" in README.read_text()
        assert bits == 32 or float(error) <= 1e-12


def test_every_extra_has_a_row_with_its_size() -> None:
    """The table of extras lists exactly those of setup.py."""
    rows = dict(extra_rows())
    assert len(rows) == len(extra_rows())
    extras = setup_argument("extras_require")
    assert isinstance(extras, ast.Dict)
    assert set(rows) == {ast.literal_eval(key) for key in extras.keys if key}
    assert all(re.match(r"\d\.\d GB", size) for size in rows.values())


def test_packages_that_are_always_installed_are_named() -> None:
    """The first row of the table names each requirement."""
    row = re.search(r"^\| `\.` \|.*$", INSTALLATION.read_text(), re.MULTILINE)
    assert row
    words = {"warp-lang": "warp"}
    for line in ast.literal_eval(setup_argument("install_requires")):
        name = re.match(r"[\w-]+", line)
        assert name and words.get(name[0], name[0]) in row[0].lower(), line


def test_the_readme_opens_with_a_picture() -> None:
    """The picture is wide enough to be read at 900 pixels, and smaller than 200 kB."""
    picture = re.search(r"!\[.+\]\((\S+\.png)\)", README.read_text().partition("\n## ")[0])
    assert picture
    data = (ROOT / picture[1]).read_bytes()
    width, _ = struct.unpack(">II", data[16:24])
    assert width >= 900 and len(data) < 200_000


def test_the_picture_shows_computed_and_stored_numbers() -> None:
    """Its arm falls and remains above the floor. Its bars are the numbers of the folder that
    docs/figures.md names."""
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
