"""The rules of docs/architecture.md: floors are folders, imports point down, each module has one
place and one name."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
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

FLOORS = (
    {"warpdyn.algebra", "warpdyn.arrays"},
    {"warpdyn.model", "warpdyn.recording"},
    {"warpdyn.codegen", "warpdyn.formats", "warpdyn.algorithms", "warpdyn.peers", "warpdyn.logs"},
    {"warpdyn.execution", "warpdyn.robots"},
    {"warpdyn.functions", "warpdyn.user_kernels"},
    {"warpdyn", "warpdyn.labels", "warpdyn.rl", "warpdyn.viewer"},
    {"ros2_node.control", "ros2_node.laws"},
    {"ros2_node.ros", "ros2_node.ros2_control"},
    {"warpdyn.cli", "ros2_node", "ros2_node.demo"},
)
"""Folders, from the ground up. A module imports from its own folder and from the floors below.
Benchmarks stand outside: they import what they like, and nothing imports them."""

ONLY = {
    "warpdyn.algebra": {"math", "warpdyn.algebra"},
    "warpdyn.recording": {
        "warpdyn.algebra.row_arrays",
        "warpdyn.algebra.scalar",
        "warpdyn.recording",
    },
    "warpdyn.codegen": {"warpdyn.recording", "warpdyn.codegen"},
    "warpdyn.algorithms": {"math", "warpdyn.algebra", "warpdyn.model.tree", "warpdyn.algorithms"},
}
"""All that the modules of a room may import, beside what Python says about types and containers."""

PLAIN = {
    "__future__",
    "array",
    "ctypes",
    "json",
    "typing",
    "types",
    "collections",
    "collections.abc",
    "dataclasses",
    "functools",
    "hashlib",
    "itertools",
    "enum",
    "operator",
    "abc",
    "contextlib",
    "importlib.resources",
    "re",
    "pathlib",
    "math",
    "struct",
}

NEVER = {
    "warpdyn.arrays": {"warpdyn.model", "warpdyn.algebra"},
    "warpdyn.logs": {"warp", "torch", "jax", "warpdyn.arrays"},
    "warpdyn.model": {"warp", "torch", "jax"},
    "warpdyn.formats": {"warp", "torch", "jax", "warpdyn.arrays"},
    "warpdyn.peers": {"warp", "torch", "jax"},
}

LAZY = {
    "torch": {
        "warpdyn/arrays/torch_arrays.py",
        "warpdyn/execution/autodiff/torch_gradients.py",
        "warpdyn/execution/autodiff/torch_operator.py",
        "warpdyn/execution/autodiff/torch_remembered.py",
        "warpdyn/execution/native/torch_native.py",
        "warpdyn/cli/learning/training_video.py",
        *(f"warpdyn/rl/{name}.py" for name in ("vec_env", "training", "export_policy")),
        *(
            f"warpdyn/rl/{name}.py"
            for name in (
                "learners/distillation",
                "learners/learner",
                "learners/networks",
                "learners/ppo",
                "learners/shac",
                "learners/rsl_rl",
                "graph_replay",
                "several_processes",
                "torch_device",
                "adapters/tensorboard_log",
                "checkpoint",
                "initial_policy",
                "adapters/numpy_env",
                "adapters/single_env",
            )
        ),
    },
    "jax": {"warpdyn/arrays/jax_arrays.py", "warpdyn/execution/autodiff/jax_gradients.py"},
    "matplotlib": set[str](),
    "pinocchio": set[str](),
    "mujoco": set[str](),
    "tqdm": {"warpdyn/labels/labelling.py"},
    "pyarrow": {"warpdyn/logs/parquet_log.py", "warpdyn/logs/bag_log.py"},
    "rosbags": {"warpdyn/logs/bag_log.py", "warpdyn/logs/bag_messages.py"},
    "ray": set[str](),
}
"""Optional libraries, and the files that may import them when they are imported themselves."""


@cache
def known_modules() -> set[str]:
    return {module_name(path) for path in (*FILES, *BENCHMARKS)}


@cache
def imports(path: Path, deep: bool = True) -> set[str]:
    """Full names of the modules that a file imports, by `import_module` too. `deep=False` leaves
    out imports inside functions."""
    here = module_name(path).split(".")
    package = here if path.name == "__init__.py" else here[:-1]
    found: set[str] = set()
    for node in syntax_nodes(path) if deep else parse(path).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            submodules = {f"{start}.{alias.name}" for alias in node.names} & known_modules()
            found |= submodules or {start}
            if submodules and len(submodules) < len(node.names):
                found.add(start)
        elif isinstance(node, ast.Call) and called_name(node).endswith("import_module"):
            found |= imported_by_string(node, package)
    return found


@cache
def import_graph() -> dict[str, set[str]]:
    """The modules of the project that each module imports."""
    return {
        module_name(path): imports(path) & known_modules() - {module_name(path)} for path in FILES
    }


def called_name(node: ast.Call) -> str:
    """The last name of a function that is called, such as import_module of importlib.import_module."""
    called = node.func
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def imported_by_string(node: ast.Call, package: list[str]) -> set[str]:
    """Modules that an `import_module` call may mean: one name, or every module that its pattern
    fits."""
    name = node.args[0]
    if isinstance(name, ast.Constant):
        pattern = re.escape(str(name.value))
    elif isinstance(name, ast.JoinedStr):
        pattern = "".join(
            re.escape(x.value) if isinstance(x, ast.Constant) else r"\w+" for x in name.values
        )
    else:
        return set()
    first = name if isinstance(name, ast.Constant) else name.values[0]
    start = str(first.value) if isinstance(first, ast.Constant) else ""
    dots = len(start) - len(start.lstrip("."))
    above = ".".join(package[: len(package) - dots + 1]) if dots else ""
    whole = re.compile((re.escape(above + ".") if above else "") + re.sub(r"^(\\\.)+", "", pattern))
    return {module for module in known_modules() if whole.fullmatch(module)}


def floor(module: str) -> int:
    place = "warpdyn" if module in ("warpdyn", "warpdyn.__main__") else room(module)
    for k, folders in enumerate(FLOORS):
        if place in folders:
            return k
    raise AssertionError(
        f"{module} stands on no floor; add its folder to FLOORS and to docs/architecture.md"
    )


@in_each(FILES)
def test_imports_point_down(path: Path) -> None:
    """No module imports from another folder of its own floor, or from a floor above."""
    here = module_name(path)
    for other in imports(path) & known_modules():
        assert not other.startswith("benchmarks"), f"{here} imports {other}"
        starts_the_command = here == "warpdyn.__main__" and other == "warpdyn.cli.main"
        opened = here == "warpdyn" and other in ("warpdyn.labels", "warpdyn.viewer")
        same = room(other) == room(here) or starts_the_command or opened
        assert same or floor(other) < floor(here), f"{here} imports {other}, above it or beside it"


def test_floors_are_folders() -> None:
    """There are at most nine floors, and each folder is on one of them. Only the modules of the
    public face are outside of folders."""
    assert len(FLOORS) <= 9
    folders = {room(module_name(file.parent / "__init__.py")) for file in FILES}
    assert Counter(folder for floor in FLOORS for folder in floor) == Counter(folders)
    face = {"__init__", "__main__", "old_names", *NAMESPACES}
    assert {path.stem for path in ROOT.glob("warpdyn/*.py")} == face


@pytest.mark.parametrize("name", NAMESPACES)
def test_a_namespace_module_only_imports(name: str) -> None:
    """The module holds a docstring, imports, and `__all__`, which lists every imported name."""
    text, *imported, names = parse(ROOT / f"warpdyn/{name}.py").body
    assert isinstance(text, ast.Expr) and isinstance(names, ast.Assign)
    assert all(isinstance(node, ast.ImportFrom) and node.level == 1 for node in imported)
    found = {alias.asname or alias.name for node in imported for alias in getattr(node, "names")}  # noqa: B009
    assert found == set(ast.literal_eval(names.value))


LONGEST_CHAIN = 29
"""Modules, each importing the next, at most; the goal is 22. It may only fall."""


def test_folders_have_few_modules() -> None:
    """A folder has at most 34 modules, and its docstring says what belongs in it."""
    for folder in {file.parent for file in FILES}:
        name = folder.relative_to(ROOT).as_posix()
        count = sum(file.parent == folder and file.name != "__init__.py" for file in FILES)
        assert count <= 34, f"{name} has {count} modules"
        assert ast.get_docstring(parse(folder / "__init__.py")), name


def entry(module: str, folder: str) -> str:
    """The file or inner room of a folder to which a module belongs."""
    return module.removeprefix(folder + ".").partition(".")[0]


def test_inner_rooms_have_no_import_cycle() -> None:
    """The files and inner rooms of a room import each other in one direction."""
    for folder in {room(module_name(file)) for file in FILES} - {"warpdyn", "ros2_node"}:
        graph: dict[str, set[str]] = {}
        for file in FILES:
            here = module_name(file)
            if here.startswith(folder + "."):
                inside = {
                    name
                    for name in imports(file) & known_modules()
                    if name.startswith(folder + ".")
                }
                entries = {entry(name, folder) for name in inside} - {entry(here, folder)}
                graph.setdefault(entry(here, folder), set()).update(entries)
        TopologicalSorter(graph).prepare()  # raises CycleError


def test_the_longest_import_chain_is_bounded(record_property: pytest.RecordProperty) -> None:
    """The chain counts files; `__init__` files do not count."""
    graph = import_graph()
    faces = {module_name(path) for path in FILES if path.name == "__init__.py"}
    chains: dict[str, tuple[str, ...]] = {}
    for module in TopologicalSorter(graph).static_order():
        below = max((chains[name] for name in graph.get(module, ())), key=len, default=())
        chains[module] = below if module in faces else (module, *below)
    longest = max(chains.values(), key=len)
    record_property("longest_chain", len(longest))
    assert len(longest) <= LONGEST_CHAIN, " -> ".join(longest)


def test_modules_have_no_import_cycle() -> None:
    """The rule holds within folders too, and for imports inside functions."""
    graph = import_graph()
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path[path.index(module) :], module))
        if module not in done:
            for other in graph[module]:
                visit(other, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


@in_each(FILES)
def test_rooms_import_only_what_they_may(path: Path) -> None:
    """Algorithms know no batch, device or array library; the recorder no robot; code generation
    neither Warp nor NumPy; the model no kernel; memory no model."""
    here = room(module_name(path))

    def within(name: str, allowed: set[str]) -> bool:
        return any(name == each or name.startswith(each + ".") for each in allowed)

    for name in imports(path):
        if here in ONLY and name not in PLAIN:
            assert within(name, ONLY[here]), f"{module_name(path)} imports {name}"
        assert not within(name, NEVER.get(here, set())), f"{module_name(path)} imports {name}"


@in_each(
    sorted([*ROOT.glob("ros2_node/control/**/*.py"), *ROOT.glob("ros2_node/ros2_control/*.py")])
)
def test_control_does_not_import_ros(path: Path) -> None:
    """The node's computations need only NumPy, Warp and warpdyn, so they are tested without ROS."""
    top = {name.split(".")[0] for name in imports(path)}
    assert top - set(sys.stdlib_module_names) <= {"numpy", "warp", "warpdyn", "ros2_node"}


@in_each([p for p in FILES if p.is_relative_to(ROOT / "warpdyn/algorithms")])
def test_algorithms_are_written_for_one_robot(path: Path) -> None:
    """The code of an algorithm mentions no batch, device, array library or scalar type."""
    words = {node.id for node in syntax_nodes(path) if isinstance(node, ast.Name)}
    words |= {node.attr for node in syntax_nodes(path) if isinstance(node, ast.Attribute)}
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


@in_each([p for p in FILES if p.is_relative_to(ROOT / "warpdyn")])
def test_optional_libraries_are_imported_only_on_use(path: Path) -> None:
    """No module of warpdyn imports Torch, JAX, matplotlib or a peer library when it is imported.

    The exceptions are the files of array libraries, which the registry imports when it meets an
    array of the library.
    """
    top = {name.split(".")[0] for name in imports(path, deep=False)}
    here = path.relative_to(ROOT).as_posix()
    assert not [
        library for library, places in LAZY.items() if library in top and here not in places
    ]


def test_importing_prints_nothing() -> None:
    """`import warpdyn` writes to neither stdout nor stderr."""
    done = subprocess.run(
        [sys.executable, "-c", "import warpdyn"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert done.stdout == "" and done.stderr == ""
