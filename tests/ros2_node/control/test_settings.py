"""The table of parameters: checks, and that files and documents say the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ros2_node.control.settings import BY_NAME, PARAMETERS, Settings

ROOT = Path(__file__).resolve().parents[3]


def test_defaults_are_valid_and_complete():
    settings = Settings.of()
    assert Settings.of(settings.values()) == settings
    assert len(BY_NAME) == len(PARAMETERS)
    assert all(p.description.endswith((".", "text.")) for p in PARAMETERS)


@pytest.mark.parametrize(
    "name, value, said",
    [
        ("torque_scale", float("nan"), "0 .. 1.5"),
        ("torque_scale", -0.1, "0 .. 1.5"),
        ("torque_scale", [], "empty list"),
        ("torque_scale", [1.0, float("inf")], "0 .. 1.5"),
        ("torque_scale", True, "number"),
        ("state_timeout", "0.1", "number"),
        ("mode", "fly", "gravity, inverse_dynamics, computed_torque"),
        ("mode", 1, "text"),
        ("gravity", 9.81, "list"),
        ("gravity", [0, 0], "3 numbers, got 2"),
        ("joints", "panda_joint1", "list"),
        ("joints", [1], "names"),
        ("joints", ["a", "a"], "twice"),
        ("start_enabled", 1, "true or false"),
        ("payload.mass", 1.0, "payload.link"),
        ("wings", 2, "no parameter"),
    ],
)
def test_bad_values_say_what_is_needed(name, value, said):
    with pytest.raises(ValueError, match=said) as error:
        Settings.of({name: value})
    assert name in str(error.value)


def test_integers_and_empty_lists_are_understood():
    settings = Settings.of({"kp": 5, "gravity": [0, 0, -9], "joints": [""], "torque_scale": [1, 0]})
    assert settings.kp == 5.0 and settings.gravity == (0.0, 0.0, -9.0) and settings.joints == ()
    assert settings.torque_scale == (1.0, 0.0)


def test_fixed_parameters_do_not_change():
    with pytest.raises(ValueError, match="restart"):
        Settings.of().changed({"device": "cpu"})
    assert Settings.of().changed({"ramp_time": 3}).ramp_time == 3.0


@given(
    st.sampled_from(PARAMETERS),
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.floats())
    ),
)
def test_any_value_is_taken_or_refused_with_the_parameters_name(parameter, value):
    try:
        Settings.of({parameter.name: value})
    except ValueError as error:
        assert parameter.name in str(error)


@pytest.mark.parametrize("file", sorted((ROOT / "config").glob("*.yaml")), ids=lambda f: f.name)
def test_config_files_are_valid(file):
    values = yaml.safe_load(file.read_text())["/**"]["ros__parameters"]
    ours = {
        k: v for k, v in values.items() if k != "use_sim_time" and not k.startswith("qos_overrides")
    }
    Settings.of(ours)


def test_the_complete_config_file_has_every_default():
    values = yaml.safe_load((ROOT / "config" / "warpdyn.yaml").read_text())["/**"][
        "ros__parameters"
    ]
    del values["use_sim_time"]
    assert Settings.of(values) == Settings.of() and set(values) == set(BY_NAME)


def test_the_document_has_every_parameter_with_its_default():
    rows = [
        line.split("|")
        for line in (ROOT / "docs" / "ros2.md").read_text().splitlines()
        if line.startswith("| `")
    ]
    documented = {
        row[1].strip().strip("`"): row[2].strip().strip("`") for row in rows if len(row) > 5
    }
    for parameter in PARAMETERS:
        text = documented[parameter.name]
        value = yaml.safe_load(text) if text else ""
        assert Settings.of({parameter.name: value}) == Settings.of(), parameter.name
