"""The computation chapter has equations, source, operations and times of every algorithm."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("docutils")
from docs_site import api_pages, folding
from warpdyn.execution.batched import FUNCTIONS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs/computation").glob("*.md"))
SECTION = re.compile(r"^## [^\n]*: `(\w+)`\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
TEXT = re.compile(
    r"```\{literalinclude\} \.\./\.\./warpdyn/algorithms/(?:\w+/)*(\w+)\.py\n(.*?)```", re.DOTALL
)
TABLE = re.compile(r"```\{folding\} (.*?)\n```")

SECTIONS = {
    name: text for page in PAGES for name, text in SECTION.findall(page.read_text(encoding="utf-8"))
}


def test_no_algorithm_is_missing() -> None:
    """Each file of warpdyn/algorithms/ has one section, and the list on the chapter's page names
    it."""
    written = [name for page in PAGES for name, _ in SECTION.findall(page.read_text())]
    assert sorted(written) == sorted(api_pages.algorithm_modules())
    front = (ROOT / "docs/computation.md").read_text()
    for page in PAGES:
        row = re.search(rf"^\| \[.*\]\(computation/{page.name}\) \| (.*) \|$", front, re.MULTILINE)
        assert row, page.name
        own = [name for name, _ in SECTION.findall(page.read_text())]
        assert re.findall(r"`(\w+)`", row[1]) == own


@pytest.mark.parametrize("name", api_pages.algorithm_modules())
def test_a_section_has_equations_and_source_code(name: str) -> None:
    """The code is included from the algorithm's own file, and the names it selects exist."""
    section = SECTIONS[name]
    assert "```{math}" in section
    included = TEXT.findall(section)
    assert {module for module, _ in included} == {name}
    code = (ROOT / f"{api_pages.algorithm_modules()[name].replace('.', '/')}.py").read_text()
    for _, options in included:
        for option, wanted in re.findall(r":([\w-]+): (.+)", options):
            there = rf"^(def|class) {wanted}\b" if option == "pyobject" else re.escape(wanted)
            assert re.search(there, code, re.MULTILINE), f"{name}: {option} {wanted}"


def test_every_function_has_a_row_in_its_algorithms_table() -> None:
    """The row has the operations and time of a public function of arrays."""
    told = Counter(
        name.strip()
        for section in SECTIONS.values()
        for names in TABLE.findall(section)
        for name in names.split(",")
    )
    ours = {n for n, f in FUNCTIONS.items() if f.describe.__module__.startswith("warpdyn.")}
    assert set(told) == ours  # other tests may have defined functions
    assert max(told.values()) == 1


def test_a_table_has_the_recorders_counts() -> None:
    """The stored time of the same program is next to its lower bound, and not below it."""
    *_, arm, humanoid = folding.program_table(["rnea"]).splitlines()
    cells = [cell.strip() for cell in arm.strip("|").split("|")]
    operations, _ = folding.count_work("rnea", "panda")
    assert cells[:3] == ["`rnea`", "panda", f"{operations:,}"]
    assert "| humanoid |" in humanoid
    about, stored = folding.times()
    time = stored["rnea", "panda"]
    assert about["limits"]["operations"] > 1e9
    if time["operations"] == operations:
        assert float(cells[6]) >= 1.0


def test_missing_actuators_are_reported_in_the_table() -> None:
    assert "| panda has no actuators |" in folding.program_table(["actuator_torques"])
    assert "| none |" in folding.program_table(["pose_to_matrix"])
