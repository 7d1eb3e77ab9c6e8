"""Updates of robots that reach a browser and are applied there, by a headless Chromium on this machine.

    python -m benchmarks.viewer

The server is a process of its own. The browser counts: what comes over its websocket, in viser's own
worker; the arrays of poses that go on to WebGL, one for each handle and update; the pictures. Without a
graphics card nearly all of the time goes into drawing, so each case is measured as it is, and with
WebGL's draw calls left out, when the browser does everything but draw.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import viser

import warpdyn as wd
from warpdyn import viewer
from warpdyn.viewer.browser import Browser

CASES = (("panda", 4096, 30.0), ("panda", 256, 60.0), ("panda", 1, 60.0))
"""Robot, how many, and how many updates a second the program asks for."""
SECONDS = 10.0
"""How long is measured, after the browser has applied its first updates [s]."""
RESULT = Path(__file__).parent / "results" / "viewer.json"

SERVER = """
import json, sys, time
import numpy as np
import warp as wp
wp.config.log_level = wp.LOG_ERROR
import warpdyn as wd
from warpdyn import viewer
name, envs, rate = json.loads(sys.argv[1])
model = wd.load_robot(name)
low, high = np.maximum(model.position_lower, -3.0), np.minimum(model.position_upper, 3.0)
phase = np.random.default_rng(0).uniform(0.0, 6.3, (envs, model.nq))
swing = lambda k: (low + high) / 2 + (high - low) / 4 * np.sin(phase + 2 * np.pi * k / 64)
rows = [swing(k).astype(np.float32) for k in range(64)]
page = viewer.show(model, rows[0], controls=False)
print(json.dumps([page.address, len(page.robots["robot"]._handles)]), flush=True)
due, count, spent, begun = time.perf_counter(), 0, 0.0, time.perf_counter()
while True:
    start = time.perf_counter()
    page.update(rows[count % 64])
    now = time.perf_counter()
    count, spent, due = count + 1, spent + now - start, max(due + 1 / rate, now)
    if count % 16 == 0:
        print(json.dumps([count, now - begun, spent]), flush=True)
    time.sleep(max(due - time.perf_counter(), 0.0))
"""

IN_THE_WORKER = """
self.arrived = {messages: 0, bytes: 0, updates: 0};
self.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", (event) => {
      self.arrived.messages += 1;
      self.arrived.bytes += event.data.byteLength;
      if (event.data.byteLength > LEAST) self.arrived.updates += 1;
    });
  }
};
"""

IN_THE_PAGE = """
self.counted = {pictures: 0, uploads: 0};
{
  const upload = WebGL2RenderingContext.prototype.texSubImage2D;
  WebGL2RenderingContext.prototype.texSubImage2D = function (...given) {
    if (given[7] === this.FLOAT) self.counted.uploads += 1;
    return upload.apply(this, given);
  };
  const frame = self.requestAnimationFrame;
  self.requestAnimationFrame = (draw) => frame((at) => { self.counted.pictures += 1; return draw(at); });
  if (UNDRAWN)
    for (const name of ["drawElements", "drawElementsInstanced", "drawArrays", "drawArraysInstanced"])
      WebGL2RenderingContext.prototype[name] = () => {};
}
"""


class Counted:
    """A page in a browser that counts what comes and what it applies."""

    def __init__(self, browser: Browser, address: str, least: int, drawn: bool):
        self.browser = browser
        self.worker = ""
        self._found = threading.Event()
        self._least = least
        self.tab = browser.open("about:blank", 1000, 700)
        browser.listen(self.tab.session, self._heard)
        # viser's connection lives in a worker, which waits until it counts too.
        self.tab.call(
            "Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True
        )
        script = IN_THE_PAGE.replace("UNDRAWN", json.dumps(not drawn))
        self.tab.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        self.tab.go_to(address)
        if not self._found.wait(120.0):
            raise RuntimeError("the page has opened no connection")

    def read(self) -> dict[str, float]:
        """Counts since the page opened, and when they were read [s]."""
        arrived = self._evaluate(self.worker, "self.arrived")
        counted = self._evaluate(self.tab.session, "self.counted")
        return {"at": time.perf_counter(), **arrived, **counted}

    def _evaluate(self, session: str, expression: str) -> Any:
        found = self.browser.call(
            "Runtime.evaluate", session, expression=expression, returnByValue=True
        )
        return found["result"].get("value")

    def _heard(self, method: str, parameters: dict[str, Any]) -> None:
        self.tab.heard(method, parameters)
        if method == "Target.attachedToTarget":
            threading.Thread(target=self._prepare, args=(parameters["sessionId"],)).start()

    def _prepare(self, session: str) -> None:
        script = IN_THE_WORKER.replace("LEAST", str(self._least))
        self.browser.call("Runtime.evaluate", session, expression=script)
        self.browser.call("Runtime.runIfWaitingForDebugger", session)
        self.worker = session
        self._found.set()


def measured(browser: Browser, case: tuple[str, int, float], drawn: bool) -> dict[str, Any]:
    """Updates a second that were sent, that arrived and that were applied; bytes; pictures."""
    name, envs, _ = case
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, json.dumps(case)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        address, handles = json.loads(server.stdout.readline())
        sent: list[list[float]] = []
        lines = server.stdout
        threading.Thread(target=lambda: sent.extend(map(json.loads, lines)), daemon=True).start()
        page = Counted(browser, address, 28 * envs if envs > 1 else 0, drawn)
        end = time.monotonic() + 180.0
        while page.read()["uploads"] < 4 * handles and time.monotonic() < end:
            time.sleep(1.0)
        first, sent_first = page.read(), sent[-1]
        time.sleep(SECONDS)
        last, sent_last = page.read(), sent[-1]
        page.tab.close()
    finally:
        server.kill()
        server.wait()
    passed = last["at"] - first["at"]
    rate = {k: (last[k] - first[k]) / passed for k in first if k != "at"}
    count, begun, spent = np.subtract(sent_last, sent_first)
    return {
        "robot": name,
        "envs": envs,
        "drawn": drawn,
        "handles": handles,
        "sent": count / begun,
        "ms_of_update": 1e3 * spent / count,
        "arrived": rate["updates"],
        "bytes": rate["bytes"],
        "applied": rate["uploads"] / handles,
        "pictures": rate["pictures"],
    }


def page_of_a_trajectory() -> dict[str, Any]:
    """Size of ten seconds at 50 pictures a second, as a page and as a recording [bytes]."""
    arm, times = wd.load_robot("panda"), np.linspace(0, 10, 501)
    shown = viewer.Viewer(port=0)
    shown.add(arm)
    swing = np.sin(times[:, None] * np.linspace(0.5, 1.5, arm.nq)) / 4
    middle = (arm.position_lower + arm.position_upper) / 2
    shown.trajectory(arm, middle + swing * (arm.position_upper - arm.position_lower), times)
    with tempfile.TemporaryDirectory() as folder:
        sizes = {
            k: shown.record(Path(folder) / f"arm.{k}").stat().st_size for k in ("html", "viser")
        }
    shown.stop()
    return sizes


def main() -> None:
    """Measure all cases, print them, and write them into `RESULT`."""
    found: dict[str, Any] = {
        "machine": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "viser": viser.__version__,
        "trajectory": page_of_a_trajectory(),
        "cases": [],
    }
    with Browser() as browser:
        for case in CASES:
            for drawn in (False, True):
                found["cases"].append(measured(browser, case, drawn))
                print(json.dumps(found["cases"][-1]), flush=True)
    RESULT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
