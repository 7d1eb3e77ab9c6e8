"""The URDF reader on robots that exist, and on large ones."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from urdf_texts import PINOCCHIO, body, inertia, joint, load, refusal, robot

from warpdyn.formats.urdf import load_urdf
from warpdyn.model.names import ModelWarning

# Size.


def chain(count: int) -> str:
    parts = [body('<mass value="1"/>' + inertia(1, 1, 1), f"l{i}") for i in range(count + 1)]
    return robot(*parts, *(joint(f"j{i}", parent=f"l{i}", child=f"l{i + 1}") for i in range(count)))


def test_a_chain_of_a_thousand_links_loads() -> None:
    """Neither reading nor printing recurses along the tree."""
    model = load(chain(1000))
    assert model.nv == 1000 and model.link_names[-1] == "l1000" and "j999" in model.summary()


# Robots that exist.


def real_files() -> list[Path]:
    try:
        data = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        return []
    return sorted(
        Path(str(data.locate_file("cmeel.prefix/share/example-robot-data/robots"))).rglob("*.urdf")
    )


NOT_LOADED = {
    "alex_psyonic_hands.urdf": 'it mimics "index_q1", which does not exist',  # Pinocchio reads over <mimic> by default
    "ur3.urdf": "there is no link",  # an empty <robot>, which Pinocchio refuses as well
}


@pytest.mark.parametrize("path", real_files(), ids=lambda path: path.stem)
def test_real_robots_are_read_as_pinocchio_reads_them(path: Path) -> None:
    """Total mass, joints, axes and joint poses equal those of Pinocchio's reader."""
    pin = pytest.importorskip("pinocchio")
    if path.name in NOT_LOADED:
        assert NOT_LOADED[path.name] in refusal(path)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        model = load_urdf(path)
    peer = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data = peer.createData()
    assert model.total_mass == pytest.approx(
        sum(part.mass for part in peer.inertias), rel=PINOCCHIO
    )
    moving = {j.name: j for j in model.joints if j.kind.nv}
    assert set(moving) == set(peer.names) - {"universe", "root_joint"}
    neutral = pin.neutral(peer)
    for name, read in moving.items():
        if read.kind.single:
            subspace = pin.computeJointJacobian(peer, data, neutral, peer.getJointId(name))[
                :, peer.joints[peer.getJointId(name)].idx_v
            ]
            axis = subspace[:3] if read.kind.name == "prismatic" else subspace[3:]
            assert np.abs(axis - read.axis).max() <= PINOCCHIO
    assert not model.joints or math.isclose(
        model.total_mass, pin.computeTotalMass(peer), rel_tol=PINOCCHIO
    )


@pytest.mark.skipif(not real_files(), reason="example-robot-data is not installed")
def test_reading_never_writes_to_the_terminal() -> None:
    """pr2 is read silently. urdf_parser_py itself prints long complaints about its
    transmissions."""
    path = next(path for path in real_files() if path.name == "pr2.urdf")
    code = f"from warpdyn.formats.urdf import load_urdf; load_urdf({str(path)!r})"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=True,
    )
    assert done.stdout == done.stderr == ""
