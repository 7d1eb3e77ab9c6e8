"""Read damaged robot descriptions: `python -m benchmarks.fuzzing files COUNT`.

Each case is one of `SEEDS` with one to four damaged places: values, names, elements or bytes. warpdyn
must return a sound model or raise a ModelError, within `SLOW` seconds of CPU time. The mass matrix, the
joint forces and the poses of a sound model are finite. A child process reads the files, so that crashes
and hangs are found, too. `--keep` writes a folder for each finding. Each kind of failure is printed
once.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

import warpdyn as wd
from benchmarks.fuzzing.seeds import SEEDS, Files

SLOW = 2.0
"""Largest CPU time for one small file [s]."""

HANGS = 30.0
"""Time after which a child process counts as hanging [s]."""

LARGEST_NV = 40
"""Largest number of coordinates of models whose results are computed."""

VALUES = (
    *(
        "nan",
        "inf",
        "-inf",
        "1e308",
        "-1e308",
        "1e-320",
        "1e999",
        "-1",
        "0",
        "1",
        "2",
        "1e9",
        "1_0",
        "0x10",
    ),
    *("", " ", "0 0 0", "1e308 1e308 1e308", "1 2", "1 0 0 0", "1e-8 1e-8 1e-8", "0 0 0 0", "-0.0"),
    *(
        "true",
        "false",
        "auto",
        "free",
        "ball",
        "hinge",
        "slide",
        "floating",
        "fixed",
        "revolute",
        "screw",
    ),
    *(
        "world",
        "a",
        "main",
        "main.xml",
        "part.xml",
        "../main.xml",
        "/etc/passwd",
        "part.stl",
        "\u00e9",
        "&amp;",
        "&x;",
    ),
    *(
        "100",
        "1000000",
        "99999999999999999999",
        "12345678901234567890.5",
        "None",
        "xyz",
        "XYZ",
        "mesh",
        "capsule",
    ),
)
BITS = (
    *("<", ">", "/>", '"', "'", "</", "<!--", "-->", "<![CDATA[", "]]>", "<?xml?>", "\0", "\ufffe", "=", "{", "}"),
    *('<!DOCTYPE x [<!ENTITY x "y">]>', "&x;", "#usda 1.0", "(", ")", "[", "]", "rel ", "float ", "over ", "\n" * 200),
)  # fmt: skip


class Finding(NamedTuple):
    """Failure on a damaged file: a word or the exception with its line of code, and details."""

    kind: str
    text: str


def damage(random: Random, data: bytes) -> bytes:
    """The file with one to four changed places."""
    for _ in range(random.choice((1, 1, 2, 3, 4))):
        data = random.choice(DAMAGES)(random, data)
    return data


def _replace_value(random: Random, data: bytes) -> bytes:
    """Replace a quoted value."""
    parts = data.split(b'"')
    if len(parts) < 3:
        return data
    k = 2 * random.randrange((len(parts) - 1) // 2) + 1
    others = [random.choice(VALUES).encode(), random.choice(parts[1::2])]
    parts[k] = random.choice((*others, parts[k] + b" 1", parts[k] * 2, b"-" + parts[k]))
    return b'"'.join(parts)


def _replace_word(random: Random, data: bytes) -> bytes:
    """Replace a word by another word of the file or by a value."""
    words = data.split(b" ")
    word = random.choice((random.choice(words), random.choice(VALUES).encode()))
    words[random.randrange(len(words))] = word
    return b" ".join(words)


def _move_line(random: Random, data: bytes) -> bytes:
    """Remove, repeat or move a line."""
    lines = data.split(b"\n")
    k = random.randrange(len(lines))
    line = lines[k]
    what = random.randrange(4)
    if what in (0, 2):
        del lines[k]
    if what in (1, 2):
        lines.insert(random.randrange(len(lines) + 1), line)
    if what == 3:
        lines[k:k] = [line] * random.choice((2, 10, 300))
    return b"\n".join(lines)


def _rename_attribute(random: Random, data: bytes) -> bytes:
    """Rename an attribute or give it the name of another one."""
    parts = data.split(b"=")
    if len(parts) < 3:
        return data
    k, other = random.randrange(len(parts) - 1), random.randrange(len(parts) - 1)
    head, name = parts[k].rpartition(b" ")[0], parts[other].rpartition(b" ")[2]
    parts[k] = head + b" " + random.choice((name, b"x"))
    return b"=".join(parts)


def _replace_bytes(random: Random, data: bytes) -> bytes:
    """Remove, double or replace a range of bytes."""
    start = random.randrange(len(data) + 1)
    stop = min(len(data), start + random.choice((0, 1, 4, 40, 400)))
    middle = random.choice(
        (b"", data[start:stop] * 2, random.choice(BITS).encode(), random.randbytes(3))
    )
    return data[:start] + middle + data[stop:]


def _cut(random: Random, data: bytes) -> bytes:
    """Cut the end of the file."""
    return data[: random.randrange(len(data) + 1)]


DAMAGES: tuple[Callable[[Random, bytes], bytes], ...] = (
    *(_replace_value,) * 6,
    *(_replace_word,) * 3,
    *(_move_line,) * 3,
    *(_rename_attribute,) * 2,
    _replace_bytes,
    _cut,
)


def case(seed: int, k: int, names: Sequence[str]) -> tuple[str, Files]:
    """Name of the k-th seed among `names`, and its files, one of which is damaged."""
    random = Random(f"{seed}-{k}")
    name = random.choice(names)
    files = dict(SEEDS[name])
    hurt = random.choice(list(files))
    while files == SEEDS[name]:
        files[hurt] = damage(random, files[hurt])
    return name, files


def check_files(files: Files, folder: Path, random: Random) -> Finding | None:
    """Finding on a file; None if its model is sound or it is refused."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    options = random.choice(({}, {"floating_base": True}, {"floating_base": False}))
    started = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", wd.ModelWarning)
            model = wd.load(folder / next(iter(files)), **options)
    except wd.ModelError as error:
        model = None
        if "usd-core cannot read it" in str(error):
            return None  # its time does not count: a damaged size in a .usdc takes gigabytes there
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return Finding(f"{type(error).__name__} at {where}", traceback.format_exc())
    seconds = time.process_time() - started
    if seconds > SLOW:
        return Finding("slow", f"{seconds:.1f} s")
    return None if model is None else _unsound(model)


