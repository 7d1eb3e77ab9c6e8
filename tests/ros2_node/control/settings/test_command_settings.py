"""Parameters of the commands."""

from __future__ import annotations

import pytest

from ros2_node.control.settings.node_settings import BY_NAME, Settings


def test_command_parameters_are_read_only_at_start():
    for name in ("command_type", "command_controller", "realtime"):
        assert BY_NAME[name].fixed
        with pytest.raises(ValueError, match=f"{name} is read at start only"):
            Settings.of().with_changes({name: BY_NAME[name].default})


def test_an_unknown_command_type_is_refused():
    with pytest.raises(ValueError, match="command_type must be one of float64_multi_array, joint"):
        Settings.of({"command_type": "wrench"})
