"""Fixtures of commands."""

from __future__ import annotations

from short_timing import short_timing as short_timing
