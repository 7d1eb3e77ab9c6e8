"""Steps of the site's build. They are skipped without Sphinx (the extra `[docs]`)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("sphinx")
from docutils import nodes
from docutils.utils import new_document
from sphinx import addnodes

from docs_site import extension

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "written", "read"),
    [
        ("README", "[examples](../examples)", "examples"),
        ("README", "[t](../examples/tour.ipynb)", "[t](path:../examples/tour.ipynb)"),
        ("kernels", "[caches](../README.md)", "[caches](/index.md)"),
        ("notebooks/x", "[page](../kernels.md#a)", "[page](../kernels.md#a)"),
        ("kernels", "[none](../no/such.md)", "[none](../no/such.md)"),
    ],
)
def test_links_to_other_files_become_downloads(page: str, written: str, read: str) -> None:
    """A link to a folder becomes its name. A missing target is not changed, and the build refuses
    it."""
    source, app = [written], SimpleNamespace(srcdir=str(DOCS))
    extension.convert_outside_links(app, page, source)  # type: ignore[arg-type]
    assert source == [read]


def test_api_pages_are_written_and_old_ones_removed(tmp_path: Path, monkeypatch: Any) -> None:
    """An unchanged page keeps its time, so that Sphinx does not read it again."""
    made = {"index": "# A", "dynamics": "# B"}
    monkeypatch.setattr(extension.api_pages, "pages", lambda: made)
    folder = tmp_path / "api"
    folder.mkdir()
    (folder / "gone.md").write_text("# Old")
    app: Any = SimpleNamespace(srcdir=str(tmp_path))
    extension.write_api_pages(app)
    times = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert set(times) == {"index.md", "dynamics.md"}
    made["index"] = "# C"
    extension.write_api_pages(app)
    assert (folder / "dynamics.md").stat().st_mtime_ns == times["dynamics.md"]
    assert (folder / "index.md").read_text() == "# C"


def test_classes_have_their_public_names(monkeypatch: Any) -> None:
    """The site describes a class with another public name under that name."""

    class Own: ...

    names = [("warpdyn.kernels", "Known", Own), ("warpdyn", "value", 3)]
    monkeypatch.setattr(extension.api_pages, "names_of_namespaces", lambda: names)
    extension.use_public_names(None)  # type: ignore[arg-type]
    assert Own.__name__ == "Known"


def test_a_name_has_an_anchor_in_each_namespace_of_its_module() -> None:
    """`wd.Link` and `wd.description.Mimic` belong to one module, and links from source code use one
    prefix for its names."""
    signatures = [
        addnodes.desc_signature(module=module, fullname=name, ids=[f"{module}.{name}"])
        for module, name in (
            ("warpdyn", "Link"),
            ("warpdyn.description", "Mimic"),
            ("warpdyn.rl", "Task"),
        )
    ]
    doctree = nodes.section()
    doctree += signatures
    extension.register_other_names(None, doctree)  # type: ignore[arg-type]
    assert [each["ids"] for each in signatures] == [
        ["warpdyn.Link", "warpdyn.description.Link"],
        ["warpdyn.description.Mimic", "warpdyn.Mimic"],
        ["warpdyn.rl.Task"],
    ]


def test_an_example_follows_its_docstring() -> None:
    """The page is read again when an example changes."""
    noted: list[str] = []
    app: Any = SimpleNamespace(env=SimpleNamespace(note_dependency=noted.append))
    lines = ["M."]
    extension.convert_docstring(app, "function", "warpdyn.solve", None, None, lines)
    assert lines[:2] == ["M.", ""] and ">>> x = wd.solve(model, q, tau)" in lines
    assert any(file.endswith("dynamics.txt") for file in noted)


def test_a_new_example_makes_its_pages_be_read_again(monkeypatch: Any) -> None:
    """Only pages of the API reference are read again, once."""
    env: Any = SimpleNamespace(found_docs=["index", "api/dynamics"])

    def outdated_pages() -> list[str]:
        return extension.pages_with_new_examples(None, env, set(), set(), set())  # type: ignore[arg-type]

    assert outdated_pages() == ["api/dynamics"]
    assert outdated_pages() == []
    monkeypatch.setitem(extension.EXAMPLES, "warpdyn.new", ">>> 1\n1")
    assert outdated_pages() == ["api/dynamics"]


def test_a_docstring_is_changed_in_place() -> None:
    lines = ["of `q_*`, M_"]
    extension.convert_docstring(None, "function", "f", None, None, lines)  # type: ignore[arg-type]
    assert lines == ["of ``q_*``, M\\_"]


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ("Call[A]", "Array"),
        ("Call[~A]", "Array"),
        ("~warpdyn.execution.request.call.Call[~warpdyn.arrays.A]", "Array"),
        ("Call[Solution[A]]", "Solution[A]"),
        ("int", "int"),
    ],
)
def test_a_signature_shows_the_result_of_a_call(result: str, shown: str) -> None:
    """Arrays are shown without their library."""
    given = "(q: Array[A], gravity: Array[object] | None, out: warpdyn.arrays.Array[~A])"
    read = extension.shorten_signature(None, "function", "f", None, None, given, result)  # type: ignore[arg-type]
    assert read == ("(q: Array, gravity: Array | None, out: Array)", shown)


@pytest.mark.parametrize(
    ("long", "short"),
    [
        (
            "(com: ~numpy._typing._array_like._Buffer | ~numpy._SupportsArray[dtype[Any]] | complex | bytes"
            " | str | ~numpy._NestedSequence[complex | bytes | str] = (0.0, 0.0), b: int)",
            "(com: ArrayLike = (0.0, 0.0), b: int)",
        ),
        ("(f: Callable[[~P], int], *args: ~typing.~P)", "(f: Callable[..., int], *args)"),
        ("(watch=<built-in function iter>)", "(watch=iter)"),
        ("(unfelt=<function JointKind.<lambda>>, b=1)", "(unfelt=..., b=1)"),
    ],
)
def test_long_python_spellings_are_shortened(long: str, short: str) -> None:
    read, _ = extension.shorten_signature(None, "function", "f", None, None, long, None)  # type: ignore[arg-type]
    assert read == short


def page_with(*paragraphs: str) -> nodes.document:
    """A page of paragraphs."""
    page = new_document("page")
    page += [nodes.paragraph("", text) for text in paragraphs]
    return page


def test_a_description_is_the_first_paragraph_cut_after_a_word() -> None:
    """Search engines show at most 160 characters."""
    assert extension.description(page_with(" ", "What\nit does.", "More.")) == "What it does."
    cut = extension.description(page_with("word " * 50))
    assert len(cut) <= 160 and cut.endswith("word ...")
    assert extension.description(page_with()) == ""


def test_pages_are_described_and_notebooks_can_be_downloaded() -> None:
    """The description is escaped. Only notebooks have the button."""
    for page, button in (("kinematics", False), ("notebooks/payload", True)):
        context = {"body": "<h1>Title</h1><p>x</p>", "pathto": lambda target, _: f"../{target}"}
        extension.complete_page(None, page, "", context, page_with('a "b"'))
        assert 'content="a &quot;b&quot;"' in context["metatags"]
        assert ('href="../_static/notebooks/payload.ipynb" download' in context["body"]) is button


def test_notebooks_are_copied_to_the_targets_of_their_buttons(tmp_path: Path) -> None:
    """They have their outputs. A failed build copies none."""
    ran = tmp_path / "jupyter_execute/notebooks"
    ran.mkdir(parents=True)
    (ran / "payload.ipynb").write_text("{}")
    app = SimpleNamespace(outdir=tmp_path / "html", builder=SimpleNamespace(name="html"))
    extension.copy_notebooks(app, ValueError())
    assert not (tmp_path / "html").exists()
    extension.copy_notebooks(app, None)
    assert (tmp_path / "html/_static/notebooks/payload.ipynb").read_text() == "{}"
