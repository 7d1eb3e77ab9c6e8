"""Mutation testing: make small wrong changes of the source and run the tests against them.

`python scripts/mutate.py --seed 1 --count 80` draws mutations from all rooms and the C++ headers: first an operator,
then a place. The script writes each mutation into a copy of the checkout and runs the tests of the file there. These
are the test file of the same name, the test files that mention the module, the tests of the room's folder and its
parent folders, and the test files of the modules that import the file. A table counts the killed mutations of each
room. The script prints every survivor with its place. The exit status is 1 if the share of killed mutations is less
than --least (default: all).

--coverage FILE takes the data of `pytest --cov=warpdyn --cov=ros2_node --cov-context=test` (package pytest-cov).
Tests that execute the changed lines then run first, a few of each file before the others. The test file of the same
name and the newer ones of the files above run last. If no test executes a line, all of the files above run.
A mutation also counts as killed if a test takes far longer with it. Mutations that change no behaviour are listed
with the reason in scripts/equivalent_mutations.json and are not drawn.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Literal, NamedTuple

from left_processes import end_processes_in
from mutations import Mutation, mutations, replace_source
from reached_tests import ReachedTests
from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = Path(__file__).with_name("equivalent_mutations.json")

PACKAGES = ("warpdyn", "ros2_node")
LIBRARIES = ["numpy", "warp", "torch", "mujoco", "pinocchio", "hypothesis", "lxml", "pytest"]
"""Libraries that the server of test processes imports once. None of them is ours."""

MENTIONS = 25
"""Test files that mention a module, at most; those that mention it most often come first."""

HANG = 60.0
"""Seconds beyond five times the clean run after which a test file is taken to hang."""

Verdict = Literal["killed", "survived", "undecided"]


class Result(NamedTuple):
    """The verdict of the tests on one mutation."""

    mutation: Mutation
    verdict: Verdict
    by: str
    """The stage that killed it, or the last one that ran."""


def room(path: str) -> str:
    """The room of a file: `headers` for C++, else the folder below the package."""
    if path.endswith(".h"):
        return "headers"
    parts = Path(path).parts[:-1]
    return "/".join(parts[1:] or parts) if parts[0] == "warpdyn" else "/".join(parts[:2])


def draw(
    seed: int, count: int, rooms: Sequence[str] = (), equivalent: frozenset[str] = frozenset()
) -> list[Mutation]:
    """Random mutations of the checkout. Each draw chooses a room, then an operator, then a place."""
    by_room: dict[str, dict[str, list[Mutation]]] = defaultdict(lambda: defaultdict(list))
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if rooms and room(path.relative_to(ROOT).as_posix()) not in rooms:
                continue
            if path.suffix in (".py", ".h"):
                for mutation in mutations(ROOT, path):
                    if not equivalent or key(mutation) not in equivalent:
                        by_room[room(mutation.path)][mutation.operator].append(mutation)
    unknown = set(rooms) - set(by_room)
    if unknown:
        raise SystemExit(
            f"no room {', '.join(sorted(unknown))}; there are {', '.join(all_rooms())}"
        )
    weights = [sum(map(len, operators.values())) for operators in by_room.values()]
    generator, chosen = random.Random(seed), {}
    while len(chosen) < min(count, sum(weights)):
        operators = generator.choices(list(by_room.values()), weights)[0]
        mutation = generator.choice(operators[generator.choice(list(operators))])
        if is_program(mutation):
            chosen[key(mutation)] = mutation
    return list(chosen.values())


def all_rooms() -> list[str]:
    """The names that --room takes."""
    files = [file for package in PACKAGES for file in (ROOT / package).rglob("*")]
    sources = [file for file in files if file.suffix in (".py", ".h")]
    return sorted({room(file.relative_to(ROOT).as_posix()) for file in sources})


def is_program(mutation: Mutation) -> bool:
    """True if the changed file can still be parsed."""
    if not mutation.path.endswith(".py"):
        return True
    try:
        ast.parse(mutation.apply((ROOT / mutation.path).read_text()))
    except SyntaxError:
        return False
    return True


def key(mutation: Mutation) -> str:
    """The identity of a mutation, which survives moved lines: the file, the text of the line, the column, and the
    replacement."""
    text = _text(mutation.path)
    start = text.rfind("\n", 0, mutation.start) + 1
    line = text[start:].split("\n", 1)[0]
    column = mutation.start - start - len(line) + len(line.lstrip())
    return f"{mutation.path} | {line.strip()} | {column}: {mutation.before} → {mutation.after}"


@cache
def _text(path: str) -> str:
    """Content of a file of the checkout. Mutations are written into a copy, so this content does not change."""
    return (ROOT / path).read_text()


def test_files(root: Path, path: str) -> list[list[Path]]:
    """The test files of a source file, in stages. The first stage is the most likely one to fail."""
    named = named_test(root, path)
    inner = named.parent.relative_to(root / "tests")
    around = [each for each in (inner, *inner.parents) if each.parts] or [inner]
    folders = [root / "tests" / each for each in around]
    word = re.compile(rf"\b{re.escape(module_name(path))}\b")
    counts: dict[Path, int] = {}
    for file in sorted((root / "tests").rglob("test_*.py")):
        if "tests/ros/" not in file.as_posix() and file != named:
            counts[file] = len(word.findall(file.read_text()))
    mentions = [file for file in sorted(counts, key=lambda f: -counts[f]) if counts[file]][
        :MENTIONS
    ]
    first = [named] if named.exists() else []
    stages = [first, mentions]
    importing = [named_test(root, each) for each in importers(root, path)]
    for files in (
        *(folder.glob("test_*.py") for folder in folders),
        filter(Path.exists, importing),
    ):
        stages.append(sorted(set(files).difference(*stages)))
    return [stage for stage in stages if stage]


def named_test(root: Path, path: str) -> Path:
    """Path at which the test file of a source file belongs."""
    source = Path(path)
    parts = source.parts[1:] if source.parts[0] == "warpdyn" else source.parts
    return root / "tests" / Path(*parts[:-1]) / f"test_{module_name(path)}.py"


def module_name(path: str) -> str:
    """The last part of a source file's module name; for `__init__` and `__main__` the name of the folder."""
    source = Path(path)
    return source.parent.name if source.stem in ("__init__", "__main__") else source.stem


