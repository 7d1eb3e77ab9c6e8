"""Output that cannot be written is dropped."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from ros2_node.ros.streams import TolerantStream, tolerate_lost_output

CODE = """
import sys
from ros2_node.ros.streams import tolerate_lost_output
tolerate_lost_output()
for stream in (sys.stdout, sys.stderr):
    for _ in range(3):
        print("lost", file=stream, flush=True)
sys.exit(7)
"""


def test_a_process_with_closed_output_runs_to_its_own_end():
    """Pipes without a reader and closed streams do not change the program's exit code."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", CODE]
    assert subprocess.run(command, stdout=writer, stderr=writer).returncode == 7
    os.close(writer)
    closed = ["bash", "-c", 'exec "$@" >&- 2>&-', "bash", *command]
    assert subprocess.run(closed).returncode == 7


def test_writable_output_is_written():
    out = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert out.stdout == out.stderr == "lost\n" * 3


def test_other_attributes_are_those_of_the_stream():
    stream = TolerantStream(sys.__stdout__)
    assert stream.fileno() == sys.__stdout__.fileno()
    assert stream.encoding == sys.__stdout__.encoding


@pytest.mark.parametrize("error", [None, OSError(32, "Broken pipe"), ValueError("closed file")])
def test_a_text_that_cannot_be_written_counts_as_written(error):
    """Its length is returned. Other errors are not hidden."""

    class Stream(io.StringIO):
        def write(self, text):
            if error is not None:
                raise error
            return super().write(text)

        def flush(self):
            if error is not None:
                raise error

    stream = Stream()
    assert TolerantStream(stream).write("text") == 4
    TolerantStream(stream).flush()
    assert stream.getvalue() == ("" if error else "text")
    error = KeyError("odd")
    with pytest.raises(KeyError):
        TolerantStream(stream).write("text")
    with pytest.raises(KeyError):
        TolerantStream(stream).flush()


def test_both_streams_of_a_process_become_tolerant(monkeypatch):
    """A stream that was closed from the start remains None."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", None)
    tolerate_lost_output()
    assert isinstance(sys.stdout, TolerantStream) and sys.stderr is None
    sys.stdout.write("text")
    assert out.getvalue() == "text"
