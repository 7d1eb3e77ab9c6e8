"""The parameters of how commands are handed on are parameters like all others."""

from __future__ import annotations

import pytest

from ros2_node.control.settings.node_settings import BY_NAME, Settings


def test_they_are_read_at_start_only():
    for name in ("command_type", "command_controller", "realtime"):
        assert BY_NAME[name].fixed
        with pytest.raises(ValueError, match=f"{name} is read at start only"):
            Settings.of().with_changes({name: BY_NAME[name].default})


def test_a_message_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="command_type must be one of float64_multi_array, joint"):
        Settings.of({"command_type": "wrench"})
