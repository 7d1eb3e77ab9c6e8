"""The manifest: settings of a folder, failures, and notes."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from warpdyn.labels.manifest import NAME, check_settings, read_manifest, write_manifest
from warpdyn.labels.own_outputs import LogFile, Outcome


def outcome(name: str, error: str = "", *notes: str) -> Outcome:
    return Outcome(LogFile(Path(name), Path("out") / name), 5, notes, error)


def test_the_manifest_contains_failures_and_notes(tmp_path: Path) -> None:
    """Notes on files of earlier runs are kept. Failures are those of the last run."""
    assert read_manifest(tmp_path) == {}
    first = [outcome("a.csv", "", "uneven"), outcome("b.csv", "broken")]
    write_manifest(tmp_path, {"model": "arm"}, first, {"done": 1}, {"tau": {"unit": "N·m"}})
    read = read_manifest(tmp_path)
    assert read["failed"] == {"b.csv": "broken"} and read["notes"] == {"a.csv": ["uneven"]}
    assert read["columns"] == {"tau": {"unit": "N·m"}} and read["done"] == 1
    write_manifest(tmp_path, {"model": "arm"}, [outcome("b.csv")], {"done": 2}, {})
    read = read_manifest(tmp_path)
    assert read["failed"] == {} and read["notes"] == {"a.csv": ["uneven"]} and read["columns"]
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_folder_with_other_settings_is_refused(tmp_path: Path) -> None:
    check_settings(tmp_path, {"filter": "a"})
    write_manifest(tmp_path, {"filter": "a", "columns": ("x",)}, [], {}, {})
    check_settings(tmp_path, {"filter": "a", "columns": ("x",)})
    with pytest.raises(ValueError, match='filter was "a", is "b"; choose another --out'):
        check_settings(tmp_path, {"filter": "b", "columns": ("x",)})
    (tmp_path / NAME).write_text("nonsense")
    with pytest.raises(ValueError, match="is not a manifest"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nonsense", "Expecting value"),
        ("[1]", "it holds a list, not an object"),
        ('{"settings": 5}', "its 'settings' is 5, not an object"),
        ('{"settings": {}, "notes": []}', r"its 'notes' is \[\], not an object"),
        ('{"settings": {}, "columns": "x"}', "its 'columns' is \"x\", not an object"),
        ('{"name": "my web page"}', "it has no 'settings'"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_other_json_is_refused_as_manifest(tmp_path: Path, text: str, reason: str) -> None:
    """The message has the remedy, and nothing is written before. force=True replaces the file."""
    path = tmp_path / NAME
    path.write_text(text)
    with pytest.raises(ValueError, match=f"is not a manifest of warpdyn: .*{reason}.*--force"):
        check_settings(tmp_path, {"filter": "a"})
    assert path.read_text() == text
    check_settings(tmp_path, {"filter": "a"}, force=True)
    write_manifest(tmp_path, {"filter": "a"}, [], {}, {})
    assert read_manifest(tmp_path)["settings"] == {"filter": "a"}


@pytest.mark.parametrize("kind", ["folder", "pipe", "broken link"])
def test_a_manifest_must_be_a_regular_file(tmp_path: Path, kind: str) -> None:
    """The other end of a pipe is not waited for. force=True does not remove a folder."""
    path = tmp_path / NAME
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(tmp_path / "nowhere")
    said = (
        f"{path} is not a manifest of warpdyn: it is not a regular file; choose another --out, remove "
        "it, or replace it with --force (force=True)"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        read_manifest(tmp_path)
    if kind == "folder":
        with pytest.raises(ValueError, match="it is not a regular file"):
            check_settings(tmp_path, {}, force=True)
        assert path.is_dir()
    else:
        check_settings(tmp_path, {}, force=True)
        assert not path.is_symlink() and not path.exists()


def test_a_manifest_has_the_expected_text(tmp_path: Path) -> None:
    """Failures and notes are sorted by file, names are not escaped, and the file ends with a
    newline."""
    many = [outcome("b.csv", "broken"), outcome("a.csv", "Überlauf"), outcome("d.csv", "", "x")]
    write_manifest(tmp_path, {"n": 1}, [*many, outcome("c.csv", "", "y")], {"done": 2}, {"E": {}})
    assert (
        (tmp_path / NAME).read_text()
        == """{
 "settings": {
  "n": 1
 },
 "columns": {
  "E": {}
 },
 "done": 2,
 "failed": {
  "a.csv": "Überlauf",
  "b.csv": "broken"
 },
 "notes": {
  "c.csv": [
   "y"
  ],
  "d.csv": [
   "x"
  ]
 }
}
"""
    )
    said = (
        f"{tmp_path} has outputs of another run: n was 1, is null; choose another --out, or remove"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(said)} that folder$"):
        check_settings(tmp_path, {"other": 2})
    with pytest.raises(ValueError, match="other was null, is 2"):
        check_settings(tmp_path, {"n": 1, "other": 2})
