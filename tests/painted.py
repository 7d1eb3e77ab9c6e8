"""A painted robot, the pixels that must show its colours, and a browser to look at it."""

from __future__ import annotations

import base64
from typing import Any

import imageio.v3 as imageio
import numpy as np
import viser
from waiting import wait_until
from websockets.sync.client import ClientConnection, connect

import warpdyn as wd
from warpdyn.viewer.robot_view import rotate_vectors

WIDTH, HEIGHT = 720, 400
PANEL = 340
"""What the controls cover of a page, on its right [pixels]."""
NOTICE = 200
"""What a notice about software WebGL covers, above on the left [pixels]."""

LEAST = 300
"""A link with fewer pixels that are not covered is not looked at."""

RED, GREEN, BLUE = range(3)
COLORS = ("1 0.02 0.02 1", "0.02 0.8 0.02 1", "0.02 0.05 1 1")


def _link(name: str, length: float, color: str) -> str:
    box = f'<geometry><box size="0.16 0.2 {length}"/></geometry>'
    return (
        f'<link name="{name}"><inertial><mass value="1"/><origin xyz="0 0 {length / 2}"/>'
        '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
        f'<visual><origin xyz="0 0 {length / 2}"/>{box}'
        f'<material name="{name}"><color rgba="{color}"/></material></visual></link>'
    )


def _joint(name: str, parent: str, child: str, height: float) -> str:
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0 {height}"/><axis xyz="0 1 0"/>'
        '<limit lower="-2" upper="2" effort="50" velocity="5"/></joint>'
    )


URDF = (
    '<robot name="painted">'
    + _link("red", 0.5, COLORS[RED])
    + _joint("shoulder", "red", "green", 0.55)
    + _link("green", 0.5, COLORS[GREEN])
    + _joint("elbow", "green", "blue", 0.55)
    + _link("blue", 0.4, COLORS[BLUE])
    + "</robot>"
)
MODEL = wd.load_urdf(URDF)
BENT = np.array([0.4, -0.9])


def picture(tab: Any) -> np.ndarray:
    """The present picture of a tab, (HEIGHT, WIDTH, 3)."""
    data = tab.call("Page.captureScreenshot", format="png")["data"]
    return np.asarray(imageio.imread(base64.b64decode(data)))[..., :3]


def evaluate(tab: Any, expression: str) -> Any:
    """The value of a JavaScript expression in a tab."""
    found = tab.call("Runtime.evaluate", expression=expression, returnByValue=True)
    assert "exceptionDetails" not in found, found
    return found["result"].get("value")


def drag(tab: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Press the mouse button, move the mouse, and release the button."""
    steps = (("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end))
    for kind, (x, y) in steps:
        tab.call(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1
        )


def visitor(shown: Any, **options: Any) -> ClientConnection:
    """The connection that a tab would make, without a tab."""
    address = shown.address.replace("http", "ws")
    protocols: Any = [f"viser-v{viser.__version__}"]
    return connect(address, subprotocols=protocols, compression=None, max_size=None, **options)


def colors_of(pixels: np.ndarray) -> np.ndarray:
    """Number of the link with each pixel's colour, lit or in shadow, or -1."""
    pixels = pixels.astype(int)
    order = np.sort(pixels, axis=-1)
    clear = (order[..., 2] > 1.6 * order[..., 1]) & (order[..., 2] > 70)
    return np.where(clear, pixels.argmax(-1), -1)


def expected_links(shown: Any, name: str = "robot") -> np.ndarray:
    """The expected link numbers, from the links' poses, the shapes and the page's camera."""
    view = shown.robots[name]
    return silhouette(shown, view.drawn.solids, view.first)


def silhouette(shown: Any, solids: Any, poses: np.ndarray, height: int = HEIGHT) -> np.ndarray:
    """Number of the nearest link at each pixel, or -1, (HEIGHT, WIDTH). poses: (nlinks, 7). height:
    of the part of the page in which the robot is drawn."""
    camera = shown.stage.server.initial_camera
    ahead = camera.look_at - camera.position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, (0, 0, 1.0))
    right /= np.linalg.norm(right)
    scale = height / 2 / np.tan(camera.fov / 2)
    found = []
    for solid in solids:
        rays = (
            poses[solid.link, :3]
            + rotate_vectors(poses[solid.link, 3:], _points(solid))
            - camera.position
        )
        depth = rays @ ahead
        x = WIDTH / 2 + scale * (rays @ right) / depth
        y = height / 2 + scale * (rays @ np.cross(ahead, right)) / depth
        inside = (x >= 0) & (x < WIDTH) & (y >= 0) & (y < height)
        found.append(np.stack([depth, y, x, np.full(len(x), solid.link)])[:, inside])
    depth, y, x, link = np.concatenate(found, axis=1)
    order = np.argsort(-depth, kind="stable")  # the nearest point is written last
    mask = np.full((HEIGHT, WIDTH), -1)
    mask[y[order].astype(int), x[order].astype(int)] = link[order]
    return mask


def _points(solid: Any) -> np.ndarray:
    """Points all over the triangles of a solid."""
    corners = solid.vertices[solid.faces].astype(float)
    u, v = (x.ravel() for x in np.meshgrid(np.linspace(0, 1, 160), np.linspace(0, 1, 160)))
    inside = u + v <= 1
    weights = np.stack([u[inside], v[inside], 1 - u[inside] - v[inside]], axis=1)
    return np.einsum("pk,tkx->tpx", weights, corners).reshape(-1, 3)


def likeness(pixels: np.ndarray, wanted: np.ndarray) -> list[float]:
    """Pixels that both images give a link, divided by those that either gives it, for each link.

    Pixels under the page's panels do not count. A covered link has 1.
    """
    return likeness_of_colors(colors_of(pixels), wanted)


def likeness_of_colors(seen: np.ndarray, wanted: np.ndarray) -> list[float]:
    """The same for the links of pixels, to be compared with several silhouettes."""
    free = np.ones(seen.shape, bool)
    free[:, WIDTH - PANEL :] = False
    free[:NOTICE, :PANEL] = False
    assert (wanted[free] >= 0).sum() > 0.3 * (wanted >= 0).sum(), "the page covers the robot"
    found = []
    for k in (RED, GREEN, BLUE):
        both = (free & (seen == k) & (wanted == k)).sum()
        either = (free & ((seen == k) | (wanted == k))).sum()
        found.append(float(both / either) if (free & (wanted == k)).sum() > LEAST else 1.0)
    return found


def wait_until_drawn(tab: Any, wanted: np.ndarray, share: float = 0.85) -> np.ndarray:
    """The first picture in which every link is at its expected place."""
    last: list[Any] = []

    def is_drawn() -> bool:
        last[:] = [picture(tab)]
        return min(likeness(last[0], wanted)) > share

    try:
        wait_until(is_drawn, "the robot's drawing")
    except AssertionError as error:
        raise AssertionError(f"{error}; likenesses {likeness(last[0], wanted)}") from None
    return last[0]
