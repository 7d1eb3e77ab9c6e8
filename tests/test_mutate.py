"""scripts/mutate.py makes small changes of the source and runs the tests that belong to the
file."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]

SOURCE = '''"""A module."""
from __future__ import annotations

def clamp(x: float = 0.5, names: tuple[int, int] = (1, 2)) -> float:
    """Return x within its limits, 2 of them."""
    if x < 0 and names:
        raise ValueError(f"{x + 1}")
    names = names[1:]
    record(x, names)
    return -x * 2 if x is not None else power(x, 3)
'''


@pytest.fixture(scope="module")
def mutate() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "scripts"))
    import mutate

    yield mutate
    sys.path.remove(str(ROOT / "scripts"))


def test_each_mutation_operator_changes_python_source(mutate: ModuleType) -> None:
    """A mutation changes one stretch of the text. Annotations, docstrings and messages do not
    change."""
    import mutations

    found = list(mutations.python_mutations("m.py", SOURCE))
    assert {m.operator for m in found} == set(mutations.OPERATORS)
    changes = {(m.operator, m.before, m.after) for m in found}
    assert {
        ("arithmetic", "-x * 2", "(-x + 2)"),
        ("sign", "-x", "(x)"),
        ("comparison", "x < 0", "(x <= 0)"),
        ("and/or", "x < 0 and names", "(x < 0 or names)"),
        ("condition", "x < 0 and names", "not (x < 0 and names)"),
        ("constant", "0.5", "0.75"),
        ("dropped statement", "record(x, names)", "pass"),
        ("dropped raise", 'raise ValueError(f"{x + 1}")', "pass"),
        ("slice", "1:", "1 + 1:"),
        ("swapped arguments", "power(x, 3)", "(power(3, x))"),
    } <= changes
    for mutation in found:
        text = mutation.apply(SOURCE)
        ast.parse(text)
        assert text != SOURCE
        assert "Return x within its limits, 2 of them." in text
        assert 'f"{x + 1}"' in text or mutation.operator == "dropped raise"
        assert "tuple[int, int]" in text


def test_mutations_without_effect_are_not_made(mutate: ModuleType) -> None:
    """Examples are another order of the arguments of a maximum, the sign of a truth value, and the
    strictness of a `zip` of equal lengths."""
    import mutations

    found = {
        text: {
            m.operator for m in mutations.python_mutations("m.py", f"def f(x, y):\n    {text}\n")
        }
        for text in (
            "return max(x, y)",
            "return np.maximum(x, y)",
            "return bool(x)",
            "return power(x, y)",
            "return np.clip(x, y, z)",
            "return x.clip(y, z)",
            "return np.where(x, 1.0, 0.0)",
            "return x.any(y, 1)",
            "return [*zip(x, y, strict=True)]",
            "return [*zip(x, y, strict=False)]",
        )
    }
    assert found == {
        "return max(x, y)": {"sign"},
        "return np.maximum(x, y)": {"sign"},
        "return bool(x)": set(),
        "return power(x, y)": {"sign", "swapped arguments"},
        "return np.clip(x, y, z)": {"sign"},
        "return x.clip(y, z)": {"sign", "swapped arguments"},
        "return np.where(x, 1.0, 0.0)": {"sign", "constant"},
        "return x.any(y, 1)": {"swapped arguments", "constant"},
        "return [*zip(x, y, strict=True)]": {"swapped arguments"},
        "return [*zip(x, y, strict=False)]": {"swapped arguments", "constant"},
    }


def test_code_only_for_type_checkers_is_not_mutated(mutate: ModuleType) -> None:
    """The `else` branch, which Python runs, is mutated."""
    import mutations

    text = "if TYPE_CHECKING:\n    f(1)\nelse:\n    f(2)\n"
    assert {m.line for m in mutations.python_mutations("m.py", text)} == {4}


def test_the_sign_of_a_returned_truth_value_is_not_mutated(mutate: ModuleType) -> None:
    """The annotation of the innermost function decides."""
    import mutations

    text = "def f(x) -> bool:\n    def g(y) -> float:\n        return h(y)\n    return g(x)\n"
    found = [m.line for m in mutations.python_mutations("m.py", text) if m.operator == "sign"]
    assert found == [3]


def test_c_headers_are_mutated(mutate: ModuleType) -> None:
    """Operators in comments and preprocessor lines do not change."""
    import mutations

    text = "#define N a + b\n/* x + y\n x - y */\nh = y * (1.5 - h) + 2; // a < b\n"
    found = list(mutations.header_mutations("m.h", text))
    assert [(m.before.strip(), m.after.strip(), m.line) for m in found] == [
        ("+", "-", 4),
        ("-", "+", 4),
        ("*", "+", 4),
    ]


def test_a_seed_draws_the_same_mutations(mutate: ModuleType) -> None:
    """A draw takes only the named rooms. It has no mutation twice, and none that is listed as
    equivalent."""
    chosen = mutate.draw(5, 30, ["logs", "headers"])
    assert chosen == mutate.draw(5, 30, ["logs", "headers"])
    assert len(set(map(mutate.key, chosen))) == 30
    assert {mutate.room(m.path) for m in chosen} == {"logs", "headers"}
    listed = frozenset(map(mutate.key, chosen[:10]))
    assert not listed & set(map(mutate.key, mutate.draw(5, 30, ["logs", "headers"], listed)))
    with pytest.raises(SystemExit, match="no room attic; there are"):
        mutate.draw(5, 1, ["attic"])


def test_equal_constants_on_one_line_have_different_keys(
    mutate: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keys differ by the column. It is counted without the indentation, which may change."""
    import mutations

    keys = []
    for name, indented in (("a.py", "    "), ("b.py", "        ")):
        text = f"if x:\n{indented}y = (0.0, 0.0)\n"
        monkeypatch.setattr(mutate, "_text", lambda _, text=text: text)
        found = mutations.python_mutations(name, text)
        keys.append([mutate.key(m) for m in found if m.operator == "constant"])
    assert keys[0] == [f"a.py | y = (0.0, 0.0) | {i}: 0.0 → 1.0" for i in (5, 10)]
    assert [each.replace("b.py", "a.py") for each in keys[1]] == keys[0]


