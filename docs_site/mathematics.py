"""Equations as MathML by docutils' LaTeX reader. Browsers draw MathML without scripts or network access."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx

ACCENT = re.compile(
    r'<mover accent="true">(.*?)<mo stretchy="false">(.)</mo>(\s*)</mover>', re.DOTALL
)
"""A dot, a hat or a bar over a letter, as docutils writes it."""


def setup(app: Sphinx) -> None:
    """Register the renderer "mathml"."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))


def mathml(latex: str, block: bool = False) -> str:
    """An equation as a `<math>` element.

    Dots, hats and bars are placed above their letters. As accents, browsers without a mathematics font would
    stretch them.
    """
    text = str(latex2mathml.tex2mathml(latex, as_block=block))
    text = text.replace("&ApplyFunction;", "\u2061")  # an entity of HTML that XML lacks
    return ACCENT.sub(r'<mover>\1<mo stretchy="false" mathsize="140%">\2</mo>\3</mover>', text)


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def _display(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode
