"""Tests that execute a line, from the data of `pytest --cov=warpdyn --cov=ros2_node --cov-context=test`."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, zip_longest
from pathlib import Path

SAMPLE = 60
"""Tests of the first stage: a few of each file that runs the line."""

MOST = 1000
"""Tests of the second stage, at most."""


class ReachedTests:
    """The tests that execute each line of the source.

    These data contain no test for a line that is executed only at import or in another process.
    """

    def __init__(self, file: Path) -> None:
        from coverage import CoverageData  # noqa: PLC0415 (only with --coverage)

        if not file.is_file():
            raise SystemExit(f"{file}: there are no coverage data in this place")
        self._data = CoverageData(basename=str(file))
        self._data.read()
        if not any(self._data.measured_contexts()):
            raise SystemExit(f"{file} does not say which test ran a line: add --cov-context=test")
        self._files = {Path(name).as_posix(): name for name in self._data.measured_files()}
        self.test_files = {each.partition("::")[0] for each in self._data.measured_contexts()}
        """The test files of the data; a newer one is in none of the stages."""

    def of(self, path: str, first: int, last: int) -> list[str]:
        """Sorted node ids of the tests that execute at least one of the lines from `first` to `last`."""
        name = next(
            (f for p, f in self._files.items() if p == path or p.endswith("/" + path)), None
        )
        lines = self._data.contexts_by_lineno(name) if name else {}
        found = chain.from_iterable(lines.get(line, ()) for line in range(first, last + 1))
        return sorted({context.rpartition("|")[0] for context in found} - {""})

    def stages(self, path: str, first: int, last: int, named: str) -> list[list[str]]:
        """Tests of these lines in two stages: a few of each file, then the others.

        Tests of the file `named` come first.
        """
        by_file: dict[str, list[str]] = defaultdict(list)
        for test in self.of(path, first, last):
            by_file[test.partition("::")[0]].append(test)
        files = sorted(by_file, key=lambda file: (file != named, len(by_file[file])))
        spread = [_spread(by_file[file]) for file in files]
        turns = chain.from_iterable(zip_longest(*spread))
        order = [test for test in turns if test is not None]
        own = spread[0][: SAMPLE // 2] if files and files[0] == named else []
        first_stage = own + [test for test in order if test not in own][: SAMPLE - len(own)]
        later = [test for test in order if test not in set(first_stage)][:MOST]
        place = {file: i for i, file in enumerate(files)}
        return [
            sorted(stage, key=lambda test: place[test.partition("::")[0]])
            for stage in (first_stage, later)
            if stage
        ]


def _spread(tests: list[str]) -> list[str]:
    """Tests of one file in another order: the first case of each function comes before all second cases."""
    by_function: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        by_function[test.partition("[")[0]].append(test)
    turns = chain.from_iterable(zip_longest(*by_function.values()))
    return [test for test in turns if test is not None]
