"""Parts of a model that written files cannot have: refused if they act in the dynamics, otherwise
named in a warning."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from robots import by_name

import warpdyn as wd
from warpdyn.model.writers.left_out import refuse_forces, warn_of_left_out
from warpdyn.model.writers.to_urdf import urdf_text

TEXT = """<mujoco model="leg"><worldbody><body name="hip" gravcomp="{gravcomp}"><freejoint name="free"/>
<geom size="0.1"/><body name="shin"><joint name="knee" axis="0 1 0" {joint}/><geom size="0.1"/>
<body name="sole"><joint name="ankle" axis="1 0 0"/><geom type="box" size="0.1 0.1 0.1"/></body></body></body>
</worldbody>{more}</mujoco>"""

TENDON = """<tendon><fixed name="cable" {}><joint joint="knee" coef="1"/><joint joint="ankle" coef="2"/>
</fixed></tendon>"""


def leg(joint: str = "", more: str = "", gravcomp: float = 0.0) -> wd.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        return wd.load(TEXT.format(joint=joint, more=more, gravcomp=gravcomp))


def with_base_spring() -> wd.Model:
    stiff = wd.description.Effects(spring=2.0)
    return replace(leg(), base_springs=(stiff,) * 6)


FORCES = {
    "an armature of the free base; dataclasses.replace": lambda: replace(leg(), base_armature=1.0),
    "springs of the free base": lambda: with_base_spring().with_springs("description"),
    r"weight compensation; with_gravity_compensation\(0\)": lambda: leg().with_gravity_compensation(
        {"shin": 0.5}
    ),
    "armature and forces along tendons": lambda: leg(more=TENDON.format('armature="0.5"')),
    r"armature and forces along tendons; dataclasses\.replace\(model, tendons": lambda: leg(
        more=TENDON.format('stiffness="3"')
    ).with_springs("description"),
    "closed loops": lambda: replace(by_name("panda").model, loops=(LOOP,)),
}
LOOP = wd.description.Loop("weld", "panda_hand", "panda_link0")


@pytest.mark.parametrize("words", FORCES)
def test_forces_of_the_dynamics_are_refused(words: str) -> None:
    """The file would describe a robot with other joint forces."""
    model = FORCES[words]()
    for write in (model.to_urdf, model.to_usd, lambda: refuse_forces(model, "URDF")):
        with pytest.raises(wd.ModelError, match=f"^{model.name}: .* cannot express {words}"):
            write()


DATA = {
    "springs: knee": lambda: leg('stiffness="5"'),
    "springs of the free base: hip": with_base_spring,
    "softness of limits: knee": lambda: leg('range="-1 1" limited="true" solreflimit="0.1 1"'),
    "weight compensation: hip": lambda: leg(gravcomp=1.0),
    "tendons: cable": lambda: leg(more=TENDON.format('stiffness="3"')),
    "actuators: drive": lambda: leg(more='<actuator><motor name="drive" joint="knee"/></actuator>'),
}


@pytest.mark.parametrize("words", DATA)
def test_data_that_a_simulation_reads_is_named_in_a_warning(words: str) -> None:
    model = DATA[words]()
    for name, write in (("URDF", model.to_urdf), ("USD", model.to_usd)):
        with pytest.warns(wd.ModelWarning, match=f"^{name} of leg leaves out {words}$") as caught:
            write()
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        urdf_text(model)
        leg().to_urdf()
        leg().to_usd()


def test_shapes_and_more_data_are_counted() -> None:
    """The first three of many names are written."""
    part = wd.description.Geometry("ellipsoid", (1.0, 2.0, 3.0))
    model = leg()
    links = tuple(replace(link, visuals=(*link.visuals, part)) for link in model.links)
    model = replace(model, links=links)
    with pytest.warns(wd.ModelWarning, match="shapes: 3 ellipsoid$"):
        model.to_urdf()
    said = r"leaves out damping: a, b, c and 2 more; shapes: 3 ellipsoid; shapes: 2 box$"
    with pytest.warns(wd.ModelWarning, match=said):
        warn_of_left_out(model, "USD", ("sphere",), {"damping": "abcde"})


def test_numbers_of_ball_joints_are_not_left_out_of_usd_silently() -> None:
    """Their armature is part of the mass matrix."""
    builder = wd.ModelBuilder("swing").add_link("base").add_link("bob", mass=1.0, inertia=np.eye(3))
    builder.add_joint("hip", "ball", "base", "bob", damping=0.5)
    model = builder.build()
    with pytest.warns(wd.ModelWarning, match="USD of swing leaves out damping and friction: hip$"):
        model.to_usd()
    with pytest.raises(wd.ModelError, match=r'"hip": .* armature of a ball joint; with_armature'):
        model.with_armature({"hip": 0.1}).to_usd()
