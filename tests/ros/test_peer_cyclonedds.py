"""Eclipse Cyclone DDS, an independent implementation, talks to the node with message types written
by hand. There is no ROS on that side."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
from harness import NodeProcess
from oracle import Oracle

NAMES = [*(f"panda_joint{i}" for i in range(1, 8)), "panda_finger_joint1"]

PEER = r'''
import json, sys, time
from dataclasses import dataclass
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.annotations import final
from cyclonedds.idl.types import float64, int32, sequence, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

@dataclass
@final
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32
    nanosec: uint32

@dataclass
@final
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time
    frame_id: str

@dataclass
@final
class JointState(IdlStruct, typename="sensor_msgs::msg::dds_::JointState_"):
    header: Header
    name: sequence[str]
    position: sequence[float64]
    velocity: sequence[float64]
    effort: sequence[float64]

domain, names, states = int(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])
keep = Domain(domain, """<CycloneDDS><Domain><General>
  <Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces><AllowMulticast>false</AllowMulticast></General>
  <Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>50</MaxAutoParticipantIndex>
  <Peers><Peer address="127.0.0.1"/></Peers></Discovery></Domain></CycloneDDS>""")
participant = DomainParticipant(domain)
qos = Qos(
    Policy.Reliability.Reliable(1_000_000_000),
    Policy.History.KeepLast(100),
    Policy.DataRepresentation(use_cdrv0_representation=True),
)
writer = DataWriter(participant, Topic(participant, "rt/joint_states", JointState), qos=qos)
reader = DataReader(participant, Topic(participant, "rt/warpdyn/torques", JointState), qos=qos)
end = time.monotonic() + 30
while not (writer.get_matched_subscriptions() and reader.get_matched_publications()):
    if time.monotonic() > end:
        sys.exit("the node was not found")
    time.sleep(0.01)
answers = {}
for k, q in enumerate(states, start=1):
    message = JointState(Header(Time(k, 0), ""), names, q, [], [])
    while k not in answers:
        if time.monotonic() > end:
            sys.exit(f"no answer to state {k}")
        writer.write(message)
        until = time.monotonic() + 0.05
        while k not in answers and time.monotonic() < until:
            for sample in reader.take(10):
                answers[sample.header.stamp.sec] = dict(zip(sample.name, sample.effort))
            time.sleep(0.0005)
print(json.dumps([answers[k] for k in range(1, len(states) + 1)]))
'''


def test_the_node_answers_states_from_cyclone_dds(context):
    """Each of 200 states is answered with Pinocchio's torques."""
    import os

    rng = np.random.default_rng(7)
    q = rng.uniform(-2.0, 2.0, (200, 8))
    q[:, 7] = rng.uniform(0.0, 0.04, 200)
    with NodeProcess({"robot_description_file": "panda"}) as node:
        node.wait_for("ready: panda")
        arguments = [os.environ["ROS_DOMAIN_ID"], json.dumps(NAMES), json.dumps(q.tolist())]
        done = subprocess.run(
            [sys.executable, "-c", PEER, *arguments], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        answers = json.loads(done.stdout.splitlines()[-1])
    oracle = Oracle()
    for row, answer in zip(q, answers, strict=True):
        np.testing.assert_allclose([answer[n] for n in NAMES], oracle.torque(NAMES, row), atol=1e-9)
