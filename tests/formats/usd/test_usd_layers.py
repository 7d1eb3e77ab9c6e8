"""Layers of a stage must be regular files of limited size. usd-core itself does not check this."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from time_limit import time_limit
from usd_texts import body, joint, stage

from warpdyn.formats.usd import usd_layers
from warpdyn.formats.usd.usd import load_usd
from warpdyn.model.names import ModelError, ModelWarning

pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")

ROBOT = stage(body("a"), joint("hold", "Fixed", ("", "a")))
REFERRING = {
    "sublayer": "#usda 1.0\n(\n subLayers = [@./{}@]\n)\n",
    "reference": '#usda 1.0\ndef "robot" (references = @./{}@</robot>) {{}}\n',
    "payload": '#usda 1.0\ndef "robot" (payload = @./{}@</robot>) {{}}\n',
    "variant": '#usda 1.0\ndef "robot" (variantSets = "kind"\n variants = {{string kind = "one"}})\n'
    '{{\n variantSet "kind" = {{\n  "one" (references = @./{}@</robot>) {{\n  }}\n }}\n}}\n',
}
BY_NAME = pytest.mark.parametrize("text", REFERRING.values(), ids=REFERRING)


def write_stage(folder: Path, text: str, name: str, then: str) -> Path:
    """A stage that refers to a layer, which refers to another file."""
    (folder / "middle.usda").write_text(REFERRING["reference"].format(then))
    (folder / name).write_text(text.format("middle.usda"))
    return folder / name


@BY_NAME
def test_layers_of_layers_are_read(text: str, tmp_path: Path) -> None:
    """The robot is in the last of three files."""
    (tmp_path / "last.usda").write_text(ROBOT)
    assert load_usd(write_stage(tmp_path, text, "robot.usda", "last.usda")).link_names == (
        "world",
        "a",
    )


@BY_NAME
def test_a_pipe_among_the_layers_is_refused(text: str, tmp_path: Path) -> None:
    """The reader does not wait for the pipe's other end, also for a text in memory."""
    os.mkfifo(tmp_path / "last.usda")
    path = write_stage(tmp_path, text, "robot.usda", "last.usda")
    said = "the layer last.usda is a pipe, a socket or a device; refer to layers of the robot alone"
    with time_limit(), pytest.raises(ModelError, match=f"^robot.usda: {said}"):
        load_usd(path)
    with time_limit(), pytest.raises(ModelError, match=said):
        load_usd(path.read_text().replace("./", f"{tmp_path}/"))


def test_the_total_size_of_the_layers_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "last.usda").write_text(ROBOT)
    path = write_stage(tmp_path, REFERRING["sublayer"], "robot.usda", "last.usda")
    size = (tmp_path / "last.usda").stat().st_size + (tmp_path / "middle.usda").stat().st_size
    monkeypatch.setattr(usd_layers, "STAGE", size)
    load_usd(path)
    monkeypatch.setattr(usd_layers, "STAGE", size - 1)
    with pytest.raises(
        ModelError, match=r"the layer last.usda and others: has .* bytes, more than"
    ):
        load_usd(path)


def test_a_missing_layer_is_handled_by_usd_core(tmp_path: Path) -> None:
    """Its message is raised, or the robot lacks that part."""
    path = write_stage(tmp_path, REFERRING["sublayer"], "robot.usda", "none.usda")
    with pytest.raises(ModelError, match=r"no prim has PhysicsRigidBodyAPI|cannot read it"):
        load_usd(path)


def test_a_layer_that_cannot_be_checked_is_handled_by_usd_core(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be in a folder without permission."""
    (tmp_path / "last.usda").write_text(ROBOT)
    path = write_stage(tmp_path, REFERRING["sublayer"], "robot.usda", "last.usda")

    def deny_access(*_: object) -> None:
        raise PermissionError("closed")

    monkeypatch.setattr(usd_layers, "check_regular_file", deny_access)
    assert load_usd(path).link_names == ("world", "a")


def test_a_reference_to_a_broken_layer_is_remarked(tmp_path: Path) -> None:
    """The robot lacks the part that the layer should give."""
    (tmp_path / "broken.usda").write_text("#usda 1.0\n(")
    inside = (
        '#usda 1.0\n(subLayers = [@./last.usda@])\ndef "more" (references = @./broken.usda@) {}\n'
    )
    (tmp_path / "last.usda").write_text(ROBOT)
    (tmp_path / "robot.usda").write_text(inside)
    with pytest.warns(ModelWarning, match="a part that it refers to is missing: .*broken.usda"):
        assert load_usd(tmp_path / "robot.usda").link_names == ("world", "a")


@pytest.mark.parametrize(
    "part",
    [
        "(subLayers = [@./last.usda@, @./gone.usda@])\n",
        '(subLayers = [@./last.usda@])\nover "robot" (references = @./gone.usda@) {}\n',
        '(subLayers = [@./last.usda@])\nover "robot" (payload = @./last.usda@</gone>) {}\n',
    ],
    ids=["layer", "reference", "prim"],
)
def test_a_missing_part_is_remarked(part: str, tmp_path: Path) -> None:
    """Masses and limits may be in it. usd-core only writes to stderr."""
    (tmp_path / "last.usda").write_text(ROBOT)
    (tmp_path / "robot.usda").write_text(f"#usda 1.0\n{part}")
    with pytest.warns(ModelWarning, match="a part that it refers to is missing: .*gone"):
        load_usd(tmp_path / "robot.usda")


def test_a_layer_counts_once_in_the_total_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two other layers refer to it."""
    (tmp_path / "last.usda").write_text(ROBOT)
    twice = "#usda 1.0\n(\n subLayers = [@./last.usda@, @./more.usda@]\n)\n"
    (tmp_path / "more.usda").write_text(REFERRING["sublayer"].format("last.usda"))
    (tmp_path / "robot.usda").write_text(twice)
    size = sum((tmp_path / name).stat().st_size for name in ("last.usda", "more.usda"))
    monkeypatch.setattr(usd_layers, "STAGE", size)
    assert load_usd(tmp_path / "robot.usda").link_names == ("world", "a")
