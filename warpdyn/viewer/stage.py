"""A page in the browser: server, light, ground, camera, and the files written from it."""

from __future__ import annotations

import atexit
import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import numpy as np
import rich
import viser

from .connections import check_values, own_origin_only

LOOPBACK, PORT = "127.0.0.1", 8080

GROUND, LINES = (178, 188, 200), (238, 242, 247)

FADES = 8.0
"""Distance from the camera at which the ground fades out, relative to the size of the scene."""

FILLED = 0.85
"""Share of the page's height that the scene fills."""


class ViewerError(ValueError):
    """An error for something that cannot be shown; the message says what to do."""


class Page:
    """A page with light and ground, on which robots stand.

    host, port: address of the server; port 0 means any free port.
    """

    def __init__(self, host: str = LOOPBACK, port: int = PORT):
        with _without_messages(), own_origin_only(host):
            self.server = viser.ViserServer(host, _free(host, port), label="warpdyn", verbose=False)
        check_values(self.server)
        atexit.register(self.stop)
        self.server.gui.configure_theme(show_logo=False, show_share_button=False)
        scene = self.server.scene
        scene.set_up_direction("+z")
        scene.configure_default_lights(False)
        scene.configure_environment_map(None)
        scene.add_light_hemisphere(
            "/light/sky",
            sky_color=(255, 255, 255),
            ground_color=(150, 148, 145),
            intensity=1.0,
            position=(0.0, 0.0, 1.0),
        )
        sun, window = (2.0, -1.2, 4.0), (1.0, -3.0, 1.5)
        scene.add_light_directional("/light/sun", intensity=2.5, cast_shadow=True, position=sun)
        scene.add_light_directional(
            "/light/window", color=(205, 220, 255), intensity=0.5, position=window
        )
        self._ground: Any = None
        self.ground(0.0)

    @property
    def address(self) -> str:
        """Address of the page for a browser."""
        host = self.server.get_host()
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server.get_port()}"

    def ground(self, level: float, size: float = 1.0) -> None:
        """Draw the ground at a height [m], with a grid, for a scene of a size [m]. The spacing of
        its lines and its fading distance scale with powers of two of this size."""
        scale = 2.0 ** round(np.log2(max(size, 1e-3)))
        self._ground = self.server.scene.add_grid(
            "/ground",
            60.0 * scale,
            60.0 * scale,
            cell_size=0.25 * scale,
            section_size=1.0 * scale,
            cell_color=LINES,
            section_color=LINES,
            cell_thickness=0.7,
            section_thickness=1.4,
            plane_color=GROUND,
            plane_opacity=1.0,
            shadow_opacity=0.5,
            fade_distance=FADES * scale,
            fade_strength=1.5,
            position=(0.0, 0.0, level),
        )

    def look(self, low: np.ndarray, high: np.ndarray) -> None:
        """Point the camera so that the box from low to high (3,) [m] fills the page."""
        middle, half = (low + high) / 2, np.maximum((high - low) / 2, 0.05)
        towards = np.array([0.75, -0.9, 0.5])
        towards /= np.linalg.norm(towards)
        right = np.cross((0.0, 0.0, 1.0), towards)
        right /= np.linalg.norm(right)
        corners = half * np.stack(np.meshgrid(*[(-1.0, 1.0)] * 3), axis=-1).reshape(-1, 3)
        aside = np.maximum(np.abs(corners @ right), np.abs(corners @ np.cross(towards, right)))
        camera = self.server.initial_camera
        camera.fov = np.radians(40.0)
        edge = FILLED * np.tan(camera.fov / 2)
        camera.position = middle + towards * float(np.max(corners @ towards + aside / edge))
        camera.look_at = middle

    def stop(self) -> None:
        """End the server, at the program's end at the latest; browsers keep the page as it is."""
        atexit.unregister(self.stop)
        with _without_messages():
            self.server.stop()


@contextlib.contextmanager
def _without_messages() -> Iterator[None]:
    """A block without viser's messages about a server's start and end. viser prints them with rich,
    which in a notebook does not write to stdout."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def _free(host: str, port: int) -> int:
    """The port if it is free; any free port for 0."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except socket.gaierror as error:
            raise ViewerError(f"{host} is not an address to listen at ({error.strerror})") from None
        except OSError as error:
            raise ViewerError(
                f"port {port} of {host} cannot be used ({error.strerror}); choose another, 0 is any free one"
            ) from None
        return int(probe.getsockname()[1])
