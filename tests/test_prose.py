"""scripts/prose.py counts correctly, fails if a bound is exceeded, and runs with lint."""

from __future__ import annotations

import ast
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SPEC = spec_from_file_location("prose", ROOT / "scripts/prose.py")
assert SPEC is not None and SPEC.loader is not None
prose = module_from_spec(SPEC)
SPEC.loader.exec_module(prose)

PAGE = """# Two words

Prose; with `code; in it` and [a link](to;there.md). <!-- a; comment -->

```python
a = 1; b = 2
```
    indented; code

````{note}
```
inside; of another
```
````
| a cell | `x; y` |
"""


def test_code_links_and_comments_are_no_prose() -> None:
    """The page's prose has one semicolon. Numbers and marks are no words."""
    text = prose.prose(PAGE)
    assert text.count(";") == 1 and not {"python", "indented", "comment", "there", "inside"} & {
        word.strip(";") for word in text.split()
    }
    assert prose.words("# Two words - 12 4.5") == 2
    assert prose.semicolons("one; two three four") == 250


@pytest.mark.parametrize(
    ("text", "line"),
    [("# a\n\n```python\nx\n```\n", 3), ("# a\ntext\n\n    bash it\n", 4), ("# a\ntext\n", 3)],
)
def test_the_first_code_line_is_found(text: str, line: int) -> None:
    """It counts fenced and indented code. Without code it is the line after the end."""
    assert prose.first_code_line(text) == line


def test_a_long_cell_has_more_than_25_words() -> None:
    """Code in a cell does not count, and text outside of tables is in no cell."""
    few, many = "word " * 25, "word " * 26
    assert prose.long_cells(f"| a | {few} |\n| {few} `{many}` | b |\n{many}\n") == []
    assert prose.long_cells(f"| a | {many} |\n| {many} | b |\n") == [many.strip()] * 2


def test_docstrings_that_begin_with_no_noun_are_counted() -> None:
    """Docstrings of modules, classes and functions count. They begin with a question word or a
    preposition in any case, with or without a comma."""
    source = '"""What it is."""\nclass A:\n    """A class."""\n    def f(self):\n        """In, or out."""\n'
    tree = ast.parse(source)
    assert list(prose.first_words(tree)) == ["what", "a", "in"]
    assert prose.share_without_noun([tree, ast.parse('def g():\n    """Gravity."""\n')]) == 50


@pytest.mark.parametrize(
    ("name", "banned"),
    [
        ("seen", True),
        ("_told", True),
        ("Moved", True),
        ("joined", True),
        ("looked_up", True),
        ("read", False),
        ("_split", False),
        ("seed", False),
        ("read_vector", False),
        ("moved_joints", False),
        ("CommandedQuadruped", False),
    ],
)
def test_bare_participles_and_riddles_are_banned(name: str, banned: bool) -> None:
    """A verb whose form is that of a participle is not banned, nor is a name of several words."""
    assert prose.is_banned(name) == banned


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("test_what_is_refused", True),
        ("test_they_agree", True),
        ("test_without_links_nothing_moves", False),
        ("test_its_mass", True),
        ("test_item_masses", False),
        ("test_links_of_a_robot", False),
        ("what_is_left", False),
        ("test", False),
    ],
)
def test_names_of_tests_without_a_noun_are_counted(name: str, counted: bool) -> None:
    """Only the first word counts, and only in names of tests."""
    assert prose.begins_without_noun(name) == counted


def test_definitions_are_found_in_every_statement() -> None:
    """`definitions` finds classes and functions in branches, loops, handlers and cases, at any depth."""
    source = (
        "if x:\n    def a(): ...\nelse:\n    def b(): ...\nfor k in x:\n    def c(): ...\n"
        "try:\n    def d(): ...\nexcept E:\n    def e(): ...\nfinally:\n    def f(): ...\n"
        "match x:\n    case 1:\n        class G:\n            async def h(): ...\n"
    )
    found = [node.name for node in prose.definitions(ast.parse(source))]
    assert sorted(found) == ["G", *"abcdefh"]


def test_names_of_modules_classes_and_functions_are_checked() -> None:
    """Methods, inner functions and the file's name are checked; names of data are not."""
    source = "class Moved:\n    def _told(self):\n        def made(): ...\n    kept = 1\n"
    assert sorted(prose.banned_names("copies", ast.parse(source))) == [
        "Moved",
        "_told",
        "copies",
        "made",
    ]


def test_list_names_the_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line has the file, the line number and the name. The exit code is 0."""
    source = '"""A page."""\n\n\ndef seen():\n    """Of a page."""\n\n\ndef test_it_moves(): ...\n'
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_page.py").write_text(source)
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    assert prose.main(["--list"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "tests/test_page.py:4: name seen",
        "tests/test_page.py:4: docstring of seen",
        "tests/test_page.py:8: name test_it_moves",
    ]


def test_a_broken_bound_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 1 and the row says BROKEN. A bound that is no longer needed is only
    mentioned."""
    counts = {name: goal for name, (goal, _) in prose.BOUNDS.items()}
    first = next(iter(counts))
    monkeypatch.setattr(prose, "count_all", lambda: counts)
    monkeypatch.setitem(prose.BOUNDS, first, prose.CountBound(counts[first], 2 * counts[first]))
    assert prose.main() == 0 and "lower the bound" in capsys.readouterr().out
    for name, (goal, bound) in prose.BOUNDS.items():
        assert goal <= bound
        monkeypatch.setattr(prose, "count_all", lambda name=name, b=bound: counts | {name: b + 1})
        assert prose.main() == 1
        (row,) = (x for x in capsys.readouterr().out.splitlines() if "BROKEN" in x)
        assert row.startswith(f"| {name} ")


def test_prose_runs_after_ruff_in_both_lint_forms() -> None:
    """scripts/test.sh has two forms that lint."""
    lines = [line.strip() for line in (ROOT / "scripts/test.sh").read_text().splitlines()]
    after = [lines[k + 1] for k, x in enumerate(lines) if x == "ruff format --check ."]
    assert after == ["python scripts/prose.py"] * 2
