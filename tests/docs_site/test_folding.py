"""The tables of the computation chapter agree with the recorder and the benchmarks."""

from __future__ import annotations

import re

import warpdyn as wd
from benchmarks import figures_page, records
from docs_site import folding
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call


def test_operations_agree_with_the_recorder() -> None:
    """They are those of `warpdyn source panda rnea`. Constants make a program shorter, so it has
    fewer without a velocity."""
    model = wd.load_robot("panda")
    call = wd.rnea.describe(model, ..., ..., ...)
    operations, read_and_written = folding.count_work("rnea", "panda")
    assert operations == record_call(call, input_shapes(call), True).operations
    assert read_and_written == 4 * (model.nq + 3 * model.nv) - 4  # one q is not read
    still = wd.rnea.describe(model, ..., None, None)
    assert record_call(still, input_shapes(still), True).operations < operations


def test_the_frame_is_the_last_moving_link_of_a_chain() -> None:
    model = wd.load_robot("double_pendulum")
    assert folding.last_link(model) in model.moving_link_names


def test_measured_times_agree_with_the_results() -> None:
    """Each row has the time of its record, and no program is faster than its lower bound."""
    run = records.read(figures_page.folder_in_page())
    rows = re.findall(r"^\| (\w+) `(\w+)` \|.*$", folding.measured_table(), re.MULTILINE)
    assert {robot for robot, _ in rows} == set(folding.MEASURED)
    assert {"rnea", "aba", "crba", "fk", "jacobian"} <= {name for _, name in rows}
    for line in folding.measured_table().splitlines():
        found = re.match(r"\| (\w+) `(\w+)` \| ([\d,]+) \|.*\| ([\d.]+) \|$", line)
        if found:
            assert int(found[3].replace(",", "")) == run.main(found[1], found[2])["operations"]
            assert float(found[4]) >= 1.0
