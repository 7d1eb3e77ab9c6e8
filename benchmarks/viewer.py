"""Updates of robots that reach a browser and are applied there, by a headless Chromium on this machine.

    python -m benchmarks.viewer

The server is a process of its own. The browser counts: what comes over its websocket, in viser's own
worker; the arrays of poses that go on to WebGL, one for each handle and update; the pictures. Without a
graphics card nearly all of the time goes into drawing, so all is measured twice: as it is, and with
WebGL's draw calls left out, when the browser does everything but draw.
"""

from __future__ import annotations

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
self.counted = {pictures: 0, uploads: 0, batches: 0};
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
