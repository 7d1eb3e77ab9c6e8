"""The web page of examples/export, built for WebAssembly, gives the library's results in a
browser."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsers import serve
from painted import evaluate
from waiting import wait_until

import warpdyn as wd

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "export"
KEPT = ROOT / "docs_site" / "static" / "panda.wasm"
"""The program that the site hands out."""


def build_program(folder: Path) -> None:
    """Build a panda's `rnea` for the page in a folder."""
    if shutil.which("clang") is None or shutil.which("wasm-ld") is None:
        pytest.skip("there is no clang or no lld here")
    wd.export(wd.load_robot("panda"), [wd.rnea], folder / "panda.h", language="c", libm=False)
    build = ["clang", "--target=wasm32", "-O2", "-nostdlib", "-ffreestanding", "-Wl,--no-entry"]
    build += [f"-I{folder}", str(EXAMPLES / "web.c"), "-o", str(folder / "panda.wasm")]
    subprocess.run(build, check=True)


@pytest.fixture(params=["built", "kept"])
def address(request: Any, tmp_path: Path) -> Iterator[str]:
    """The page, served on loopback next to the program that clang builds or that of the site."""
    if request.param == "built":
        build_program(tmp_path)
    else:
        shutil.copy(KEPT, tmp_path)
    for name in ("web.html", "web.js"):
        shutil.copy(EXAMPLES / name, tmp_path)
    with serve(tmp_path) as at:
        yield f"{at}/web.html"


def test_the_exported_page_computes_gravity_torques(browser: Any, address: str) -> None:
    """They are right to the digits shown at each move of a slider. Sliders have the limits of the
    joints."""
    model = wd.load_robot("panda")
    tab = browser.open(address)
    sliders = "[...document.querySelectorAll('.torques input')]"
    wait_until(lambda: evaluate(tab, f"{sliders}.length") == 7, "the sliders")
    for k, bounds in enumerate((model.position_lower, model.position_upper)):
        found = evaluate(tab, f"{sliders}.map(s => Number(s.{('min', 'max')[k]}))")
        np.testing.assert_allclose(found, bounds[:7])
    for joint, angle in ((1, 0.5), (3, -1.2)):
        evaluate(
            tab,
            f"(s => {{ s.value = {angle}; s.dispatchEvent(new Event('input')); }})({sliders}[{joint}])",
        )
    q = np.zeros(8)
    q[:7] = evaluate(tab, f"{sliders}.map(s => Number(s.value))")
    np.testing.assert_allclose(q[[1, 3]], [0.5, -1.2], atol=1e-3)
    outputs = "[...document.querySelectorAll('.torques output')].map(o => parseFloat(o.value))"
    expected = wd.oracle(wd.rnea, model, q, 0 * q, 0 * q)
    np.testing.assert_allclose(evaluate(tab, outputs), expected[:7], atol=0.0051)
    tab.close()


def test_the_page_names_its_missing_program(browser: Any, tmp_path: Path) -> None:
    """The page without its program shows the file's name instead of sliders."""
    for name in ("web.html", "web.js"):
        shutil.copy(EXAMPLES / name, tmp_path)
    with serve(tmp_path) as at:
        tab = browser.open(f"{at}/web.html")
        said = "document.querySelector('.torques').textContent"
        wait_until(lambda: "panda.wasm: 404" in evaluate(tab, said), "the message")
        tab.close()
