"""Updates of robots that reach a headless Chromium on this machine and are applied there.

    python -m benchmarks.viewer

The server is a separate process. Three readers measure each case: `wire` is a connection like a page's
that only reads; `undrawn` is the browser without WebGL draw calls; `drawn` is the complete browser,
which draws on the CPU if there is no graphics card. The browser counts the messages on its websocket in
viser's own worker, and the frames that show something new. For many robots it also counts the pose
arrays that are passed to WebGL, one for each moving body.
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
from websockets.sync.client import connect

import warpdyn as wd
from warpdyn import viewer
from warpdyn.viewer.browser import Browser

CASES = (("panda", 4096, 30.0), ("panda", 256, 60.0), ("panda", 1, 60.0))
"""Robot, how many, and how many updates a second the program asks for."""
READERS = ("wire", "undrawn", "drawn")
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
moving = sum(body.link > 0 for body in page.robots["robot"].bodies)
print(json.dumps([page.address, moving]), flush=True)
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
self.counted = {pictures: 0, fresh: 0, uploads: 0};
{
  let waiting = false;
  self.Worker = class extends Worker {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", (event) => {
        waiting ||= event.data?.type === "message_batch";
      });
    }
  };
  const upload = WebGL2RenderingContext.prototype.texSubImage2D;
  WebGL2RenderingContext.prototype.texSubImage2D = function (...given) {
    if (given[7] === this.FLOAT) self.counted.uploads += 1;
    return upload.apply(this, given);
  };
  const frame = self.requestAnimationFrame;
  self.requestAnimationFrame = (draw) => frame((at) => {
    self.counted.pictures += 1;
    self.counted.fresh += waiting;
    waiting = false;
    return draw(at);
  });
  if (UNDRAWN)
    for (const name of ["drawElements", "drawElementsInstanced", "drawArrays", "drawArraysInstanced"])
      WebGL2RenderingContext.prototype[name] = () => {};
}
"""


class CountingPage:
    """A browser page that counts received and applied messages."""

    def __init__(self, browser: Browser, address: str, least: int, drawn: bool):
        self.browser = browser
        self.worker = ""
        self._found = threading.Event()
        self._least = least
        self.tab = browser.open("about:blank", 1000, 700)
        browser.listen(self.tab.session, self._handle)
        # viser's connection is in a worker, which waits until it counts, too.
        self.tab.call(
            "Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True
        )
        script = IN_THE_PAGE.replace("UNDRAWN", json.dumps(not drawn))
        self.tab.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        self.tab.go_to(address)
        if not self._found.wait(120.0):
            raise RuntimeError("the page has opened no connection")

    def read(self) -> dict[str, float]:
        """Counts since the page opened, and the time of reading [s]."""
        arrived = self._evaluate(self.worker, "self.arrived")
        counted = self._evaluate(self.tab.session, "self.counted")
        return {"at": time.perf_counter(), **arrived, **counted}

    def close(self) -> None:
        """Close the tab."""
        self.tab.close()

    def _evaluate(self, session: str, expression: str) -> Any:
        found = self.browser.call(
            "Runtime.evaluate", session, expression=expression, returnByValue=True
        )
        return found["result"].get("value")

    def _handle(self, method: str, parameters: dict[str, Any]) -> None:
        self.tab.handle_event(method, parameters)
        if method == "Target.attachedToTarget":
            threading.Thread(target=self._prepare, args=(parameters["sessionId"],)).start()

    def _prepare(self, session: str) -> None:
        script = IN_THE_WORKER.replace("LEAST", str(self._least))
        self.browser.call("Runtime.evaluate", session, expression=script)
        self.browser.call("Runtime.runIfWaitingForDebugger", session)
        self.worker = session
        self._found.set()


class Reader:
    """A connection like a page's that counts messages and ignores their contents."""

    def __init__(self, address: str, least: int):
        protocols: Any = [f"viser-v{viser.__version__}"]
        place = address.replace("http", "ws")
        self._connection = connect(place, subprotocols=protocols, compression=None, max_size=None)
        self._least, self._counts = least, {"messages": 0, "bytes": 0, "updates": 0}
        threading.Thread(target=self._run, daemon=True).start()

    def read(self) -> dict[str, float]:
        """Counts so far, and the time of reading [s]."""
        return {"at": time.perf_counter(), **self._counts}

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _run(self) -> None:
        for message in self._connection:
            self._counts["messages"] += 1
            self._counts["bytes"] += len(message)
            self._counts["updates"] += len(message) > self._least


def measure(browser: Browser, case: tuple[str, int, float], reader: str) -> dict[str, Any]:
    """Updates per second that were sent, received and applied; bytes; frames."""
    name, envs, asked = case
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, json.dumps(case)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        address, moving = json.loads(server.stdout.readline())
        sent: list[list[float]] = []
        lines = server.stdout
        threading.Thread(target=lambda: sent.extend(map(json.loads, lines)), daemon=True).start()
        least = 28 * envs if envs > 1 else 0
        page: Reader | CountingPage
        if reader == "wire":
            page, wanted = Reader(address, least), {"updates": 20.0}
        else:
            page = CountingPage(browser, address, least, reader == "drawn")
            wanted = {"updates": 20.0, "fresh": 4.0, "uploads": 4.0 * moving * (envs > 1)}
        end = time.monotonic() + 180.0
        while any(page.read()[k] < wanted[k] for k in wanted) and time.monotonic() < end:
            time.sleep(0.5)
        first, sent_first = page.read(), sent[-1]
        time.sleep(SECONDS)
        last, sent_last = page.read(), sent[-1]
        page.close()
    finally:
        server.kill()
        server.wait()
    passed = last["at"] - first["at"]
    rate = {k: (last[k] - first[k]) / passed for k in first if k != "at"}
    count, begun, spent = np.subtract(sent_last, sent_first)
    found = {
        "robot": name,
        "envs": envs,
        "reader": reader,
        "asked": asked,
        "sent": count / begun,
        "ms_of_update": 1e3 * spent / count,
        "arrived": rate["updates"],
        "bytes": rate["bytes"],
    }
    if reader != "wire":
        found["applied"] = rate["uploads"] / moving if envs > 1 else rate["fresh"]
        found["pictures"] = rate["pictures"]
    return found


def page_of_a_trajectory() -> dict[str, Any]:
    """Size of ten seconds at 50 frames per second, as a page and as a recording [bytes]."""
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
    """Measure all cases, print them and write them to `RESULT`."""
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
            for reader in READERS:
                found["cases"].append(measure(browser, case, reader))
                print(json.dumps(found["cases"][-1]), flush=True)
    RESULT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
