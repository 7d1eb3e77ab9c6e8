"""Labelling of logs: rows per second and core, time by stage, two workers, killed processes, and memory.

    python -m benchmarks.labels [rows|workers|kills|memory|heads] [--on threads|ray] [--json FILE]

The logs are those of a panda in LeRobot's format, in a folder in memory. This needs the extra
`[labels]`, and `[ray]` for --on ray.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import warpdyn as wd
from warpdyn.labels.inputs_in_logs import Inputs
from warpdyn.labels.labelled_file import Labelling, label_file
from warpdyn.labels.own_outputs import LogFile
from warpdyn.labels.row_quantities import Quantity, read_quantities
from warpdyn.logs.parquet_log import ParquetLog, ParquetWriter

MODEL = wd.load_robot("panda")
ROWS = 1_000_000
KILLS, HEADS = 20, 5
FILES = 8
EPISODE = 3000


def write_log(path: Path, rows: int, given: bool, seed: int = 0) -> None:
    """Write a log of smooth positions at 50 Hz in episodes, in float32; with v and a if `given`."""
    rng = np.random.default_rng(seed)
    t = np.arange(rows)[:, None] * 0.02
    w, phase = rng.uniform(0.1, 1.5, MODEL.nv), rng.uniform(0.0, 6.0, MODEL.nv)
    columns: dict[str, Any] = {
        "observation.state": np.sin(w * t + phase),
        "action": np.sin(w * t + w * 0.02 + phase),
    }
    if given:
        columns |= {"v": w * np.cos(w * t + phase), "a": -(w**2) * np.sin(w * t + phase)}
    n, offsets = MODEL.nv, np.arange(rows + 1, dtype=np.int32) * MODEL.nv
    arrays = {
        name: pa.ListArray.from_arrays(
            pa.array(offsets), pa.array(x.astype(np.float32).reshape(rows * n))
        )
        for name, x in columns.items()
    }
    index = np.arange(rows)
    arrays["timestamp"] = pa.array((index % EPISODE * 0.02).astype(np.float32))
    arrays |= {"episode_index": pa.array(index // EPISODE), "index": pa.array(index)}
    pq.write_table(pa.table(arrays), path, compression="snappy")


@contextlib.contextmanager
def add_up_time(spent: dict[str, float], owner: type, name: str, stage: str) -> Iterator[None]:
    """Add up the CPU time of a method under the name of a stage; for a generator, the time of its steps."""
    plain: Callable[..., Any] = getattr(owner, name)

    def step(call: Callable[[], Any]) -> Any:
        begin = time.process_time()
        try:
            return call()
        finally:
            spent[stage] = spent.get(stage, 0.0) + time.process_time() - begin

    def generator(*args: Any, **kwargs: Any) -> Iterator[Any]:
        it = plain(*args, **kwargs)
        end = object()
        while (got := step(lambda: next(it, end))) is not end:
            yield got

    def method(*args: Any, **kwargs: Any) -> Any:
        return step(lambda: plain(*args, **kwargs))

    setattr(owner, name, generator if name == "parts" else method)
    try:
        yield
    finally:
        setattr(owner, name, plain)


def rows_per_second(folder: Path) -> dict[str, Any]:
    """CPU time per row by stage [ns], on one thread, best of three."""
    wd.runtime.set_num_threads(1)
    labelling = Labelling(MODEL, read_quantities(MODEL, ["rnea"]), {})
    found: dict[str, Any] = {}
    for name, given in (("LeRobot; v and a derived", False), ("v and a there", True)):
        file = LogFile(folder / "log.parquet", folder / "labelled.parquet")
        write_log(file.source, ROWS, given)
        runs = []
        for _ in range(4):
            spent: dict[str, float] = {}
            with contextlib.ExitStack() as stack:
                stack.enter_context(add_up_time(spent, ParquetLog, "parts", "decode"))
                stack.enter_context(add_up_time(spent, Inputs, "_derivatives", "filter"))
                stack.enter_context(add_up_time(spent, Quantity, "values", "kernel"))
                for method in ("write", "close"):
                    stack.enter_context(add_up_time(spent, ParquetWriter, method, "encode"))
                begin = time.process_time()
                outcome = label_file(labelling, file)
                total = time.process_time() - begin
            assert outcome.rows == ROWS, outcome.error
            runs.append({**spent, "rest": total - sum(spent.values()), "total": total})
        best = min(runs[1:], key=lambda run: run["total"])
        found[name] = {
            **{f"{stage} ns": round(seconds / ROWS * 1e9, 1) for stage, seconds in best.items()},
            "rows a second and core": round(ROWS / best["total"]),
        }
    return found


def command(folder: Path, out: str, on: str, workers: int) -> list[str]:
    """Command that labels the logs in a new process."""
    return [
        *(sys.executable, "-m", "warpdyn", "label", "panda", str(folder / "logs")),
        *("--quantity", "rnea", "--out", str(folder / out), "--on", on, "--workers", str(workers)),
    ]


def write_logs(folder: Path, files: int, rows: int) -> None:
    """Write a folder of logs with different motions."""
    (folder / "logs").mkdir(exist_ok=True)
    for k in range(files):
        write_log(folder / f"logs/{k}.parquet", rows, False, k)


LABEL = """
import os, sys, time
import warpdyn as wd
from warpdyn.labels.on_ray import _start
logs, first, out, on, workers = *sys.argv[1:5], int(sys.argv[5])
if on == "ray":
    import ray
    _start(ray, None, workers)
