"""The installed version, and the command that installs missing packages: an extra of `setup.py`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


def install_extra(extra: str) -> str:
    """The command that installs an extra, or several ("ros,rosdemo"), worded as the end of a
    sentence.

    warpdyn is on no package index, so the command runs in a checkout or in an unpacked source
    distribution, as the README says.
    """
    return f"pip install '.[{extra}]' in warpdyn's folder"


@cache
def installed_version() -> str:
    """The installed version of warpdyn, which takes milliseconds to read."""
    try:
        return version("warpdyn")
    except PackageNotFoundError:
        return "not installed"