def _unsound(model: wd.Model) -> Finding | None:
    """Finding on a model whose results are not finite; else None."""
    if not 0 < model.nv <= LARGEST_NV:
        return None
    q, v = wd.normalize(model, model.neutral), np.full(model.nv, 0.1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            results = {
                "poses": wd.oracle(wd.fk, model, q),
                "mass matrix": wd.oracle(wd.crba, model, q),
                "joint forces": wd.oracle(wd.rnea, model, q, v, v),
            }
    except Exception as error:
        return Finding(f"{type(error).__name__} of a model", traceback.format_exc())
    for what, numbers in results.items():
        if not np.isfinite(numbers).all():
            return Finding(f"{what} not finite", model.summary())
    return None


def _child(
    seed: int, numbers: range, names: Sequence[str], pipe: multiprocessing.connection.Connection
) -> None:
    """Read the files of these numbers; send each number before the file is read, and then the finding."""
    with TemporaryDirectory() as name:
        for k in numbers:
            pipe.send((k, None))
            folder = Path(name) / str(k)
            folder.mkdir()
            found = check_files(case(seed, k, names)[1], folder, Random(f"options-{seed}-{k}"))
            for path in (*folder.iterdir(), folder):
                path.rmdir() if path.is_dir() else path.unlink()
            if found:
                pipe.send((k, found))


def findings(seed: int, count: int, names: Sequence[str]) -> Iterator[tuple[int, Finding | None]]:
    """Yield the number of each file when it is read, and then its finding."""
    start = 0
    context = multiprocessing.get_context("spawn")
    while start < count:
        mine, theirs = context.Pipe(duplex=False)
        child = context.Process(target=_child, args=(seed, range(start, count), names, theirs))
        child.start()
        theirs.close()
        at, finding = start, None
        try:
            while True:
                if not mine.poll(HANGS + (60.0 if at == start else 0.0)):
                    finding = Finding("hangs", f"more than {HANGS:g} s")
                    child.kill()
                    break
                at, found = mine.recv()
                yield at, found
        except EOFError:
            child.join()
            if child.exitcode:
                finding = Finding("dies", f"exit status {child.exitcode}")
        child.join()
        if finding is None:
            return
        yield at, finding
        start = at + 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("count", type=int, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument("--of", nargs="+", choices=list(SEEDS), default=list(SEEDS), metavar="SEED")


def run(given: argparse.Namespace) -> int:
    """Read the damaged files, print the findings and return the exit status."""
    kinds: Counter[str] = Counter()
    with tqdm(total=given.count, file=sys.stderr, unit="file") as bar:
        for k, finding in findings(given.seed, given.count, given.of):
            bar.update(k + 1 - bar.n)
            if finding is None:
                continue
            kinds[finding.kind] += 1
            if given.keep and kinds[finding.kind] <= 3:
                name, files = case(given.seed, k, given.of)
                folder = given.keep / f"{given.seed}-{k}-{name}"
                folder.mkdir(parents=True, exist_ok=True)
                for file, data in files.items():
                    (folder / file).write_bytes(data)
                (folder / "finding.txt").write_text(f"{finding.kind}\n{finding.text}")
    print(f"{given.count} damaged files, {sum(kinds.values())} findings")
    for kind, times in kinds.most_common():
        print(f"- {times} × {kind}")
    return 1 if kinds else 0
