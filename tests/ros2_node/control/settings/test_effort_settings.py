"""Parameters of measured torques: off by default, and nothing that needs them without."""

from __future__ import annotations

import pytest

from ros2_node.control.settings.effort_settings import EffortSettings
from ros2_node.control.settings.node_settings import Settings


def test_off_by_default():
    """Who does not ask for it pays nothing."""
    settings = Settings.of()
    assert isinstance(settings, EffortSettings) and not settings.watches_efforts
    assert Settings.of({"effort_source": "command"}).watches_efforts


@pytest.mark.parametrize(
    "values",
    [
        {"collision_threshold": 3.0},
        {"collision_threshold": [0.0, 3.0]},
        {"external_wrench_link": "hand"},
    ],
)
def test_what_needs_torques_is_refused_without(values):
    """The reason names the parameter that is missing; with it all is well, and so are zeros."""
    with pytest.raises(ValueError, match="needs effort_source: message"):
        Settings.of(values)
    assert Settings.of({**values, "effort_source": "message"}).watches_efforts
    Settings.of({"collision_threshold": [0.0, 0.0]})


def test_the_source_is_read_at_start_only():
    with pytest.raises(ValueError, match="at start only"):
        Settings.of().with_changes({"effort_source": "message"})
