"""A page in a notebook. A real kernel runs the cells, and the page's server ends with the
kernel."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

PATIENCE = 240.0
"""How long a kernel may take to start, and a cell to run [s]."""

SHOWN = 'import warpdyn as wd\nviewer = wd.viewer.show(wd.load_robot("double_pendulum"))\nviewer'
MOVED = 'viewer.update([0.4, -0.7])\nprint(viewer.robots["robot"].poses[0, -1, :3].tolist())'


def noise(output: Any) -> bool:
    """True if an output is a line of Warp, for example about a missing driver."""
    return bool(output.output_type == "stream" and "<" not in output.text)


class Notebook:
    """A notebook, and the kernel that runs it."""

    def __init__(self) -> None:
        self.client = NotebookClient(new_notebook(), timeout=PATIENCE, kernel_name="python3")

    def run(self, text: str) -> list[Any]:
        """The outputs of a cell after it has run."""
        cell = new_code_cell(text)
        self.client.nb.cells.append(cell)
        self.client.execute_cell(cell, len(self.client.nb.cells) - 1)
        return list(cell.outputs)

    def address(self) -> tuple[str, int]:
        """The address of the page that the last line of a cell shows."""
        (shown,) = (x for x in self.run(SHOWN) if not noise(x))
        frame = re.search(r'<iframe src="http://([\d.]+):(\d+)"', shown.data["text/html"])
        assert frame is not None, shown.data
        assert f"<Viewer of robot at http://{frame[1]}:{frame[2]}>" == shown.data["text/plain"]
        return frame[1], int(frame[2])

    @property
    def process(self) -> int:
        """The process id of the kernel."""
        return int(self.client.km.provisioner.pid)


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    """A notebook whose kernel runs until the end of the test."""
    made = Notebook()
    with made.client.setup_kernel():
        yield made


def answers(at: tuple[str, int]) -> bool:
    """True if the page answers."""
    with urlopen("http://{}:{}".format(*at), timeout=PATIENCE) as page:
        return bool(page.status == 200 and b"<html" in page.read(2000))


def is_refused(at: tuple[str, int]) -> bool:
    """True if connections are refused."""
    with socket.socket() as nobody:
        return nobody.connect_ex(at) != 0


def test_a_cell_shows_the_page_and_the_next_one_moves_the_robot(notebook: Notebook) -> None:
    """The page is a frame with its address. `stop` closes the port while the kernel still runs, and
    a robot can be shown again."""
    at = notebook.address()
    assert answers(at)
    (said,) = notebook.run(MOVED)
    model = wd.load_robot("double_pendulum")
    wanted = wd.fk(model, np.array([[0.4, -0.7]]), form="pose")[0, -1, :3]
    assert np.allclose(np.fromstring(said.text.strip("[]\n"), sep=","), wanted, atol=1e-5)
    assert notebook.run("viewer.stop()") == [] and is_refused(at)
    again = notebook.address()
    assert answers(again)


def test_a_page_ends_with_its_kernel() -> None:
    """`stop` was not called. The port is closed and the process gone."""
    made = Notebook()
    with made.client.setup_kernel():
        at, process = made.address(), made.process
        assert answers(at)
        os.kill(process, 0)  # the process exists
    assert is_refused(at)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
