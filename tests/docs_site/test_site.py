"""The site that `scripts/docs.sh` has built, in a headless Chromium. The tests are skipped without
one."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest
from public_names import public_names

from docs_site import api_examples

viewer = pytest.importorskip("warpdyn.viewer")
import imageio.v3 as imageio
from browsers import serve
from painted import evaluate, wait_until

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build/site/html"
SHOTS = ROOT / "build/site/screenshots"
"""Where the pictures are left, to be looked at."""

if not (SITE / "index.html").exists():
    pytest.skip("the site is not built: bash scripts/docs.sh", allow_module_level=True)

PAGES = {
    "index.html": ("h1", ".doors .door", "article table", ".recording", "img"),
    "api/dynamics.html": ("h1", "dl.function dt.sig", "#warpdyn\\.rnea", "dd p"),
    "notebooks/five_algorithms.html": ("h1", ".cell_input pre", ".cell_output", "math", "img"),
    "gallery.html": ("h1", ".recording button", "img"),
    "computation.html": ("h1", ".math math", ".cell_output table td", ".cell_output pre"),
    "computation/dynamics.html": ("h1", ".math math", ".highlight pre", "article table td"),
    "coming_from.html": ("h1", ".search-tables input", "article table td"),
}
"""Front page, API, a notebook, the gallery, the computation, equations of algorithms, tables of other
libraries: and what must be seen of each."""

WIDTHS = {"desk": (1280, 900), "phone": (390, 844)}

SEEN = """(selector => {
    const all = [...document.querySelectorAll(selector)];
    return all.some(x => x.getClientRects().length > 0 && x.getBoundingClientRect().width > 0);
})"""
LOADED = (
    "[...document.images].every(x => x.loading === 'lazy' || (x.complete && x.naturalWidth > 0))"
)
BESIDE = """[...document.querySelectorAll('body *')]
    .filter(x => x.getBoundingClientRect().right > innerWidth + 1 && x.getClientRects().length
        && !x.closest('.table-wrapper, pre, math, .math, .sidebar-drawer, .toc-drawer, .highlight, .sig'))
    .slice(0, 5).map(x => x.tagName + '.' + x.className)"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The site, served on loopback."""
    with serve(SITE) as at:
        yield at


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_drawn(browser: Any, address: str, page: str, width: str) -> None:
    """Its parts are visible, its pictures are loaded, and it does not scroll sideways."""
    tab = browser.open(f"{address}/{page}", *WIDTHS[width])
    try:
        wait_until(lambda: evaluate(tab, LOADED), f"the pictures of {page}", 60.0)
        for selector in PAGES[page]:
            assert evaluate(tab, f"{SEEN}({selector!r})"), f"{page} has no {selector}"
        assert evaluate(tab, "document.documentElement.scrollWidth <= innerWidth"), evaluate(
            tab, BESIDE
        )
        data = tab.call("Page.captureScreenshot", format="png")["data"]
        SHOTS.mkdir(parents=True, exist_ok=True)
        name = page.removesuffix(".html").replace("/", "_")
        (SHOTS / f"{name}_{width}.png").write_bytes(base64.b64decode(data))
        pixels = np.asarray(imageio.imread(base64.b64decode(data)))[..., :3]
        assert pixels.std() > 10, "the page is all of one colour"
    finally:
        tab.close()


def test_a_recording_plays(browser: Any, address: str) -> None:
    """Its button replaces it by the shared viewer, which draws a canvas."""
    tab = browser.open(f"{address}/gallery.html", 1280, 900)
    try:
        evaluate(tab, "document.querySelector('.recording button').click()")
        inside = "document.querySelector('.recording iframe')?.contentDocument"
        wait_until(lambda: evaluate(tab, f"!!{inside}?.querySelector('canvas')"), "a canvas")
    finally:
        tab.close()


def test_a_long_table_can_be_searched(browser: Any, address: str) -> None:
    """One row of the matrix remains for a word that only this row has."""
    tab = browser.open(f"{address}/api/matrix.html", 1280, 900)
    rows = "[...document.querySelectorAll('article tbody tr')].filter(x => !x.hidden).length"
    try:
        assert evaluate(tab, rows) > 60
        evaluate(
            tab,
            "(x => { x.value = 'wd.rnea_derivatives'; x.dispatchEvent(new Event('input')); })"
            "(document.querySelector('.table-filter'))",
        )
        assert evaluate(tab, rows) == 1
    finally:
        tab.close()


