"""python -m benchmarks.files: what becomes of each file, in the table and with the reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mjcf_texts import INERTIAL

from benchmarks.files import compared, main
from warpdyn import load

pytest.importorskip("mujoco")

BODY = f'<body name="{{}}"><joint name="j{{}}" axis="0 1 0"/>{INERTIAL}{{}}</body>'
ARM = f"<worldbody>{BODY.format('a', 1, BODY.format('b', 2, ''))}</worldbody>"
LOOP = '<equality><connect body1="a" body2="b" anchor="0 0 0"/></equality>'


def test_every_outcome_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By source and format, with its reason and how often it occurs."""
    files = {
        "tools/here/arm.xml": f"<mujoco>{ARM}</mujoco>",
        "tools/here/scene.xml": '<mujoco><include file="../there/arm.xml"/></mujoco>',
        "tools/there/arm.xml": f"<mujoco>{ARM}</mujoco>",
        "tools/there/loop.xml": f"<mujoco>{ARM}{LOOP}</mujoco>",
        "tools/there/broken.xml": "<mujoco><worldbody><body><joint/></body></worldbody>",
        "tools/there/nameless.xml": f"<mujoco>{ARM}<sensor><jointpos joint='x'/></sensor></mujoco>",
        "tools/there/notes.xml": "<notes/>",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    lines = tmp_path / "lines.jsonl"
    assert main([str(tmp_path / "tools"), "--lines", str(lines)]) == 0
    told = {each["file"]: each for each in map(json.loads, lines.read_text().splitlines())}
    assert {name: each["outcome"] for name, each in told.items()} == {
        "here/arm.xml": "agrees",
        "here/scene.xml": "agrees with includes=",
        "there/arm.xml": "agrees",
        "there/loop.xml": "by us",
        "there/broken.xml": "refused by both",
        "there/nameless.xml": "by them",
    }
    assert "closes a loop" in told["there/loop.xml"]["why"] and told["here/arm.xml"]["nv"] == 2
    out, bar = capsys.readouterr()
    assert "| MJCF | tools | 6 | 2 | 1 | 1 | 1 | 1 |  |  |" in out and "6/6" in bar
    assert "1 × MJCF: <connect>: this constraint closes a loop" in out


def test_a_difference_is_seen(tmp_path: Path) -> None:
    """Of the first quantity that has one."""
    from warpdyn.peers.mujoco import MuJoCo

    path = tmp_path / "arm.xml"
    path.write_text(f"<mujoco>{ARM}</mujoco>")
    model = load(path)
    assert not compared(model, MuJoCo(model, path, whole=True))
    heavier = model.with_payload("b", 1e-6, com=(0.3, 0, 0))
    assert compared(heavier, MuJoCo(heavier, path, whole=True)).startswith("mass matrix by")
