"""Small wrong changes of source files: one operator, sign, condition, constant or statement at a time.

The syntax tree finds the places in Python files, and regular expressions find those in C++ headers. A mutation
replaces one range of characters and leaves the rest of the file unchanged.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

Change = tuple[ast.AST, ast.AST]
"""A node of the tree, and the node that replaces it."""

OPPOSITES: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.MatMult: ast.Add,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


SYMMETRIC = {"max", "min", "maximum", "minimum", "hypot", "allclose", "array_equal"}
SYMMETRIC |= {"dot", "sparse_dot", "apart", "action_rate", "update"}
"""Functions whose first two arguments can be exchanged, so that another order is not a wrong change. A product of two
lists of numbers, distances of two poses and of two actions, and a set's update by two others are among them."""

CLIP = "clip"
"""NumPy's `clip(x, low, high)` takes the larger of the first two, and the smaller of that and the third, so that these
two can be exchanged. The method `x.clip(low, high)` has two arguments."""

TRUTHS = {"bool", "isinstance", "issubclass", "hasattr", "callable", "any", "all"}
"""Functions that return a truth value, which a sign does not change."""


@dataclass(frozen=True)
class Mutation:
    """A range of characters of a file and its replacement."""

    path: str
    operator: str
    line: int
    start: int
    stop: int
    before: str
    after: str

    def apply(self, text: str) -> str:
        assert text[self.start : self.stop] == self.before
        return text[: self.start] + self.after + text[self.stop :]

    def __str__(self) -> str:
        def short(text: str) -> str:
            text = " ".join(text.split())
            return text if len(text) <= 60 else text[:57] + "..."

        return (
            f"{self.path}:{self.line} {self.operator}: {short(self.before)} → {short(self.after)}"
        )


