"""MJCF: <sensor> and <option> as data."""

from __future__ import annotations

import pytest
from mjcf_texts import INERTIAL, load

import warpdyn as wd
from warpdyn.model.names import ModelWarning

TEXT = f"""
<mujoco><option timestep="0.002" integrator="implicitfast"><flag contact="disable"/></option>
<option gravity="0 0 -9.81"/>
<worldbody><body name="b"><joint name="j"/>{INERTIAL}<site name="s"/><site name="b"/></body></worldbody>
<sensor><accelerometer name="acc" site="s" noise="0.1"/><gyro site="b"/><jointpos name="angle" joint="j"/>
<framequat name="turn" objtype="body" objname="b"/><framepos objtype="site" objname="s"/>
<clock name="time"/></sensor></mujoco>"""


def test_sensors_are_read_with_their_link_or_joint() -> None:
    """A sensor of a site is on the site's link, which has another name if a body has that name."""
    found = load(TEXT).sensors
    assert [(s.kind, s.name, s.link, s.joint) for s in found] == [
        ("accelerometer", "acc", "s", None),
        ("gyro", "", "b_site", None),
        ("jointpos", "angle", None, "j"),
        ("framequat", "turn", "b", None),
        ("framepos", "", "s", None),
        ("clock", "time", None, None),
    ]
    assert dict(found[0].said) == {"site": "s", "noise": "0.1"}


def test_sensors_of_missing_parts_get_a_remark() -> None:
    """MuJoCo refuses such a file. A part that the file names is not in the remark."""
    sensors = """<sensor><jointpos joint="j"/><jointvel joint="elbow"/><gyro site="tip"/><tendonpos
    tendon="t"/><actuatorfrc actuator="m"/><actuatorpos actuator="n"/></sensor>"""
    text = f"""<mujoco><worldbody><body name="b"><joint name="j"/>{INERTIAL}</body></worldbody>
    <actuator><motor name="n" joint="j"/></actuator>{sensors}</mujoco>"""
    with pytest.warns(ModelWarning):
        found = wd.load_mjcf(text)
    parts = ('joint "elbow"', 'site "tip"', 'tendon "t"', 'actuator "m"')
    remarks = [line.partition(" (")[0] for line in found.warnings if "of a sensor" in line]
    assert remarks == [f"ignored {x} of a sensor, which the file does not have" for x in parts]
    assert len(found.sensors) == 6


def test_options_are_read_into_physics() -> None:
    """It has the attributes of all <option> elements. Flags have the path flag/NAME."""
    assert load(TEXT).physics == {
        "timestep": "0.002",
        "integrator": "implicitfast",
        "gravity": "0 0 -9.81",
        "flag/contact": "disable",
    }
    assert load(f"<mujoco><worldbody><body>{INERTIAL}</body></worldbody></mujoco>").physics == {}
