"""Convert warpdyn's docstrings, plain text with `code`, to reStructuredText."""

from __future__ import annotations

import re
from collections.abc import Sequence

CODE = re.compile(r"(`[^`]+`)")
MARKS = re.compile(r"([*_|\\`])")
"""What reStructuredText reads as markup; in a docstring it is what it is."""

ITEM = re.compile(r"(Returns|Raises)\b|[a-z]\w*(, [a-z]\w*)*: ")
"""How a line begins that says what an argument or a result is."""


def as_rst(lines: Sequence[str]) -> list[str]:
    """Lines of a docstring in reStructuredText.

    `code` becomes code, and other marks are escaped. Examples and indented blocks are kept. The description
    of an argument or a result becomes a paragraph.
    """
    written: list[str] = []
    example = indented = False
    for line in lines:
        if line.lstrip().startswith(">>>"):
            example = True
        elif not line.strip():
            example = indented = False
        elif line.startswith(" ") and not example and not indented:
            indented = True
            written += ["", "::", ""] if written and written[-1].strip() else ["::", ""]
        elif not line.startswith(" ") and indented:
            indented = False
            written.append("")
        elif not example and ITEM.match(line) and written and written[-1].strip():
            written.append("")
        written.append(line if example or indented or not line.strip() else _prose(line))
    return written


def _prose(line: str) -> str:
    parts = CODE.split(line)
    return "".join(
        f"`{part}`" if CODE.fullmatch(part) else MARKS.sub(r"\\\1", part) for part in parts
    )
