"""The pages are true: their Python runs and prints the output below it, their names exist, their
links have targets."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from public_names import public_names

import warpdyn as wd
from warpdyn.cli.main import COMMANDS, parser

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
CHAPTER = sorted((ROOT / "docs/computation").glob("*.md"))
"""Equations and texts of the algorithms; their own test is tests/docs_site/test_chapter.py."""
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.md"))
"""They run when the site is built (scripts/docs.sh)."""
BLOCK = re.compile(
    r"^```python\n(.*?)^```\n(?:prints\n```\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
CALL = re.compile(
    r"`(?:wd\.)?((?:convert\.|kernels\.|labels\.)?\w+)\((?:f|model|pose|matrix|quaternion|source)\b"
)


COMMAND = re.compile(r"^(?:    )?warpdyn ((?:\w+) .*)$", re.MULTILINE)

IN_ORDER = ("tutorial",)
"""Pages that are read from the top: a block goes on from those before it. On others each stands by itself."""


class Block(NamedTuple):
    page: Path
    code: str
    printed: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(page, m[1], m[2] or "", text[: m.start()].count("\n") + 1)
        for m in BLOCK.finditer(text)
    ]


@pytest.mark.parametrize(
    "block",
    [b for page in PAGES if page.stem not in IN_ORDER for b in blocks(page)],
    ids=lambda block: f"{block.page.stem}:{block.line}",
)
def test_a_block_runs_and_prints_the_output_below_it(
    block: Block,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The block runs as a newcomer would run it: without other blocks, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    with np.printoptions():
        run_and_compare(block, {"__name__": "__main__"}, capsys)


@pytest.mark.parametrize("name", IN_ORDER)
def test_the_blocks_of_a_page_run_in_order(
    name: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The blocks run in one session and one folder, and each prints the output below it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    session: dict[str, object] = {"__name__": "__main__"}
    with np.printoptions():
        for block in blocks(ROOT / f"docs/{name}.md"):
            run_and_compare(block, session, capsys)


def run_and_compare(
    block: Block, session: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    code = "\n" * block.line + block.code  # an error names the page's own line
    exec(compile(code, str(block.page), "exec"), session)
    printed = capsys.readouterr().out
    if block.printed:
        assert printed == block.printed
    else:
        assert len(printed.splitlines()) <= 20


def test_every_block_is_run() -> None:
    """No page has Python in a form that the tests above would not find."""
    for page in PAGES:
        assert page.read_text().count("```python") == len(blocks(page)), page.name


def test_commands_of_pages_are_understood() -> None:
    """Each command that stands on a line of its own has arguments that its parser accepts."""
    known = {module.__name__.rpartition(".")[2] for module in COMMANDS}
    understood = 0
    for page in [*PAGES, *NOTEBOOKS, ROOT / "README.md"]:
        for written in COMMAND.findall(page.read_text().replace("\\\n", "")):
            words = shlex.split(written, comments=True)
            template = {"TASK", "ROBOT", "--help", "--version"} & {*words}
            if words and words[0] in known and not template:
                parser().parse_args(words)  # exits with a message if it does not understand
                understood += 1
    assert understood > 50


def test_the_table_of_pages_lists_every_page() -> None:
    """The tables of docs/README.md list each page of the folder once."""
    index = (ROOT / "docs/README.md").read_text()
    rows = [line for line in index.splitlines() if line.startswith("| [")]
    named = [LINK.search(row)[1] for row in rows]  # type: ignore[index]
    pages = [page.name for page in PAGES if page.name != "README.md"]
    assert sorted(name for name in named if "/" not in name) == pages
    for folder, pages_of in (("notebooks", NOTEBOOKS), ("computation", CHAPTER)):
        beside = sorted(f"{folder}/{page.name}" for page in pages_of)
        assert sorted(name for name in named if name.startswith(f"{folder}/")) == beside


@pytest.mark.parametrize(
    "page",
    [
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        *PAGES,
        *CHAPTER,
        *NOTEBOOKS,
    ],
    ids=lambda page: page.stem,
)
def test_links_have_targets(page: Path) -> None:
    """Links to files and folders of the repository lead to existing ones."""
    for target in LINK.findall(page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_pages_call_functions_that_exist() -> None:
    """`name(model, ...)` in a page is a function of warpdyn, or of `wd.inertial`."""
    public = public_names()
    for page in PAGES:
        if page.name in ("architecture.md", "coming_from.md"):
            continue
        for name in CALL.findall(page.read_text()):
            known = name in public or name == "labels.label" or hasattr(wd.inertial, name)
            assert known, f"{page.name}: {name}"


def test_every_function_has_a_page() -> None:
    """Each public function appears in code on some page other than the tables of other
    libraries."""
    text = " ".join(page.read_text() for page in PAGES if page.name != "coming_from.md")
    known = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`]+`|```.*?```", text, re.DOTALL))))
    functions = [name for name, each in public_names().items() if callable(each) and name.islower()]
    assert not [name for name in functions if name.rpartition(".")[2] not in known]


def test_the_architecture_page_lists_every_room() -> None:
    """The table of rooms has one row for each folder of the code, inner folders too, and no other
    row."""
    text = (ROOT / "docs/architecture.md").read_text()
    rows = [
        row.split("|") for row in text.splitlines() if row.startswith("| ") and row.count("|") == 4
    ]
    table = {name for row in rows for name in re.findall(r"`([\w/]+)/`", row[2])}
    folders = {
        init.parent.relative_to(ROOT).as_posix().removeprefix("warpdyn/")
        for package in ("warpdyn", "ros2_node")
        for init in (ROOT / package).rglob("__init__.py")
    }
    assert table == folders - {"warpdyn"}


def citation() -> dict[str, str]:
    """Keys of CITATION.cff with one value each."""
    text = (ROOT / "CITATION.cff").read_text()
    return dict(re.findall(r'^([\w-]+): "?(.*?)"?$', text, re.MULTILINE))


def test_the_citation_names_this_version() -> None:
    """CITATION.cff, the BibTeX entry and ROS's package.xml have the same version, title and
    licence."""
    cff = citation()
    bibtex = dict(
        re.findall(
            r"^  (\w+) += \{+(.*?)\}+,?$", (ROOT / "docs/citing.md").read_text(), re.MULTILINE
        )
    )
    package = dict(re.findall(r"<(version|license)>(.*?)</", (ROOT / "package.xml").read_text()))
    assert cff["version"] == bibtex["version"] == package["version"] == wd.__version__
    assert cff["license"] == bibtex["license"] and cff["title"] == bibtex["title"]


def releases() -> dict[str, list[str]]:
    """Entries of each release in CHANGELOG.md, newest first, with their line breaks."""
    _, *parts = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    entries = re.compile(r"^- .*(?:\n  .*)*", re.MULTILINE)
    return {part.splitlines()[0]: entries.findall(part) for part in parts}


def test_changelog_entries_are_short() -> None:
    """An entry has at most two lines of 120 characters. Entries that break code come first and are
    marked."""
    for release, entries in releases().items():
        for entry in entries:
            lines = entry.splitlines()
            assert len(lines) <= 2 and max(map(len, lines)) <= 120, entry
        breaking = [entry.startswith("- **Breaking.** ") for entry in entries]
        assert breaking == sorted(breaking, reverse=True), release
    text = (ROOT / "CHANGELOG.md").read_text()
    assert text.count("\n- ") == sum(map(len, releases().values()))


def test_the_changelog_begins_with_unreleased_changes_and_this_version() -> None:
    """The version below "Unreleased" is the package's, with the date of CITATION.cff."""
    unreleased, newest, *_ = releases()
    assert unreleased == "Unreleased"
    assert newest == f"{wd.__version__} ({citation()['date-released']})"


