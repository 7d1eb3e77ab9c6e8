"""python -m benchmarks.files: the result for each file, in the table and with its reason."""

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
CABLE = (
    f"<worldbody>{BODY.format('a', 1, BODY.format('b', 2, BODY.format('c', 3, '')))}</worldbody>"
    '<tendon><fixed name="t"><joint joint="j1" coef="1"/><joint joint="j2" coef="1"/>'
    '<joint joint="j3" coef="1"/></fixed></tendon><equality><tendon tendon1="t"/></equality>'
)
"""Three joints that a tendon of constant length couples, which a tree cannot hold."""


def test_every_outcome_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report is by source and format, and has each reason and its count."""
    files = {
        "tools/here/arm.xml": f"<mujoco>{ARM}</mujoco>",
        "tools/here/scene.xml": '<mujoco><include file="../there/arm.xml"/></mujoco>',
        "tools/there/arm.xml": f"<mujoco>{ARM}</mujoco>",
        "tools/there/cable.xml": f"<mujoco>{CABLE}</mujoco>",
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
        "there/cable.xml": "by us",
        "there/broken.xml": "refused by both",
        "there/nameless.xml": "by them",
    }
    assert "tendon" in told["there/cable.xml"]["why"] and told["here/arm.xml"]["nv"] == 2
    out, bar = capsys.readouterr()
    assert "| MJCF | tools | 6 | 2 | 1 | 1 | 1 | 1 |  |  |" in out and "6/6" in bar
    assert "1 × MJCF: <tendon>: this constraint couples tendons" in out


def test_a_difference_is_found(tmp_path: Path) -> None:
    """The first quantity that differs is named."""
    from warpdyn.peers.mujoco import MuJoCo

    path = tmp_path / "arm.xml"
    path.write_text(f"<mujoco>{ARM}</mujoco>")
    model = load(path)
    assert not compared(model, MuJoCo(model, path, whole=True))
    heavier = model.with_payload("b", 1e-6, com=(0.3, 0, 0))
    assert compared(heavier, MuJoCo(heavier, path, whole=True)).startswith("mass matrix by")
