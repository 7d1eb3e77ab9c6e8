"""A page in the browser: server, light, ground, camera, and what is written of it."""

from __future__ import annotations

import contextlib
import io
import socket
from typing import Any

import numpy as np
import viser

LOOPBACK, PORT = "127.0.0.1", 8080

SKY = (235, 240, 247)
GROUND = (214, 219, 226)


class ViewerError(ValueError):
    """What cannot be shown, and what to do."""


class Page:
    """A page with light and ground, on which robots stand.

    host, port: where the server listens; a port of 0 is any free one.
    """

    def __init__(self, host: str = LOOPBACK, port: int = PORT):
        with contextlib.redirect_stdout(io.StringIO()):  # viser says its address in a box
            self.server = viser.ViserServer(host, _free(host, port), label="warpdyn", verbose=False)
        self.server.gui.configure_theme(show_logo=False, show_share_button=False)
        scene = self.server.scene
        scene.set_up_direction("+z")
        scene.configure_default_lights(False)
        scene.configure_environment_map(None)
        scene.add_light_hemisphere(
            "/light/sky", sky_color=(255, 255, 255), ground_color=(140, 145, 155), intensity=1.4
        )
        scene.add_light_directional(
            "/light/sun", intensity=2.2, cast_shadow=True, position=(3.0, -2.5, 6.0)
        )
        scene.set_background_image(np.full((1, 1, 3), SKY, dtype=np.uint8))
        self._ground: Any = None
        self.ground(0.0)

    @property
    def address(self) -> str:
        """Where a browser finds the page."""
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    def ground(self, level: float, size: float = 40.0) -> None:
        """The ground at a height [m], a grid of metres."""
        self._ground = self.server.scene.add_grid(
            "/ground",
            size,
            size,
            cell_size=0.25,
            section_size=1.0,
            cell_color=(200, 205, 212),
            section_color=(172, 178, 188),
            plane_color=GROUND,
            plane_opacity=1.0,
            shadow_opacity=0.3,
            position=(0.0, 0.0, level),
        )

    def look(self, low: np.ndarray, high: np.ndarray) -> None:
        """The camera so that the box from low to high (3,) [m] fills the page."""
        middle, size = (low + high) / 2, max(float(np.linalg.norm(high - low)), 0.2)
        towards = np.array([0.75, -0.9, 0.5])
        camera = self.server.initial_camera
        camera.fov = np.radians(40.0)
        camera.position = middle + towards / np.linalg.norm(towards) * 1.25 * size
        camera.look_at = middle

    def stop(self) -> None:
        """End the server; browsers keep what they have."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()


def _free(host: str, port: int) -> int:
    """The port, if nobody listens there; any free one for 0."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ViewerError(
                f"port {port} of {host} cannot be used ({error.strerror}); choose another, 0 is any free one"
            ) from None
        return int(probe.getsockname()[1])
