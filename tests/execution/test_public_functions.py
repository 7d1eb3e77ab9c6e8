"""Names that users look for lead to public functions, in the face and on the robot of a kernel."""

from __future__ import annotations

import warpdyn as wd
from warpdyn.execution.public_functions import FIELD_WORDS


def test_words_are_no_names_of_warpdyn_and_lead_to_one() -> None:
    for word, meant in FIELD_WORDS.items():
        assert word not in wd.__all__ and meant in wd.__all__, word
