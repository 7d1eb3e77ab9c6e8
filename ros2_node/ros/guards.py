"""Guards of callbacks: an exception in one stops the robots instead of the process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any


class Guards:
    """Wrappers for callbacks. `fail` receives the error's text, and the number of the callback's
    robot or None."""

    def __init__(self, fail: Callable[[str, int | None], None]) -> None:
        self._fail = fail

    def callback(
        self, function: Callable, *first: Any, robot: int | None = None
    ) -> Callable[..., None]:
        """The function with its first arguments set; `robot` is the only robot that it serves, if
        any."""
        fail = self._fail

        def call_guarded(*rest: Any) -> None:
            try:
                function(*first, *rest)
            except Exception as error:
                fail(_text(function.__name__, error), robot)

        return call_guarded

    def service(
        self, function: Callable[[list[int], Any], tuple[bool, str]], robots: list[int]
    ) -> Any:
        """The callback of a service on some robots; an exception is also its answer."""

        def call_guarded(request: Any, response: Any) -> Any:
            try:
                response.success, response.message = function(robots, request)
            except Exception as error:
                self._fail(_text(function.__name__, error), robots[0] if len(robots) == 1 else None)
                response.success, response.message = False, str(error)
            return response

        return call_guarded

    def slow_service(
        self, function: Callable[[list[int], Any], Awaitable[tuple[bool, str]]], robots: list[int]
    ) -> Any:
        """A `service` whose function waits for other nodes; callbacks continue meanwhile."""

        async def call_guarded(request: Any, response: Any) -> Any:
            try:
                response.success, response.message = await function(robots, request)
            except Exception as error:
                self._fail(_text(function.__name__, error), robots[0] if len(robots) == 1 else None)
                response.success, response.message = False, str(error)
            return response

        return call_guarded

    def parameters(
        self, change: Callable[[list[Any]], None], result: type
    ) -> Callable[[list[Any]], Any]:
        """The callback of changed parameters: a ValueError rejects them, any other exception is
        also a fault."""

        def call_guarded(changed: list[Any]) -> Any:
            try:
                change(changed)
            except ValueError as error:
                return result(successful=False, reason=str(error))
            except Exception as error:
                self._fail(_text("parameters", error), None)
                return result(successful=False, reason=str(error))
            return result(successful=True)

        return call_guarded


def _text(name: str, error: Exception) -> str:
    return f"{name}: {type(error).__name__}: {error}"
