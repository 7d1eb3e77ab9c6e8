"""Entries of the cache on disk depend on exactly the source files that recorded and wrote them."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest
from fresh_caches import environment_with_header, run
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.algorithms import manifold, mass_matrix_inverse, rnea
from warpdyn.algorithms.frames import for_frames
from warpdyn.cli.command_line import robot_file
from warpdyn.codegen.bytecode.encode import encode
from warpdyn.codegen.targets import describe
from warpdyn.execution.compile import cache as chosen
from warpdyn.execution.compile import sealed_files
from warpdyn.execution.compile.cache import (
    RECORDING,
    CacheEntry,
    data_files,
    modules_of,
    source_files,
)
from warpdyn.execution.compile.cache_folder import cache_directory
from warpdyn.execution.launch import launch
from warpdyn.execution.launch.launch import kernel_source
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call

CLOSE = 1e-12
"""Relative to the largest entry: float64 compared with the oracle."""

Z2 = np.zeros((1, 2))

PACKAGE = Path(wd.__file__).parent

VERSIONS = """
import sys
from pathlib import Path
from typing import Any
from warpdyn.functions.manifold import interpolate
from warpdyn.execution.compile import cache
from warpdyn.algorithms import manifold
modules = frozenset({*cache.RECORDING, *cache.modules_of(manifold.interpolate)})
cached = [x for x in vars(cache).values() if hasattr(x, "cache_clear")]
def version():
    for function in cached:
        function.cache_clear()
    return cache.source_version(modules)
before = version()
for path in map(Path, sys.argv[1:]):
    content = path.read_bytes() if path.exists() else None
    path.write_bytes((content or b"") + b"# changed\\n")
    print(version() != before)
    path.unlink() if content is None else path.write_bytes(content)
assert version() == before
sys.implementation.cache_tag = "another Python"
assert version() != before
"""
"""Whether a change of each of the given files changes the version of interpolate's source."""

DECIDING = {
    "algorithms/manifold.py": True,
    "algebra/scalar.py": True,
    "algebra/spatial.py": True,
    "codegen/lanes.py": True,
    "codegen/lanes.h": True,  # named by a module
    "codegen/transposes.h": True,  # named by a header
    "codegen/unnamed.h": False,
    "robots/panda.urdf": False,
    "algorithms/rnea.py": False,
    "cli/main.py": False,
    "functions/manifold.py": False,
}


def test_a_changed_file_changes_only_the_keys_that_depend_on_it(tmp_path: Path) -> None:
    """The key changes with every file that an algorithm, the recorder or the writer imports or
    names as data, and with no other. All are tried on one copy of the package."""
    copy = tmp_path / "warpdyn"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-c", VERSIONS, *(copy / file for file in DECIDING)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    changed = [line == "True" for line in done.stdout.split()]
    assert dict(zip(DECIDING, changed, strict=True)) == DECIDING


def test_every_import_is_followed() -> None:
    """The files of all imports that Python's parser finds, also of those inside functions, are
    hashed."""
    files = source_files([*RECORDING, rnea.__name__])
    names = {
        ".".join(("warpdyn", *p.relative_to(PACKAGE).with_suffix("").parts))
        for p in PACKAGE.rglob("*.py")
    }
    for module, path in files.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                above = (
                    module.split(".")[: -node.level]
                    if path.name != "__init__.py"
                    else module.split(".")
                )
                start = (
                    ".".join([*above, *filter(None, [node.module])])
                    if node.level
                    else str(node.module)
                )
                imported = {start, *(f"{start}.{alias.name}" for alias in node.names)} & names
                assert imported <= set(files), f"{module} imports {imported}"


APART = (
    "bytecode/interpreter.h",
    "portable.h",
    "foreign_call.h",
    "native_call.h",
    "native_threads.h",
    "shared_launch.h",
)


