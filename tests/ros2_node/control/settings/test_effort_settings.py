"""Parameters of measured efforts: off by default, and what needs them is refused without them."""

from __future__ import annotations

import pytest

from ros2_node.control.settings.effort_settings import EffortSettings
from ros2_node.control.settings.node_settings import Settings


def test_efforts_are_not_watched_by_default():
    """Efforts cost nothing without the parameter."""
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
def test_parameters_that_need_efforts_are_refused_without_a_source(values):
    """The reason names the missing parameter. With it the values are accepted, and zeros always
    are."""
    with pytest.raises(ValueError, match="needs effort_source: message"):
        Settings.of(values)
    assert Settings.of({**values, "effort_source": "message"}).watches_efforts
    Settings.of({"collision_threshold": [0.0, 0.0]})


def test_the_effort_source_is_read_only_at_start():
    with pytest.raises(ValueError, match="at start only"):
        Settings.of().with_changes({"effort_source": "message"})
