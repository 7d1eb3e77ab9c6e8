"""Which model runs, and how the next takes its place; loading and compiling happen in a thread.
No ROS."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from .fleet import Fleet, Shown
from .settings import Settings


@dataclass(frozen=True)
class Built:
    """A finished build: the fleet, or why there is none."""

    fleet: Fleet | None
    refusal: str
    settings: Settings
    text: str


class Event(Enum):
    """What a step did."""

    NOTHING = "nothing"
    READY = "ready"
    """Another model runs; its robots are disabled."""
    PAYLOAD = "payload"
    """The same robot goes on with other inertias, enabled or not."""
    REFUSED = "refused"
    """The old model stays; `refusal` says why."""


class Models:
    """Builds a new fleet beside the running one; a bad one changes nothing, a good one disables
    first.

    One build at a time; of the requests that come meanwhile, the newest follows.
    """

    def __init__(self, counts: Sequence[Counter[str]], shown: Shown | None = None) -> None:
        self.fleet: Fleet | None = None
        self.text = ""
        """The description that the topic gave last."""
        self.refusal = ""
        self._counts, self._shown = counts, shown
        self._source: tuple[str, str, str] | None = None
        self._waiting: tuple[Settings, str] | None = None
        self._finished: Built | None = None
        self._thread: threading.Thread | None = None
        self._next: Built | None = None

    def request(self, settings: Settings) -> bool:
        """Build for these settings. False when nothing describes a robot yet."""
        if not (settings.robot_description or settings.robot_description_file or self.text):
            return False
        self._waiting = (settings, self.text)
        if self._thread is None:
            self._begin()
        return True

    def offer(self, text: str, settings: Settings) -> None:
        """A description from the topic; the one in use is not built again, and parameters win
        over the topic."""
        if settings.robot_description or settings.robot_description_file:
            return
        if text == self.text and text and not self.refusal:
            return
        self.text = text
        if not self.request(settings):
            self.text, self._waiting = " ", None  # an empty text is refused like any other bad one
            self.request(settings)

    def reload(self, settings: Settings) -> bool:
        """Read the description again, from the file if it came from one."""
        self._source = None
        return self.request(settings)

    @property
    def changing(self) -> bool:
        """A finished model waits for the stop sequences of the old one."""
        return self._next is not None

    @property
    def building(self) -> bool:
        """A model is being read, compiled or warmed."""
        return self._thread is not None

    def step(self, settings: Settings, steady: float) -> Event:
        """Look after builds; call it often. `settings` are the present ones."""
        built = self._look()
        if built is not None:
            return self._take(built, settings, steady)
        if self._next is not None and (self.fleet is None or self.fleet.idle):
            return self._swap(self._next, settings)
        return Event.NOTHING

    def _look(self) -> Built | None:
        if self._thread is None or self._thread.is_alive():
            return None
        self._thread, built = None, self._finished
        if self._waiting is not None:
            self._begin()
            return None  # what was built is out of date already
        return built

    def _take(self, built: Built, settings: Settings, steady: float) -> Event:
        fleet = built.fleet
        if fleet is None:
            self.refusal = built.refusal
            return Event.REFUSED
        self.refusal = ""
        if (
            self.fleet is not None
            and self._source == _source(built)
            and self.fleet.can_blend_to(fleet)
        ):
            self.fleet.blend_to(fleet, steady)
            return Event.PAYLOAD
        self._next = built
        if self.fleet is not None:
            self.fleet.stop(steady)
            return Event.NOTHING
        return self._swap(built, settings)

    def _swap(self, built: Built, settings: Settings) -> Event:
        self._next = None
        assert built.fleet is not None
        try:
            built.fleet.change(settings)  # what was set during the build
        except ValueError as error:
            self.refusal = str(error)
            return Event.REFUSED
        if self.fleet is not None:
            for robot in built.fleet.robots:
                robot.wait_for_enable()
        self.fleet, self._source = built.fleet, _source(built)
        return Event.READY

    def _begin(self) -> None:
        assert self._waiting is not None
        self._thread = threading.Thread(
            target=self._build, args=self._waiting, name="model builder", daemon=True
        )
        self._waiting = None
        self._thread.start()

    def _build(self, settings: Settings, text: str) -> None:
        try:
            fleet = Fleet(settings, text, self._counts, self._shown)
            self._finished = Built(fleet, "", settings, text)
        except (ValueError, KeyError, OSError) as error:
            said = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
            self._finished = Built(None, said, settings, text)
        except Exception as error:
            # A description must not be able to end the node, whatever it provokes.
            self._finished = Built(None, f"{type(error).__name__}: {error}", settings, text)


def _source(built: Built) -> tuple[str, str, str]:
    settings = built.settings
    if settings.robot_description or settings.robot_description_file:
        return settings.robot_description, settings.robot_description_file, ""
    return "", "", built.text
