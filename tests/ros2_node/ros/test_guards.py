"""Guards of callbacks: no exception leaves one."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from ros2_node.ros.guards import Guards


def failing_callback(*arguments):
    raise RuntimeError(f"got {arguments}")


@pytest.fixture
def failures():
    return []


@pytest.fixture
def guards(failures):
    return Guards(lambda *what: failures.append(what))


def test_a_callback_gets_its_first_arguments_and_the_message(guards, failures):
    got = []
    guards.callback(lambda *x: got.append(x), 1, 2)("message")
    assert got == [(1, 2, "message")] and not failures


def test_an_exception_becomes_a_failure_with_the_callbacks_name(guards, failures):
    assert guards.callback(failing_callback, 1)("message") is None
    assert failures == [("failing_callback: RuntimeError: got (1, 'message')", None)]


def test_a_failure_names_the_robot_of_its_callback(guards, failures):
    """The failure then stops only this robot. A service of several robots names none."""
    guards.callback(failing_callback, 1, robot=1)("message")
    guards.service(failing_callback, [2])("please", SimpleNamespace())
    guards.service(failing_callback, [0, 1])("please", SimpleNamespace())
    assert [robot for _, robot in failures] == [1, 2, None]


def test_a_service_answers_even_if_its_function_raises(guards, failures):
    """The answer is the function's result or the exception's text."""
    served = guards.service(lambda robots, request: (True, f"{robots} {request}"), [3])
    response = served("please", SimpleNamespace())
    assert (response.success, response.message) == (True, "[3] please") and not failures
    response = guards.service(failing_callback, [3])("please", SimpleNamespace())
    assert (response.success, response.message) == (False, "got ([3], 'please')")
    assert failures == [("failing_callback: RuntimeError: got ([3], 'please')", 3)]


def test_bad_parameters_are_refused_and_exceptions_are_failures_too(guards, failures):
    def refuse(changed):
        raise ValueError("too large")

    assert guards.parameters(lambda changed: None, SimpleNamespace)([1]).successful
    answer = guards.parameters(refuse, SimpleNamespace)([1])
    assert (answer.successful, answer.reason) == (False, "too large") and not failures
    assert not guards.parameters(failing_callback, SimpleNamespace)([1]).successful
    assert failures == [("parameters: RuntimeError: got ([1],)", None)]


def test_a_slow_service_answers_even_if_its_function_raises(guards, failures):
    """It answers like a quick one, after its wait."""

    async def answer(robots, request):
        return True, f"{robots} {request}"

    async def fail(robots, request):
        raise RuntimeError("nobody there")

    def call_slow_service(function, robots):
        return asyncio.run(guards.slow_service(function, robots)("please", SimpleNamespace()))

    response = call_slow_service(answer, [3])
    assert (response.success, response.message) == (True, "[3] please") and not failures
    for robots in ([3], [0, 1]):
        response = call_slow_service(fail, robots)
        assert (response.success, response.message) == (False, "nobody there")
    assert failures == [("fail: RuntimeError: nobody there", robot) for robot in (3, None)]
