"""The arm of the measurements: the bundled panda with seven joints, and the QoS of its topics."""

from __future__ import annotations

from pathlib import Path

import numpy as np

ROBOTS = Path(__file__).resolve().parents[2] / "warpdyn" / "robots"

ARM = [f"panda_joint{i}" for i in range(1, 8)]
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1])
RELIABLE = {
    f"qos_overrides./{topic}.{side}.{key}": value
    for topic, side in (
        ("joint_states", "subscription"),
        ("warpdyn/commands", "publisher"),
        ("warpdyn/torques", "publisher"),
    )
    for key, value in (("reliability", "reliable"), ("depth", 200))
}


def arm_urdf(folder: Path) -> Path:
    """URDF of the bundled panda with fixed fingers: seven joints."""
    text = (ROBOTS / "panda.urdf").read_text()
    head, fingers = text.split('<joint name="panda_finger_joint1"')
    fingers = fingers.replace('type="prismatic"', 'type="fixed"')
    begin = fingers.find("<mimic")
    while begin >= 0:
        fingers = fingers[:begin] + fingers[fingers.index("/>", begin) + 2 :]
        begin = fingers.find("<mimic")
    file = folder / "arm.urdf"
    file.write_text(head + '<joint name="panda_finger_joint1"' + fingers)
    return file