model = wd.load_robot("panda")
for source, target in ((first, first + "-out"), (logs, out)):
    begin = time.perf_counter()
    report = wd.labels.label(model, source, "rnea", target, on=on, workers=workers, progress=False)
    assert not report.failed, report.failed
    print(time.perf_counter() - begin)
"""


def two_workers(folder: Path, on: str) -> dict[str, Any]:
    """Seconds of `wd.labels.label` with one worker and with two, in turns.

    The workers label small files first, so the times leave out their start and the loading of kernels.
    """
    write_logs(folder, FILES, 2 * ROWS)
    (folder / "first").mkdir()
    for k in range(4):
        write_log(folder / f"first/{k}.parquet", 1000, False, k)
    found: dict[str, list[float]] = {"1": [], "2": []}
    for _ in range(5):
        for workers in found:
            arguments = [*(str(folder / name) for name in ("logs", "first", "out")), on, workers]
            done = subprocess.run(
                [sys.executable, "-c", LABEL, *arguments], capture_output=True, check=True
            )
            found[workers].append(round(float(done.stdout.split()[-1]), 2))
            for made in ("out", "first-out"):
                shutil.rmtree(folder / made)
    one, two = (statistics.median(found[workers]) for workers in found)
    return {"seconds": found, "rows": FILES * 2 * ROWS, "ratio of medians": round(one / two, 2)}


def kills(folder: Path, on: str, times: int) -> dict[str, Any]:
    """Kill the command on threads, or a Ray worker, at random moments, and compare the files with a normal run."""
    write_logs(folder, FILES, ROWS if on == "ray" else ROWS // 4)
    subprocess.run(command(folder, "undisturbed", "threads", 2), check=True, capture_output=True)
    begun = time.perf_counter()
    subprocess.run(command(folder, "timed", on, 2), check=True, capture_output=True)
    seconds = time.perf_counter() - begun
    draw, equal, killed = random.Random(0), 0, 0
    for k in range(times):
        running = subprocess.Popen(command(folder, f"k{k}", on, 2), stdout=-3, stderr=-3)
        if on == "threads":
            time.sleep(draw.uniform(0.3, 1.0) * seconds)
            victims = [running.pid]
        else:  # from the first task on
            while not ray_workers(running.pid) and running.poll() is None:
                time.sleep(0.02)
            time.sleep(draw.uniform(0.0, 3.0))
            victims = ray_workers(running.pid)
        for pid in draw.sample(victims, min(1, len(victims))):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
        running.wait()
        if on == "threads":
            subprocess.run(command(folder, f"k{k}", on, 2), check=True, capture_output=True)
        equal += has_same_files(folder, f"k{k}")
        shutil.rmtree(folder / f"k{k}")
    return {"runs": times, "processes killed": killed, "outputs byte for byte the same": equal}


def heads(folder: Path, times: int) -> dict[str, Any]:
    """Kill the command on Ray and all its processes after one file or more, repeat it, and compare the files."""
    write_logs(folder, FILES, ROWS)
    subprocess.run(command(folder, "undisturbed", "threads", 2), check=True, capture_output=True)
    draw, equal, finished = random.Random(1), 0, []
    for k in range(times):
        running = subprocess.Popen(command(folder, f"k{k}", "ray", 2), stdout=-3, stderr=-3)
        while not list((folder / f"k{k}").glob("*.parquet")) and running.poll() is None:
            time.sleep(0.02)
        time.sleep(draw.uniform(0.0, 2.0))
        for pid in [running.pid, *descendants(running.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        running.wait()
        finished.append(len(list((folder / f"k{k}").glob("*.parquet"))))
        subprocess.run(command(folder, f"k{k}", "ray", 2), check=True, capture_output=True)
        equal += has_same_files(folder, f"k{k}")
        shutil.rmtree(folder / f"k{k}")
    return {"runs": times, "files before": finished, "outputs byte for byte the same": equal}


def descendants(pid: int) -> list[int]:
    """Descendants of a process."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            if int(path.name) != pid and descends(int(path.name), pid):
                found.append(int(path.name))
    return found


