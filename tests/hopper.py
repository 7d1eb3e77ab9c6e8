"""A small robot on the ground, and a plan of its motion, for tests of roll-outs."""

from __future__ import annotations

from warpdyn.cli.pictures.roll_out import Plan

HOPPER = """<robot name="hopper">
<link name="trunk"><inertial><mass value="2"/>
<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>
<collision><origin xyz="0 0 -0.05"/><geometry><box size="0.3 0.3 0.1"/></geometry></collision></link>
<link name="tail"><inertial><origin xyz="0 0 0.1"/><mass value="0.1"/>
<inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
<joint name="wag" type="revolute"><parent link="trunk"/><child link="tail"/><axis xyz="0 1 0"/>
<limit lower="0.2" upper="1" effort="2" velocity="10"/></joint></robot>"""
"""A box of 2.1 kg on eight corners, with a driven tail."""

PLAN = Plan(
    **{"envs": 3, "seconds": 1.0, "dt": 0.005, "substeps": 2, "friction": 0.8, "kp": None},
    **{"kd": None, "push": 0.0, "seed": 0, "residual": False, "device": "cpu"},
)
