"""Peers that can be compared, and a line for each that cannot."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_made_urdf import PLANAR
from module_numbers import module_numbers

import warpdyn as wd
from warpdyn.peers import find_peers
from warpdyn.peers.find_peers import PEERS, urdf_of

MJCF = """<mujoco model="arm"><worldbody><body name="upper" pos="0 0 1">
  <joint name="shoulder" type="hinge" axis="0 1 0"/>
  <inertial pos="0.1 0 0.2" mass="2" diaginertia="0.02 0.03 0.025"/></body></worldbody></mujoco>"""


def test_missing_libraries_are_named_with_their_packages(monkeypatch):
    """Each has a line that says how to install it."""
    monkeypatch.setattr(find_peers, "find_spec", lambda name: None)
    peers, absent = find_peers.find_peers(wd.load_robot("cartpole"), Path("unread.urdf"))
    assert not peers
    assert absent == [
        "Pinocchio is not installed (pip install pin)",
        "MuJoCo is not installed (pip install mujoco)",
    ]


def test_a_peer_that_reads_another_robot_is_left_out(tmp_path):
    """Its reason is reported instead."""
    file = tmp_path / "planar.urdf"
    file.write_text(PLANAR)
    installed = [name for name in PEERS if find_peers.find_spec(name)]
    peers, absent = find_peers.find_peers(wd.load(PLANAR), file, installed)
    assert not peers and len(absent) == len(installed)
    assert all("planar" in line for line in absent)


def test_peers_get_the_original_urdf_file(tmp_path):
    """URDF is passed on unchanged. Another format is written as URDF first."""
    urdf, mjcf = tmp_path / "a.urdf", tmp_path / "a.xml"
    urdf.write_text(PLANAR)
    mjcf.write_text(MJCF)
    assert urdf_of(wd.load(urdf), urdf) == PLANAR
    model = wd.load(mjcf)
    assert wd.load_urdf(urdf_of(model, mjcf)).nv == model.nv


def test_written_urdf_has_complete_limits(tmp_path, capfd):
    """Pinocchio's reader refuses a joint that only has position limits, as MJCF has them."""
    pytest.importorskip("pinocchio")
    mjcf = tmp_path / "a.xml"
    mjcf.write_text(MJCF.replace('axis="0 1 0"', 'axis="0 1 0" range="-90 90"'))
    model = wd.load(mjcf)
    (peer,), absent = find_peers.find_peers(model, mjcf, ["pinocchio"])
    assert not absent and peer.name.startswith("Pinocchio") and not capfd.readouterr().err
    read = wd.load_urdf(urdf_of(model, mjcf)).joint("shoulder").limits
    assert (read.lower, read.upper) == (model.position_lower[0], model.position_upper[0])


def test_mujoco_reads_the_original_mjcf_file(tmp_path):
    """Features that URDF lacks are no reason to refuse it. Only Pinocchio gets URDF."""
    pytest.importorskip("mujoco")
    mjcf = tmp_path / "a.xml"
    mjcf.write_text(MJCF.replace('axis="0 1 0"', 'axis="0 1 0" armature="0.1"'))
    model = wd.load(mjcf)
    for fused in (False, True):
        (peer,), absent = find_peers.find_peers(model, mjcf, ["mujoco"], fused)
        assert not absent and peer.links == model.link_names
    assert not find_peers.find_peers(model, mjcf, ["pinocchio"])[0]


@pytest.mark.parametrize("name", PEERS)
def test_installed_peers_read_a_bundled_robot(name):
    """A bundled robot is read by every peer that is installed."""
    pytest.importorskip(name)
    model = wd.load_robot("cartpole")
    path = Path(wd.robots.__file__).parent / "cartpole.urdf"
    (peer,), absent = find_peers.find_peers(model, path, [name])
    assert not absent and peer.name.startswith(PEERS[name][0])


def test_numbers_change_only_on_purpose():
    assert module_numbers("warpdyn/peers")["find_peers"] == {
        "UNREACHED": 1e09,
    }
