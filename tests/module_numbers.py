"""Named numbers in the modules of a package: bounds, times and sizes. No other test need repeat
them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def module_numbers(package: str) -> dict[str, dict[str, float]]:
    """The numbers of the modules below a folder, such as "ros2_node/control", by module and name.

    A number is a value that a module assigns to a name in capitals, as a literal or an expression
    of literals.
    """
    folder, found = ROOT / package, {}
    for file in sorted(folder.rglob("*.py")):
        numbers = dict(_numbers(ast.parse(file.read_text())))
        if numbers:
            name = ".".join(file.relative_to(folder).with_suffix("").parts)
            found[name] = numbers
    return found


def _numbers(module: ast.Module) -> Iterator[tuple[str, float]]:
    for node in module.body:
        if not isinstance(node, ast.Assign):
            continue
        (target,) = node.targets
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        for each, value in pairs:
            if isinstance(each, ast.Name) and each.id.isupper() and _is_number(value):
                yield each.id, eval(ast.unparse(value))


def default_numbers(package: str) -> dict[str, dict[str, object]]:
    """Defaults of public arguments and fields of the modules below a folder, by module and name.
    Only numbers, truth values and sequences of them are included."""
    folder, found = ROOT / package, {}
    for file in sorted(folder.rglob("*.py")):
        tree = ast.parse(file.read_text())
        if defaults := {f"{name}.{key}": x for name, key, x in _defaults(tree, "")}:
            found[".".join(file.relative_to(folder).with_suffix("").parts)] = defaults
    return found


def _defaults(owner: ast.Module | ast.ClassDef, name: str) -> Iterator[tuple[str, str, object]]:
    for node in owner.body:
        if isinstance(node, ast.FunctionDef) and (node.name[0] != "_" or node.name == "__init__"):
            own = name if node.name == "__init__" else f"{name}.{node.name}".lstrip(".")
            given = [*node.args.posonlyargs, *node.args.args]
            values = [*node.args.defaults, *node.args.kw_defaults]
            optional = given[len(given) - len(node.args.defaults) :] + node.args.kwonlyargs
            pairs = [(each.arg, value) for each, value in zip(optional, values, strict=True)]
        elif isinstance(node, ast.AnnAssign) and name and isinstance(node.target, ast.Name):
            own, pairs = name, [(node.target.id, node.value)]
        else:
            own, pairs = "", []
        for key, value in pairs:
            parts = value.elts if isinstance(value, ast.Tuple) else [value]
            if value is not None and parts and all(map(_is_number_or_truth, parts)):
                yield own, key, ast.literal_eval(value)
        if isinstance(node, ast.ClassDef):
            yield from _defaults(node, node.name)


def _is_number_or_truth(node: ast.AST | None) -> bool:
    is_truth = isinstance(node, ast.Constant) and type(node.value) is bool
    return is_truth or (node is not None and _is_number(node))


def _is_number(node: ast.AST) -> bool:
    """True for number literals, and for sums, products, shifts and powers of them."""
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    return isinstance(node, ast.BinOp) and _is_number(node.left) and _is_number(node.right)