def test_each_listed_room_can_be_drawn(mutate: ModuleType) -> None:
    """This includes rooms whose only code is in `__init__`. The tests named after the folder judge
    them."""
    rooms = ("warpdyn", "robots", "ros2_node")
    assert {*rooms} <= {*mutate.all_rooms()}
    drawn = {each: mutate.draw(1, 1, [each]) for each in rooms}
    assert {each: mutate.room(m.path) for each, (m,) in drawn.items()} == {r: r for r in rooms}
    stages = mutate.test_files(ROOT, "warpdyn/robots/__init__.py")
    assert [file.name for file in stages[0]] == ["test_robots.py"]
    assert "warpdyn/rl/tasks/panda_tasks.py" in mutate.importers(ROOT, "warpdyn/robots/__init__.py")
    of_root = mutate.test_files(ROOT, "warpdyn/__init__.py")
    assert {ROOT / "tests/test_face.py", ROOT / "tests/test_old_names.py"} <= {
        file for stage in of_root for file in stage
    }


def test_processes_left_by_a_test_are_ended(mutate: ModuleType, tmp_path: Path) -> None:
    """A process is ended even if it has its own session and its folder is gone. Other processes are
    not ended."""
    from left_processes import end_processes_in

    copy, words = tmp_path / "copy" / "inner", [sys.executable, "-c", "input()"]
    copy.mkdir(parents=True)
    pipe = {"stdin": subprocess.PIPE, "start_new_session": True}
    inside, outside = (subprocess.Popen(words, cwd=x, **pipe) for x in (copy, tmp_path))
    copy.rmdir()
    end_processes_in(tmp_path / "copy")
    assert inside.wait(10) == -signal.SIGKILL and outside.poll() is None
    outside.communicate(b"\n", timeout=10)