def test_every_header_of_kernels_is_hashed() -> None:
    """A hashed module names each C++ header of the package. Excepted are headers of exported
    code, of functions that XLA and Python call, and of the interpreter, which are not part of a
    kernel."""
    named = {data for path in source_files(RECORDING).values() for data in data_files(path)}
    apart = {PACKAGE / "codegen" / name for name in APART}
    assert set(PACKAGE.rglob("*.h")) - apart <= named and not apart & named


def test_another_choice_of_algorithms_is_another_entry() -> None:
    """The key and the modules are equal, but the choice has more algorithms, another one, or
    another one inside. Before this was so, a function that chose anew silently found its old
    program.
    """

    def wrap(inner: Any, times: Any) -> Any:
        def algorithm() -> Any:
            return inner, times

        return algorithm

    solve, articulated = mass_matrix_inverse.solve, mass_matrix_inverse.solve_articulated
    choices = [
        *([solve], [articulated], [solve, articulated], [articulated, solve]),
        *([partial(solve, n)] for n in (1, 2, "1")),
        *([partial(solve, number=n)] for n in (1, 2)),
        [partial(solve, other=1)],
        *([wrap(inner, n)] for inner in (solve, articulated) for n in (1, 2)),
        [partial(solve, partial(articulated, 1))],
        [partial(solve, partial(articulated, 2))],
    ]
    paths = [CacheEntry("key", each)._path for each in choices]
    assert len(set(paths)) == len(choices)
    assert [CacheEntry("key", each)._path for each in choices] == paths
    assert CacheEntry("key", [partial(solve, object())])._path == (
        CacheEntry("key", [partial(solve, object())])._path
    )


def test_modules_of_wrapped_algorithms_are_found() -> None:
    """An algorithm that wraps another belongs to both modules."""
    assert modules_of(partial(rnea.rnea, gravity=(0, 0, 0))) == {rnea.__name__}
    wrapped = for_frames(manifold.interpolate)
    assert modules_of(wrapped) == {for_frames.__module__, manifold.__name__}


SECOND_PROCESS = """
import json, sys, numpy as np, warp as wp
wp.config.quiet = True
import warpdyn as wd
from warpdyn.recording import program
recorded = []
record = program.record
def counting(*args, **kwargs):
    recorded.append(1)
    return record(*args, **kwargs)
program.record = counting
wd.execution.request.evaluate.record = counting
m = wd.load_robot("cartpole")
z = np.zeros((5, 2))
results = [wd.rnea(m, z, z, z), wd.crba(m, z), wd.aba(m, z, z, z), wd.fk(m, z)]
results.append(wd.rnea(m, z, z, z, gravity=[0, 0, 1.0]))
print(json.dumps([len(recorded), [r.tolist() for r in results]]))
"""


def files(*folders: Path) -> dict[str, tuple[int, int]]:
    """Size and modification time of every file below the folders."""
    return {
        str(p): (p.stat().st_size, p.stat().st_mtime_ns)
        for f in folders
        for p in f.rglob("*")
        if p.is_file()
    }


def second_process(environment: dict[str, str]) -> list:
    """The number of recordings of a process with these caches, and its results."""
    return json.loads(run(SECOND_PROCESS, environment)[0].splitlines()[-1])


def test_a_second_process_neither_records_nor_compiles(tmp_path: Path) -> None:
    """It finds programs and kernels in the caches, adds no file there, and computes the same
    bits."""
    environment = environment_with_header(tmp_path)
    recorded, first = second_process(environment)
    folders = tmp_path / "programs", tmp_path / "kernels"
    kept = files(*folders)
    assert recorded >= 5 and len(list(folders[0].glob("*.json"))) == 5
    assert any(name.endswith((".o", ".obj")) for name in kept), sorted(kept)
    again, second = second_process(environment)
    assert again == 0 and second == first
    now = files(*folders)
    assert {n: s for n, (s, _) in now.items() if not n.endswith(".lock")} == {
        n: s for n, (s, _) in kept.items() if not n.endswith(".lock")
    }


