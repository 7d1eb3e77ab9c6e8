"""These tests are for versions of CPython whose structures the C functions read. With other
versions, calls take the path in Python, which all other tests then check."""

import pytest

from warpdyn.execution.native.versions import are_tested


@pytest.fixture(autouse=True)
def _tested_versions(request: pytest.FixtureRequest) -> None:
    if request.path.name != "test_versions.py" and not are_tested():
        pytest.skip("calls take the path in Python with this version of CPython")
