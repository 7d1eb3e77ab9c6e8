"""The table of parameters: checks, and agreement with files and documents."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from ros2_node.control.settings.node_settings import BY_NAME, PARAMETERS, Settings

ROOT = Path(__file__).resolve().parents[4]


def test_defaults_are_valid_and_complete():
    settings = Settings.of()
    assert Settings.of(settings.values()) == settings
    assert len(BY_NAME) == len(PARAMETERS)
    assert all(p.description.endswith((".", "text.")) for p in PARAMETERS)


def test_fixed_parameters_do_not_change():
    with pytest.raises(ValueError, match="restart"):
        Settings.of().with_changes({"device": "cpu"})
    assert Settings.of().with_changes({"ramp_time": 3}).ramp_time == 3.0


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


def test_the_complete_config_file_has_every_description():
    """The comment above a parameter is the text that `ros2 param describe` shows."""
    described, comment = {}, []
    for line in (ROOT / "config" / "warpdyn.yaml").read_text().splitlines():
        text = line.strip()
        if text.startswith("#"):
            comment.append(text.removeprefix("# "))
        else:
            described[text.partition(":")[0]] = " ".join(comment)
            comment = []
    for parameter in PARAMETERS:
        parts = (
            parameter.description,
            f"One of {', '.join(parameter.choices)}." if parameter.choices else "",
            "Number or list." if parameter.per_joint else "",
            f"[{parameter.unit}]" if parameter.unit else "",
            "Read at start only." if parameter.fixed else "",
        )
        assert described[parameter.name] == " ".join(filter(None, parts)), parameter.name


def test_the_document_has_every_parameter_with_its_default():
    rows = [
        line.split("|")
        for line in (ROOT / "docs" / "ros2_parameters.md").read_text().splitlines()
        if line.startswith("| `")
    ]
    documented = {
        row[1].strip().strip("`"): row[2].strip().strip("`") for row in rows if len(row) > 5
    }
    for parameter in PARAMETERS:
        text = documented[parameter.name]
        value = yaml.safe_load(text) if text else ""
        assert Settings.of({parameter.name: value}) == Settings.of(), parameter.name


def test_a_law_replaces_the_mode():
    """Its inputs are numbers by name. It needs velocities and no mode."""
    settings = Settings.of({"law": "laws:f", "law_inputs.gain": 3, "law_inputs.target": [1, 2.0]})
    assert settings.law_inputs == {"gain": (3.0,), "target": (1.0, 2.0)}
    assert settings.needs_velocity and not Settings.of().needs_velocity
    changed = settings.with_changes({"law_inputs.gain": 4.0})
    assert changed.law_inputs == {"gain": (4.0,), "target": (1.0, 2.0)}
    with pytest.raises(ValueError, match="law is read at start only"):
        settings.with_changes({"law": "laws:g"})
    for values, said in (
        ({"law": "laws:f", "mode": "computed_torque"}, "law takes the place of mode"),
        ({"law_options": ["a=1"]}, "for a law, and law is empty"),
        ({"law_inputs.gain": 1.0}, "for a law, and law is empty"),
        ({"law": "laws:f", "law_inputs.gain": "much"}, "law_inputs.gain must be a list"),
        ({"law": "laws:f", "law_inputs.gain": [float("nan")]}, "law_inputs.gain must lie in"),
        (
            {"law": "laws:f", "law_inputs.gain": float("inf")},
            "law_inputs.gain must be finite, got inf",
        ),
        ({"law": "laws:f", "policy": "walk.onnx"}, "a law and a policy are two laws"),
        ({"policy_task": "tasks:Walk"}, "policy_task is for a policy, and policy is empty"),
        ({"law": "laws:f", "law_inputs.gain": True}, "law_inputs.gain must be"),
        ({"law": "laws:f", "law_inputs.gain": []}, "law_inputs.gain is an empty list"),
    ):
        with pytest.raises(ValueError, match=said):
            Settings.of(values)


def test_robots_need_distinct_names():
    assert Settings.of({"namespaces": ["left", "right"]}).namespaces == ("left", "right")
    with pytest.raises(ValueError, match="namespaces names something twice: left, left"):
        Settings.of({"namespaces": ["left", "left"]})
    assert Settings.of({"namespaces": ["fleet/r2", "_x9"]}).namespaces == ("fleet/r2", "_x9")
    for name in ("/left", "left/", "~left", "9", "a b", "a//b", "links–rechts"):
        with pytest.raises(ValueError, match="namespaces must be relative names"):
            Settings.of({"namespaces": ["left", name]})


def test_the_law_name_says_how_torques_are_computed():
    for values, name in (
        ({}, "mode gravity"),
        ({"mode": "computed_torque"}, "mode computed_torque"),
        ({"law": "teaching"}, "law teaching"),
        ({"policy": "walk.onnx"}, "policy walk.onnx"),
    ):
        assert Settings.of(values).law_name == name


def test_friction_needs_velocities():
    for values, good in (
        ({"friction.scale": 0.5}, False),
        ({"friction.scale": [0.0, 0.5]}, False),
        ({"friction.scale": [0.0, 0.0]}, True),
        ({"friction.scale": 0.5, "mode": "computed_torque"}, True),
        ({"friction.scale": 0.5, "law": "teaching"}, True),
        ({"friction.scale": 0.5, "policy": "walk.onnx"}, True),
    ):
        if good:
            assert Settings.of(values).needs_velocity or not any(values["friction.scale"])
        else:
            with pytest.raises(
                ValueError, match=r"friction\.scale needs velocities, and mode gravity"
            ):
                Settings.of(values)


def test_either_filter_makes_the_states_filtered():
    for name in ("position_filter", "velocity_filter"):
        assert Settings.of({name: 10.0}).filters_states
