"""MJCF: <include>, which inserts the content of other files.

Nothing outside the file's folder is read, not even through links, and at most `MOST_FILES` files of
`MOST_BYTES` in total.
"""

from __future__ import annotations

from pathlib import Path

from ...model.names import ModelError
from ..robot_source import Reading, RobotSource, xml_root
from .mjcf_files import Includes, Neighbours
from .mjcf_values import Element

MOST_FILES = 100
MOST_BYTES = 64 * 2**20


def with_includes(text: RobotSource, root: Element, includes: Includes) -> dict[Element, str]:
    """Replace each <include> by the content of its file, as MuJoCo does.

    Returns the file of each inserted element, by its name relative to the folder of the
    description.
    """
    inclusion = Inclusion(text, includes)
    inclusion.expand(root, (text.name,))
    return inclusion.files


class Inclusion(Reading):
    """The files included so far, each once, and the elements from each."""

    def __init__(self, text: RobotSource, includes: Includes) -> None:
        super().__init__(text.name)
        self.neighbours = Neighbours(text, includes, MOST_FILES, MOST_BYTES - len(text.data))
        self.included: set[Path] = set()
        if self.neighbours.folder is not None:
            self.included.add((self.neighbours.folder / text.name).resolve())

    def expand(self, root: Element, chain: tuple[str, ...]) -> None:
        """Replace the <include> elements of a tree by the content of their files.

        chain: the files that lead here, by the names that <include> elements give them.
        """
        for element in list(root.iter("include")):
            parent = element.getparent()
            if parent is None:
                raise self.refusal(
                    element, "it is the outermost element; write an element around it"
                )
            path = self._path(element, chain)
            name = self.neighbours.name(path)
            content = self._read_root(element, path, name)
            self.files[content] = name
            self.expand(content, (*chain, name))
            children = list(content)
            for child in children:
                self.files.setdefault(child, name)
            place = parent.index(element)
            parent[place : place + 1] = children

    def _path(self, element: Element, chain: tuple[str, ...]) -> Path:
        """The file of an <include>, relative to the folder of the description or else of the
        including file."""
        file = element.get("file", "")
        if not file:
            raise self.refusal(element, 'it has no file; write file="..."')
        folder = self.neighbours.folder
        beside = [] if folder is None else [(folder / chain[-1]).parent]
        path = self.neighbours.find(self, element, file, beside)
        if folder is not None and path in {(folder / each).resolve() for each in chain}:
            circle = " -> ".join((*chain, file))
            raise self.refusal(element, f"files include each other in a cycle: {circle}")
        if path in self.included:
            raise self.refusal(
                element,
                f'"{file}" is included twice; MJCF includes a file only once: write its content here',
            )
        self.included.add(path)
        return path

    def _read_root(self, element: Element, path: Path, name: str) -> Element:
        """The outermost element of a file, whose name is ignored."""
        data = self.neighbours.read_file(self, element, path)
        try:
            return xml_root(name, data, None, "<mujoco>")
        except ModelError as error:
            raise self.refusal(element, f"of {error}") from None
