"""The input of readers: a path or a text, the XML in it, and the remarks made while reading.

XML is read by lxml, with entities, DTDs and the network off.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from lxml import etree

from ..model.names import ModelError
from ..model.regular_files import DESCRIPTION, STAGE, RefusedFileError, read_regular_file
from .registry import Format, format_of_data, format_of_root

GRAVITY, NEARLY = -9.8, 0.02
"""Standard gravity [m/s²] and tolerance: a file's gravity within it passes without a remark."""


DECLARED_VERSION = re.compile(rb"""\A(<\?xml\s+version\s*=\s*)("[^"<>]*"|'[^'<>]*')""")
"""An XML declaration up to its version. Some files write 0.0 or 1, which lxml refuses, for 1.0."""


@dataclass
class RobotSource:
    """A description before reading: its bytes, its name in messages, and its XML once that is
    parsed.

    `load` and the reader that it chooses share one, so that a file is read and parsed once.
    """

    file: str | None
    """Name of the file; None for a text."""
    kind: str
    """The name of the expected format, or of several."""
    data: bytes
    encoding: str | None = None
    """Encoding of `data`, if the XML does not declare it."""
    root: etree._Element | None = None
    folder: Path | None = None
    """Folder of the file; None for a text."""

    @property
    def name(self) -> str:
        """The text's name in messages."""
        return f"{self.kind} text" if self.file is None else self.file

    @property
    def suffix(self) -> str:
        return "" if self.file is None else Path(self.file).suffix

    @classmethod
    def of(
        cls, source: str | bytes | os.PathLike[str] | RobotSource, caller: str, kind: str
    ) -> RobotSource:
        """The text of a path, a string or bytes, as users pass them to the function `caller`."""
        if isinstance(source, RobotSource):
            return source
        if isinstance(source, bytes):
            return cls(None, kind, source)
        if isinstance(source, str):
            # A string may be a path or a text: a text begins with "<" or as a known format does.
            text = source.lstrip("\ufeff \t\r\n")
            if not text:
                raise ModelError(f"{caller}: the source is empty; give a path or XML text")
            data = source.lstrip("\ufeff").encode("utf-8", "replace")
            if text.startswith("<") or format_of_data(data) is not None:
                return cls(None, kind, data, "utf-8")
        elif not isinstance(source, os.PathLike):
            raise TypeError(f"{caller} needs a path or XML text, got {type(source).__name__}")
        remedy = f"give the path of a {kind} file"
        try:
            path = Path(source)
            stage = format_of_data(b"", path.suffix) is not None
            data = read_regular_file(path, STAGE if stage else DESCRIPTION, remedy)
            return cls(path.name, kind, data, folder=path.parent)
        except FileNotFoundError:
            problem = f"there is no such file; {remedy}, or XML text that begins with <"
            if not path.suffix:
                problem += "; wd.load_robot reads the bundled robots"
        except RefusedFileError as error:
            problem = str(error)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            problem = f"cannot be read ({reason}); {remedy}"
        # The argument may be the content of a file, passed by mistake, so the message quotes only
        # its beginning.
        shown = str(source) if len(str(source)) <= 200 else f"{str(source)[:200]}..."
        raise ModelError(f"{shown}: {problem}")

    def xml(self, element: str) -> etree._Element:
        """The outermost element. `element` names the expected one in messages."""
        if self.root is None:
            self.root = xml_root(self.name, self.data, self.encoding, element)
        return self.root

    def root_of(self, expected: Format) -> etree._Element:
        """The outermost element, refused if it belongs to another format."""
        root = self.xml(f"<{expected.root}>")
        tag = tag_name(root)
        if tag != expected.root:
            other = format_of_root(tag)
            remedy = (
                f"this is {other.name}, use {other.reader}"
                if other
                else f"this is another format, convert it to {expected.name}"
            )
            raise ModelError(
                f"{self.name}: the root element is <{tag}>, {expected.noun} has <{expected.root}>; "
                f"{remedy}"
            )
        return root


def xml_root(name: str, data: bytes, encoding: str | None, element: str) -> etree._Element:
    """The outermost element of well-formed XML that declares no entities. Prefixes need not be
    declared."""
    if not data.strip():
        raise ModelError(f"{name}: the text is empty; it must contain one {element} element")
    xml = etree.XMLParser(
        # Without this an undeclared prefix would be an error; all other errors are refused below.
        recover=True,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
        encoding=encoding,
    )
    try:
        # An XML declaration must come first, so that blank lines before it are removed. Any other
        # text keeps them for the line numbers.
        text = data.lstrip() if data.lstrip().startswith(b"<?xml") else data
        root = etree.fromstring(DECLARED_VERSION.sub(rb'\1"1.0"', text), xml)
    except (etree.LxmlError, ValueError, LookupError):
        root = None  # the log has the reason
    if declares_entities(root) if root is not None else b"<!ENTITY" in data:
        raise ModelError(
            f"{name}: <!DOCTYPE>: entities and external DTDs are never read; remove the DOCTYPE"
        )
    fatal = next((entry for entry in xml.error_log if entry.level >= etree.ErrorLevels.FATAL), None)
    if fatal is not None or root is None:
        reason = " ".join(fatal.message.split())[:200] if fatal else ""
        detail = f"{reason} (line {fatal.line})" if fatal else "no element was found"
        raise ModelError(
            f"{name}: not well-formed XML, or cut short: {detail}; correct the text or write it again"
        )
    return root


