"""Prints that cannot be written are dropped."""

from __future__ import annotations

import os
import subprocess
import sys

from ros2_node.ros.streams import TolerantStream

CODE = """
import sys
from ros2_node.ros.streams import tolerate_lost_output
tolerate_lost_output()
for stream in (sys.stdout, sys.stderr):
    for _ in range(3):
        print("lost", file=stream, flush=True)
sys.exit(7)
"""


def test_a_process_whose_output_is_gone_goes_on_to_its_own_end():
    """Pipes that nobody reads, and streams that were closed before: the exit code is the
    program's."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", CODE]
    assert subprocess.run(command, stdout=writer, stderr=writer).returncode == 7
    os.close(writer)
    closed = ["bash", "-c", 'exec "$@" >&- 2>&-', "bash", *command]
    assert subprocess.run(closed).returncode == 7


def test_what_can_be_written_is_written():
    out = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert out.stdout == out.stderr == "lost\n" * 3


def test_the_rest_is_the_streams_own():
    stream = TolerantStream(sys.__stdout__)
    assert stream.fileno() == sys.__stdout__.fileno()
    assert stream.encoding == sys.__stdout__.encoding
