"""Recording of a motion for the identification of a payload."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

MOST = 600_000
"""Largest number of samples."""


class MotionRecord:
    """The states recorded for `~/identify_payload`, and the result.

    find: function of times (N,), q, v and tau (N, ...) that returns the text of the answer, or
    raises ValueError. It runs in a thread, so that torques are sent meanwhile.
    """

    def __init__(
        self, find: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], str]
    ) -> None:
        self._find = find
        self._rows: list[np.ndarray] = []
        self._time = 0.0
        self._until = 0.0
        self.listening = False
        self._broken = False
        self._thread: threading.Thread | None = None
        self._answer: tuple[bool, str] | None = None

    def ask(self, seconds: float) -> tuple[bool, str]:
        """Answer the service: start a recording, end it if `seconds` is 0, or return the result."""
        if self._thread is not None and self._thread.is_alive():
            return False, "computing: call again for the answer"
        self._thread = None
        if self._answer is not None:
            answer, self._answer = self._answer, None
            return answer
        if not self.listening:
            self._rows.clear()
            self._broken = False
            self._time, self._until = 0.0, seconds
            self.listening = True
            end = f"for {seconds:g} s" if seconds else "until the next call"
            return True, f"listening {end}: move the arm, then call again"
        if self._until and seconds:
            none = "" if self._rows else "; no state with efforts has come yet"
            return False, f"listening, {max(self._until - self._time, 0.0):.1f} s are left{none}"
        self.end()
        return True, f"heard {self._time:.1f} s: computing, call again for the answer"

    def add(self, dt: float, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
        """Add a state to the recording, dt [s] after the previous one; 0 is a gap, which
        invalidates the recording."""
        if not self.listening:
            return
        self._broken |= dt <= 0.0 and bool(self._rows)
        self._time += dt
        self._rows.append(np.concatenate([[self._time], q, v, tau]))
        self._sizes = len(q), len(v)
        if (self._until and self._time >= self._until) or len(self._rows) >= MOST:
            self.end()

    def end(self) -> None:
        """Compute the result in a thread."""
        self.listening = False
        self._thread = threading.Thread(target=self._compute, name="identification", daemon=True)
        self._thread.start()

    def _compute(self) -> None:
        try:
            if len(self._rows) < 10:
                raise ValueError("no states with efforts were heard")
            if self._broken:
                raise ValueError("states were lost or efforts were missing meanwhile: try again")
            nq, nv = self._sizes
            rows, self._rows = np.array(self._rows), []
            time, q, v, tau = np.split(rows, np.cumsum([1, nq, nv]), axis=1)
            self._answer = True, self._find(time[:, 0], q, v, tau)
        except Exception as error:  # whatever a motion provokes, it is an answer
            self._answer = False, str(error)
