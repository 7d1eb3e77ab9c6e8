"""Parser of the command line, whose errors suggest the nearest command or option for a misspelled
one."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NoReturn


class CommandParser(argparse.ArgumentParser):
    """A parser that answers a misspelled command or option with "did you mean"."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._arguments: list[str] = []
        self._commands: dict[str, CommandParser] = {}

    def add_subparsers(self, **options: Any) -> Any:
        """Add the commands, whose names are suggested for misspelled ones."""
        commands = super().add_subparsers(**options)
        self._commands = commands.choices
        return commands

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse like `argparse`, and remember the arguments for `error`."""
        self._arguments = [] if args is None else list(args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print usage and message, with suggestions for misspelled names; exit with 2."""
        name = next((each for each in self._arguments if not each.startswith("-")), None)
        if self._commands and name is not None:
            if name not in self._commands:
                hint = (
                    _suggest_option(name, self._commands)
                    or f"; {self.prog} --help lists the commands"
                )
                super().error(f"there is no command {name!r}{hint}")
            self._commands[name].error(message)
        super().error(message + self._suggest_spellings())

    def _suggest_spellings(self) -> str:
        """Unknown options, each with a suggestion."""
        known = self._option_string_actions
        given = (each.partition("=")[0] for each in self._arguments if each.startswith("--"))
        unknown = (each for each in given if each not in known)
        return "".join(_suggest_option(each, known) for each in unknown)


def _suggest_option(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""
