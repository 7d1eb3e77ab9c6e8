"""Functions named on a command line."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import warpdyn as wd
from warpdyn.labels.named_functions import is_public, named_function

PANDA = wd.load_robot("panda")


def test_names_with_links_and_options_give_partial_functions() -> None:
    """A name alone gives the function itself."""
    assert named_function(PANDA, "rnea") == ("rnea", wd.rnea)
    name, made = named_function(PANDA, "fk:panda_hand:form=pose")
    whole: Any = made
    assert name == "fk_panda_hand_pose" and isinstance(made, partial)
    assert whole.func is wd.fk and whole.keywords == {"frame": "panda_hand", "form": "pose"}
    _, made = named_function(PANDA, "aba:gravity=(0, 0, 1.62)")
    whole = made
    assert whole.keywords == {"gravity": (0, 0, 1.62)}
    assert is_public("rnea") and not is_public("load") and not is_public("my.py")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("rnee", "did you mean 'rnea'"),
        ("fk:nohand", "did you mean 'panda_hand'"),
        ("fk:shape=pose", "fk has no option 'shape'; it has"),
        ("rnea:q=1", "rnea has no option 'q'; it has f_ext, gravity$"),
        ("rnea:out=1", "rnea has no option 'out'"),
        ("rnea:panda_hand", "rnea has no option 'frame'"),
    ],
)
def test_unknown_names_and_options_are_refused(text: str, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        named_function(PANDA, text)