def importers(root: Path, path: str) -> list[str]:
    """Paths of the modules that import a module; empty for a header."""
    name = ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")
    found = []
    for package in PACKAGES if path.endswith(".py") else ():
        for file in sorted((root / package).rglob("*.py")):
            text, place = file.read_text(), file.relative_to(root)
            if module_name(path) in text and name in imported_names(text, place.parts[:-1]):
                found.append(place.as_posix())
    return found


@cache
def imported_names(text: str, folder: tuple[str, ...]) -> frozenset[str]:
    """Full names of the modules that a file in a folder may import, by any of its imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = folder[: len(folder) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            names.update([base, *(f"{base}.{alias.name}" for alias in node.names)])
    return frozenset(names)


def _run_pytest(root: str, files: Sequence[str], log: str, environment: dict[str, str]) -> None:
    """Run pytest on some files in a new process, which exits with pytest's status."""
    os.setsid()
    os.environ.update(environment)
    os.chdir(root)
    with Path(log).open("w") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
        import pytest  # noqa: PLC0415 (imported by the server already)

        sys.path.insert(0, root)
        os._exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *files]))


class TestRunner:
    """Runs test files in one copy of the checkout, in a new process for each run."""

    __test__ = False

    def __init__(
        self,
        root: Path,
        cache: Path,
        context: ForkServerContext,
        reached: ReachedTests | None = None,
    ) -> None:
        self.root, self.context, self.reached = root, context, reached
        self.log = root / "pytest.log"
        self.hang = HANG
        self.clean_seconds: dict[tuple[str, ...], float] = {}
        self.environment = {
            "PYTHONPATH": str(root),
            "WARPDYN_CACHE_DIR": str(cache / "programs"),
            "WARP_CACHE_PATH": str(cache / "kernels"),
        }

    def run(self, tests: Sequence[str], limit: float) -> int | None:
        """Pytest's exit status, None if it did not end within the limit [s]."""
        arguments = (str(self.root), list(tests), str(self.log), self.environment)
        process = self.context.Process(target=_run_pytest, args=arguments)
        process.start()
        process.join(limit)
        if not (ended := not process.is_alive()):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.join()
        end_processes_in(self.root)
        return process.exitcode if ended else None

    def judge(self, mutation: Mutation, limit: float) -> Result:
        """Run the stages of tests until one notices the mutation or the time is up."""
        stages = self.stages(mutation)
        path = self.root / mutation.path
        clean = path.read_text()
        deadline, by = time.monotonic() + limit, "no test"
        is_file = bool(stages) and len(stages[0]) == 1 and "::" not in stages[0][0]
        if is_file and tuple(stages[0]) not in self.clean_seconds:
            started = time.monotonic()
            if self.run(stages[0], 10 * limit) not in (0, 5):
                raise SystemExit(
                    f"{stages[0][0]} fails without a mutation:\n{self.log.read_text()}"
                )
            self.clean_seconds[tuple(stages[0])] = time.monotonic() - started
            deadline += time.monotonic() - started
        replace_source(path, mutation.apply(clean))
        try:
            for stage in stages:
                names = ", ".join(Path(test.partition("::")[0]).name for test in stage[:2])
                by = f"{names}…" if len(stage) > 2 else names
                seconds = self.clean_seconds.get(tuple(stage))
                remaining = max(deadline - time.monotonic(), 1.0)
                if seconds is not None:
                    remaining = max(remaining, 5 * seconds + self.hang)
                status = self.run(stage, remaining)
                if status is None:
                    replace_source(path, clean)
                    hangs = seconds is not None or self.run(stage, remaining / 5) in (0, 5)
                    return Result(mutation, "killed" if hangs else "undecided", f"{by} hangs")
                if status not in (0, 5):  # 5: all tests of the stage are skipped
                    return Result(mutation, "killed", by)
            return Result(mutation, "survived", by)
        finally:
            replace_source(path, clean)

    def stages(self, mutation: Mutation) -> list[list[str]]:
        """Arguments of pytest by stage. With coverage data: the tests that run the changed lines."""
        files = [[str(file) for file in stage] for stage in test_files(self.root, mutation.path)]
        if self.reached is None:
            return files
        named = named_test(self.root, mutation.path)
        last = mutation.line + mutation.before.count("\n")
        name = named.relative_to(self.root).as_posix()
        tests = self.reached.stages(mutation.path, mutation.line, last, name)
        if not tests:
            return files
        new = [
            file
            for file in dict.fromkeys(file for stage in files for file in stage)
            if Path(file).relative_to(self.root).as_posix() not in self.reached.test_files
            and file != str(named)
        ]
        last_stages = [[str(named)] if named.exists() else [], new]
        return [*tests, *filter(None, last_stages)]


