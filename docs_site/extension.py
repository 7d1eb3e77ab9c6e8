"""Steps of the Sphinx build that are specific to this site."""

from __future__ import annotations

import inspect
import re
import shutil
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from . import api_examples, api_pages, folding, mathematics
from .docstrings import as_rst

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = api_examples.examples()
OUTSIDE = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#\s]*)(#[^)\s]*)?\)")
"""A link to what lies outside docs/."""
CALL = re.compile(r"~?(?:[\w.]+\.)?Call\[~?(?:[\w.]+\.)?(.*)\]")
SHORTER = {
    r"(?:[\w.]+\.)?Array\[~?(?:[\w.]+\.)?(?:A|object)\]": "Array",
    r"[~\w.]*_Buffer \|.*?_NestedSequence\[complex \| bytes \| str\]": "ArrayLike",
    r"\[~P\]": "...",
    r": ~typing\.~P\b": "",
    r"<built-in function (\w+)>": r"\1",
    r"<function [\w.]+(?:<lambda>)?>": "...",
}
"""How types and values that Python spells at length, or that Sphinx cannot read, stand in a signature."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the steps. Pages may be read in parallel."""
    mathematics.setup(app)
    app.add_directive("recording", RecordingDirective)
    app.add_directive("torques", TorquesDirective)
    app.add_directive("folding", FoldingDirective)
    app.connect("builder-inited", write_api_pages)
    app.connect("builder-inited", use_public_names)
    app.connect("env-get-outdated", pages_with_new_examples)
    app.connect("source-read", convert_outside_links)
    app.connect("doctree-read", register_other_names)
    app.connect("html-page-context", complete_page)
    app.connect("build-finished", copy_notebooks)
    app.connect("autodoc-process-docstring", convert_docstring)
    app.connect("autodoc-process-signature", shorten_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class RecordingDirective(SphinxDirective):  # type: ignore[misc]  # Sphinx, where it is not installed
    """A picture that is replaced by the recording of the same name on a click, or with `:plays:` at once."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        "poster": directives.path,
        "alt": directives.unchanged_required,
        "plays": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """The picture, in an element that static/recordings.js looks for."""
        up = "../" * self.env.docname.count("/")
        plays = " data-plays" if "plays" in self.options else ""
        target = f"{up}_static/recordings/index.html?playbackPath={self.arguments[0]}.viser"
        opening = f'<div class="recording" data-recording="{target}&amp;hideViserLogo"{plays}>'
        picture = nodes.image(uri=self.options["poster"], alt=self.options["alt"])
        return [
            nodes.raw("", opening, format="html"),
            picture,
            nodes.raw("", "</div>", format="html"),
        ]


class TorquesDirective(SphinxDirective):  # type: ignore[misc]  # Sphinx, where it is not installed
    """Sliders, and torques that the reader's browser computes, in place of the text."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The text, in an element that examples/export/web.js looks for."""
        program = f"{'../' * self.env.docname.count('/')}_static/panda.wasm"
        opening = f'<div class="torques" data-program="{program}">'
        return [
            nodes.raw("", opening, format="html"),
            nodes.paragraph("", "\n".join(self.content)),
            nodes.raw("", "</div>", format="html"),
        ]


class FoldingDirective(SphinxDirective):  # type: ignore[misc]  # Sphinx, where it is not installed
    """Table of folded functions and their times next to the lower bound: `{folding} rnea, bias_forces`."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """A table, which is made when its page is read."""
        self.env.note_dependency(str(folding.every_function.RESULT))
        names = [name.strip() for name in self.arguments[0].split(",")]
        return list(self.parse_text_to_nodes(folding.program_table(names)))


def write_api_pages(app: Sphinx) -> None:
    """Write the pages of the API reference into docs/api/, which git ignores. Unchanged files are not written."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    pages = api_pages.pages()
    for old in folder.glob("*.md"):
        if old.stem not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def pages_with_new_examples(
    app: Sphinx, env: Any, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Pages of the API reference with a new example. Sphinx does not know that they depend on its file."""
    before, env.warpdyn_examples = getattr(env, "warpdyn_examples", None), dict(EXAMPLES)
    pages = [page for page in env.found_docs if page.startswith("api/")]
    return pages if before != EXAMPLES else []


def use_public_names(app: Sphinx) -> None:
    """Give each class its public name; autodoc would write "alias of"."""
    for _, name, thing in api_pages.names_of_namespaces():
        if inspect.isclass(thing):
            thing.__name__ = name


def register_other_names(app: Sphinx, doctree: nodes.document) -> None:
    """Register a name under each namespace that has the names of its module.

    Pages of sources link to the names of a module under its first prefix: `warpdyn.Link`, and `warpdyn.Pose`
    for `warpdyn.description.Pose`.
    """
    prefixes: dict[str, set[str]] = {}
    for prefix, _, thing in api_pages.names_of_namespaces():
        prefixes.setdefault(getattr(thing, "__module__", ""), set()).add(prefix)
    for signature in doctree.findall(addnodes.desc_signature):
        prefix, name = signature.get("module"), signature.get("fullname")
        if prefix in (api_pages.TOP, *api_pages.NAMESPACES) and name:
            thing = getattr(import_module(prefix), name.partition(".")[0], None)
            others = prefixes.get(getattr(thing, "__module__", ""), set()) - {prefix}
            signature["ids"] += sorted(f"{other}.{name}" for other in others)


def convert_outside_links(app: Sphinx, page: str, source: list[str]) -> None:
    """Turn links to repository files into downloads, to folders into names, and to the README into the front page."""
    docs = Path(app.srcdir).resolve()
    here = (docs / page).parent

    def convert(match: re.Match[str]) -> str:
        text, target, _ = match.groups()
        path = (here / target).resolve()
        if path == ROOT / "README.md":
            return f"[{text}](/index.md)"
        if path.is_relative_to(docs) or not path.exists():
            return match[0]
        return text if path.is_dir() else f"[{text}](path:{target})"

    source[0] = OUTSIDE.sub(convert, source[0])


def complete_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add a description for search engines and, on a notebook's page, a button that downloads the notebook."""
    if doctree is None:
        return
    described = description(doctree)
    context["metatags"] = (
        context.get("metatags", "") + f'<meta name="description" content="{escape(described)}">\n'
    )
    if page.startswith("notebooks/"):
        target = context["pathto"](f"_static/{page}.ipynb", 1)
        button = f'<p><a class="notebook-download" href="{target}" download>Download this notebook</a></p>'
        context["body"] = context["body"].replace("</h1>", f"</h1>\n{button}", 1)


def description(doctree: nodes.document) -> str:
    """First paragraph of a page, cut after a word to at most 160 characters."""
    text = next((p.astext() for p in doctree.findall(nodes.paragraph) if p.astext().strip()), "")
    text = " ".join(text.split())
    return text if len(text) <= 160 else text[:157].rpartition(" ")[0] + " ..."


def copy_notebooks(app: Sphinx, failed: Exception | None) -> None:
    """Copy the executed notebooks to the targets of their buttons."""
    ran = Path(app.outdir).parent / "jupyter_execute" / "notebooks"
    if failed is None and app.builder.name == "html" and ran.exists():
        folder = Path(app.outdir) / "_static" / "notebooks"
        folder.mkdir(parents=True, exist_ok=True)
        for file in ran.glob("*.ipynb"):
            shutil.copy(file, folder)


def convert_docstring(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Convert docstrings to reStructuredText and add examples. Data have the docstring below their value."""
    if what == "data" and (said := api_pages.value_docstring(name)):
        lines[:] = said.splitlines()
    lines[:] = as_rst(lines)
    if name in EXAMPLES:
        lines += ["", *EXAMPLES[name].splitlines(), ""]
        for file in api_examples.FOLDER.glob("*.txt"):
            app.env.note_dependency(str(file))


def shorten_signature(
    app: Sphinx,
    what: str,
    name: str,
    thing: Any,
    options: Any,
    given: str | None,
    result: str | None,
) -> tuple[str | None, str | None]:
    """Shorten a signature: general array types, and the type of the result."""
    if result is not None and (call := CALL.fullmatch(result)):
        result = "Array" if call[1] == "A" else call[1]
    return _shorten(given), _shorten(result)


def _shorten(text: str | None) -> str | None:
    for long, short in SHORTER.items():
        text = text and re.sub(long, short, text)
    return text
