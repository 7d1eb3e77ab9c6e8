"""Check the prose of the project against bounds: `python scripts/prose.py`.

`BOUNDS` holds a goal and a bound for each count. The exit status is 1 if a count is above its bound. A bound is the
count of today. When a change lowers a count, it lowers the bound, too. Code blocks, inline code, link targets and
comments are not counted. `python scripts/prose.py --list` prints the places of names and docstrings that are counted.
"""

from __future__ import annotations

import ast
import gc
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class CountBound(NamedTuple):
    """The goal of a count, and the largest value that passes today."""

    goal: float
    bound: float


BOUNDS = {
    "README: words": CountBound(900, 900),
    "README: line of the first code block": CountBound(30, 30),
    "docs: most semicolons per 1,000 words on a page": CountBound(3, 3),
    "docs: semicolons per 1,000 words": CountBound(3, 3),
    "docs: table cells of more than 25 words": CountBound(0, 0),
    "docstrings: first words that are not a noun [%]": CountBound(2, 2),
    "names: bare participles and riddles": CountBound(0, 3),
    "tests and tools: docstrings without a noun first [%]": CountBound(2, 2),
    "tests and tools: bare participles and riddles": CountBound(0, 19),
    "tests: names that begin with a pronoun": CountBound(0, 0),
}
"""Goal and bound of each count."""

LONGEST_CELL = 25
"""Largest number of words in a table cell. Longer text belongs in a paragraph."""

_WORDS = """
    what whatever whether how
    about above across after against along among around as at before behind below beneath beside
    between beyond by during for from in inside into of off on onto out outside over past since
    through throughout to toward towards under until up upon with within without
"""
NO_NOUN = frozenset(_WORDS.split())
"""Question words and prepositions. No docstring begins with them."""

_WORDS = """
    bent borne bought bound broken brought built caught chosen come done drawn driven fallen felt found
    given gone grown heard held hidden kept known laid left lent lost made meant met paid said seen sent
    shown sold spent spoken stood struck stuck sunk swept taken taught thought thrown told torn
    understood won worn wound written
"""
PARTICIPLES = frozenset(_WORDS.split())
"""Irregular participles. `read`, `split` and others are also verbs, which may name a function."""

_WORDS = "how it its their they this those what whatever where whether who"
PRONOUNS = frozenset(_WORDS.split())
"""Question words and pronouns. In the name of a test they refer to nothing."""

TESTS_AND_TOOLS = ("tests", "benchmarks", "scripts", "docs_site", "examples", "launch")
"""Folders in addition to the packages."""

NO_PARTICIPLES = frozenset({"bed", "feed", "need", "quadruped", "seed", "shed", "speed", "succeed"})
"""Nouns and verbs that end like participles."""

_WORDS = """
    companions copies edges ending handing_on_settings leading looked_up made_once plain_numbers touches
    two_simulators
"""
RIDDLES = frozenset(_WORDS.split())
"""Names that tell a reader nothing in a list of files or functions."""

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

FENCE = re.compile(r"^ *(`{3,}|~{3,})")
"""The marks at the beginning and the end of a code block or a directive of the site."""


def prose(text: str) -> str:
    """A page without code blocks, inline code, comments and link targets."""
    lines, fence = [], ""
    for line in text.splitlines():
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and line.strip() == mark[1]:
                fence = ""
        elif mark:
            fence = mark[1]
        elif not line.startswith("    "):
            lines.append(line)
    kept = re.sub(r"<!--.*?-->", "", "\n".join(lines), flags=re.DOTALL)
    kept = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "`", kept)
    return re.sub(r"\]\([^)\s]*\)", "]", kept)


def words(text: str) -> int:
    """Number of words. A word is a run of characters without blanks that contains a letter."""
    return sum(any(c.isalpha() for c in word) for word in text.split())


def semicolons(text: str) -> float:
    """Semicolons per 1,000 words."""
    return 1000 * text.count(";") / max(words(text), 1)


def first_code_line(text: str) -> int:
    """Line number of the first code on a page. A page without code gives the number of its lines plus one."""
    lines = text.splitlines()
    starts = (k for k, x in enumerate(lines, 1) if FENCE.match(x) or x.startswith("    "))
    return next(starts, len(lines) + 1)


def long_cells(text: str) -> list[str]:
    """Table cells with more than `LONGEST_CELL` words."""
    rows = [line for line in prose(text).splitlines() if line.startswith("|")]
    cells = (cell for row in rows for cell in re.split(r"(?<!\\)\|", row.strip("| ")))
    return [cell.strip() for cell in cells if words(cell) > LONGEST_CELL]


