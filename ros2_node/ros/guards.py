"""Callbacks that rclpy may call: an exception in one stops the robots instead of the process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any


class Guards:
    """Wraps callbacks; `fail` gets the text of what went wrong, and the number of the robot
    whose callback it was, or None."""

    def __init__(self, fail: Callable[[str, int | None], None]) -> None:
        self._fail = fail

    def callback(
        self, function: Callable, *first: Any, robot: int | None = None
    ) -> Callable[..., None]:
        """The function with its first arguments set; `robot` is the one that it serves alone."""
        fail = self._fail

        def guarded(*rest: Any) -> None:
            try:
                function(*first, *rest)
            except Exception as error:
                fail(_text(function.__name__, error), robot)

        return guarded

    def service(
        self, function: Callable[[list[int], Any], tuple[bool, str]], robots: list[int]
    ) -> Any:
        """The callback of a service on some robots; an exception is also its answer."""

        def guarded(request: Any, response: Any) -> Any:
            try:
                response.success, response.message = function(robots, request)
            except Exception as error:
                self._fail(_text(function.__name__, error), robots[0] if len(robots) == 1 else None)
                response.success, response.message = False, str(error)
            return response

        return guarded

    def slow_service(
        self, function: Callable[[list[int], Any], Awaitable[tuple[bool, str]]], robots: list[int]
    ) -> Any:
        """Guard, as `service` does, a function that waits for others; callbacks go on meanwhile."""

        async def guarded(request: Any, response: Any) -> Any:
            try:
                response.success, response.message = await function(robots, request)
            except Exception as error:
                self._fail(_text(function.__name__, error), robots[0] if len(robots) == 1 else None)
                response.success, response.message = False, str(error)
            return response

        return guarded

    def parameters(
        self, change: Callable[[list[Any]], None], result: type
    ) -> Callable[[list[Any]], Any]:
        """The callback of changed parameters: a ValueError is a refusal, another exception a
        fault as well."""

        def guarded(changed: list[Any]) -> Any:
            try:
                change(changed)
            except ValueError as error:
                return result(successful=False, reason=str(error))
            except Exception as error:
                self._fail(_text("parameters", error), None)
                return result(successful=False, reason=str(error))
            return result(successful=True)

        return guarded


def _text(name: str, error: Exception) -> str:
    return f"{name}: {type(error).__name__}: {error}"
