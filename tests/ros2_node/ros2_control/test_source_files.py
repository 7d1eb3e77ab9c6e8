"""Placeholders in the C++ sources."""

from __future__ import annotations

import pytest

from ros2_node.ros2_control.source_files import source_file


def test_each_placeholder_needs_its_text():
    with pytest.raises(ValueError, match=r"torque_gate.hpp: places without text: \['gate_table'\]"):
        source_file("torque_gate.hpp", namespace="x")
    with pytest.raises(ValueError, match=r"text without a place: \['other'\]"):
        source_file("torque_gate.hpp", namespace="x", gate_table="", other="")
    assert "namespace x {" in source_file("torque_gate.hpp", namespace="x", gate_table="")
