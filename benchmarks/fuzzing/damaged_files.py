"""`python -m benchmarks.fuzzing files COUNT`: damaged robot descriptions, read by warpdyn.

Each file is one of `SEEDS`, with its neighbours, in which one to four places are damaged: values,
names, elements, bytes. What comes out must be a sound model or a ModelError, within `SLOW` seconds
of the processor: a model whose mass matrix, joint forces and poses are finite. A child process reads
them, so that one that dies or hangs is seen too; what is found is kept under `--keep`, a folder a file,
and told once for each kind of failure.
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
"""Seconds of the processor for one small file."""

HANGS = 30.0
"""Seconds after which a child is taken to hang."""

LARGEST_NV = 40
"""Coordinates of models whose numbers are computed."""

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
    """What a damaged file did: a word or the exception, with the line of code that raised it."""

    kind: str
    text: str


def damaged(random: Random, data: bytes) -> bytes:
    """The same file with one to four places changed."""
    for _ in range(random.choice((1, 1, 2, 3, 4))):
        data = random.choice(DAMAGES)(random, data)
    return data


def _value(random: Random, data: bytes) -> bytes:
    """One quoted value, or one number, is another."""
    parts = data.split(b'"')
    if len(parts) < 3:
        return data
    k = 2 * random.randrange((len(parts) - 1) // 2) + 1
    others = [random.choice(VALUES).encode(), random.choice(parts[1::2])]
    parts[k] = random.choice((*others, parts[k] + b" 1", parts[k] * 2, b"-" + parts[k]))
    return b'"'.join(parts)


def _word(random: Random, data: bytes) -> bytes:
    """One word is another of the file, or a value."""
    words = data.split(b" ")
    word = random.choice((random.choice(words), random.choice(VALUES).encode()))
    words[random.randrange(len(words))] = word
    return b" ".join(words)


def _element(random: Random, data: bytes) -> bytes:
    """One line is left out, repeated, or put elsewhere."""
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


def _attribute(random: Random, data: bytes) -> bytes:
    """One attribute is gone, or has the name of another."""
    parts = data.split(b"=")
    if len(parts) < 3:
        return data
    k, other = random.randrange(len(parts) - 1), random.randrange(len(parts) - 1)
    head, name = parts[k].rpartition(b" ")[0], parts[other].rpartition(b" ")[2]
    parts[k] = head + b" " + random.choice((name, b"x"))
    return b"=".join(parts)


def _bytes(random: Random, data: bytes) -> bytes:
    """A stretch is gone, doubled, or something else."""
    start = random.randrange(len(data) + 1)
    stop = min(len(data), start + random.choice((0, 1, 4, 40, 400)))
    middle = random.choice(
        (b"", data[start:stop] * 2, random.choice(BITS).encode(), random.randbytes(3))
    )
    return data[:start] + middle + data[stop:]


def _cut(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


DAMAGES: tuple[Callable[[Random, bytes], bytes], ...] = (
    *(_value,) * 6,
    *(_word,) * 3,
    *(_element,) * 3,
    *(_attribute,) * 2,
    _bytes,
    _cut,
)


def case(seed: int, k: int, names: Sequence[str]) -> tuple[str, Files]:
    """The name of the k-th seed among `names`, and its files, one of them damaged."""
    random = Random(f"{seed}-{k}")
    name = random.choice(names)
    files = dict(SEEDS[name])
    hurt = random.choice(list(files))
    while files == SEEDS[name]:
        files[hurt] = damaged(random, files[hurt])
    return name, files


def told(files: Files, folder: Path, random: Random) -> Finding | None:
    """What is wrong with what comes of a file; nothing where all is well."""
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
            return None  # however long it took: a damaged size in a .usdc takes gigabytes there
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return Finding(f"{type(error).__name__} at {where}", traceback.format_exc())
    seconds = time.process_time() - started
    if seconds > SLOW:
        return Finding("slow", f"{seconds:.1f} s")
    return None if model is None else _unsound(model)


def _unsound(model: wd.Model) -> Finding | None:
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
    """Reads the files of these numbers, and sends the number of each before and what came after."""
    with TemporaryDirectory() as name:
        for k in numbers:
            pipe.send((k, None))
            folder = Path(name) / str(k)
            folder.mkdir()
            found = told(case(seed, k, names)[1], folder, Random(f"options-{seed}-{k}"))
            for path in (*folder.iterdir(), folder):
                path.rmdir() if path.is_dir() else path.unlink()
            if found:
                pipe.send((k, found))


def findings(seed: int, count: int, names: Sequence[str]) -> Iterator[tuple[int, Finding | None]]:
    """The number of each file as it is read, then what is wrong with it."""
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
