"""Equations as MathML. The tests are skipped without Sphinx (the extra `[docs]`)."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

pytest.importorskip("sphinx")
from docs_site.mathematics import mathml

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [
    page for folder in (".", "computation", "notebooks") for page in DOCS.glob(f"{folder}/*.md")
]
EQUATIONS = [
    equation
    for page in PAGES
    for equation in re.findall(
        r"^```\{math\}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL
    )
    + re.findall(r"\{math\}`([^`]+)`", page.read_text())
]


def is_drawn(equation: str) -> bool:
    """True for one <math> element of well-formed XML that contains no LaTeX command."""
    element = ElementTree.fromstring(mathml(equation).replace("&nbsp;", " "))
    return element.tag.endswith("math") and "\\" not in "".join(element.itertext())


def test_every_equation_of_the_pages_can_be_drawn() -> None:
    assert len(EQUATIONS) > 400
    assert [equation for equation in EQUATIONS if not is_drawn(equation)] == []


def test_a_block_is_displayed() -> None:
    assert 'display="block"' in mathml("a + b", block=True)
    assert 'display="block"' not in mathml("a + b")


def test_dots_are_drawn_above_their_letters() -> None:
    """They are not accents. Browsers without a mathematical font would draw those into tall
    letters."""
    written = mathml(r"\dot \Psi{}_k + \ddot q")
    assert 'accent="true"' not in written
    assert written.count('<mo stretchy="false" mathsize="140%">') == 2
