"""MJCF text for the tests of its reader: five models of ours, and parts of smaller ones."""

from __future__ import annotations

import warnings
from typing import Any

import warpdyn as wd
from warpdyn.formats.mjcf.mjcf import load_mjcf
from warpdyn.model.names import ModelWarning

MUJOCO = 1e-10
"""Relative; MuJoCo makes inertias diagonal and normalises quaternions."""


ARM = """
<mujoco model="arm">
  <compiler angle="degree"/>
  <default>
    <joint armature="0.1" damping="2"/>
    <default class="finger">
      <joint type="slide" axis="0 1 0" armature="0.02" range="-0.1 0.2"/>
      <default class="thumb"><joint axis="0 -1 0.5"/></default>
    </default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <site name="door" pos="1 2 3" euler="10 20 30"/>
    <body name="base" pos="0.1 0.2 0.3" euler="10 20 30">
      <inertial pos="0.1 0 0" mass="5" diaginertia="0.1 0.2 0.25"/>
      <body name="upper" pos="0 0 0.3" quat="0.9 0.1 0 0.2">
        <joint name="shoulder" axis="0 1 1" pos="0.01 0.02 -0.03" range="-90 60" ref="20" frictionloss="0.3"/>
        <inertial pos="0 0.1 0.2" mass="2" quat="0.7 0.1 0.2 0.3" diaginertia="0.02 0.03 0.04"/>
        <body name="fore" pos="0.3 0 0" axisangle="1 2 3 40">
          <joint name="pitch" axis="0 1 0" pos="0.1 0 0" armature="0"/>
          <joint name="reach" type="slide" axis="1 0 0.2" pos="5 5 5" ref="0.1" range="0 0.4"/>
          <joint name="yaw" axis="0 0 3" pos="0 0.2 0" actuatorfrcrange="-3 3"/>
          <inertial pos="0.1 0 0" mass="1.5" fullinertia="0.03 0.02 0.025 0.001 -0.002 0.003"/>
          <site name="tip" pos="0.2 0 0" zaxis="1 0 1"/>
          <frame pos="0.2 0 0.1" euler="0 0 45" childclass="finger">
            <body name="left"><joint name="left"/><inertial pos="0 0 0" mass="0.2" diaginertia="1e-4 1e-4 1e-4"/></body>
            <body name="right">
              <joint name="right" class="thumb"/><inertial pos="0 0 0.1" mass="0.3" diaginertia="1e-4 2e-4 2e-4"/>
            </body>
          </frame>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>"""


WALKER = """
<mujoco model="walker">
  <compiler angle="radian" eulerseq="ZyX"/>
  <default><geom density="800"/><default class="limb"><geom type="capsule" size="0.04"/></default></default>
  <worldbody>
    <light pos="0 0 3"/>
    <body name="torso" pos="0 0 1" euler="0.1 0.2 0.3">
      <freejoint name="root"/>
      <geom name="trunk" type="box" size="0.1 0.15 0.2" pos="0.02 0 0.1"/>
      <geom type="ellipsoid" size="0.08 0.1 0.12" pos="0 0 0.45" euler="0.3 0.2 0.1" mass="4"/>
      <camera name="eye"/>
      <body name="thigh" pos="0 0.1 -0.2" childclass="limb">
        <joint name="hip" type="ball" pos="0 0.01 0.02" damping="1" range="0 1"/>
        <geom fromto="0 0 0 0.05 0 -0.4"/>
        <body name="shin" pos="0.05 0 -0.4" xyaxes="1 0.1 0 0 1 0.2">
          <joint name="knee" axis="0 1 0" range="-2 0"/>
          <geom fromto="0 0 0 0 0 -0.4" size="0.03"/>
          <body name="foot" pos="0 0 -0.4">
            <joint name="ankle" type="ball" armature="0.01"/>
            <geom class="limb" type="cylinder" size="0.05 0.02" shellinertia="true" mass="0.5"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>"""