def _arithmetic(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in OPPOSITES:
        if isinstance(node, ast.BinOp) and _is_text(node):
            return
        changed = copy.copy(node)
        changed.op = OPPOSITES[type(node.op)]()
        yield changed


def _is_text(node: ast.AST) -> bool:
    """True if an operand is a string. Another operator would then be an error."""
    return any(
        isinstance(x, ast.JoinedStr) or (isinstance(x, ast.Constant) and isinstance(x.value, str))
        for x in ast.walk(node)
    )


def _called_name(node: ast.AST) -> str:
    """The last name of the function that a node calls; "" if it is not a call of a name."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _sign(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node.operand
    is_result = isinstance(node, ast.Return) and isinstance(node.value, (ast.BinOp, ast.Call))
    if is_result and not _is_text(node) and _called_name(node.value) not in TRUTHS:
        yield ast.Return(ast.UnaryOp(ast.USub(), node.value))


def _comparison(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPPOSITES:
        changed = copy.copy(node)
        changed.ops = [OPPOSITES[type(node.ops[0])](), *node.ops[1:]]
        yield changed


def _boolean(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.BoolOp):
        yield ast.BoolOp(OPPOSITES[type(node.op)](), node.values)


def _condition(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, (ast.IfExp, ast.If, ast.While)):
        yield ast.UnaryOp(ast.Not(), node.test)
        yield ast.Constant(True)


def _constant(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield ast.Constant(not node.value)
        elif isinstance(node.value, int):
            yield ast.Constant(node.value + 1)
        elif isinstance(node.value, float):
            yield ast.Constant(node.value * 1.5 if node.value else 1.0)


def _dropped_statement(node: ast.AST) -> Iterator[ast.AST]:
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    is_write = isinstance(node, ast.Assign) and isinstance(
        node.targets[0], (ast.Subscript, ast.Attribute)
    )
    if is_call or is_write or isinstance(node, ast.AugAssign):
        yield ast.Pass()


def _dropped_raise(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Raise):
        yield ast.Pass()


def _slice(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Slice):
        start = ast.Constant(1) if node.lower is None else _plus_one(node.lower)
        yield ast.Slice(start, node.upper, node.step)
        if node.upper is not None:
            yield ast.Slice(node.lower, _plus_one(node.upper), node.step)


def _plus_one(node: ast.expr) -> ast.expr:
    return ast.BinOp(node, ast.Add(), ast.Constant(1))


def _swapped_arguments(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Call) and len(node.args) >= 2:
        first, second, *others = node.args
        is_starred = isinstance(first, ast.Starred) or isinstance(second, ast.Starred)
        name, others_written = _called_name(node), [ast.unparse(each) for each in node.args[1:]]
        is_clip = name == CLIP and len(node.args) == 3
        is_flag = name == "where" and others_written == ["1.0", "0.0"]  # 1 or 0 in both orders
        is_symmetric = is_clip or is_flag or name in SYMMETRIC
        if not is_starred and not is_symmetric and ast.dump(first) != ast.dump(second):
            yield ast.Call(node.func, [second, first, *others], node.keywords)


OPERATORS: dict[str, Callable[[ast.AST], Iterator[ast.AST]]] = {
    "arithmetic": _arithmetic,
    "sign": _sign,
    "comparison": _comparison,
    "and/or": _boolean,
    "condition": _condition,
    "constant": _constant,
    "dropped statement": _dropped_statement,
    "dropped raise": _dropped_raise,
    "slice": _slice,
    "swapped arguments": _swapped_arguments,
}
HEADERS = "header"
PATTERNS = (
    (r"(?<=[\w)\]]) \+ (?=[\w(])", " - "),
    (r"(?<=[\w)\]]) - (?=[\w(])", " + "),
    (r"(?<=[\w)\]]) \* (?=[\w(])", " + "),
    (r"(?<=[\w)\]]) < (?=[\w(])", " <= "),
    (r"(?<=[\w)\]]) > (?=[\w(])", " >= "),
    (r"(?<=[\w)\]]) == (?=[\w(])", " != "),
    (r" && ", " || "),
    (r" \|\| ", " && "),
)
"""C++: spaced binary operators, so that templates, pointers and includes stay whole."""


def python_mutations(path: str, text: str) -> Iterator[Mutation]:
    """All mutations of a Python file. Annotations, docstrings and imports are not changed."""
    lines = [0]
    for line in text.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    data = text.encode()

    def place(line: int, column: int) -> int:
        """Position in the text for a line and a column in bytes."""
        return len(data[: lines[line - 1] + column].decode())

    tree = ast.parse(text)
    truths = _returned_truths(tree)
    for node in _executed_nodes(tree):
        for name, operator in OPERATORS.items():
            if name == "sign" and id(node) in truths:
                continue
            for after in operator(node):
                target = node.test if name == "condition" else node  # type: ignore[attr-defined]
                start = place(target.lineno, target.col_offset)
                stop = place(target.end_lineno, target.end_col_offset)
                source = ast.unparse(ast.fix_missing_locations(after))
                if isinstance(node, ast.expr) and name not in ("constant", "slice"):
                    source = f"({source})"
                if source != text[start:stop]:
                    before = text[start:stop]
                    yield Mutation(path, name, target.lineno, start, stop, before, source)


def _returned_truths(tree: ast.AST) -> set[int]:
    """Ids of the return statements of functions with truth values. A sign does not change a truth value."""
    truths: dict[int, bool] = {}
    for function in ast.walk(tree):  # a function comes before those inside it
        if isinstance(function, ast.FunctionDef):
            is_truth = isinstance(function.returns, ast.Name) and function.returns.id == "bool"
            returns = (node for node in ast.walk(function) if isinstance(node, ast.Return))
            truths.update((id(node), is_truth) for node in returns)
    return {node for node, is_truth in truths.items() if is_truth}


def _executed_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree that are executed: not annotations, `if TYPE_CHECKING` and parts of f-strings.

    `strict=True` of `zip` is left out, too. It asserts equal lengths, and a correct program does not depend on it.
    """
    yield node
    for name, field in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                for statement in child.orelse:
                    yield from _executed_nodes(statement)
                continue
            if isinstance(child, ast.keyword) and ast.unparse(child) == "strict=True":
                continue
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from _executed_nodes(child)


def header_mutations(path: str, text: str) -> Iterator[Mutation]:
    """All mutations of a C++ header outside comments and preprocessor lines."""
    start, in_comment = 0, False
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        code = line.split("//")[0]
        in_comment = (in_comment or "/*" in line) and "*/" not in line
        if not in_comment and "*/" not in line and not line.lstrip().startswith("#"):
            for pattern, after in PATTERNS:
                for match in re.finditer(pattern, code):
                    a, b = start + match.start(), start + match.end()
                    yield Mutation(path, HEADERS, number, a, b, match.group(), after)
        start += len(line)


def mutations(root: Path, path: Path) -> Sequence[Mutation]:
    """All mutations of one file; none of a file that is neither Python nor a header."""
    return _mutations(path.relative_to(root).as_posix(), path.read_text())


@cache
def _mutations(name: str, text: str) -> tuple[Mutation, ...]:
    if name.endswith(".py"):
        return tuple(python_mutations(name, text))
    return tuple(header_mutations(name, text)) if name.endswith(".h") else ()


def replace_source(path: Path, text: str) -> None:
    """Write a source file and remove its bytecode. Python considers bytecode valid if the size and the second of the
    last change of the source are the same. A mutation and the original file may agree in both."""
    path.write_text(text)
    Path(cache_from_source(str(path))).unlink(missing_ok=True)
