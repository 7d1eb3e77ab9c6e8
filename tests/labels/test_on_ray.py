"""Tasks on Ray, with a stand-in that runs each task in this process: how many tasks are submitted,
and what happens to one whose worker dies. `python -m benchmarks.labels` checks the same on Ray
itself."""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from log_files import ARM, lerobot

from warpdyn.labels import on_ray as look
from warpdyn.labels.labelled_file import Labelling, label_file
from warpdyn.labels.on_ray import AHEAD, TRIES, on_ray
from warpdyn.labels.on_threads import on_threads
from warpdyn.labels.own_outputs import LogFile
from warpdyn.labels.row_quantities import read_quantities


class StandIn:
    """The calls of Ray that are used. Arguments of tasks are pickled, as in Ray."""

    def __init__(self, dying: str = ""):
        self.dying, self.started, self.most, self.waiting, self.read = dying, False, 0, 0, 0
        self.options: dict[str, Any] = {}
        died = type("Died", (RuntimeError,), {})
        self.exceptions = SimpleNamespace(RayError=died, RayTaskError=type("Raised", (died,), {}))

    def is_initialized(self) -> bool:
        return self.started

    def init(self, **options: Any) -> None:
        self.started, self.init_options = True, options

    def shutdown(self) -> None:
        self.started = False

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def put(self, value: Any) -> bytes:
        return pickle.dumps(value)

    def remote(self, **options: Any) -> Any:
        self.options = options

        def decorate(function: Any) -> Any:
            return SimpleNamespace(remote=lambda *args: self.submit(function, *args))

        return decorate

    def submit(self, function: Any, shared: list[bytes], file: LogFile) -> Any:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        return pickle.dumps(function), pickle.dumps(shared), pickle.dumps(file)

    def wait(self, tasks: list[Any], num_returns: int) -> tuple[list[Any], list[Any]]:
        self.waiting -= 1
        return tasks[:num_returns], tasks[num_returns:]

    def get(self, task: Any) -> Any:
        if isinstance(task, bytes):
            self.read += 1
            return pickle.loads(task)
        function, shared, file = map(pickle.loads, task)
        if self.dying and self.dying in str(file.source):
            raise self.exceptions.RayError("the worker died unexpectedly\nwith details")
        return pickle.loads(pickle.dumps(function(shared, file)))


def prepare_labelling(folder: Path, count: int) -> tuple[Labelling, list[LogFile]]:
    for k in range(count):
        lerobot(folder / f"{k}.parquet")
    files = [LogFile(folder / f"{k}.parquet", folder / f"ray{k}.parquet") for k in range(count)]
    return Labelling(ARM, read_quantities(ARM, ["rnea", "fk:lower_rod:form=pose"]), {}), files


def test_outputs_equal_those_of_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Model, quantities and options are pickled for a task. Only a limited number of tasks is
    submitted at a time."""
    ray = StandIn()
    monkeypatch.setitem(sys.modules, "ray", ray)
    labelling, files = prepare_labelling(tmp_path, 12)
    told: list[int] = []
    outcomes = list(on_ray(partial(label_file, labelling), files, told.append, workers=2))
    assert [each.error for each in outcomes] == [""] * 12 and sum(told) == 1200
    assert ray.options == {"num_cpus": 1, "max_retries": TRIES} and not ray.started
    assert ray.init_options["num_cpus"] == 2 and ray.init_options["_node_ip_address"] == "127.0.0.1"
    assert ray.most == 2 * AHEAD and ray.read == 1  # not once a task
    on_threads_too = [LogFile(f.source, tmp_path / f"threads{f.source.name}") for f in files]
    list(on_threads(partial(label_file, labelling), on_threads_too, told.append, 2))
    for one, other in zip(files, on_threads_too, strict=True):
        assert one.target.read_bytes() == other.target.read_bytes()


def test_only_the_file_whose_workers_die_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = StandIn("3.parquet")
    monkeypatch.setitem(sys.modules, "ray", ray)
    labelling, files = prepare_labelling(tmp_path, 6)
    outcomes = list(on_ray(partial(label_file, labelling), files, lambda rows: None, "auto"))
    assert ray.init_options == {"address": "auto", "log_to_driver": False}
    (failed,) = [each for each in outcomes if each.error]
    assert failed.file == files[3]
    assert failed.error == "its worker ended 6 times: the worker died unexpectedly"


def test_a_kernel_in_a_file_is_passed_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process reads the file, whatever its working directory. A different file there is
    refused in one line."""
    ray = StandIn()
    monkeypatch.setitem(sys.modules, "ray", ray)
    _, files = prepare_labelling(tmp_path, 2)
    text = "import warpdyn as wd\n\nGAIN = 3.0\n\n\n@wd.kernel\ndef more(robot, q):\n    return GAIN * q\n"
    (tmp_path / "my.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    labelling = Labelling(ARM, read_quantities(ARM, ["three=my.py:more"]), {})
    (tmp_path / "pickled").write_bytes(pickle.dumps(labelling))
    monkeypatch.chdir(tmp_path.parent)
    code = (
        "import pickle, sys, warpdyn; x = pickle.loads(open(sys.argv[1], 'rb').read()); "
        "print(x.quantities[0].name, x.quantities[0].function.text.__globals__['GAIN'])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "pickled")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "three 3.0\n"
    (outcome, _) = on_ray(partial(label_file, labelling), files, lambda rows: None)
    assert outcome.error == ""
    (tmp_path / "my.py").write_text(text.replace("3.0", "4.0"))
    with pytest.raises(
        ValueError, match=r"differs from the one where .*every machine needs the same files"
    ):
        pickle.loads((tmp_path / "pickled").read_bytes())


def test_an_error_of_a_task_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is that of the cause, not Ray's words about the task."""
    ray = StandIn()
    monkeypatch.setitem(sys.modules, "ray", ray)
    labelling, files = prepare_labelling(tmp_path, 1)

    def raise_error(task: Any) -> Any:
        error = ray.exceptions.RayTaskError("ray::_label_alone() (pid=1)")
        error.cause = ValueError("the very reason")
        raise error

    monkeypatch.setattr(ray, "get", raise_error)
    (outcome,) = on_ray(partial(label_file, labelling), files, lambda rows: None)
    assert outcome.error == "ValueError: the very reason"


@pytest.mark.parametrize("address", ["auto", "head", "head:port", ":10001", "ray://head"])
def test_only_addresses_with_a_host_and_a_port_are_looked_for(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray itself handles the others."""
    asked: list[object] = []
    monkeypatch.setattr(look.socket, "create_connection", lambda *given: asked.append(given))
    look._look_for(address)
    assert not asked
