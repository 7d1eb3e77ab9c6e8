"""Switches of the whole process, each begun by an environment variable."""

from __future__ import annotations

import os


class Config:
    """`warpdyn.config`: switches that may be set at any time."""

    debug: bool
    """Every ordinary call looks at its arrays first and refuses, by environment and joint, numbers
    that are not finite and quaternions that are not of unit length. WARPDYN_DEBUG=1."""

    compile_messages: bool
    """Say what is compiled. WARPDYN_COMPILE_MESSAGES=1."""

    def __init__(self) -> None:
        self.debug = _switched_on("WARPDYN_DEBUG")
        self.compile_messages = _switched_on("WARPDYN_COMPILE_MESSAGES")

    def __repr__(self) -> str:
        return f"<Config: {', '.join(f'{name}={on}' for name, on in vars(self).items())}>"


def _switched_on(variable: str) -> bool:
    return os.environ.get(variable, "") not in ("", "0")


config = Config()
