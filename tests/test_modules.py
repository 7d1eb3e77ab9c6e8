"""Rules for each module: its length, docstring, names, words and test file."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest
from modules import (
    BENCHMARKS,
    FILES,
    NAMESPACES,
    ROOT,
    in_each,
    module_name,
    parse,
    room,
    syntax_nodes,
)

LONGEST_MODULE = 400
"""Lines; what grows beyond is two things."""

LONGEST_RNEA = 30
"""Lines of loops: a page of the book."""

FORBIDDEN_NAMES = {"utils", "util", "core", "common", "helpers", "misc", "base"}

PAIRED = {"warpdyn.algorithms", "warpdyn.functions"}
"""An algorithm and the public functions made of it may have one name; no other two modules may.
Namespaces of the face, which define nothing, are not counted."""

VERSIONS = "warpdyn/execution/native/versions.py"

TORCH_NATIVE = "warpdyn/execution/native/torch_native.py"

DISPATCH = "warpdyn/execution/dispatch.py"

LIBRARY_WORDS = {
    "torch": {"warpdyn/arrays/torch_arrays.py", DISPATCH, VERSIONS, TORCH_NATIVE},
    "jax": {"warpdyn/arrays/jax_arrays.py", DISPATCH},
    "warp": {"warpdyn/arrays/warp_arrays.py", DISPATCH, VERSIONS},
    "cupy": set[str](),
}
"""Names of array libraries as strings: where each may stand, beside the registry."""

REGISTRY = "warpdyn/arrays/libraries.py"


def test_only_joints_and_readers_name_joint_kinds() -> None:
    """Only joints.py, and the formats that have the words, contain "revolute" and its like."""
    kinds = {
        "revolute",
        "continuous",
        "prismatic",
        "planar",
        "floating",
        "ball",
        "universal",
        "revolute2",
        "screw",
    }
    for path in FILES:
        if (
            path.name == "joints.py"
            or path.relative_to(ROOT).parts[1] in ("formats", "cli")
            or path.is_relative_to(ROOT / "ros2_node")
            or path.name == "allegro_hand.py"
        ):
            # On the command line "floating" is a choice of base. The hand is made by a ModelBuilder.
            continue
        strings = {node.value for node in syntax_nodes(path) if isinstance(node, ast.Constant)}
        assert not strings & kinds, f"{module_name(path)} names {strings & kinds}"


@in_each([*FILES, *BENCHMARKS])
def test_modules_are_short(path: Path) -> None:
    """A module has at most 400 lines."""
    assert len(path.read_text().splitlines()) <= LONGEST_MODULE


def test_other_files_are_short() -> None:
    """Tests, scripts, examples and the site have at most 400 lines a file, too."""
    folders = ("docs_site", "examples", "launch", "scripts", "tests")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    lines = {path: len(path.read_text().splitlines()) for path in files}
    long = {str(path.relative_to(ROOT)): n for path, n in lines.items() if n > LONGEST_MODULE}
    assert files and not long, f"split by subject, or share what repeats: {long}"


@in_each(FILES)
def test_modules_have_a_docstring_and_a_subject(path: Path) -> None:
    """Every module has a docstring, and no module is a collection of odds and ends."""
    assert ast.get_docstring(parse(path))
    assert path.stem not in FORBIDDEN_NAMES


def docstrings(path: Path) -> list[str]:
    kinds = (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef, ast.Module)
    texts = [
        ast.get_docstring(node) or "" for node in syntax_nodes(path) if isinstance(node, kinds)
    ]
    body = [
        node.value.value
        for node in syntax_nodes(path)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    return [*texts, *(text for text in body if isinstance(text, str))]


@in_each(FILES)
def test_docstrings_name_their_subject_first(path: Path) -> None:
    """No docstring begins with "Of"."""
    assert not [text for text in docstrings(path) if text.split()[:1] == ["Of"]]


def holds_a_command(path: Path) -> bool:
    """True if a file defines a command of `warpdyn`. Such a file has `add_parser`."""
    functions = {node.name for node in parse(path).body if isinstance(node, ast.FunctionDef)}
    return path.is_relative_to(ROOT / "warpdyn/cli") and "add_parser" in functions


def test_names_of_classes_and_modules_are_unique() -> None:
    """No two classes have the same name.

    No two modules have, except an algorithm and its public functions. The file of a command has the
    command's name, whatever modules of other rooms are called.
    """
    classes = Counter(
        node.name for path in FILES for node in syntax_nodes(path) if isinstance(node, ast.ClassDef)
    )
    assert not {name for name, count in classes.items() if count > 1}
    places: dict[str, set[str]] = {}
    for path in FILES:
        face = path.parent == ROOT / "warpdyn"
        if path.name != "__init__.py" and not face and not holds_a_command(path):
            places.setdefault(path.stem, set()).add(room(module_name(path)))
    assert not {
        name: rooms for name, rooms in places.items() if len(rooms) > 1 and not rooms <= PAIRED
    }


@in_each(FILES)
def test_array_libraries_are_named_in_one_place(path: Path) -> None:
    """The words "torch", "jax", "warp" and "cupy" occur only in the file of that library and in the
    registry."""
    here = path.relative_to(ROOT).as_posix()
    if here == REGISTRY:
        return
    strings = {node.value for node in syntax_nodes(path) if isinstance(node, ast.Constant)}
    named = {
        word for word, places in LIBRARY_WORDS.items() if word in strings and here not in places
    }
    assert not named, f"{here} names {named}"


@in_each(FILES)
def test_literals_are_plain_arguments(path: Path) -> None:
    """Code has no `f(*(a, b))` and no `{**{"a": 1}}`. Both hide an argument to save lines."""
    for node in syntax_nodes(path):
        values = (
            [
                *(x.value for x in getattr(node, "elts", ()) if isinstance(x, ast.Starred)),
                *(x.value for x in getattr(node, "args", None) or () if isinstance(x, ast.Starred)),
            ]
            if isinstance(node, ast.Call | ast.Set | ast.List | ast.Tuple)
            else []
        )
        literal = [x for x in values if isinstance(x, ast.Tuple | ast.List)]
        assert not literal, f"{module_name(path)}:{literal[0].lineno}"
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            inner = [x for key, x in pairs if key is None and isinstance(x, ast.Dict)]
            assert not inner, f"{module_name(path)}:{inner[0].lineno}"


def test_lines_are_narrow() -> None:
    """No more than 3 % of the lines are wider than 100 columns, and none is wider than 120."""
    widths = [len(line) for path in (*FILES, *BENCHMARKS) for line in path.read_text().splitlines()]
    assert sum(width > 100 for width in widths) <= 0.03 * len(widths)


def test_public_functions_have_concrete_return_types() -> None:
    """No public function of warpdyn returns `Any`, and no function of the model takes a model of type `Any`."""
    for path in FILES:
        for node in syntax_nodes(path):
            if not isinstance(node, ast.FunctionDef):
                continue
            if path.is_relative_to(ROOT / "warpdyn/functions") and not node.name.startswith("_"):
                returned = ast.unparse(node.returns) if node.returns else "nothing said"
                assert returned not in ("Any", "nothing said"), (
                    f"{module_name(path)}.{node.name} returns {returned}"
                )
            if path.parent.name == "model":
                given = [
                    a
                    for a in (*node.args.args, *node.args.kwonlyargs)
                    if a.arg == "model" and a.annotation
                ]
                assert not [a for a in given if ast.unparse(a.annotation) == "Any"], (
                    f"{module_name(path)}.{node.name}"
                )


@in_each(FILES)
def test_every_module_has_a_test_file(path: Path) -> None:
    """tests/ has the folders of the code, and in them a test file with each module's name."""
    if path.name in ("__init__.py", "__main__.py") and path.parent.name not in ("robots",):
        return
    if path.parent == ROOT / "warpdyn" and path.stem in NAMESPACES:
        return  # test_face.py
    folder = path.relative_to(ROOT).parent
    folder = folder.relative_to("warpdyn") if folder.parts[0] == "warpdyn" else folder
    stem = path.parent.name if path.name == "__init__.py" else path.stem
    assert (ROOT / "tests" / folder / f"test_{stem}.py").exists()


def test_rnea_fits_on_a_page() -> None:
    """It has at most 30 lines from the first loop to the last line."""
    tree = parse(ROOT / "warpdyn/algorithms/rnea.py")
    (function,) = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "rnea"
    ]
    loops = [node for node in function.body if isinstance(node, ast.For)]
    assert loops and loops[-1].end_lineno is not None
    assert loops[-1].end_lineno - loops[0].lineno + 1 <= LONGEST_RNEA


@pytest.mark.parametrize("name", ["fk", "jacobian", "rnea", "crba", "aba"])
def test_an_algorithm_has_one_name(name: str) -> None:
    """Its file, its function, its public name and its test have the same name."""
    import warpdyn

    assert (ROOT / f"warpdyn/algorithms/{name}.py").exists()
    assert (ROOT / f"tests/algorithms/test_{name}.py").exists()
    assert name in warpdyn.__all__ and getattr(warpdyn, name).__name__ == name
    assert getattr(warpdyn, name).__doc__