def test_listed_equivalent_mutations_exist_in_the_source(mutate: ModuleType) -> None:
    """Each is a mutation that could be drawn, and has a reason."""
    import mutations

    listed = json.loads(mutate.EQUIVALENT.read_text())
    files = {ROOT / each.partition(" | ")[0] for each in listed}
    drawn = {mutate.key(each) for file in files for each in mutations.mutations(ROOT, file)}
    assert all(listed.values()) and not set(listed) - drawn


def test_the_tests_of_a_source_file_are_chosen_in_stages(mutate: ModuleType) -> None:
    """The file of the same name comes first. Then come the tests that mention the module or its
    folder, and the tests of modules that import it."""
    stages = mutate.test_files(ROOT, "warpdyn/algebra/quaternions.py")
    assert [file.name for file in stages[0]] == ["test_quaternions.py"]
    assert ROOT / "tests/algebra/test_rotations.py" in {file for stage in stages for file in stage}
    assert len({file for stage in stages for file in stage}) == sum(map(len, stages))
    of_imported = mutate.test_files(ROOT, "warpdyn/arrays/views.py")
    assert ROOT / "tests/functions/test_manifold.py" in of_imported[-1]
    assert "warpdyn/functions/manifold.py" in mutate.importers(ROOT, "warpdyn/arrays/views.py")
    assert mutate.importers(ROOT, "warpdyn/codegen/counters.h") == []
    of_inner_room = mutate.test_files(ROOT, "warpdyn/formats/sdf/sdf_joints.py")
    folders = [{file.parent.name for file in stage} for stage in of_inner_room]
    assert folders.index({"formats"}) > folders.index({"sdf"})
    assert ROOT / "tests/formats/test_sdf_refusals.py" in of_inner_room[folders.index({"formats"})]
    of_header = mutate.test_files(ROOT, "warpdyn/codegen/counters.h")
    assert ROOT / "tests/user_kernels/test_random_numbers.py" in of_header[0]


def test_a_failing_or_hanging_test_kills_a_mutation(mutate: ModuleType, tmp_path: Path) -> None:
    """A mutation that no test notices survives."""
    from multiprocessing import get_context

    (tmp_path / "warpdyn/algebra").mkdir(parents=True)
    (tmp_path / "tests/algebra").mkdir(parents=True)
    source = "def half(x):\n    while x > 9:\n        x = x - 1\n    return x / 2\n\n\nUNUSED = 3\n"
    (tmp_path / "warpdyn/algebra/half.py").write_text(source)
    (tmp_path / "tests/algebra/test_half.py").write_text(
        "import runpy\n\n\ndef test_half():\n"
        "    half = runpy.run_path('warpdyn/algebra/half.py')['half']\n"
        "    assert half(4) == 2 and half(10) == 4.5\n"
    )
    import mutations

    path = tmp_path / "warpdyn/algebra/half.py"
    by_change = {m.after: m for m in mutations.mutations(tmp_path, path)}
    runner = mutate.TestRunner(tmp_path, tmp_path / "cache", get_context("spawn"))
    judged = {
        after: runner.judge(by_change[after], limit=60.0).verdict for after in ("(x * 2)", "4")
    }
    assert judged == {"(x * 2)": "killed", "4": "survived"}
    assert path.read_text() == source
    runner.hang = 1.0
    assert runner.judge(by_change["(x + 1)"], limit=2.0).verdict == "killed"
    assert "(100.0%)" not in mutate.table([mutate.Result(by_change["4"], "survived", "")])


def test_bytecode_of_the_previous_text_is_not_run(mutate: ModuleType, tmp_path: Path) -> None:
    """Both texts have the same size and time, so Python would take the bytecode of the first for
    the second."""
    path, moment = tmp_path / "written_twice.py", (1e9, 1e9)
    found = []
    for text in ("number = 6\n", "number = 7\n"):
        mutate.replace_source(path, text)
        os.utime(path, moment)
        command = [sys.executable, "-c", "import written_twice; print(written_twice.number)"]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        found.append(done.stdout.strip())
    assert found == ["6", "7"]


