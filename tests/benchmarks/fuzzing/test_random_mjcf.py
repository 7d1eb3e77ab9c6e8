"""Random MJCF texts and their contents."""

from __future__ import annotations

from random import Random

from benchmarks.fuzzing.random_mjcf import RandomText


def test_a_seed_gives_the_same_texts() -> None:
    """So a text that differs can be reproduced."""
    assert RandomText(Random("3-4")).text() == RandomText(Random("3-4")).text()


def test_texts_contain_every_kind_of_element() -> None:
    """Each element and rule occurs within a few hundred texts."""
    texts = "".join(RandomText(Random(f"{n}")).text() for n in range(300))
    for word in (
        *("<frame", "childclass", "xyaxes", "zaxis", "fullinertia", "fromto", "<freejoint", "ball"),
        *("inertiafromgeom", "boundmass", "balanceinertia", "springref", "gravcomp", "<fixed"),
        *("<intvelocity", "<damper", "<cylinder", "inheritrange", "actuatorfrcrange", "<equality"),
        "<key",
    ):
        assert word in texts, word