def tag_name(element: etree._Element) -> str:
    """Name of an element as the text shows it: with its prefix, if it has one."""
    tag = str(element.tag)
    local = tag[tag.rfind("}") + 1 :]
    return f"{element.prefix}:{local}" if element.prefix else local


def declares_entities(root: etree._Element) -> bool:
    """True if a text declares entities, or names an external DTD."""
    document: Any = root.getroottree().docinfo
    declared = document.internalDTD is not None and document.internalDTD.entities()
    return bool(declared or document.system_url or document.public_id)


Loops = Literal["keep", "cut", "refuse"]
"""Treatment of a description that is not a tree: keep its loops (`Model.loops`), leave them open,
or refuse it."""

LOOPS_KEPT = (
    "closed loops are kept ({}): step, Simulation and wd.loops close them; other functions are those "
    "of the tree, in which the loops are open"
)
"""A remark of every reader that keeps loops."""

WITHOUT_FORCES = "it closes a loop, and is kept without its limits, friction and drives"
"""A remark on a joint that closes a loop."""


def has_plain_digits(text: str) -> bool:
    """False for 1_000 and for digits of other scripts, which Python reads as numbers too."""
    return text.isascii() and "_" not in text


def check_loops_option(loops: Loops) -> Loops:
    """The option `loops` of a reader. Raises for any other value."""
    if loops not in get_args(Loops):
        raise ValueError(f'loops must be "keep", "cut" or "refuse", got {loops!r}')
    return loops


class Reading:
    """State of reading a text: its name in messages, the parts left out, and the remarks made so
    far."""

    folder: Path | None = None
    """Folder of the file; None for a text."""

    def __init__(
        self, source: str, files: Mapping[etree._Element, str] = MappingProxyType({})
    ) -> None:
        self.source = source
        self.files = dict(files)
        """The name of the file from which an element was included."""
        self.ignored: dict[str, list[str]] = {}
        self.remarks: list[str] = []

    def place(self, element: etree._Element) -> str:
        """An element's name in messages."""
        return f"<{tag_name(element)}>"

    def refusal(self, element: etree._Element, problem: str) -> ModelError:
        line = f" ({self.line(element)})" if element.sourceline else ""
        return ModelError(f"{self.source}: {self.place(element)}: {problem}{line}")

    def line(self, element: etree._Element) -> str:
        """The line of an element, and its file if it was included."""
        around = (element, *element.iterancestors())
        file = next((self.files[each] for each in around if each in self.files), None)
        return f"line {element.sourceline or 0}{f' of {file}' if file else ''}"

    def finite_numbers(
        self,
        element: etree._Element,
        what: str,
        text: str,
        count: int,
        infinite: bool = False,
        largest: float = math.inf,
    ) -> list[float]:
        """The `count` numbers of a text, finite unless `infinite`, with magnitudes of at most
        `largest`. Refusals call them `what`."""
        try:
            numbers = [float(word) for word in text.split()]
        except ValueError:
            numbers = []
        sound = all(math.isfinite(x) or (infinite and not math.isnan(x)) for x in numbers)
        if len(numbers) != count or not (sound and has_plain_digits(text)):
            needed = "a finite number" if count == 1 else f"{count} finite numbers"
            raise self.refusal(element, f'{what} is "{text}"; it needs {needed}')
        if any(abs(x) > largest for x in numbers):
            raise self.refusal(
                element, f'{what} is "{text}"; numbers beyond {largest:g} are refused, correct it'
            )
        return numbers

    def whole_number(self, element: etree._Element, key: str, written: Mapping[str, str]) -> int:
        """A whole number of at least 1, which the element must have."""
        (number,) = self.finite_numbers(element, key, written.get(key, "nan"), 1)
        if number < 1 or number != int(number):
            raise self.refusal(element, f'{key} is "{written[key]}"; it must be a whole number')
        return int(number)

    def remark_gravity(self, element: str, x: float, y: float, z: float) -> None:
        """Remark on a file's gravity if it differs from the functions' default: a model does not
        store gravity."""
        if not (abs(x) + abs(y) < NEARLY and abs(z - GRAVITY) < NEARLY):
            self.remarks.append(
                f"<{element}>: its gravity is ({x:g}, {y:g}, {z:g}); a model stores none; "
                "pass gravity=... to functions"
            )

    def ignore(self, what: str, element: etree._Element) -> None:
        self.ignored.setdefault(what, []).append(self.line(element))

    def ignored_lines(self) -> Iterator[str]:
        for what, lines in self.ignored.items():
            yield f"ignored {what} ({f'{len(lines)} times, first on ' if len(lines) > 1 else ''}{lines[0]})"
