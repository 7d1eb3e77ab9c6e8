"""Sound robot descriptions of every format, which use as many branches of the readers as possible."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

Files = Mapping[str, bytes]
"""Contents by file name. The first file is the one to load."""


def stl() -> bytes:
    """A tetrahedron, as a binary STL file."""
    corners = ((0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1))
    faces = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    data = bytes(80) + struct.pack("<I", len(faces))
    for face in faces:
        numbers = (0.0, 0.0, 0.0, *(x for k in face for x in corners[k]))
        data += struct.pack("<12fH", *numbers, 0)
    return data


OBJ = b"v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"

URDF = """<robot name="r">
<material name="m"><color rgba="1 0 0 1"/></material>
<link name="base"/>
<link name="a"><inertial><origin xyz="0 0 0.1" rpy="0.1 0 0"/><mass value="1.5"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual name="v"><origin xyz="1 0 0" rpy="0 1 0"/><geometry><box size="1 1 1"/></geometry>
<material name="m"/></visual>
<collision><geometry><cylinder radius="0.1" length="1"/></geometry></collision></link>
<link name="b"><inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
<collision><geometry><mesh filename="part.stl" scale="1 1 1"/></geometry></collision></link>
<link name="c"><inertial><mass value="0.2"/></inertial><visual><geometry><sphere radius="0.1"/>
</geometry></visual></link>
<link name="d"/>
<joint name="j1" type="revolute"><parent link="base"/><child link="a"/>
<origin xyz="0 0 1" rpy="0 1 0"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="3"/>
<dynamics damping="0.1" friction="0.2"/></joint>
<joint name="j2" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="1 0 1"/>
<limit lower="0" upper="1" effort="10" velocity="3"/>
<mimic joint="j1" multiplier="2" offset="0.1"/></joint>
<joint name="j3" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 0 -1"/></joint>
<joint name="j4" type="fixed"><parent link="c"/><child link="d"/><origin xyz="0 0 1"/></joint>
<transmission name="t"/><gazebo reference="a"/>
</robot>
"""
FLOATING = """<?xml version="1.0" encoding="utf-8"?>
<robot name="f">
<link name="root"/>
<link name="body"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0.1" ixz="0" iyz="0"/></inertial></link>
<link name="foot"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="floating_base" type="floating"><parent link="root"/><child link="body"/></joint>
<joint name="ankle" type="planar"><parent link="body"/><child link="foot"/><axis xyz="0 0 1"/>
</joint>
</robot>
"""
MJCF = """<mujoco model="m">
<compiler angle="radian" eulerseq="XYZ" autolimits="true" boundmass="0.001" boundinertia="1e-6" balanceinertia="true"/>
<option gravity="0 0 -9.81" timestep="0.002"/>
<default><joint damping="0.1" armature="0.01"/><geom density="500" friction="1 0.1 0.1"/>
<default class="arm"><joint axis="0 1 0" range="-1 1"/><geom type="capsule" size="0.05"/>
<motor ctrlrange="-1 1" gear="10"/></default>
</default>
<asset><mesh name="part" file="part.stl" scale="1 1 1"/>
<mesh name="inline" vertex="0 0 0 1 0 0 0 1 0 0 0 1" inertia="shell"/>
<material name="red" rgba="1 0 0 1"/><model name="hand" file="hand.xml"/></asset>
<include file="more.xml"/>
<worldbody><geom type="plane" size="1 1 0.1"/><site name="origin"/>
<body name="base" pos="0 0 1" childclass="arm"><freejoint name="root"/>
<geom fromto="0 0 0 0 0 0.3"/>
<body name="a" pos="0 0 0.3" euler="0.1 0 0.2" gravcomp="0.5">
<joint name="a1" ref="0.1" stiffness="2" springref="0.2"/>
<joint name="a2" axis="1 0 0" pos="0 0.1 0" frictionloss="0.1" limited="false"/>
<geom type="box" size="0.1 0.1 0.2" mass="1" material="red"/>
<site name="tip" pos="0 0 0.2" quat="1 1 0 0"/>
<body name="b" pos="0 0 0.2" axisangle="0 1 0 0.5">
<joint name="b1" type="slide" range="0 0.5" actuatorfrcrange="-5 5"/>
<inertial pos="0 0 0.1" mass="0.5" fullinertia="0.1 0.1 0.1 0.01 0 0"/>
<geom type="mesh" mesh="part"/></body>
<body name="c" xyaxes="1 0 0 0 1 0"><joint name="c1" type="ball"/>
<geom type="mesh" mesh="inline" mass="0.3"/>
<frame pos="0 0 0.1" zaxis="0 1 1"><geom type="ellipsoid" size="0.1 0.2 0.1"/></frame></body>
</body>
<replicate count="3" offset="0.1 0 0" euler="0 0 0.2" sep="-"><body name="spoke">
<joint name="s" type="hinge"/><geom type="sphere" size="0.1"/><site name="p"/></body></replicate>
<frame pos="0 0 1" euler="0.1 0 0"><attach model="hand" body="palm" prefix="h_"/></frame>
</body>
<body name="target" mocap="true"><geom type="cylinder" size="0.1 0.2"/></body>
<body name="post"><composite type="cable" prefix="c" curve="cos(s) s 0" count="3 1 1" size="1 1 1" initial="none"
offset="0 0 1"><joint kind="main" damping="0.1" stiffness="1"/><geom type="capsule" size="0.01"/></composite></body>
</worldbody>
<tendon>
<fixed name="t" stiffness="3" damping="0.1" armature="0.02" range="-1 1" springlength="0 0.1">
<joint joint="a1" coef="1"/><joint joint="b1" coef="-2"/></fixed>
<spatial name="u" stiffness="1"><site site="tip"/><site site="origin"/></spatial></tendon>
<equality><joint joint1="a2" joint2="a1" polycoef="0 2 0 0 0"/><weld body1="target" body2="b"/>
</equality>
<actuator><motor name="m1" joint="a1" class="arm"/>
<position joint="b1" kp="10" forcerange="-3 3"/><general tendon="t" gainprm="2" ctrlrange="-1 1"/>
</actuator>
<keyframe><key name="home" qpos="0 0 1 1 0 0 0 0.1 0.2 0.3 1 0 0 0 0 0 0 0.4 1 0 0 0"/><key name="bare"/>
</keyframe>
<sensor><jointpos joint="a1"/></sensor>
</mujoco>
"""
MORE = """<mujoco>
<include file="part.xml"/>
<worldbody><light pos="0 0 1"/><camera pos="0 0 2"/></worldbody>
<contact><exclude body1="a" body2="b"/></contact>
</mujoco>
"""
PART = """<mujoco>
<default><default class="part"><geom rgba="0 1 0 1"/></default></default>
<asset><mesh name="other" file="part.obj"/></asset>
</mujoco>
"""
HAND = """<mujoco model="hand"><compiler angle="degree" meshdir="meshes" boundmass="0.1"/>
<include file="part.xml"/>
<default><joint stiffness="2"/><default class="soft"><joint damping="3"/></default></default>
<worldbody><body name="palm" childclass="soft"><joint name="wrist" range="-90 90"/>
<geom type="box" size="0.1 0.1 0.1" euler="10 20 30"/></body></worldbody>
<actuator><motor joint="wrist" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
SDF = """<sdf version="1.7">
<world name="w"><gravity>0 0 -9.81</gravity>
<model name="ground"><static>true</static><link name="plate"/></model>
<model name="robot" canonical_link="base"><pose>0 0 1 0 0 0</pose>
<link name="base"><inertial><mass>1</mass><pose>0 0 0.1 0 0 0.1</pose><inertia><ixx>0.1</ixx>
<iyy>0.1</iyy><izz>0.1</izz><ixy>0.01</ixy></inertia></inertial>
<collision name="k"><geometry><box><size>1 1 1</size></box></geometry></collision></link>
<link name="arm"><pose relative_to="f">0 0 0.2 0.1 0 0</pose><visual name="v"><geometry><cylinder>
<radius>0.1</radius><length>1</length></cylinder></geometry>
<material><diffuse>1 0 0 1</diffuse></material></visual></link>
<link name="tip"><inertial><mass>0.5</mass></inertial></link>
<frame name="f" attached_to="base"><pose>0 0 0.5 0 0 0</pose></frame>
<joint name="j1" type="revolute"><parent>base</parent><child>arm</child><axis><xyz>0 1 0</xyz>
<limit><lower>-1</lower><upper>1</upper><effort>5</effort></limit>
<dynamics><damping>0.1</damping><friction>0.1</friction></dynamics></axis></joint>
<joint name="j2" type="universal"><pose>0 0 0.1 0 0 0</pose><parent>arm</parent><child>tip</child>
<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
<model name="inner"><link name="in"/><pose relative_to="f">1 0 0 0 0 0</pose></model>
<joint name="j3" type="screw"><parent>inner::in</parent><child>base</child><axis><xyz>0 0 1</xyz>
</axis><thread_pitch>3</thread_pitch></joint>
</model>
<joint name="hold" type="fixed"><parent>ground::plate</parent><child>robot::inner::in</child>
</joint>
</world>
</sdf>
"""
USD = """#usda 1.0
(
    metersPerUnit = 1
    kilogramsPerUnit = 1
    upAxis = "Z"
    defaultPrim = "robot"
)
def PhysicsScene "scene" {
    vector3f physics:gravityDirection = (0, 0, -1)
    float physics:gravityMagnitude = 9.81
}
def Xform "robot" (prepend apiSchemas = ["PhysicsArticulationRootAPI"]) {
def Xform "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {
    float physics:mass = 2
    float3 physics:diagonalInertia = (0.1, 0.2, 0.2)
    point3f physics:centerOfMass = (0, 0, 0.1)
    quatf physics:principalAxes = (1, 0, 0, 0)
    double3 xformOp:translate = (0, 0, 1)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
def Xform "arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {
    quatf xformOp:orient = (0.7, 0, 0, 0.7)
    float3 xformOp:scale = (1, 1, 1)
    uniform token[] xformOpOrder = ["xformOp:orient", "xformOp:scale"]
    def Capsule "c" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMassAPI"]) {
        double radius = 0.1
        double height = 0.5
        uniform token axis = "X"
        float physics:density = 500
    }
    def Cube "k" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {
        double size = 0.1
    }
}
def Xform "hand" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {
    float physics:mass = 0.3
    float3 physics:diagonalInertia = (0.01, 0.01, 0.01)
}
def PhysicsFixedJoint "hold" {
    rel physics:body1 = </robot/base>
    point3f physics:localPos0 = (0, 0, 1)
}
def PhysicsRevoluteJoint "hinge" (prepend apiSchemas = ["PhysicsDriveAPI:angular"]) {
    rel physics:body0 = </robot/base>
    rel physics:body1 = </robot/arm>
    uniform token physics:axis = "Y"
    float physics:lowerLimit = -90
    float physics:upperLimit = 90
    float drive:angular:physics:maxForce = 10
    float physxJoint:armature = 0.01
    point3f physics:localPos0 = (0, 0, 0.2)
    quatf physics:localRot1 = (0.7, 0, 0.7, 0)
}
def PhysicsJoint "generic" (prepend apiSchemas = ["PhysicsLimitAPI:transX",
"PhysicsLimitAPI:transY", "PhysicsLimitAPI:transZ", "PhysicsLimitAPI:rotX", "PhysicsLimitAPI:rotY"]) {
    rel physics:body0 = </robot/arm>
    rel physics:body1 = </robot/hand>
    float limit:transX:physics:low = -1
    float limit:transX:physics:high = 1
    float limit:transY:physics:low = 1
    float limit:transY:physics:high = -1
    float limit:transZ:physics:low = 1
    float limit:transZ:physics:high = -1
    float limit:rotX:physics:low = 1
    float limit:rotX:physics:high = -1
    float limit:rotY:physics:low = 1
    float limit:rotY:physics:high = -1
}
}
"""


def usdc_file(text: str) -> bytes:
    """Binary .usdc file of a .usda text; empty without usd-core."""
    try:
        sdf = import_module("pxr.Sdf")
    except ImportError:
        return b""
    layer = sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(text)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "robot.usdc"
        layer.Export(str(path))
        return path.read_bytes()


_PARTS = {"more.xml": MORE, "part.xml": PART, "hand.xml": HAND}
_MESHES = {"part.stl": stl(), "part.obj": OBJ}
SEEDS: dict[str, Files] = {
    "urdf": {"robot.urdf": URDF.encode()},
    "floating": {"robot.urdf": FLOATING.encode()},
    "mjcf": {"main.xml": MJCF.encode(), **{k: v.encode() for k, v in _PARTS.items()}, **_MESHES},
    "sdf": {"robot.sdf": SDF.encode()},
    "usda": {"robot.usda": USD.encode()},
    "usdc": {"robot.usdc": usdc_file(USD)},
}
