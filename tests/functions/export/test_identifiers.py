"""Names as identifiers of C and C++."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from warpdyn.functions.export.identifiers import KEYWORDS, identifier


def test_names_of_links() -> None:
    """Slashes, spaces, marks and digits in front."""
    assert identifier("panda/hand link") == "panda_hand_link"
    assert identifier("Ärm") == "Arm"
    assert identifier("2nd") == "n2nd"
    assert identifier("default") == "default_"
    assert identifier("手") == "x"
    assert [identifier(x) for x in ("std", "lambda", "NULL")] == ["std_", "lambda_", "NULL_"]


@given(st.text())
def test_any_text_gives_one(text: str) -> None:
    """Letters, digits and underscores, no digit first, no word of the language."""
    found = identifier(text)
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", found) and found not in KEYWORDS
