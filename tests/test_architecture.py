"""The rooms of docs/architecture.md: imports point one way, files stay short, each thing is named in one place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted([*ROOT.glob("warpdyn/**/*.py"), *ROOT.glob("ros2_node/**/*.py")])

LONGEST_MODULE = 500
"""Lines; what grows beyond is two things."""

LONGEST_RNEA = 30
"""Lines of loops: a page of the book."""

FORBIDDEN_NAMES = {"utils", "util", "core", "common", "helpers", "misc", "base"}

FLOORS = (
    {"scalar", "references"},
    {"spatial", "linear", "moving_inertia", "exponential"},
    {"joints"},
    {"description", "gearbox", "changes", "params", "stacks", "summary", "formats.write_urdf"},
    {"model"},
    {"tree", "builder", "dialects", "screws", "formats.*", "robots", "inertial"},
    {"algorithms.*"},
    {"tracing.*", "arrays", "columns", "threads", "sampling", "variations"},
    {"base_velocity"},
    {"call"},
    {"gradients", "gradients.*"},
    {"batch"},
    {"functions", "functions.*", "randomise", "group"},
    {""},
    {"commands", "commands.*"},
    {"cli", "__main__"},
    {"ros2_node", "ros2_node.*"},
)
"""From the ground up. A module imports from its own floor or below."""

LIBRARIES = {"warp", "numpy", "torch", "jax"}
ABOVE_THE_MODEL = {f"warpdyn.{room}" for room in ("batch", "arrays", "tracing", "algorithms", "tree")}
MAY_NOT = {
    "scalar": LIBRARIES,
    "spatial": {*LIBRARIES, "math"},
    "joints": LIBRARIES,
    "tree": LIBRARIES,
    "algorithms": {*LIBRARIES, *(f"warpdyn.{room}" for room in ("batch", "arrays", "tracing", "model", "formats"))},
    "tracing": {
        *{"numpy", "torch", "jax"},
        *(f"warpdyn.{room}" for room in ("batch", "arrays", "algorithms", "tree", "model", "spatial", "joints")),
    },
    "model": {"warp", *(f"warpdyn.formats.{reader}" for reader in ("urdf", "sdf", "mjcf")), *ABOVE_THE_MODEL},
    "formats": {"warp", *ABOVE_THE_MODEL},
}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, deep: bool = True) -> set[str]:
    """Full names of what a file imports; `deep` False leaves out what is imported inside functions."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    tree = ast.parse(path.read_text())
    nodes = list(ast.walk(tree) if deep else tree.body)
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = (
                ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])
                if node.level
                else node.module
            )
            assert start
            known = {module_name(p) for p in FILES}
            submodules = {f"{start}.{alias.name}" for alias in node.names} & known
            found |= submodules or {start}
            if submodules and len(submodules) < len(node.names):
                found.add(start)
    return found


def own(path: Path) -> set[str]:
    known = {module_name(p) for p in FILES}
    return {name for name in imports(path) if name in known}


def floor(module: str) -> int:
    """The highest floor that names a module."""
    name = module if module.startswith("ros2_node") else module.removeprefix("warpdyn").removeprefix(".")
    for k, modules in enumerate(FLOORS):
        for pattern in modules:
            if name == pattern or (pattern.endswith(".*") and (name + ".").startswith(pattern[:-1])):
                return k
    if name in ("formats", "algorithms", "tracing"):
        return 0
    raise AssertionError(f"{module} stands on no floor; add it to FLOORS and to docs/architecture.md")


each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: module_name(path))


@each_file
def test_imports_point_down(path: Path) -> None:
    """No module imports from a floor above its own."""
    here = module_name(path)
    for other in own(path):
        assert floor(other) <= floor(here), f"{here} imports {other}, which stands above it"


