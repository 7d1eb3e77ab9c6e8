"""Defaults of the arguments and fields of models and descriptions."""

from __future__ import annotations

from module_numbers import default_numbers

DEFAULTS = {
    "actuators": {
        "Actuator.gain": (1.0, 0.0, 0.0),
        "Actuator.bias": (0.0, 0.0, 0.0),
        "Actuator.constant": 0.0,
    },
    "builder": {
        "ModelBuilder.add_link.mass": 0.0,
        "ModelBuilder.add_joint.axis": (1.0, 0.0, 0.0),
        "ModelBuilder.add_joint.damping": 0.0,
        "ModelBuilder.add_joint.friction": 0.0,
        "ModelBuilder.add_joint.armature": 0.0,
        "ModelBuilder.add_joint.pitch": 0.0,
        "ModelBuilder.add_joint.damping2": 0.0,
        "ModelBuilder.add_joint.friction2": 0.0,
        "ModelBuilder.build.floating_base": False,
    },
    "conventions": {
        "Convention.quaternion_first": False,
        "Convention.circles": False,
        "Convention.balls": False,
        "Convention.inside": False,
    },
    "description": {
        "Link.mass": 0.0,
        "Link.gravcomp": 0.0,
        "Link.borne": 0.0,
        "Mimic.multiplier": 1.0,
        "Mimic.offset": 0.0,
        "Joint.axis": (1.0, 0.0, 0.0),
        "Joint.damping": 0.0,
        "Joint.friction": 0.0,
        "Joint.armature": 0.0,
        "Joint.damping2": 0.0,
        "Joint.friction2": 0.0,
        "Joint.pitch": 0.0,
        "Joint.spring": 0.0,
        "Joint.rest": 0.0,
    },
    "ground_contact": {
        "ContactFriction.torsional": 0.0,
        "ContactFriction.rolling": 0.0,
        "ContactSoftness.normal": 1.0,
        "ContactSoftness.tangential": 1.0,
        "ContactSoftness.is_pyramidal": False,
        "ContactSoftness.is_bounded": True,
        "GroundContact.torsional": 0.0,
        "GroundContact.rolling": 0.0,
        "GroundContact.margin": 0.0,
        "LimitSoftness.margin": 0.0,
        "LimitSoftness.is_bounded": True,
        "ShapeTouch.condim": 3,
    },
    "joints": {
        "JointKind.has_axis": True,
        "JointKind.needs_limits": False,
        "JointKind.perpendicular": False,
        "JointKind.geared": False,
        "JointKind.threaded": False,
        "JointKind.pitch": 0.0,
    },
    "model": {
        "Model.assemble.floating_base": False,
        "Model.assemble.base_armature": 0.0,
        "Model.assemble.is_simulated": False,
    },
    "old_members": {
        "warn_of_old_name.level": 3,
    },
    "poses_and_limits": {
        "Effects.viscous": 0.0,
        "Effects.coulomb": 0.0,
        "Effects.stiffness": 0.0,
        "Effects.damping": 0.0,
        "Effects.spring": 0.0,
        "Effects.rest": 0.0,
    },
    "quantities": {
        "VaryingQuantity.signed": False,
        "VaryingQuantity.is_effect": False,
        "VaryingQuantity.is_param": True,
    },
    "structure": {
        "Structure.floating_base": False,
        "Structure.base_armature": 0.0,
        "Structure.is_simulated": False,
        "Structure.subtree_joints.fixed": False,
    },
    "tendons": {
        "Tendon.armature": 0.0,
        "Tendon.spring": 0.0,
        "Tendon.slack": (0.0, 0.0),
        "Tendon.damping": 0.0,
        "Tendon.friction": 0.0,
        "Tendon.constant": 0.0,
    },
    "tree": {
        "Body.multiplier": 1.0,
        "Body.offset": 0.0,
        "Body.armature": 0.0,
        "Frame.mass": 0.0,
        "Tree.rate.baumgarte": 0.0,
    },
}


def test_defaults_change_only_on_purpose() -> None:
    assert default_numbers("warpdyn/model") == DEFAULTS
