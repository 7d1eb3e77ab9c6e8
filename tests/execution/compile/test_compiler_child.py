"""The compiler process by itself, as a program that reads lines."""

from __future__ import annotations

import json
import subprocess
import sys

from warpdyn.execution.compile import compiler_child
from warpdyn.execution.compile import compiler_child as chosen


def start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", compiler_child.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def test_it_ends_with_its_input() -> None:
    """As when its parent has ended, however that did."""
    child = start()
    assert child.communicate(b"")[0] == b"" and child.returncode == 0


def test_what_cannot_be_read_is_answered() -> None:
    """And the process goes on to the next request."""
    child = start()
    assert child.stdin is not None and child.stdout is not None
    for _ in range(2):
        child.stdin.write(json.dumps({"library": "/nowhere.so"}).encode() + b"\n")
        child.stdin.flush()
        line = child.stdout.readline() or b""
        line = child.stdout.readline() if line == b"\n" else line
        assert line.startswith(b"\0") and "nowhere" in json.loads(line[1:])["error"]
    child.communicate()
    assert child.returncode == 0


def test_numbers_that_were_chosen() -> None:
    """By measurements, or by what is outside of this code; another value needs another reason."""
    assert chosen.IDLE == 5.0
