"""The web page of examples/export, built for WebAssembly, computes in a browser what the library does."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsers import served
from painted import evaluate, wait_until

import warpdyn as wd

EXAMPLES = Path(__file__).parents[2] / "examples" / "export"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The page beside a panda's `rnea`, served on loopback."""
    if shutil.which("clang") is None or shutil.which("wasm-ld") is None:
        pytest.skip("there is no clang or no lld here")
    wd.export(wd.load_robot("panda"), [wd.rnea], tmp_path / "panda.h", language="c", libm=False)
    shutil.copy(EXAMPLES / "web.html", tmp_path)
    build = ["clang", "--target=wasm32", "-O2", "-nostdlib", "-ffreestanding", "-Wl,--no-entry"]
    build += [f"-I{tmp_path}", str(EXAMPLES / "web.c"), "-o", str(tmp_path / "panda.wasm")]
    subprocess.run(build, check=True)
    with served(tmp_path) as at:
        yield f"{at}/web.html"


def test_the_exported_page_computes_torques_of_gravity(browser: Any, address: str) -> None:
    """At each move of a slider, to the digits that it shows."""
    tab = browser.open(address)
    count = "document.querySelectorAll('input').length"
    wait_until(lambda: evaluate(tab, count) == 7, "the sliders")
    q = np.zeros(8)
    for joint, angle in ((1, 0.5), (3, -1.2)):
        evaluate(
            tab,
            f"(() => {{ const s = document.querySelectorAll('input')[{joint}];"
            f" s.value = {angle}; s.dispatchEvent(new Event('input')); }})()",
        )
        q[joint] = angle
    shown = evaluate(tab, "[...document.querySelectorAll('b')].map(b => Number(b.textContent))")
    expected = wd.oracle(wd.rnea, wd.load_robot("panda"), q, 0 * q, 0 * q)
    np.testing.assert_allclose(shown, expected[:7], atol=0.0051)
    tab.close()
