"""Write warpdyn/user_kernels/robot_methods.pyi: the methods of a kernel's robot, with types and docstrings for editors.

    python scripts/robot_stub.py

The methods are the public functions without their argument `model`. setup.py runs this script when it builds or
installs warpdyn. The requirements of warpdyn are not installed yet at that time. Therefore the script parses the
sources and does not import warpdyn.
"""

from __future__ import annotations

import ast
import builtins
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "warpdyn"
FILE = PACKAGE / "user_kernels/robot_methods.pyi"

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


def write() -> None:
    """Write the file."""
    FILE.write_text(stub(), encoding="utf-8")


def stub() -> str:
    """The content of the stub file."""
    sources = {"Mapping": "collections.abc", "Sequence": "collections.abc", "Values": ".values"}
    functions = public_functions()
    methods = [method(*functions[name], sources) for name in sorted(functions)]
    outside = {m for m in sources.values() if not m.startswith(".")}
    imports = [line(m, sources) for m in sorted(outside)] + ["", "import numpy as np", ""]
    imports += [line(m, sources) for m in sorted({*sources.values()} - outside, reverse=True)]
    return "\n".join([HEAD, *imports, ALIASES, "class RobotMethods:", *methods])


def public_functions() -> dict[str, tuple[ast.FunctionDef, str]]:
    """Batched functions of a model or of poses, with their modules."""
    found = {}
    for path in sorted((PACKAGE / "functions").rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for node in parse(path).body:
            if isinstance(node, ast.FunctionDef) and node.args.args:
                decorators = [ast.unparse(each) for each in node.decorator_list]
                if "batched" in decorators and node.args.args[0].arg != "function":
                    found[node.name] = node, module
    return found


def parse(path: Path) -> ast.Module:
    """A source file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def line(module: str, sources: dict[str, str]) -> str:
    """The import statement for names of a module."""
    return f"from {module} import {', '.join(sorted(n for n, m in sources.items() if m == module))}"


def method(function: ast.FunctionDef, module: str, sources: dict[str, str]) -> str:
    """The stub of a method for a function, with the function's docstring."""
    positional = function.args.args
    optional = {each.arg for each in positional[len(positional) - len(function.args.defaults) :]}
    optional |= {
        each.arg
        for each, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
        if default is not None
    }
    written = ["self"]
    for each in [*positional, *function.args.kwonlyargs]:
        if each.arg in ("model", "params", "out"):
            continue
        if each in function.args.kwonlyargs and "*" not in written:
            written.append("*")
        annotation = rename_arrays(ast.unparse(each.annotation), "Array", module, sources)
        written.append(f"{each.arg}: {annotation}{' = ...' if each.arg in optional else ''}")
    returned = ast.unparse(function.returns).removeprefix("Call[").removesuffix("]")
    result = (
        "tuple[Values, ...]"
        if returned == "Solution"
        else rename_arrays(returned, "Values", module, sources)
    )
    doc = (
        (ast.get_docstring(function) or "").replace("\n", "\n        ").replace("        \n", "\n")
    )
    arguments = ",\n        ".join(written)
    return (
        f'    def {function.name}(\n        {arguments},\n    ) -> {result}:\n        """{doc}"""\n'
    )


class ArrayRenamer(ast.NodeTransformer):
    """Renames `Array` and its type variable in an annotation."""

    def __init__(self, array: str):
        self.array = ast.Name(array)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`Array[A]`."""
        whole = isinstance(node.value, ast.Name) and node.value.id in ("Array", "Forces", "Gravity")
        return self.visit(node.value) if whole else self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """`Array`, or the type variable `A`."""
        return self.array if node.id in ("Array", "A") else node


def rename_arrays(annotation: str, array: str, module: str, sources: dict[str, str]) -> str:
    """An annotation with `Array` renamed. The modules of its names are added to `sources`."""
    tree = ArrayRenamer(array).visit(ast.parse(annotation, mode="eval"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in (
            "Gravity",
            "Forces",
            array,
            *dir(builtins),
        ):
            sources.setdefault(node.id, SOURCES.get(node.id, f"..{module}"))
    return ast.unparse(tree)


if __name__ == "__main__":
    write()
