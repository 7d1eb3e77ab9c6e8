"""Queries for the joints of controllers, with a simulated clock. tests/ros/test_handing_on.py
covers DDS."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from rcl_interfaces.msg import ParameterType, ParameterValue
from rclpy.task import Future

from ros2_node.ros.controllers import PATIENCE, Controllers
from ros2_node.ros.topics import RobotNames

JOINTS = ("a", "b")
ROBOTS = [RobotNames("r0/", "r0/warpdyn/"), RobotNames("r1/", "r1/warpdyn/")]


class Client:
    def __init__(self):
        self.ready, self.sent, self.removed = True, [], []

    def service_is_ready(self):
        return self.ready

    def call_async(self, request):
        assert list(request.names) == ["joints"]
        self.sent.append(Future())
        return self.sent[-1]

    def remove_pending_request(self, future):
        self.removed.append(future)

    def answer(self, *values):
        self.sent[-1].set_result(SimpleNamespace(values=list(values)))


class Node:
    def __init__(self):
        self.clients = {}

    def create_client(self, kind, name, callback_group):
        self.clients[name] = Client()
        return self.clients[name]


@pytest.fixture
def node():
    return Node()


@pytest.fixture
def controllers(node):
    return Controllers(node, "effort", ROBOTS)


def strings(*names):
    kind = ParameterType.PARAMETER_STRING_ARRAY
    return ParameterValue(type=kind, string_array_value=list(names))


def test_without_a_controller_name_there_is_no_client(node):
    assert not Controllers(node, "", ROBOTS) and not node.clients


def test_each_robots_controller_is_in_its_namespace(node, controllers):
    assert controllers and list(node.clients) == [
        "r0/effort/get_parameters", "r1/effort/get_parameters"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "values, refused, remarked",
    [
        ([strings("a", "b")], "", ""),
        ([strings("b", "a")], "r1/effort takes torques for [b, a]", ""),
        ([], "", "empty or not there"),
        ([ParameterValue()], "", "empty or not there"),
        ([ParameterValue(type=ParameterType.PARAMETER_DOUBLE)], "", "empty or not there"),
    ],
)
def test_the_verdict_follows_from_the_controllers_answer(
    values, refused, remarked, node, controllers
):
    verdict = controllers.ask(1, JOINTS, 10.0)
    controllers.watch(10.1)
    assert not verdict.done()
    node.clients["r1/effort/get_parameters"].answer(*values)
    controllers.watch(10.2)
    found = verdict.result()
    assert found.refusal.startswith(refused) and bool(found.refusal) == bool(refused)
    assert remarked in found.remark and bool(found.remark) == bool(remarked)
    controllers.watch(99.0)  # one answer per query


def test_a_controller_not_found_in_time_gives_a_remark(node, controllers):
    """A controller that is found meanwhile is queried."""
    client = node.clients["r0/effort/get_parameters"]
    client.ready = False
    verdict = controllers.ask(0, JOINTS, 0.0)
    controllers.watch(0.5 * PATIENCE)
    assert not verdict.done() and not client.sent
    late = controllers.ask(0, JOINTS, 0.5 * PATIENCE)
    controllers.watch(PATIENCE)
    assert "there is no such node" in verdict.result().remark
    client.ready = True
    controllers.watch(1.1 * PATIENCE)
    assert client.sent and not late.done()
    controllers.watch(1.5 * PATIENCE)
    assert "no answer within 1 s" in late.result().remark and client.removed == client.sent


def test_a_failed_query_gives_a_remark(node, controllers):
    verdict = controllers.ask(0, JOINTS, 0.0)
    node.clients["r0/effort/get_parameters"].sent[-1].set_exception(RuntimeError("gone"))
    controllers.watch(0.1)
    assert "RuntimeError: gone" in verdict.result().remark
