"""Checks of connections to a page, and of values that a browser sends.

viser 1.1 accepts websockets from every web page that is open in the user's browser, and sets any
attribute that a message names. This module restricts both, through parts of viser that are not
public. A probe tests that they work, and a warning appears if a page's connections are not checked.
"""

from __future__ import annotations

import contextlib
import inspect
import ipaddress
import threading
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import viser
import websockets
from viser import _messages
from viser.infra import _infra

infra: Any = _infra
_starting = threading.Lock()


@contextlib.contextmanager
def own_origin_only(host: str) -> Iterator[None]:
    """A viser server that starts in this block accepts websockets only from its own pages.

    While it starts, `websockets` in viser's module is replaced by a namespace with the same names,
    whose `serve` checks each request first.
    """
    checked = False

    def serve(*args: Any, **options: Any) -> Any:
        nonlocal checked
        checked = True
        process = options.pop("process_request", None)

        async def process_request(connection: Any, request: Any) -> Any:
            problem = refusal(request.headers, host)
            if problem:
                return connection.respond(403, problem + "\n")
            answer = None if process is None else process(connection, request)
            return await answer if inspect.isawaitable(answer) else answer

        return websockets.asyncio.server.serve(*args, process_request=process_request, **options)

    # One start at a time, because the replacement is global in viser's module.
    with _starting:
        replaced = getattr(infra, "websockets", None) is websockets
        if replaced:
            server = SimpleNamespace(**{**vars(websockets.asyncio.server), "serve": serve})
            asynchronous = SimpleNamespace(**{**vars(websockets.asyncio), "server": server})
            infra.websockets = SimpleNamespace(**{**vars(websockets), "asyncio": asynchronous})
        try:
            yield
        finally:
            if replaced:
                infra.websockets = websockets
    if not checked:
        _warn("which web pages connect to the viewer")


def refusal(headers: Any, host: str) -> str:
    """Reason for refusing a request for a websocket of a page at `host`; empty if it is allowed.

    A browser names the requesting page in `Origin`; a program that is not a browser sends none. On
    the loopback interface `Host` must be a loopback name too, because a stranger can make the name
    of their page point to this machine.
    """
    if str(headers.get("Upgrade", "")).lower() != "websocket":
        return ""
    origin, asked = headers.get("Origin"), headers.get("Host", "")
    if origin is None:
        return ""
    found = urlsplit(origin)
    if found.scheme not in ("http", "https") or found.netloc.lower() != asked.lower():
        return f"a page of {origin} may not connect to the viewer at {asked}"
    if _loopback(host) and not _loopback(found.hostname or ""):
        return f"the viewer listens on this machine alone, and {found.hostname} is another name"
    return ""


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_values(server: viser.ViserServer) -> None:
    """Restrict browsers to changing values of sliders, switches and handles, within the possible
    values."""
    try:
        gui = server.gui
        handlers = gui._websock_interface._incoming_handlers
        of_gui = handlers[_messages.GuiUpdateMessage]
        of_scene = handlers[_messages.TransformControlsUpdateMessage]
        known = gui._gui_input_handle_from_uuid
    except (AttributeError, KeyError):
        _warn("what a browser sends to the viewer")
        return
    of_gui[:] = [_only_for(lambda m: _take_value(known, m), each) for each in of_gui]
    of_scene[:] = [_only_for(_finite_pose, each) for each in of_scene]


def _only_for(good: Callable[[Any], bool], handler: Callable[..., Any]) -> Callable[..., Any]:
    """A handler that is called only for messages that `good` accepts."""

    async def checked_handler(client: Any, message: Any) -> None:
        if good(message):
            answer = handler(client, message)
            if inspect.isawaitable(answer):
                await answer

    return checked_handler


def _take_value(known: dict[str, Any], message: Any) -> bool:
    """Reduce a message to a value that its control can have; False if there is none."""
    handle = known.get(message.uuid) if isinstance(message.uuid, str) else None
    updates = message.updates
    if handle is None or not isinstance(updates, dict) or "value" not in updates:
        return False
    value = possible_value(handle, updates["value"])
    message.updates = {"value": value}
    return value is not None


def possible_value(handle: Any, value: Any) -> Any:
    """A value that a control can have: a slider's within its limits, one of a dropdown's options;
    None for a value of another kind."""
    now = handle.value
    if isinstance(now, bool):
        return value if isinstance(value, bool) else None
    if isinstance(now, (int, float)):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        if not np.isfinite(value):
            return None
        low, high = getattr(handle, "min", None), getattr(handle, "max", None)
        value = value if low is None else max(low, value)
        return value if high is None else min(high, value)
    if isinstance(now, str):
        options = getattr(handle, "options", None)
        good = isinstance(value, str) and (options is None or value in options)
        return value if good else None
    return value if isinstance(value, (type(now), list)) else None


def _finite_pose(message: Any) -> bool:
    """True if a handle has a finite position and orientation."""
    for values, size in ((message.wxyz, 4), (message.position, 3)):
        if not isinstance(values, (list, tuple)) or len(values) != size:
            return False
        if any(isinstance(x, bool) or not isinstance(x, (int, float)) for x in values):
            return False
        if not np.isfinite(values).all():
            return False
    return bool(np.linalg.norm(message.wxyz) > 0.0)


def _warn(what: str) -> None:
    warnings.warn(
        f"{what} is not checked: warpdyn does not support viser {viser.__version__}; "
        "pip install 'viser==1.1.1'",
        stacklevel=4,
    )
