"""Equations as MathML, which browsers draw by themselves: no script, no network, by docutils' own reader of LaTeX."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Offer it as the renderer "mathml"."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))


def mathml(latex: str, block: bool = False) -> str:
    """An equation as a `<math>` element."""
    return str(latex2mathml.tex2mathml(latex, as_block=block))


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def _display(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode
