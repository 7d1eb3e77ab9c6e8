"""Publishers of a robot's states and commands, and refusals if there are too many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TopicPublishers:
    """The publishers of one topic."""

    word: str
    """The topic's word in the diagnostics, such as "joint_states"."""
    topic: str
    """Its full name, remapped."""
    count: int
    """The number of its publishers."""
    nodes: tuple[str, ...] = ()
    """Full names of their nodes, where there is more than one."""

    @property
    def several(self) -> str:
        """A message if more than one node publishes, else empty."""
        if self.count < 2:
            return ""
        return f"{self.topic} has {self.count} publishers ({', '.join(self.nodes)})"


def refusal(topics: Sequence[TopicPublishers]) -> str:
    """The reason why ~/enable is refused, and the remedy; empty if no topic has several
    publishers."""
    said = [each.several for each in topics if each.several]
    if not said:
        return ""
    return (
        f"{' and '.join(said)}: end those that should not publish, or set allow_several_publishers "
        "where each publishes a part"
    )


def report(topics: Sequence[TopicPublishers]) -> dict[str, str]:
    """Lines of the diagnostics: the number of publishers, and their names if there are several."""
    return {
        f"publishers of {each.word}": f"{each.count} ({', '.join(each.nodes)})"
        if each.nodes
        else str(each.count)
        for each in topics
    }