def test_an_entry_returns_its_source_and_bytecode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source is the C++ of a program. The bytecode has a description."""
    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(tmp_path))
    entry = CacheEntry("one", [rnea.rnea])
    assert entry.source() is None and entry.bytecode() is None
    model = by_name("cartpole").model
    zeros = np.zeros((1, model.nv))
    call = wd.rnea.describe(model, zeros, zeros, zeros)  # type: ignore[attr-defined]
    program = record_call(call, input_shapes(call), True)
    source = describe(program, "rnea", True, "cpu")
    entry.keep_source(source)
    assert entry.source() == source and entry.bytecode() is None
    bytecode = encode(program)
    entry.keep_bytecode(source, bytecode)
    assert CacheEntry("one", [rnea.rnea]).bytecode() == (source, bytecode)
    assert CacheEntry("two", [rnea.rnea]).bytecode() is None


def test_damaged_entries_are_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Truncated, empty or foreign files in the cache cost time and do not change the result."""
    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(tmp_path))
    assert cache_directory() == tmp_path
    q = states(by_name("cartpole").model, 4).q
    wanted = wd.oracle(wd.crba, wd.load_robot("cartpole"), q)
    (tmp_path / "headers").mkdir()  # of another call
    whole = None
    for spoil in (
        *(partial(Path.write_text, data=text) for text in ("", "{", "[]", '{"name": 1}', "null")),
        *(
            partial(write_entry, text=text)
            for text in ("", "null", "[]", '{"arrays": 3}', "[" * 99_999)
        ),
        *(partial(change_type, name=name) for name in ("inputs", "results", "code", "operations")),
        change_digit,
        replaced_by_a_fifo,
        replaced_by_a_folder,
        Path.touch,
    ):
        monkeypatch.setattr(launch, "_kernels", WeakKeyDictionary())  # as another process begins
        model = copy(wd.load_robot("cartpole"))
        assert error(wd.crba(model, q), wanted) <= CLOSE
        (kept,) = tmp_path.glob("*.json")
        whole = whole or kept.read_bytes()
        assert kept.read_bytes() == whole
        spoil(kept)


def write_entry(path: Path, text: str) -> None:
    """Write text as a complete entry, as another program might."""
    sealed_files.write(path, text.encode())


def change_type(path: Path, name: str) -> None:
    """Change the type of one part of a program."""
    content = sealed_files.read(path)
    assert content is not None
    sealed_files.write(path, json.dumps({**json.loads(content), name: [5]}).encode())


def change_digit(path: Path) -> None:
    """Change one digit of a number of the code."""
    text = path.read_text()
    path.write_text(text.replace("1", "5", 1) if "1" in text else text[:-1])


def replaced_by_a_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def replaced_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def test_one_changed_digit_of_a_program_is_detected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers of a robot are in its program: another digit would be another robot."""
    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(tmp_path))
    model = replace(wd.load_robot("cartpole"), name="cartpole_of_digits")
    wanted = kernel_source(wd.crba.describe(model, Z2)).code
    (kept,) = tmp_path.glob("*.json")
    numbers = re.findall(r"\d\.\d\d+", wanted)
    assert numbers
    whole = kept.read_text()
    kept.write_text(whole.replace(numbers[0], "9" + numbers[0][1:]))
    assert kept.read_text() != whole
    monkeypatch.setattr(launch, "_kernels", WeakKeyDictionary())  # as another process begins
    assert kernel_source(wd.crba.describe(model, Z2)).code == wanted
    assert kept.read_text() == whole


def test_models_of_equal_content_share_programs() -> None:
    """The key is the content. Loading the same file again gives the same key, and any number that
    matters changes it."""
    model, again = (wd.load(robot_file("panda")) for _ in range(2))
    assert model.key == again.key
    heavier = model.with_payload(model.link_names[-1], 0.1)
    others = (
        heavier,
        model.with_armature(0.1),
        replace(model, quaternion="wxyz"),
        replace(model, floating_base=True),
    )
    assert len({model.key, *(m.key for m in others)}) == 5
    q = states(model, 2).q
    wd.crba(model, q)
    assert error(wd.crba(heavier, q), wd.oracle(wd.crba, heavier, q)) <= CLOSE


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.FORMAT == 7
