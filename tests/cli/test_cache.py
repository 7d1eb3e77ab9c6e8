"""`warpdyn cache`: its list of cached files, and their removal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import warp as wp
from fresh_caches import ONE_CALL, environment, environment_with_header, run

from warpdyn.cli import cache as cache_command
from warpdyn.cli.command_line import UserError
from warpdyn.execution.compile import sealed_files


def cache(folder: Path, *arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "warpdyn", "cache", *arguments],
        env=environment(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_both_caches_are_shown_and_emptied(tmp_path: Path) -> None:
    """The list has folder, number and size. Afterwards none of our files is left, and others are
    not removed."""
    run(ONE_CALL, environment_with_header(tmp_path))
    (warps,) = (tmp_path / "kernels").iterdir()
    others = warps / "wp_somebody_else", tmp_path / "programs" / "notes.txt"
    others[0].mkdir()
    others[1].write_text("mine")
    shown = cache(tmp_path)
    programs, headers, kernels = [line.split() for line in shown]
    assert programs[0] == "programs" and programs[1] == "1" and f"{tmp_path}/programs" in programs
    assert headers[:2] == ["parsed", "headers"]
    assert 2 < float(headers[3]) / int(headers[2]) < 20  # one of each processor that lent its own
    assert kernels[:3] == ["compiled", "kernels", "1"] and str(warps) in kernels
    assert "WARP_CACHE_PATH" in shown[2] and "WARPDYN_CACHE_DIR" in shown[0]
    assert cache(tmp_path, "--empty", "--yes") == [*shown, "emptied"]
    assert [line.split(" MB")[0].split()[-2:] for line in cache(tmp_path)] == [["0", "0.0"]] * 3
    assert all(path.exists() for path in others)


def test_cache_asks_before_it_removes_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It lists what would be removed. Without a terminal only `--yes` removes."""
    kept = tmp_path / ("a" * 64 + ".json")
    kept.touch()
    held = cache_command.CachedFiles("programs", tmp_path, "WARPDYN_CACHE_DIR", [kept])
    with pytest.raises(UserError, match=rf"would remove 1 programs in {tmp_path}; --yes"):
        cache_command.empty([held], agreed=False)
    monkeypatch.setattr(cache_command.sys.stdin, "isatty", lambda: True, raising=False)
    for answer, gone in (("", False), ("n", False), ("y", True)):
        monkeypatch.setattr("builtins.input", lambda _, answer=answer: answer)
        if gone:
            cache_command.empty([held], agreed=False)
        else:
            with pytest.raises(UserError, match="nothing was removed"):
                cache_command.empty([held], agreed=False)
        assert kept.exists() is not gone
    assert capsys.readouterr().out == "emptied\n"


def test_files_of_others_are_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are a project's headers in the cache's folder, targets of links, and a folder without
    our tag."""
    project, thesis = tmp_path / "project", tmp_path / "thesis"
    (project / "headers/sub").mkdir(parents=True)
    (project / "headers/my.h").write_text("int my;")
    (project / "headers/sub/builtin_x.pch").write_text("x")
    thesis.mkdir()
    (thesis / "builtin_y.pch").write_text("precious")
    (project / "headers/0123456789abcdef").symlink_to(thesis)
    program = project / ("b" * 64 + ".json")
    program.write_text("mine")
    before = sorted(project.rglob("*"))
    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(project))
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path / "kernels"))
    cache_command.empty(cache_command.find_cached_files(), agreed=True)
    assert sorted(project.rglob("*")) == before
    sealed_files.tag_folder(project, is_ours=True)
    cache_command.empty(cache_command.find_cached_files(), agreed=True)
    assert sorted(project.rglob("*")) == sorted({*before, project / sealed_files.TAG} - {program})
    assert (thesis / "builtin_y.pch").read_text() == "precious"
    other = tmp_path / "other"
    other.mkdir()
    (other / "headers").symlink_to(project / "headers")
    sealed_files.tag_folder(other, is_ours=True)
    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(other))
    assert [each.entries for each in cache_command.find_cached_files()] == [[], [], []]


def test_only_a_kernels_own_files_are_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files of a killed compilation are removed, too. A folder with other files remains."""
    name = "wp_warpdyn_rnea_x_01234567"
    for folder in (name, f"{name}_ab_cd9ef_build", f"{name}_p12_t345"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{name}.cpp").touch()
        (tmp_path / folder / f".{name}.o.sha256.0123456789abcdef").touch()
        cache_command.remove(tmp_path / folder)
        assert not (tmp_path / folder).exists()
    (tmp_path / name).mkdir()
    for file in ("thesis.txt", f"{name}.o"):
        (tmp_path / name / file).touch()
    cache_command.remove(tmp_path / name)
    assert [path.name for path in (tmp_path / name).iterdir()] == ["thesis.txt"]
    assert "which holds thesis.txt" in capsys.readouterr().out


def test_the_interpreter_is_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its object has the name of the source, without a hash."""
    folder = tmp_path / "wp_warpdyn_interpreter_float64_0123456789abcdef"
    folder.mkdir()
    for file in ("json", "o", "o.sha256"):
        (folder / f"interpreter_float64.{file}").touch()
    (folder / f"{folder.name}.cpp").touch()
    cache_command.remove(folder)
    assert not folder.exists() and not capsys.readouterr().out
    folder.mkdir()
    (folder / "interpreter.cpp").touch()
    cache_command.remove(folder)
    assert "which holds interpreter.cpp" in capsys.readouterr().out


def test_a_file_that_cannot_be_removed_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The report is one line. A file that is already gone is no error."""
    cache_command.remove(tmp_path / "gone")

    def refuse_removal(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse_removal)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot remove .*file: Permission denied"):
        cache_command.remove(tmp_path / "file")