def test_the_share_of_killed_mutations_decides_the_exit_code(
    mutate: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All mutations with a verdict must be killed by default.

    A draw without rooms takes all files of the packages.
    """
    monkeypatch.setattr(mutate, "PACKAGES", ("warpdyn/logs",))  # a draw of all files takes seconds
    (mutation,) = mutate.draw(3, 1)
    assert mutate.room(mutation.path) == "logs"
    verdicts = ["killed", "killed", "killed", "survived", "undecided"]
    results = [mutate.Result(mutation, verdict, "a test") for verdict in verdicts]
    monkeypatch.setattr(mutate, "draw", lambda *_: [mutation] * len(results))
    monkeypatch.setattr(mutate, "judge_all", lambda *_: iter(results))
    assert mutate.main([]) == 1
    assert mutate.main(["--least", "0.75"]) == 0 and mutate.main(["--least", "0.76"]) == 1
    assert "3 of 4 killed (75.0%)" in capsys.readouterr().out
    results[3] = results[0]
    assert mutate.main([]) == 0


@pytest.fixture
def coverage_data(tmp_path: Path) -> Path:
    """Coverage data of two test files that run lines of warpdyn/a.py. Line 9 runs only at
    import."""
    import coverage

    data = coverage.CoverageData(basename=str(tmp_path / "data"))
    lines = {
        "": [1, 9],
        "tests/test_a.py::test_x[1]|run": [3],
        "tests/test_a.py::test_x[2]|run": [3],
        "tests/test_a.py::test_y|setup": [3, 4],
        "tests/b/test_b.py::test_z|run": [3, 5],
    }
    for context, reached in lines.items():
        data.set_context(context)
        data.add_lines({str(tmp_path / "warpdyn/a.py"): reached})
    data.write()
    return tmp_path / "data"


def test_the_tests_that_run_a_line_come_in_order(
    mutate: ModuleType, coverage_data: Path, tmp_path: Path
) -> None:
    """Tests of the file of the same name come first, and one test of each function before the
    second of any."""
    from reached_tests import ReachedTests

    reached = ReachedTests(coverage_data)
    assert reached.of("warpdyn/a.py", 4, 5) == [
        "tests/b/test_b.py::test_z",
        "tests/test_a.py::test_y",
    ]
    assert reached.of("warpdyn/a.py", 9, 9) == reached.of("warpdyn/other.py", 3, 3) == []
    (stage,) = reached.stages("warpdyn/a.py", 3, 3, "tests/test_a.py")
    assert stage == [
        "tests/test_a.py::test_x[1]",
        "tests/test_a.py::test_y",
        "tests/test_a.py::test_x[2]",
        "tests/b/test_b.py::test_z",
    ]
    (tmp_path / "warpdyn").mkdir()
    (tmp_path / "warpdyn/a.py").write_text("")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a.py").write_text("")
    from multiprocessing import get_context

    runner = mutate.TestRunner(tmp_path, tmp_path, get_context("spawn"), reached)
    change = {"path": "warpdyn/a.py", "operator": "sign", "start": 0, "stop": 1, "after": ""}
    own = [str(tmp_path / "tests/test_a.py")]
    assert runner.stages(mutate.Mutation(line=3, before="x", **change)) == [stage, own]
    two_lines = mutate.Mutation(line=1, before="x\n", **change)
    assert runner.stages(two_lines) == [own]
    assert len(runner.stages(mutate.Mutation(line=4, before="x\n", **change))[0]) == 2
    (tmp_path / "tests/test_new.py").write_text("import a")
    new = [str(tmp_path / "tests/test_new.py")]
    assert runner.stages(mutate.Mutation(line=3, before="x", **change)) == [stage, own, new]


def test_coverage_data_without_tests_are_refused(mutate: ModuleType, tmp_path: Path) -> None:
    """Missing data are refused, and so are data that were measured without contexts."""
    import coverage
    from reached_tests import ReachedTests

    with pytest.raises(SystemExit, match="there are no coverage data in this place"):
        ReachedTests(tmp_path / "none")
    data = coverage.CoverageData(basename=str(tmp_path / "data"))
    data.add_lines({"a.py": [1]})
    data.write()
    with pytest.raises(SystemExit, match="add --cov-context=test"):
        ReachedTests(tmp_path / "data")
