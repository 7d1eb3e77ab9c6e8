"""No exception leaves a callback."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from ros2_node.ros.guards import Guards


def broken(*arguments):
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


def test_an_exception_becomes_a_failure_with_its_place(guards, failures):
    assert guards.callback(broken, 1)("message") is None
    assert failures == [("broken: RuntimeError: got (1, 'message')", None)]


def test_a_failure_names_the_robot_whose_callback_it_was(guards, failures):
    """So that it stays that robot's; a service of several robots is nobody's own."""
    guards.callback(broken, 1, robot=1)("message")
    guards.service(broken, [2])("please", SimpleNamespace())
    guards.service(broken, [0, 1])("please", SimpleNamespace())
    assert [robot for _, robot in failures] == [1, 2, None]


def test_a_service_answers_whatever_happens(guards, failures):
    """With what the function returns, or with the exception's text."""
    served = guards.service(lambda robots, request: (True, f"{robots} {request}"), [3])
    response = served("please", SimpleNamespace())
    assert (response.success, response.message) == (True, "[3] please") and not failures
    response = guards.service(broken, [3])("please", SimpleNamespace())
    assert (response.success, response.message) == (False, "got ([3], 'please')")
    assert failures == [("broken: RuntimeError: got ([3], 'please')", 3)]


def test_a_bad_parameter_is_refused_and_a_broken_change_is_a_failure_too(guards, failures):
    def refuse(changed):
        raise ValueError("too large")

    assert guards.parameters(lambda changed: None, SimpleNamespace)([1]).successful
    answer = guards.parameters(refuse, SimpleNamespace)([1])
    assert (answer.successful, answer.reason) == (False, "too large") and not failures
    assert not guards.parameters(broken, SimpleNamespace)([1]).successful
    assert failures == [("parameters: RuntimeError: got ([1],)", None)]


def test_a_slow_service_answers_whatever_happens(guards, failures):
    """As a quick one, once what it waits for has come."""

    async def answer(robots, request):
        return True, f"{robots} {request}"

    async def fail(robots, request):
        raise RuntimeError("nobody there")

    def served(function, robots):
        return asyncio.run(guards.slow_service(function, robots)("please", SimpleNamespace()))

    response = served(answer, [3])
    assert (response.success, response.message) == (True, "[3] please") and not failures
    for robots in ([3], [0, 1]):
        response = served(fail, robots)
        assert (response.success, response.message) == (False, "nobody there")
    assert failures == [("fail: RuntimeError: nobody there", robot) for robot in (3, None)]
