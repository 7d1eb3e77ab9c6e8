"""The table of outputs: which are requested, their topics, and their values."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import parse

import numpy as np
import pytest
from fleets import MODEL, N, Q, chain_text, panda_settings

import warpdyn as wd
from ros2_node.control.settings.node_settings import BY_NAME, Settings
from ros2_node.control.torques.fleet_dynamics import FleetDynamics
from ros2_node.ros.outputs import OUTPUTS, OutputTopic, WantedOutputs

ROOT = Path(__file__).resolve().parents[3]
EVERYTHING = panda_settings(
    tip_links=["panda_hand"],
    jacobian_links=["panda_hand", "panda_link3"],
    publish_tf=True,
    publish_mass_matrix=True,
)


def output(name):
    (one,) = [o for o in OUTPUTS if o.name == name]
    return one


@pytest.fixture(scope="module")
def dynamics():
    """Two panda robots in different positions."""
    made = FleetDynamics(MODEL, EVERYTHING, 2)
    made.state.q[:] = Q, 0.5 * Q
    return made


@pytest.mark.parametrize("each", OUTPUTS, ids=lambda o: o.name)
def test_each_output_has_a_parameter_that_is_read_at_start(each):
    """Its topics are created once, and the table of the documentation has them."""
    assert BY_NAME[each.parameter].fixed
    assert each.name in (ROOT / "docs" / "ros2.md").read_text()
    assert each.is_requested(EVERYTHING)
    off = Settings.of({"publish_link_poses": False})
    assert not each.is_requested(off)
    assert each.batch is None or (each.is_requested(EVERYTHING) and each.batch_labels)


def test_topics_of_links_are_valid_names():
    """There is one for each link that the parameter names, below the robot's names of the node."""
    links = panda_settings(jacobian_links=["panda_hand", "2nd-link"])
    assert output("jacobian/<link>").topics("r0/w/", links) == [
        "r0/w/jacobian/panda_hand",
        "r0/w/jacobian/_2nd_link",
    ]
    assert output("mass_matrix").topics("~/", links) == ["~/mass_matrix"]


@pytest.mark.parametrize("parameter", ["tip_links", "jacobian_links"])
def test_two_links_do_not_share_a_topic(parameter):
    """Characters that a topic cannot hold become `_`."""
    WantedOutputs(panda_settings(**{parameter: ["tool.1", "tool.2"]}))
    said = f"{parameter}: 'tool.1' and 'tool_1' have the same topic ~/(poses|jacobian)/tool_1"
    with pytest.raises(ValueError, match=said):
        WantedOutputs(panda_settings(**{parameter: ["tool.1", "tool_1"]}))


def test_an_unknown_link_is_refused():
    for values in ({"tip_links": ["nose"]}, {"jacobian_links": ["panda_hand", "nose"]}):
        wanted = WantedOutputs(panda_settings(**values))
        with pytest.raises(ValueError, match="panda has no link 'nose'; its links are panda_link0"):
            wanted.check(MODEL)
    WantedOutputs(EVERYTHING).check(MODEL)


def test_each_function_is_warmed_once(dynamics):
    """Each function of the requested outputs runs once, however many outputs share it."""
    calls = []

    def poses(dynamics, settings):
        calls.append("poses")

    def matrices(dynamics, settings):
        calls.append("matrices")

    table = (
        OutputTopic("names", "publish_link_poses", None, print),
        OutputTopic("one", "publish_link_poses", poses, print),
        OutputTopic("two", "tip_links", poses, print),
        OutputTopic("three", "publish_mass_matrix", matrices, print),
        OutputTopic("four", "start_enabled", matrices, print),
    )
    WantedOutputs(EVERYTHING, table).warm(dynamics)
    assert calls == ["poses", "matrices"]