MOST_USED = {
    *("load", "load_robot", "Model.params", "Model.with_payload", "bind"),
    *("rnea", "aba", "crba", "gravity_torques", "bias_forces"),
    *("fk", "jacobian", "frame_velocity", "com", "inverse_kinematics"),
    *("integrate", "difference", "random_configuration", "vjp", "derivatives"),
}
"""What a newcomer looks up first; each has an example in its docstring."""


def docstrings() -> dict[str, str]:
    """Docstrings of all public objects, by name."""
    public = public_names()
    for owner in [each for each in public.values() if inspect.isclass(each)]:
        public |= {
            f"{owner.__name__}.{name}": member
            for name, member in inspect.getmembers(owner)
            if not name.startswith("_")
        }
    return {name: inspect.getdoc(each) or "" for name, each in public.items()}


EXAMPLES = {name: text for name, text in docstrings().items() if ">>>" in text}


def test_the_most_used_functions_have_an_example() -> None:
    """An example has at most five lines that a user types."""
    assert set(EXAMPLES) >= MOST_USED
    assert max(text.count(">>>") for text in EXAMPLES.values()) <= 5


MODULES_WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((ROOT / "warpdyn").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES_WITH_EXAMPLES)
def test_the_examples_of_docstrings_run(name: str) -> None:
    """Examples of private functions run too. Each runs without the others, after `import numpy as
    np` and `import warpdyn as wd`."""
    names = {"np": np, "wd": wd}
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    for test in doctest.DocTestFinder().find(importlib.import_module(name), extraglobs=names):
        runner.run(test, out=said.append)
    assert runner.tries and not runner.failures, "".join(said)
