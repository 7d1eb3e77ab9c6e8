"""Write warpdyn/user_kernels/robot_methods.pyi: the methods of a kernel's robot, with types and docstrings for editors.

    python scripts/robot_stub.py            # write
    python scripts/robot_stub.py --check    # exit with 1 where the file is not what would be written

They are the public functions without the model; this file is made from them, not by hand.
"""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from typing import Any, TypeVar

from warpdyn.execution.batched import FUNCTIONS, Function

FILE = Path(__file__).parents[1] / "warpdyn/user_kernels/robot_methods.pyi"

HEAD = '''"""Methods of the robot in a user's own kernel, for editors and type checkers.

Written by scripts/robot_stub.py from the public functions.
"""

'''

ALIASES = """
Array = Values | np.ndarray | Sequence[float] | float
Gravity = Array | None
Forces = Mapping[str, Array] | Array | None
"""

SOURCES = {
    "Any": "typing",
    "Literal": "typing",
    "Mapping": "collections.abc",
    "Sequence": "collections.abc",
}
"""Where names of annotations come from; others come from the function's own module."""


def stub() -> str:
    """The text of the file."""
    sources = {"Mapping": "collections.abc", "Sequence": "collections.abc", "Values": ".values"}
    methods = [method(FUNCTIONS[name], sources) for name in sorted(FUNCTIONS)]
    outside = {m for m in sources.values() if not m.startswith(".")}
    imports = [line(m, sources) for m in sorted(outside)] + ["", "import numpy as np", ""]
    imports += [line(m, sources) for m in sorted({*sources.values()} - outside, reverse=True)]
    return "\n".join([HEAD, *imports, ALIASES, "class RobotMethods:", *methods])


def line(module: str, sources: dict[str, str]) -> str:
    """The import of a module's names."""
    return f"from {module} import {', '.join(sorted(n for n, m in sources.items() if m == module))}"


def method(function: Function, sources: dict[str, str]) -> str:
    """A function as a method, with its docstring."""
    signature, scope = inspect.signature(function.describe), function.describe.__globals__
    written = ["self"]
    for each in signature.parameters.values():
        if each.name in ("model", "params", "out"):
            continue
        if each.kind is each.KEYWORD_ONLY and "*" not in written:
            written.append("*")
        default = "" if each.default is each.empty else " = ..."
        annotation = typed(str(each.annotation), "Array", scope, sources)
        written.append(f"{each.name}: {annotation}{default}")
    returned = str(signature.return_annotation).removeprefix("Call[").removesuffix("]")
    result = (
        "tuple[Values, ...]"
        if returned == "Solution"
        else typed(returned, "Values", scope, sources)
    )
    doc = (
        inspect.cleandoc(function.__doc__ or "")
        .replace("\n", "\n        ")
        .replace("        \n", "\n")
    )
    arguments = ",\n        ".join(written)
    return (
        f"    def {function.__name__}(\n        {arguments},\n    ) -> {result}:\n"
        f'        """{doc}"""\n'
    )


class Renamed(ast.NodeTransformer):
    """An annotation with arrays under another name, `Array[A]` and its type variable both."""

    def __init__(self, array: str, scope: dict[str, Any]):
        self.array, self.scope = ast.Name(array), scope

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`Array[A]`."""
        whole = isinstance(node.value, ast.Name) and node.value.id in ("Array", "Forces", "Gravity")
        return self.visit(node.value) if whole else self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """`Array`, or `A`."""
        known = self.scope.get(node.id)
        return self.array if node.id == "Array" or isinstance(known, TypeVar) else node


def typed(annotation: str, array: str, scope: dict[str, Any], sources: dict[str, str]) -> str:
    """An annotation with arrays under another name; where its names come from is noted."""
    tree = Renamed(array, scope).visit(ast.parse(annotation, mode="eval"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in ("Gravity", "Forces", array):
            own = f"..{scope['__name__'].removeprefix('warpdyn.')}"
            if node.id in SOURCES or node.id in scope:
                sources.setdefault(node.id, SOURCES.get(node.id, own))
    return ast.unparse(tree)


def main() -> int:
    if "--check" not in sys.argv[1:]:
        FILE.write_text(stub())
        return 0
    if FILE.exists() and FILE.read_text() == stub():
        return 0
    print(f"{FILE.name} is not what the public functions say; run scripts/robot_stub.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
