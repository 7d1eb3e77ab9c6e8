"""Update the tables of docs/gpu.md from the stored GPU results: `python -m benchmarks.gpu_page`.

Each table is between two comments of the page and has its hardware and date above it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from . import gpu_calls, gpu_times
from .gpu_peers import tables
from .records import line

PAGE = Path(__file__).resolve().parents[1] / "docs/gpu.md"
MARKS = "<!-- {0} -->\n{1}\n<!-- end of {0} -->"
STEPS = Path(__file__).parent / "results/gpu_environment_steps.json"
ONE_WARP = Path(__file__).parent / "results/gpu_times_one_warp.json"

Content = Mapping[str, Any]


def read(path: Path) -> Content:
    """Content of a results file."""
    content: Content = json.loads(path.read_text())
    return content


def conditions(content: Content) -> str:
    """Hardware and date."""
    about = content["about"]
    processor = f", {about['processor']}" if "processor" in about else ""
    return f"{about['hardware']}{processor}, {about['date']}."


def time_table() -> Iterator[str]:
    """Lines of the table of measured and modelled times."""
    content, modelled = read(gpu_times.RESULT), gpu_times.modelled_times()
    found = {(x["call"], x["layout"], x["count"]): x for x in content["records"]}
    yield f"Microseconds of a launch in a CUDA graph, float32. {conditions(content)}"
    yield ""
    heads = [f"{n:,} {x}" for n in gpu_times.BATCHES for x in ("rows", "side by side", "model")]
    yield line(["kernel", "warps", *heads])
    yield "|---" * (len(heads) + 2) + "|"
    for call in dict.fromkeys(x["call"] for x in content["records"]):
        cells = [call, str(found[call, "rows", gpu_times.BATCHES[0]]["warps"])]
        for count in gpu_times.BATCHES:
            cells += [f"{found[call, x, count]['us']:.1f}" for x in ("rows", "side by side")]
            said = modelled.get((call, "rows", count))
            cells.append(f"{said[0]:.1f}" if said else "")
        yield line(cells)


def model_ratios() -> Iterator[str]:
    """Lines with the ratios of measured to modelled times."""
    content = read(gpu_times.RESULT)
    means = ", ".join(f"{key}: {x:.2f}" for key, x in content["measured_by_modelled"].items())
    yield f"Measured times as multiples of the model's, geometric means without environments. {conditions(content)}"
    yield f"{means}."


def warp_table() -> Iterator[str]:
    """Lines of the table of kernels in one warp and in several."""
    several, one = read(gpu_times.RESULT), read(ONE_WARP)
    found = {(x["call"], x["count"]): x for x in several["records"] if x["layout"] == "rows"}
    single = {(x["call"], x["count"]): x for x in one["records"] if x["layout"] == "rows"}
    yield f"Microseconds of a launch, in rows, float32. {conditions(several)}"
    yield ""
    heads = [f"{n:,} {x}" for n in gpu_times.BATCHES for x in ("one warp", "several")]
    yield line(["kernel", "warps", *heads])
    yield "|---" * (len(heads) + 2) + "|"
    for call in dict.fromkeys(call for call, _ in single):
        cells = [call, str(found[call, gpu_times.BATCHES[0]]["warps"])]
        for count in gpu_times.BATCHES:
            cells += [f"{x[call, count]['us']:.1f}" for x in (single, found)]
        yield line(cells)


def peer_table(part: str) -> Iterator[str]:
    """Lines of one of the tables of `gpu_peers`."""
    content = read(tables.RESULT)
    kind = {"dynamics": "a call", "steps": "a step", "scenes": "a step"}[part]
    yield f"Microseconds of {kind} of all robots, and the other libraries' times as multiples. {conditions(content)}"
    yield ""
    yield from tables.rows(content["records"], part)


def learning_table() -> Iterator[str]:
    """Lines of the table of learning environments."""
    content = read(STEPS)
    found = {(x["task"], x["envs"]): x for x in content["records"]}
    batches = sorted({envs for _, envs in found})
    yield f"Microseconds of a step of all environments, plain and in a CUDA graph. {conditions(content)}"
    yield ""
    heads = [f"{n:,} {x}" for n in batches for x in ("plain", "graph")]
    yield line(["task", *heads, "million steps/s"])
    yield "|---" * (len(heads) + 2) + "|"
    for task in dict.fromkeys(task for task, _ in found):
        cells = [f"{found[task, n][x]:,.0f}" for n in batches for x in ("us", "graph_us")]
        last = found[task, batches[-1]]
        most = batches[-1] / min(last["us"], last["graph_us"])
        yield line([f"`{task}`", *cells, f"{most:,.0f}"])


def call_table() -> Iterator[str]:
    """Lines of the table of host times, by kind of call."""
    content = read(gpu_calls.RESULT)
    yield f"Microseconds of the host for a call, {content['envs']:,} robots. {conditions(content)}"
    yield ""
    yield line(["call", "us"])
    yield "|---|---|"
    for name, us in content["microseconds"].items():
        yield line([name, f"{us:.1f}"])


TABLES = {
    "times": time_table,
    "warps": warp_table,
    **{part: partial(peer_table, part) for part in tables.TABLES},
    "learning": learning_table,
    "model": model_ratios,
    "calls": call_table,
}


def update_page(page: str) -> str:
    """The page with new tables."""
    for name, table in TABLES.items():
        place = re.compile(rf"<!-- {name} -->\n.*?<!-- end of {name} -->", re.DOTALL)
        if not place.search(page):
            raise ValueError(f"the page lacks the comment of a table: <!-- {name} -->")
        made = MARKS.format(name, "\n".join(table()))
        page = place.sub(lambda _, made=made: made, page)
    return page


def main(arguments: Sequence[str] = ()) -> int:
    """Write the page, or another file if one is given."""
    (goal,) = map(Path, arguments or [PAGE])
    goal.write_text(update_page(PAGE.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
