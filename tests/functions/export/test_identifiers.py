"""Names are converted to identifiers of C and C++."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from warpdyn.functions.export.identifiers import KEYWORDS, identifier, namespace_name


def test_names_of_links_become_identifiers() -> None:
    """Slashes, spaces, accents and leading digits are replaced."""
    assert identifier("panda/hand link") == "panda_hand_link"
    assert identifier("Ärm") == "Arm"
    assert identifier("2nd") == "n2nd"
    assert identifier("default") == "default_"
    assert identifier("手") == "x"
    assert [identifier(x) for x in ("std", "lambda", "NULL")] == ["std_", "lambda_", "NULL_"]


@given(st.text())
def test_any_text_becomes_a_valid_identifier(text: str) -> None:
    """Letters, digits and underscores, without a leading digit, and not a keyword."""
    found = identifier(text)
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", found) and found not in KEYWORDS


def test_namespaces_are_no_functions_or_types_of_c() -> None:
    """C++ refuses a namespace that has the name of a function."""
    taken = [
        "gamma",
        "y0",
        "index",
        "sinf",
        "lgammaf_r",
        "f32addf64",
        "strtof128",
        "pthread_key_t",
        "time_t",
        "std",
    ]
    assert [namespace_name(x) for x in taken] == [f"{x}_" for x in taken]
    free = ["panda", "beta", "index_finger", "gamma_2", "arm_t", "y2", "timer", "randomly"]
    assert [namespace_name(x) for x in free] == free