def ray_workers(pid: int) -> list[int]:
    """Ray processes that run a task, among the descendants of a process."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            words = (path / "cmdline").read_bytes()
            if b"ray::_label_alone" in words and descends(int(path.name), pid):
                found.append(int(path.name))
    return found


def descends(pid: int, ancestor: int) -> bool:
    """True if the process is a descendant of `ancestor`, or is `ancestor`."""
    while pid > 1:
        if pid == ancestor:
            return True
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return False


def has_same_files(folder: Path, out: str) -> bool:
    """True if the outputs equal those of the normal run and there are no other files."""
    expected = {p.name: p.read_bytes() for p in (folder / "undisturbed").glob("*.parquet")}
    there = {p.name: p.read_bytes() for p in (folder / out).iterdir() if p.name != "manifest.json"}
    return expected == there


def memory(folder: Path) -> dict[str, Any]:
    """Peak memory of a process that labels a file with one row group, by number of rows [MB]."""
    found = {}
    for rows in (ROWS // 4, ROWS, 4 * ROWS):
        write_log(folder / "log.parquet", rows, False)
        code = (
            "import resource, sys; from benchmarks.labels import one; one(sys.argv[1], sys.argv[2])"
        )
        arguments = [str(folder / "log.parquet"), str(folder / "labelled.parquet")]
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
        )
        found[f"{rows} rows"] = json.loads(done.stdout.splitlines()[-1])
    return found


def one(source: str, target: str) -> None:
    """Label a file; print what memory it took."""
    labelling = Labelling(MODEL, read_quantities(MODEL, ["rnea"]), {})
    before = peak_memory()
    outcome = label_file(labelling, LogFile(Path(source), Path(target)))
    assert not outcome.error, outcome.error
    print(json.dumps({"before": before, "peak": peak_memory()}))


def peak_memory() -> int:
    """Peak resident memory of this process [MB]. `ru_maxrss` would include the parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) // 1024


def main() -> None:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["rows", "workers", "kills", "memory"])
    parser.add_argument("--on", default="threads", choices=("threads", "ray"))
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    measured: dict[str, Callable[[Path], dict[str, Any]]] = {
        "rows": rows_per_second,
        "workers": lambda folder: two_workers(folder, args.on),
        "kills": lambda folder: kills(folder, args.on, args.kills),
        "memory": memory,
        "heads": lambda folder: heads(folder, min(args.kills, HEADS)),
    }
    shared = Path("/dev/shm")
    kept = json.loads(args.json.read_text()) if args.json and args.json.exists() else {}
    for what in args.what:
        with tempfile.TemporaryDirectory(dir=shared if shared.exists() else None) as folder:
            key = f"{what} on {args.on}" if what in ("workers", "kills") else what
            kept[key] = {**measured[what](Path(folder)), "load": round(os.getloadavg()[0], 1)}
            print(f"{key}: {json.dumps(kept[key], indent=1)}", flush=True)
        if args.json:
            args.json.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