def copy_of_checkout(folder: Path) -> Path:
    """The tracked files, as they are in the working tree."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
    return folder


def judge_all(
    chosen: Sequence[Mutation],
    folder: Path,
    cache: Path,
    limit: float,
    coverage: Path | None = None,
) -> Iterator[Result]:
    """Judge mutations one after the other."""
    context = get_context("forkserver")
    context.set_forkserver_preload(LIBRARIES)
    reached = ReachedTests(coverage) if coverage else None
    runner = TestRunner(copy_of_checkout(folder), cache, context, reached)
    for mutation in chosen:
        yield runner.judge(mutation, limit)


def table(results: Sequence[Result]) -> str:
    """Table of the killed and the decided mutations, by room and by operator."""
    lines = []
    for title, names in (
        ("room", [room(result.mutation.path) for result in results]),
        ("operator", [result.mutation.operator for result in results]),
    ):
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for name, result in zip(names, results, strict=True):
            counts[name][result.verdict] += 1
        lines += [f"| {title} | killed | undecided |", "|---|---|---|"]
        for name, count in sorted(counts.items()):
            decided = count["killed"] + count["survived"]
            lines.append(f"| {name} | {count['killed']}/{decided} | {count['undecided']} |")
        lines.append("")
    killed = sum(result.verdict == "killed" for result in results)
    decided = sum(result.verdict != "undecided" for result in results)
    share = f" ({killed / decided:.1%})" if decided else ""
    return "\n".join([*lines, f"{killed} of {decided} killed{share}"])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--room", nargs="+", default=[], help="only these rooms")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds of tests a mutation")
    parser.add_argument("--cache", type=Path, help="folder of compiled kernels, kept between runs")
    parser.add_argument("--coverage", type=Path, help="data that say which tests run a line")
    parser.add_argument("--least", type=float, default=1.0, help="share to be killed; default: all")
    parser.add_argument("--list", action="store_true", help="print the mutations, run nothing")
    parser.add_argument("--out", type=Path, help="JSON lines of the verdicts, appended to")
    given = parser.parse_args(arguments)
    equivalent = frozenset(json.loads(EQUIVALENT.read_text()))
    chosen = draw(given.seed, given.count, given.room, equivalent)
    if given.list:
        print(*chosen, sep="\n")
        return 0
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="mutate-") as name:
        folder = Path(name) / "checkout"
        folder.mkdir()
        bar = tqdm(
            judge_all(chosen, folder, given.cache or Path(name), given.limit, given.coverage),
            total=len(chosen),
        )
        for result in bar:
            results.append(result)
            if result.verdict != "killed":
                bar.write(f"{result.verdict}: {result.mutation} ({result.by})")
            if given.out:
                line = {"key": key(result.mutation), "verdict": result.verdict, "by": result.by}
                with given.out.open("a") as stream:
                    stream.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(table(results))
    verdicts = Counter(result.verdict for result in results)
    return int(verdicts["killed"] < given.least * (verdicts["killed"] + verdicts["survived"]))


if __name__ == "__main__":
    raise SystemExit(main())
