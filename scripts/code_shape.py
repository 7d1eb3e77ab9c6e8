"""Check lengths and complexities of the code against bounds: `python scripts/code_shape.py`.

`BOUNDS` holds a goal and a bound for each count, as in `prose.py`. The exit status is 1 if a count is above its bound.
"""

from __future__ import annotations

import ast
import gc
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from prose import CountBound, definitions, is_broken, modules, table  # noqa: E402

BOUNDS = {
    "functions with a complexity above 20": CountBound(3, 3),
    "bodies of more than 25 lines without a comment [%]": CountBound(10, 10),
    "most modules in one folder": CountBound(34, 34),
}
"""Goal and bound of each count. tests/test_architecture.py measures the longest import chain."""

COMPLEX, LONG_BODY = 20, 25

Function = ast.FunctionDef | ast.AsyncFunctionDef

DECISIONS = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.comprehension,
    ast.match_case,
)


def functions(tree: ast.Module) -> Iterator[Function]:
    """All functions of a module, including nested ones."""
    yield from (node for node in definitions(tree) if isinstance(node, Function))


def own_nodes(function: Function) -> Iterator[ast.AST]:
    """Nodes of a function, without those of nested functions and classes."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (*Function.__args__, ast.ClassDef)):
            continue
        yield node
        waiting += ast.iter_child_nodes(node)


def complexity(function: Function) -> int:
    """Cyclomatic complexity (McCabe 1976): 1 plus the number of decisions, including operands of `and` and `or`."""
    nodes = list(own_nodes(function))
    operands = sum(len(x.values) - 1 for x in nodes if isinstance(x, ast.BoolOp))
    conditions = sum(len(x.ifs) for x in nodes if isinstance(x, ast.comprehension))
    return 1 + sum(isinstance(x, DECISIONS) for x in nodes) + operands + conditions


def comment_lines(path: Path) -> set[int]:
    """Lines with a comment. Directives for tools, such as `noqa`, do not count."""
    with path.open("rb") as source:
        return {
            token.start[0]
            for token in tokenize.tokenize(source.readline)
            if token.type == tokenize.COMMENT
            and not token.string.startswith(("# type:", "# noqa", "# pragma"))
        }


def body_lines(function: Function) -> range:
    """Lines of a function's body without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return range(body[0].lineno, (function.end_lineno or 0) + 1) if body else range(0)


def long_bodies(path: Path, tree: ast.Module) -> Iterator[bool]:
    """One value for each body of more than 25 lines.

    It is True if no comment is in the body or on the line above.
    """
    bodies = [lines for f in functions(tree) if len(lines := body_lines(f)) > LONG_BODY]
    comments = comment_lines(path) if bodies else set()
    for lines in bodies:
        yield comments.isdisjoint(range(lines.start - 1, lines.stop))


def count_all() -> dict[str, float]:
    """The counts of `BOUNDS` for the present files."""
    trees = {path: ast.parse(path.read_text()) for path in modules()}
    without = [x for path, tree in trees.items() for x in long_bodies(path, tree)]
    folders = Counter(path.parent for path in trees if path.name != "__init__.py")
    values = (
        sum(complexity(f) > COMPLEX for tree in trees.values() for f in functions(tree)),
        100 * sum(without) / max(len(without), 1),
        max(folders.values()),
    )
    return dict(zip(BOUNDS, values, strict=True))


def main() -> int:
    gc.disable()  # it would visit all syntax trees again and again
    counts = count_all()
    print(table(counts, BOUNDS))
    return int(is_broken(counts, BOUNDS))


if __name__ == "__main__":
    sys.exit(main())
