"""The scripts for tests, program hashes and API snapshots. Each reports exactly what has
changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from public_names import public_names

import warpdyn as wd
from warpdyn.codegen.targets import FOR_FEW, TARGETS
from warpdyn.old_names import RENAMED

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "scripts"
LINT = (
    "ruff check .",
    "ruff format --check .",
    "python scripts/prose.py",
    "python scripts/code_shape.py",
)

TYPES = ("python scripts/robot_stub.py", "mypy")
CPP = "C++ --objects"
"""Compilation of the emulated device's C++ files."""

ALL_TESTS = ("pytest -n 3 --ignore tests/ros --ignore tests/cuda_device", "test_cuda --quick")


def script(name: str) -> ModuleType:
    """Import a script as a module."""
    spec = spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / f"{name}.py"), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}  # this checkout, whatever is installed
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def folder_of_test_script(folder: Path, **codes: int) -> Path:
    """Make a folder in which scripts/test.sh runs programs that print their arguments and exit with
    these codes."""
    for name in ("scripts", ".venv/bin", "tests/cuda_device"):
        (folder / name).mkdir(parents=True)
    compiler = "import sys\nprint('C++', *sys.argv[1:])\n"
    (folder / "tests/cuda_device/emulated_warp.py").write_text(compiler)
    shutil.copy(SCRIPTS / "test.sh", folder / "scripts")
    (folder / "scripts/venv.sh").write_text("set_up() { :; }\n")
    (folder / "scripts/debian_packages.sh").write_text("echo apt\n")
    (folder / "scripts/test_cuda.sh").write_text('echo "test_cuda $*"\n')
    for tool in ("ruff", "python", "mypy", "pytest"):
        program = folder / ".venv/bin" / tool
        program.write_text(f'#!/bin/sh\necho "{tool}${{*:+ $*}}"\nexit {codes.get(tool, 0)}\n')
        program.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    "arguments, before, ran",
    [
        (("--quick",), LINT, ["pytest -n 2 --quick --ignore tests/ros"]),
        (("-k", "rnea"), (), ["pytest -k rnea"]),
        (("--quick", "-k", "rnea"), (), ["pytest --quick -k rnea"]),
        ((), ("apt", CPP, *LINT, *TYPES), ALL_TESTS),
        (("--no-apt",), (CPP, *LINT, *TYPES), ALL_TESTS),
        (("--no-apt", "-k", "rnea"), (), ["pytest -k rnea"]),
    ],
)
def test_the_test_script_runs_lint_types_and_tests(arguments, before, ran, tmp_path):
    """`--quick` runs lint and the quick half.

    Other arguments go to pytest. Without arguments it installs the Debian packages, unless
    `--no-apt` is given, and runs lint, types and all tests. The steps before the tests run in
    parallel. Without a C++ compiler nothing is compiled.
    """
    command = ["bash", "scripts/test.sh", *arguments]
    folder = folder_of_test_script(tmp_path)
    for compiler in ("sh", "no-such-compiler"):
        environment = {**os.environ, "CXX": compiler}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=True
        )
        expected = [line for line in before if line != CPP or compiler == "sh"]
        lines = done.stdout.splitlines()
        assert sorted(lines[: len(expected)]) == sorted(expected)
        assert lines[len(expected) :] == [*ran]