def definitions(node: ast.AST) -> Iterator[Definition]:
    """Classes and functions in a module or in another statement, at any depth. Unlike `ast.walk`, this
    does not visit expressions."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, field, ()):
            if isinstance(child, Definition):
                yield child
            yield from definitions(child)


@cache
def all_definitions(tree: ast.Module) -> tuple[Definition, ...]:
    """`definitions` of a module. Several counts use them."""
    return tuple(definitions(tree))


def first_word(node: ast.Module | Definition) -> str:
    """The first word of a docstring, in small letters. It is empty without a docstring."""
    text = ast.get_docstring(node, clean=False) or ""
    return re.split(r"[\s,.:;]", text.lstrip(), maxsplit=1)[0].lower()


def first_words(tree: ast.Module) -> Iterator[str]:
    """The first word of each docstring of a module."""
    return filter(None, map(first_word, (tree, *all_definitions(tree))))


def share_without_noun(trees: Iterable[ast.Module]) -> float:
    """Percentage of docstrings that begin with a question word or a preposition."""
    found = [word in NO_NOUN for tree in trees for word in first_words(tree)]
    return 100 * sum(found) / max(len(found), 1)


def is_banned(name: str) -> bool:
    """True for one of `RIDDLES`, and for a participle that is the whole name apart from underscores."""
    word = name.strip("_")
    if word in RIDDLES:
        return True
    if not re.fullmatch("[A-Z]?[a-z]+", word) or word.lower() in NO_PARTICIPLES:
        return False
    return word.lower() in PARTICIPLES or word.endswith("ed")


def banned_names(module: str, tree: ast.Module) -> Iterator[str]:
    """Banned names of a module and of its classes and functions."""
    return filter(is_banned, (module, *(node.name for node in all_definitions(tree))))


def begins_without_noun(test: str) -> bool:
    """True for the name of a test that begins with a question word or a pronoun."""
    parts = test.split("_")
    return parts[0] == "test" and len(parts) > 1 and parts[1] in PRONOUNS


def modules(folders: Iterable[str] = ("warpdyn", "ros2_node")) -> list[Path]:
    """Python files in some folders of the project; by default those of the packages."""
    return [p for name in folders for p in sorted((ROOT / name).rglob("*.py"))]


def places(path: Path) -> Iterator[str]:
    """Places in a file: names that are banned, and docstrings that begin without a noun."""
    tree = ast.parse(path.read_text())
    for node in (tree, *all_definitions(tree)):
        name, line = getattr(node, "name", path.stem), getattr(node, "lineno", 1)
        if is_banned(name) or begins_without_noun(name):
            yield f"{path.relative_to(ROOT)}:{line}: name {name}"
        if first_word(node) in NO_NOUN:
            yield f"{path.relative_to(ROOT)}:{line}: docstring of {name}"


def count_all() -> dict[str, float]:
    """The counts of `BOUNDS` for the present files."""
    readme = (ROOT / "README.md").read_text()
    folder = ROOT / "docs"
    generated = folder / "api"
    pages = [p for p in sorted(folder.rglob("*.md")) if generated not in p.parents]
    texts = [page.read_text() for page in pages]
    trees = {path: ast.parse(path.read_text()) for path in modules()}
    others = {path: ast.parse(path.read_text()) for path in modules(TESTS_AND_TOOLS)}
    return {
        "README: words": words(prose(readme)),
        "README: line of the first code block": first_code_line(readme),
        "docs: most semicolons per 1,000 words on a page": max(
            semicolons(prose(text)) for text in (readme, *texts)
        ),
        "docs: semicolons per 1,000 words": semicolons("\n".join(map(prose, texts))),
        "docs: table cells of more than 25 words": sum(len(long_cells(text)) for text in texts),
        "docstrings: first words that are not a noun [%]": share_without_noun(trees.values()),
        "names: bare participles and riddles": sum(
            len([*banned_names(path.stem, tree)]) for path, tree in trees.items()
        ),
        "tests and tools: docstrings without a noun first [%]": share_without_noun(others.values()),
        "tests and tools: bare participles and riddles": sum(
            len([*banned_names(path.stem, tree)]) for path, tree in others.items()
        ),
        "tests: names that begin with a pronoun": sum(
            begins_without_noun(node.name)
            for tree in others.values()
            for node in all_definitions(tree)
        ),
    }


def remark_on(count: float, goal: float, bound: float) -> str:
    """A remark if a bound is broken, or if the count is more than a tenth below it."""
    if count > bound:
        return "BROKEN"
    return "lower the bound" if bound > goal and max(count, goal) < 0.9 * bound else ""


def table(counts: Mapping[str, float], bounds: Mapping[str, CountBound]) -> str:
    """The counts with their bounds and goals, as a Markdown table."""
    rows = [
        f"| {'count':<53} |  today |  bound |   goal | |",
        f"|{'-' * 55}|-------:|-------:|-------:|---|",
    ]
    for name, (goal, bound) in bounds.items():
        remark = remark_on(counts[name], goal, bound)
        rows.append(f"| {name:<53} | {counts[name]:6.5g} | {bound:6.5g} | {goal:6.5g} | {remark} |")
    return "\n".join(rows)


def is_broken(counts: Mapping[str, float], bounds: Mapping[str, CountBound]) -> bool:
    """True if a count is above its bound."""
    return any(counts[name] > bound for name, (_, bound) in bounds.items())


def main(arguments: Sequence[str] = ()) -> int:
    if "--list" in arguments:
        files = modules(("warpdyn", "ros2_node", *TESTS_AND_TOOLS))
        print("\n".join(place for path in files for place in places(path)))
        return 0
    gc.disable()  # its visits of all syntax trees take six times as long as the parser
    counts = count_all()
    print(table(counts, BOUNDS))
    return int(is_broken(counts, BOUNDS))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
