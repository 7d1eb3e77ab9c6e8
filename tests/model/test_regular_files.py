"""Pipes, devices, folders, and files larger than their reported size are refused without reading
them."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest
from documented_numbers import check_numbers
from time_limit import time_limit

from warpdyn.model.regular_files import RefusedFileError, check_unpacked, read_regular_file

REMEDY = "give the path of a URDF file"


def refusal(file: str | Path, most: int = 100) -> str:
    with time_limit(), pytest.raises(RefusedFileError) as error:
        read_regular_file(file, most, REMEDY)
    return str(error.value)


def test_a_regular_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    """A file of exactly the limit is read, also through a link. One byte more is refused."""
    file = tmp_path / "a.urdf"
    file.write_bytes(b"x" * 100)
    (tmp_path / "link").symlink_to(file)
    assert read_regular_file(file, 100, REMEDY) == read_regular_file(tmp_path / "link", 100, REMEDY)
    file.write_bytes(b"x" * 101)
    said = "has 101 bytes, more than the 100 bytes that are read; give the path of a URDF file"
    assert refusal(file) == said
    with file.open("wb") as hole:
        hole.truncate(10 * 2**30)
    assert refusal(file, 2**26).startswith("has 10,240 MiB, more than the 64 MiB that are read; ")


def test_files_that_are_not_regular_are_refused_at_once(tmp_path: Path) -> None:
    """The reader does not wait for the other end of a pipe, and reads nothing from a device."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for file in (tmp_path / "pipe", tmp_path / "link", "/dev/zero", "/dev/tty"):
        if Path(file).exists():
            assert refusal(file) == f"is a pipe, a socket or a device; {REMEDY}"
    assert refusal(tmp_path) == f"is a directory; {REMEDY}"
    with pytest.raises(FileNotFoundError):
        read_regular_file(tmp_path / "none", 100, REMEDY)


def test_a_size_unknown_to_the_system_is_counted_while_reading() -> None:
    """Files of /proc have size zero, and any number of bytes when read."""
    if Path("/proc/self/environ").exists() and len(Path("/proc/self/status").read_bytes()) > 100:
        assert refusal("/proc/self/status").startswith("has 101 bytes, more than the 100 bytes")


def test_the_unpacked_size_of_an_archive_is_limited() -> None:
    """The limit is for all files together. Data that are not an archive pass."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.dae", b" " * 60_000)
        archive.writestr("b.png", b" " * 60_000)
    assert len(packed.getvalue()) < 1000
    check_unpacked(packed.getvalue(), 120_000, REMEDY)
    check_unpacked(b"<COLLADA/>", 1, REMEDY)
    with pytest.raises(
        RefusedFileError, match=r"^unpacked has 120,000 bytes, more than the 99,999"
    ):
        check_unpacked(packed.getvalue(), 99_999, REMEDY)


def test_documented_numbers() -> None:
    check_numbers("model.regular_files", DESCRIPTION=64 * 2**20, STAGE=2**30)
