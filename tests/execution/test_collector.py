"""Python's collector waits in a block, and is on again where it was."""

from __future__ import annotations

import gc

import pytest

from warpdyn.execution.collector import nothing_collected


def test_the_collector_is_as_it_was() -> None:
    """After an error too, and where it was off before."""
    with nothing_collected():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="stop"), nothing_collected():
        raise ValueError("stop")
    assert gc.isenabled()
    gc.disable()
    try:
        with nothing_collected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