def test_tables_of_other_libraries_are_searched_together(browser: Any, address: str) -> None:
    """One search field is above all of them. A table without a matching row is hidden."""
    tab = browser.open(f"{address}/coming_from.html", 390, 844)
    rows = "[...document.querySelectorAll('article tbody tr')].filter(x => x.getClientRects().length).length"
    try:
        assert evaluate(tab, "document.querySelectorAll('.table-filter').length") == 1
        before = evaluate(tab, rows)
        evaluate(
            tab,
            "(x => { x.value = 'crba'; x.dispatchEvent(new Event('input')); })"
            "(document.querySelector('.table-filter'))",
        )
        assert before > 200 and 2 < evaluate(tab, rows) < 12
    finally:
        tab.close()


def test_every_public_name_is_in_the_inventory() -> None:
    """Other sites and the search use the inventory."""
    data = (SITE / "objects.inv").read_bytes().split(b"\n", 4)[4]
    known = {line.split()[0] for line in zlib.decompress(data).decode().splitlines()}
    functions = {f"warpdyn.{n}" for n, x in public_names().items() if not isinstance(x, ModuleType)}
    assert not functions - known
    assert "warpdyn.Model.params" in known and "warpdyn.functions.inertial" in known


class Links(HTMLParser):
    """The links of a page, and its anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()
        self.pictures: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = dict(attrs)
        self.targets += [of[n] or "" for n in ("href", "src", "data-recording") if n in of]
        self.places |= {of[n] or "" for n in ("id", "name") if n in of}
        if tag == "img":
            self.pictures[of.get("src") or ""] = of.get("alt") or ""


@pytest.fixture(scope="module")
def links() -> dict[Path, Links]:
    """The links of every page, by file."""
    pages: dict[Path, Links] = {}
    for path in SITE.rglob("*.html"):
        if "_static" not in path.parts:
            pages[path] = Links()
            pages[path].feed(path.read_text())
    assert len(pages) > 80
    return pages


def test_links_within_the_site_have_targets(links: dict[Path, Links]) -> None:
    """Every link of every page leads to a file, and to an anchor in it if it has one. No network is
    needed."""
    for path, page in links.items():
        for link in page.targets:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path.relative_to(SITE)} links to {link}"
            if parts.fragment and target in links:
                assert unquote(parts.fragment) in links[target].places, f"{path.name}: {link}"


HOST = re.compile(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}")


def test_external_links_are_well_formed(links: dict[Path, Links]) -> None:
    """They use https and a public host, and a browser need not correct them. `scripts/docs.sh
    --links` checks whether the hosts answer."""
    found = {
        (path.name, link)
        for path, page in links.items()
        for link in page.targets
        if urlsplit(link).scheme or link.startswith("//")
    }
    assert len(found) > 10
    for name, link in found:
        parts = urlsplit(link)
        assert parts.scheme == "https" and HOST.fullmatch(parts.netloc), f"{name}: {link}"
        assert re.fullmatch(r"[!#$%&'*+,/:;=?@\[\]~\w.()-]*", link), f"{name}: {link}"
        assert not re.search(r"//", parts.path), f"{name}: {link}"


def test_every_picture_has_an_alternative_text(links: dict[Path, Links]) -> None:
    """It is not the name of the file."""
    for path, page in links.items():
        for source, words in page.pictures.items():
            assert len(words) > 10 and "/" not in words, (
                f"{path.relative_to(SITE)}: {source}: {words}"
            )


def test_every_example_is_on_a_page() -> None:
    """It is the text that the tests run, except for spaces."""
    pages = [re.sub(r"<[^>]+>|\s+", "", path.read_text()) for path in (SITE / "api").glob("*.html")]
    shown = unescape(" ".join(pages))
    for name, text in api_examples.examples().items():
        assert re.sub(r"\s+", "", text) in shown, name


def test_the_site_loads_nothing_from_other_hosts() -> None:
    """Scripts, styles and pictures are its own, so it can be read without a network."""
    for path in SITE.rglob("*.html"):
        if "_static" in path.parts:
            continue
        text = path.read_text()
        for mark in (
            '<script src="http',
            '<link rel="stylesheet" type="text/css" href="http',
            '<img src="http',
        ):
            assert mark not in text, f"{path.name}: {mark}"