@pytest.mark.parametrize("tool", ["ruff", "python", "mypy", "pytest", "ros_env"])
@pytest.mark.parametrize("arguments", [(), ("--quick",), ("-k", "rnea")])
def test_the_test_script_stops_when_a_program_fails(tool, arguments, tmp_path):
    """The program may run in the background. No test runs before it has ended."""
    folder = folder_of_test_script(tmp_path, **{tool: 3})
    (folder / "scripts/ros_env.sh").write_text(f"sleep 0.1; exit {3 if tool == 'ros_env' else 0}\n")
    command = ["bash", "scripts/test.sh", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    runs = tool in ("pytest", "ros_env") or {(): True, ("--quick",): tool != "mypy"}.get(arguments)
    assert done.returncode == (3 if runs else 0)
    assert ("pytest" in done.stdout) == (tool == "pytest" or not runs)
    assert "test_cuda" not in done.stdout


def installing_folder(tmp_path, *, uv=None):
    """A folder with fake installers; what `set_up` asks of them is in installed.txt."""
    (tmp_path / ".venv/bin").mkdir(parents=True)
    more = "-".join(("extra", "index", "url"))
    settings = rf"""
:env:.find-links='/own/wheels /more/wheels'
global.{more}='file:///a\nfile:///b'
global.find-links='/other/wheels'
"""
    fakes = {"pip": f"if [ $1 = config ]; then cat <<'E'{settings}E\nexit; fi\n"}
    if uv is not None:
        fakes["uv"] = f"echo links $UV_FIND_LINKS index $UV_INDEX >>installed.txt; exit {uv}\n"
    for name, body in fakes.items():
        program = tmp_path / ".venv/bin" / name
        last = f'for last; do :; done\necho "{name} $last" >>installed.txt\n'
        program.write_text("#!/bin/sh\n" + (body + last if name == "pip" else last + body))
        program.chmod(0o755)
    for name in ("setup.py", "pyproject.toml"):
        (tmp_path / name).touch()


def run_installation(tmp_path, *lines):
    """Run lines of a script: the requests to the installers, and the errors that are printed."""
    command = ["bash", "-c", "\n".join((f"set -eu; source {SCRIPTS}/venv.sh", *lines))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    return (tmp_path / "installed.txt").read_text().splitlines(), done.stderr


def test_missing_extras_are_installed_by_one_call(tmp_path):
    """The installer runs again only after setup.py has changed."""
    installing_folder(tmp_path)
    lines = ("set_up test ros,rostest", "set_up ros,rostest", "set_up test docs")
    asked, _ = run_installation(tmp_path, *lines, "echo >>setup.py", "set_up docs")
    wanted = (".[test,ros,rostest]", ".[docs]", ".[docs]")
    assert asked == [line for extras in wanted for line in ("pip uv", f"pip {extras}")]


def test_uv_installs_with_the_settings_of_pip(tmp_path):
    """A setting of the environment replaces that of a file, as in pip."""
    installing_folder(tmp_path, uv=0)
    asked, errors = run_installation(tmp_path, "set_up test")
    links = "links /own/wheels,/more/wheels index file:///a file:///b"
    assert asked == ["uv .[test]", links]  # uv itself is installed once
    assert not errors


def test_pip_installs_where_uv_fails(tmp_path):
    """A line on stderr says so."""
    installing_folder(tmp_path, uv=2)
    asked, errors = run_installation(tmp_path, "set_up test")
    assert asked[-1] == "pip .[test]"
    assert errors == "uv could not install this; pip tries\n"


@pytest.mark.parametrize(
    "arguments, ran",
    [
        ((), "pytest -n 2 --device cuda:0 --device-tests all python tests/device_tests.py all"),
        (
            ("--quick",),
            "pytest -n 2 --device cuda:0 --device-tests quick python tests/device_tests.py quick",
        ),
        (("-k", "rnea"), "pytest --device cuda:0 -k rnea"),
    ],
)
def test_the_emulated_device_script_runs_its_selections(arguments, ran, tmp_path):
    """It runs the quick selection, all tests, or pytest with arguments. The emulated Warp comes
    first on the path."""
    for folder in ("scripts", ".venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(SCRIPTS / "test_cuda.sh", tmp_path / "scripts")
    (tmp_path / "scripts/venv.sh").write_text("set_up() { :; }\n")
    for tool, shown in {"python": "", "pytest": "; echo $PYTHONPATH"}.items():
        program = tmp_path / ".venv/bin" / tool
        program.write_text(f'#!/bin/sh\necho "{tool}${{*:+ $*}}"{shown}\n')
        program.chmod(0o755)
    command = ["bash", "scripts/test_cuda.sh", *arguments]
    surroundings = {**os.environ, "PYTHONPATH": "others"}
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=True, env=surroundings
    )
    first, path = done.stdout.splitlines()
    assert first == ran
    assert path == "python tests/cuda_device/emulated_warp.py:others"


def test_program_hashes_are_reproducible_and_show_changes(tmp_path):
    """The program of one function has one hash. Another hash in its file is a change, and the exit
    status is 1."""
    file = tmp_path / "before.json"
    written = run("program_hashes", "--only", "quaternion_to_matrix", "--out", str(file))
    assert written.returncode == 0, written.stderr
    hashes = json.loads(file.read_text())
    assert sorted(key.rpartition(" ")[2] for key in hashes if "/plain" in key) == [
        "float32",
        "float64",
    ]
    operations, text, *targets = hashes["quaternion_to_matrix/panda/plain float32"]
    assert operations > 0 and len(targets) == len(TARGETS)
    alike = {text, *targets}  # a short program has one form for all batches on a GPU
    assert len(alike) == 1 + len(TARGETS) - len(FOR_FEW)
    hashes["quaternion_to_matrix/panda/plain float32"][0] += 1
    hashes["rnea/panda/plain float32"] = [1, "not", "compared", "here"]
    file.write_text(json.dumps(hashes))
    compared = run("program_hashes", "--only", "quaternion_to_matrix", "--compare", str(file))
    assert (
        compared.returncode == 1
        and f"{len(hashes) - 1} programs, 1 of them changed" in compared.stderr
    )
    assert compared.stdout.startswith("quaternion_to_matrix/panda/plain float32: ")


def test_every_public_function_of_arrays_is_hashed():
    """A function with a model is hashed for each robot, one without a model for the first robot."""
    hashes = script("program_hashes")
    assert {"rnea", "aba", "fk", "integrate", "quaternion_to_matrix"} <= set(hashes.names())
    assert {robot for robot, *_ in hashes.cases(["rnea"])} == set(hashes.ROBOTS)
    assert {robot for robot, *_ in hashes.cases(["quaternion_to_matrix"])} == {hashes.ROBOTS[0]}


def test_a_name_that_is_not_public_is_refused(capsys):
    """The refusal lists the public names."""
    with pytest.raises(SystemExit):
        script("program_hashes").main(["--only", "no_such_function"])
    assert "rnea" in capsys.readouterr().err


def test_the_snapshot_has_a_line_for_every_public_name():
    """A function's line has its parameters and defaults. A class has lines for its public
    attributes."""
    lines = run("api_snapshot").stdout.splitlines()
    assert any(line.startswith("rnea(model, q, v, a, ") for line in lines)
    starts = {line.removeprefix("class ").partition("(")[0] for line in lines}
    assert {*public_names(), *RENAMED} <= starts and "Model.summary" in starts


def test_the_snapshot_omits_types_and_addresses():
    """Addresses differ from run to run, and annotations do not matter to a caller."""
    snapshot = script("api_snapshot")

    def function(a: int, b: object = object) -> str:
        return ""

    assert snapshot.lines("f", function) == ["f(a, b=<class 'object'>)"]
    text = snapshot.parameters(lambda x=lambda: 0: x)
    assert "<lambda>" in text and " at 0x" not in text
    assert snapshot.lines("E", wd.ModelError)[0] == "class E(message)"