def test_link_poses_agree_with_forward_kinematics(dynamics):
    """They are (R, nlinks, 7): position and quaternion xyzw of each link in the root link."""
    poses, T = output("link_poses").compute(dynamics, EVERYTHING), wd.fk(MODEL, dynamics.state.q)
    np.testing.assert_allclose(poses[..., :3], T[..., :3, 3], atol=1e-12)
    R = wd.convert.quaternion_to_matrix(np.ascontiguousarray(poses[..., 3:]).reshape(-1, 4))
    np.testing.assert_allclose(R.reshape(2, -1, 3, 3), T[..., :3, :3], atol=1e-12)


def test_joint_transforms_chain_to_the_poses_of_the_links(dynamics):
    """The product over the joints from the root to the hand is the link's pose."""
    values, T = output("/tf").compute(dynamics, EVERYTHING), wd.fk(MODEL, dynamics.state.q)
    moving = [j for j in MODEL.joints if j.kind.nv]
    for i, joint in enumerate(moving):
        for robot in range(2):
            X = np.eye(4)
            X[:3, 3] = values[robot, i, :3]
            X[:3, :3] = wd.convert.quaternion_to_matrix(
                np.ascontiguousarray(values[robot, i : i + 1, 3:])
            )
            parent = T[robot, MODEL.link_index(joint.parent)]
            child = T[robot, MODEL.link_index(joint.child)]
            np.testing.assert_allclose(parent @ X, child, atol=1e-12)


def test_each_robot_has_its_mass_matrix_and_jacobians(dynamics):
    """A dimension that counts topics comes before theirs."""
    M = output("mass_matrix").compute(dynamics, EVERYTHING)
    J = output("jacobian/<link>").compute(dynamics, EVERYTHING)
    assert M.shape == (2, 1, N, N) and J.shape == (2, 2, 6, N)
    np.testing.assert_allclose(M[:, 0], wd.crba(MODEL, dynamics.state.q), atol=1e-12)
    for i, link in enumerate(EVERYTHING.jacobian_links):
        expected = wd.jacobian(MODEL, dynamics.state.q, frame=link, reference="local_world_aligned")
        np.testing.assert_allclose(J[:, i], expected, atol=1e-12)


def test_the_sros2_policy_allows_all_topics_and_services():
    """`config/sros2_policy.xml` lists every output, input and service of the node. Only the
    operator may call those that move the arm."""
    root = parse(ROOT / "config" / "sros2_policy.xml").getroot()

    def policy_entries(enclave, tag, **may):
        ((key, value),) = may.items()
        return {
            x.text
            for group in root.iterfind(f".//enclave[@path='{enclave}']//{tag}[@{key}='{value}']")
            for x in group
        }

    published = policy_entries("/warpdyn", "topics", publish="ALLOW")
    for output in OUTPUTS:
        name = output.name if output.name.startswith("/") else f"~/{output.name}"
        assert name.replace("<link>", "*") in published
    assert {"~/commands", "~/torques", "/diagnostics"} <= published
    heard = policy_entries("/warpdyn", "topics", subscribe="ALLOW")
    assert {"joint_states", "robot_description", "~/reference", "~/external_wrench"} <= heard
    assert {"~/trajectory", "~/twist", "~/law_inputs/*", "~/ft_wrench"} <= heard
    assert "~/trajectory_status" in published
    gate = ("enable", "reset", "reload", "set_parameters")
    assert {f"~/{name}" for name in gate} <= policy_entries("/warpdyn", "services", reply="ALLOW")
    assert {f"/warpdyn/{name}" for name in gate} <= policy_entries(
        "/operator", "services", request="ALLOW"
    )
    assert not policy_entries("/driver", "services", request="ALLOW")


def test_the_refusal_lists_at_most_forty_links():
    chain, links = wd.load_urdf(chain_text(42)), ", ".join(f"l{k}" for k in range(40))
    with pytest.raises(ValueError) as error:
        WantedOutputs(Settings.of({"tip_links": ["l41", "nose"]})).check(chain)
    assert str(error.value) == f"chain has no link 'nose'; its links are {links}"
