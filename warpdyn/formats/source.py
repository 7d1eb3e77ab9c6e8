"""A description as it comes: a path or a text, the XML in it, and what is said about a model that was read.

lxml reads, with entities, DTDs and the network off.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from ..model.description import ModelError


def content(
    source: str | bytes | os.PathLike[str], caller: str, kind: str
) -> tuple[str, bytes, str | None]:
    """What messages call the source, its XML, and the encoding where that is not the XML's to say."""
    if isinstance(source, bytes):
        return f"{kind} text", source, None
    if isinstance(source, str):
        text = source.lstrip("\ufeff \t\r\n")
        if not text:
            raise ModelError(f"{caller}: the source is empty; give a path or XML text")
        if text.startswith("<"):
            return f"{kind} text", source.lstrip("\ufeff").encode("utf-8", "replace"), "utf-8"
    elif not isinstance(source, os.PathLike):
        raise TypeError(f"{caller} needs a path or XML text, got {type(source).__name__}")
    try:
        return Path(source).name, Path(source).read_bytes(), None
    except FileNotFoundError:
        problem = (
            f"there is no such file; give the path of a {kind} file, or XML text that begins with <"
        )
    except IsADirectoryError:
        problem = f"is a directory; give the {kind} file in it"
    except (OSError, ValueError) as error:
        problem = f"cannot be read ({getattr(error, 'strerror', None) or error}); give the path of a {kind} file"
    shown = str(source) if len(str(source)) <= 200 else f"{str(source)[:200]}..."
    raise ModelError(f"{shown}: {problem}")


def xml_root(name: str, data: bytes, encoding: str | None, element: str) -> etree._Element:
    """The outermost element of well-formed XML that declares no entities; prefixes need not be declared."""
    if not data.strip():
        raise ModelError(f"{name}: the text is empty; it should hold one {element} element")
    xml = etree.XMLParser(
        recover=True,  # else an undeclared prefix would be an error; all other errors are refused below
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
        encoding=encoding,
    )
    try:
        # An XML declaration must come first, blank lines may not; any other text keeps them for the line numbers.
        root = etree.fromstring(data.lstrip() if data.lstrip().startswith(b"<?xml") else data, xml)
    except (etree.LxmlError, ValueError, LookupError):
        root = None  # the log says what is wrong
    if _declares_entities(root) if root is not None else b"<!ENTITY" in data:
        raise ModelError(
            f"{name}: <!DOCTYPE>: entities and external DTDs are never read; remove the DOCTYPE"
        )
    fatal = next((entry for entry in xml.error_log if entry.level >= etree.ErrorLevels.FATAL), None)
    if fatal is not None or root is None:
        detail = f"{fatal.message.strip()} (line {fatal.line})" if fatal else "no element was found"
        raise ModelError(
            f"{name}: not well-formed XML, or cut short: {detail}; mend the text or write it again"
        )
    return root


def tag_name(element: etree._Element) -> str:
    """Name of an element as the text shows it: with its prefix, if it has one."""
    tag = str(element.tag)
    local = tag[tag.rfind("}") + 1 :]
    return f"{element.prefix}:{local}" if element.prefix else local


def _declares_entities(root: etree._Element) -> bool:
    document: Any = root.getroottree().docinfo
    declared = document.internalDTD is not None and document.internalDTD.entities()
    return bool(declared or document.system_url or document.public_id)


class Reading:
    """A text being read: what messages call it, what was left out, and the remarks made so far."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.ignored: dict[str, list[int]] = {}
        self.remarks: list[str] = []

    def place(self, element: etree._Element) -> str:
        """What messages call an element by."""
        return f"<{tag_name(element)}>"

    def refusal(self, element: etree._Element, problem: str) -> ModelError:
        line = f" (line {element.sourceline})" if element.sourceline else ""
        return ModelError(f"{self.source}: {self.place(element)}: {problem}{line}")

    def ignore(self, what: str, element: etree._Element) -> None:
        line: Any = element.sourceline
        self.ignored.setdefault(what, []).append(line or 0)

    def ignored_lines(self) -> Iterator[str]:
        for what, lines in self.ignored.items():
            yield f"ignored {what} ({f'{len(lines)} times, first on ' if len(lines) > 1 else ''}line {lines[0]})"