def test_imports_make_no_circle() -> None:
    """Within floors too, and counting imports inside functions."""
    graph = {module_name(path): own(path) - {module_name(path)} for path in FILES}
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path[path.index(module) :], module))
        if module not in done:
            for other in graph[module]:
                visit(other, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


@each_file
def test_rooms_keep_to_themselves(path: Path) -> None:
    """Algorithms know no batch, device or array library; the recorder no robot; the model no kernel."""
    room = module_name(path).removeprefix("warpdyn.").split(".")[0]
    for name in imports(path):
        for forbidden in MAY_NOT.get(room, ()):
            assert name != forbidden and not name.startswith(forbidden + "."), f"{module_name(path)} imports {name}"


@pytest.mark.parametrize("path", [p for p in FILES if p.parent.name == "algorithms"], ids=lambda p: p.stem)
def test_algorithms_speak_of_one_robot(path: Path) -> None:
    """No word of batches, devices, arrays or Warp in an algorithm's code, nor of kinds of scalars."""
    words = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
    words |= {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
    assert not words & {
        "wp",
        "np",
        "warp",
        "numpy",
        "batch",
        "device",
        "dtype",
        "isinstance",
        "Symbol",
        "float32",
        "float64",
    }


def test_only_joints_and_readers_name_joint_kinds() -> None:
    """ "revolute" and its like are written in joints.py, and in the formats that have the word."""
    kinds = {"revolute", "continuous", "prismatic", "planar", "floating", "ball", "universal", "revolute2", "screw"}
    for path in FILES:
        if (
            path.name in ("joints.py", "cli.py")
            or path.parent.name == "formats"
            or path.is_relative_to(ROOT / "ros2_node")
        ):
            continue  # on the command line "floating" is a choice of base
        strings = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
        assert not strings & kinds, f"{module_name(path)} names {strings & kinds}"


@each_file
def test_modules_are_short(path: Path) -> None:
    """At most 500 lines."""
    assert len(path.read_text().splitlines()) <= LONGEST_MODULE


@each_file
def test_modules_say_what_they_are(path: Path) -> None:
    """Every module has a docstring, and none is a drawer for odds and ends."""
    assert ast.get_docstring(ast.parse(path.read_text()))
    assert path.stem not in FORBIDDEN_NAMES


def test_rnea_is_a_page() -> None:
    """From the first loop to the last line, at most 30 lines."""
    tree = ast.parse((ROOT / "warpdyn/algorithms/rnea.py").read_text())
    (function,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "rnea"]
    loops = [node for node in function.body if isinstance(node, ast.For)]
    assert loops and loops[-1].end_lineno is not None
    assert loops[-1].end_lineno - loops[0].lineno + 1 <= LONGEST_RNEA


@pytest.mark.parametrize("name", ["fk", "jacobian", "rnea", "crba", "aba"])
def test_one_word_names_an_algorithm(name: str) -> None:
    """Its file, its function, its public name and its test."""
    import warpdyn

    assert (ROOT / f"warpdyn/algorithms/{name}.py").exists() and (ROOT / f"tests/test_{name}.py").exists()
    assert name in warpdyn.__all__ and getattr(warpdyn, name).__name__ == name
    assert getattr(warpdyn, name).__doc__


def test_optional_libraries_are_imported_where_they_are_needed() -> None:
    """Torch, JAX, matplotlib and the peers are never imported when a module of warpdyn is; but for the modules of
    `gradients`, one for each library, which only arrays of that library make `batch` import."""
    for path in FILES:
        if path.is_relative_to(ROOT / "warpdyn") and path.parent.name != "gradients":
            top = {name.split(".")[0] for name in imports(path, deep=False)}
            assert not top & {"torch", "jax", "matplotlib", "pinocchio", "mujoco", "rclpy", "tqdm"}, module_name(path)


def test_importing_prints_nothing() -> None:
    """`import warpdyn` writes to neither stdout nor stderr."""
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", "import warpdyn"], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout == "" and done.stderr == ""
