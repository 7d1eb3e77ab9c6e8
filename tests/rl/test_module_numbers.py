"""Numbers with a name in the modules of rl: tolerances, bounds, sizes and times that were chosen."""

from __future__ import annotations

from module_numbers import module_numbers

NUMBERS = {
    "adapters.mujoco_env": {
        "SOFT": 0.02,
        "STIFF": 0.004,
        "CONTACT_STEPS": 8,
        "LEAST_STEPS": 2,
        "STEP_OF_DRIVES": 0.75,
    },
    "deployment.deployment_record": {
        "FORMAT": 1,
        "DIGITS": 6,
    },
    "deployment.policy_match": {
        "SAME": 0.0001,
        "MOST_ENTRIES": 100_000,
    },
    "deployment.portable_program": {
        "LONGEST": 160,
    },
    "deployment.robot_step": {
        "FORCE": 50.0,
        "TORQUE": 5.0,
    },
    "disturbances": {
        "FRICTION": 0.8,
        "BUMPS": 0.02,
        "AT_ONCE": 1000000.0,
    },
    "domain_randomization": {
        "SIDE": 24.0,
        "CELL": 0.1,
        "PLACES": 4.0,
    },
    "export_policy": {
        "OPSET": 18,
        "IR_VERSION": 10,
    },
    "external_forces": {
        "PUSH": 5,
    },
    "initial_policy": {
        "SEEN": 1048576,
    },
    "learners.distillation": {
        "LARGEST_GRADIENT": 1.0,
    },
    "learners.networks": {
        "SMALLEST_DEVIATION": 0.01,
    },
    "learners.ppo": {
        "RATE_STEP": 1.5,
        "LARGEST_GRADIENT": 1.0,
        "SMALLEST_STD": 1e-06,
    },
    "learners.shac": {
        "LARGEST_GRADIENT": 0.5,
        "DEVIATION_RATE": 10.0,
        "SMALLEST_LOG_STD": -4.0,
        "TARGET_SHARE": 0.4,
    },
    "pictures.camera": {
        "DOTS": 64,
    },
    "policy": {
        "LARGEST": 268435456,
        "NO_LOG": 4,
    },
    "random_streams": {
        "FIRST": 7,
        "END": 32,
        "ROOM": 10,
    },
    "settings.task_settings": {
        "LARGEST": 1048576,
    },
    "tasks.allegro_hand": {
        "JOINTS": 16,
        "PALM_MASS": 0.4154,
        "RADIUS": 0.012,
        "TIP_MASS": 0.0168,
        "LEAST_LENGTH": 0.03,
        "SPREAD": 0.0435,
        "EFFORT": 0.7,
        "SPEED": 7.0,
        "ROTORS": 0.001,
    },
    "tasks.getup_tasks": {
        "THICKNESS": 0.06,
        "UPRIGHT": 0.95,
        "AT_HEIGHT": 0.2,
        "AT_REST": 0.5,
    },
    "tasks.humanoid_tasks": {
        "LEGS": 12,
    },
    "tasks.lift_tasks": {
        "SIDE": 0.04,
        "MASS": 0.1,
        "REACHED": 0.02,
        "FIRM": 5.0,
    },
    "tasks.motion_clip": {
        "LARGEST": 268435456,
        "UNIT": 0.01,
        "BEYOND": 0.001,
        "UNEVEN": 0.1,
        "EVEN": 0.001,
    },
    "tasks.panda_hand": {
        "ARM": 7,
        "JOINTS": 9,
        "PAD_HEIGHT": 0.045,
        "ROTORS": 0.1,
        "LEAST_SQUARES": 0.03,
        "WALLS": 5.0,
        "UPRIGHT": 4.0,
        "POSTURE": 1.0,
        "OPEN": 0.04,
    },
    "tasks.panda_tasks": {
        "REACHED": 0.02,
    },
    "tasks.push_tasks": {
        "MASS": 0.2,
        "REACHED": 0.02,
    },
    "tasks.quadruped": {
        "FEET": 4,
        "STIFFNESS": 0.5,
        "DAMPING": 0.02,
        "ARMATURE": 0.0065,
        "VISCOUS": 0.2,
        "STOP_STIFFNESS": 8.0,
        "STOP_DAMPING": 2.0,
        "HEIGHT": 0.3222205708102056,
    },
    "tasks.quadruped_tasks": {
        "LEAST_HEIGHT": 0.06,
    },
    "tasks.reorient_tasks": {
        "SIDE": 0.065,
        "MASS": 0.08,
        "HEIGHT": 0.5,
        "SLOPE": 0.2,
        "LOOSEST": 0.4,
    },
    "tasks.rough_tasks": {
        "LEVELS": 8,
    },
    "tasks.tracking_tasks": {
        "STIFFNESS": 2.5,
        "DAMPING": 0.025,
        "RESIDUAL": 0.25,
        "ARMATURE": 0.01,
        "VISCOUS": 0.1,
    },
    "terms.joint_terms": {
        "FAR": 1000000.0,
        "GRAVITY": 9.81,
    },
    "terms.reward_shapes": {
        "AT_MARGIN": 0.1,
    },
    "varied_simulation": {
        "DRAWN": 1.0,
    },
}


def test_numbers_change_only_on_purpose() -> None:
    """Another value needs another measurement or another reason."""
    assert module_numbers("warpdyn/rl") == NUMBERS