LOOSE = """
<mujoco>
  <compiler inertiagrouprange="1 2" settotalmass="7"/>
  <worldbody>
    <body name="cube" pos="1 0 0"><joint name="thrown" type="free"/>
      <geom type="box" size="0.1 0.2 0.3" group="1"/><geom size="9" group="3"/></body>
    <frame pos="0 1 0" quat="0 1 0 0">
      <body name="puck"><freejoint name="slipping"/>
        <frame euler="0 30 0" pos="0.1 0 0"><geom type="cylinder" size="0.3 0.05" group="2" euler="20 0 0"/></frame>
        <body name="flag" pos="0 0 0.1"><joint name="wave" axis="1 1 0" pos="0 0 0.01"/>
          <geom group="1" size="0.1" pos="0 0.2 0" mass="0.4"/></body>
      </body>
      <body name="post"><geom group="1" size="0.2"/>
        <body name="swing" pos="0.1 0 0"><joint name="rock" axis="0 1 0"/>
          <geom group="1" size="0.1" pos="0 0 -1"/></body></body>
    </frame>
  </worldbody>
</mujoco>"""


SPHERICAL = """
<mujoco model="spherical">
  <compiler eulerseq="xYz" boundmass="0.5" boundinertia="0.05" balanceinertia="true"/>
  <worldbody>
    <body name="a" euler="10 20 30" pos="0 0 1">
      <joint name="x" axis="1 0 0"/><joint name="y" axis="0 1 0"/><joint name="z" axis="0 0 1"/>
      <inertial pos="0 0 -0.3" mass="0.2" diaginertia="0.3 0.01 0.6" euler="40 50 60"/>
      <body name="b" zaxis="0 -1 0.2" pos="0 0 -0.6">
        <joint name="slide" type="slide" axis="0 1 0"/><joint name="ball" type="ball" pos="0.1 0 0"/>
        <inertial pos="0.1 0 0" mass="1" fullinertia="0.1 0.2 0.15 0.01 0.02 0.03"/>
        <body name="c" zaxis="0 0 -1"><joint name="last" axis="0 1 0" ref="-30"/><geom size="0.2" pos="0 0 0.3"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>"""


GRIPPER = """
<mujoco model="gripper">
  <compiler angle="radian" inertiafromgeom="true"/>
  <worldbody>
    <body name="hand" pos="0 0 1">
      <joint name="turn" axis="0 0 1"/>
      <inertial pos="0 0 0" mass="99" diaginertia="9 9 9"/>
      <geom type="box" size="0.1 0.05 0.02" pos="0.1 0 0"/>
      <body name="l1"><joint name="lead" axis="1 0 0" ref="0.2"/><geom size="0.05" pos="0 0.2 0.1"/>
        <body name="l2" pos="0 0.2 0"><joint name="tip" axis="0 0 1"/><geom size="0.04" pos="0.1 0 0.1"/></body></body>
      <body name="r1"><joint name="follow" axis="1 0 0" ref="-0.1"/><geom size="0.05" pos="0 -0.2 0.1"/></body>
      <body name="cap"><joint name="held" type="slide" axis="0 1 1"/><geom size="0.05" pos="0 0 0.3"/></body>
    </body>
  </worldbody>
  <equality>
    <joint joint1="follow" joint2="lead" polycoef="0.05 -1.5 0 0 0"/>
    <joint joint1="tip" joint2="follow"/>
    <joint joint1="held" polycoef="0.03"/>
    <weld body1="hand" body2="cap" active="false"/>
  </equality>
</mujoco>"""


TEXTS = {"arm": ARM, "walker": WALKER, "loose": LOOSE, "spherical": SPHERICAL, "gripper": GRIPPER}


def load(text: str, **options: Any) -> wd.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load_mjcf(text, **options)


def body(inside: str, **attributes: str) -> str:
    """A file with one body."""
    given = " ".join(f'{key}="{value}"' for key, value in attributes.items())
    return f'<mujoco><worldbody><body name="b" {given}>{inside}</body></worldbody></mujoco>'


INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'


def free(text: str) -> str:
    """The text without its constraints."""
    start, end = text.find("<equality>"), text.find("</equality>")
    return text if start < 0 else text[:start] + text[end + len("</equality>") :]


JOINT_PAIR = f'<body name="a"><joint name="p"/>{INERTIAL}</body><body name="b"><joint name="q"/>{INERTIAL}</body>'


def equality(inside: str) -> str:
    return f"<mujoco><worldbody>{JOINT_PAIR}</worldbody><equality>{inside}</equality></mujoco>"
