"""Defaults of the arguments and fields of tasks, training and evaluation."""

from __future__ import annotations

from module_numbers import default_numbers

DEFAULTS = {
    "adapters.mujoco_comparison": {
        "sim2sim.envs": 48,
        "sim2sim.seed": 0,
    },
    "adapters.mujoco_env": {
        "MujocoEnv.seed": 0,
    },
    "adapters.named_environments": {
        "environments.num_envs": 1,
        "environments.tensors": False,
    },
    "adapters.tensorboard_log": {
        "TensorboardLog.steps": 0,
    },
    "disturbances": {
        "evaluate_disturbed.envs": 200,
        "evaluate_disturbed.seed": 0,
    },
    "domain_randomization": {
        "uneven_ground.seed": 0,
    },
    "environment_step": {
        "EnvironmentStep.wait": False,
        "EnvironmentStep.first": 0,
    },
    "evaluation": {
        "Evaluation.nonfinite_actions": 0,
        "Evaluation.failed": 0,
        "evaluate.envs": 256,
        "evaluate.seed": 0,
    },
    "learners.networks": {
        "Network.outputs.bfloat16": False,
    },
    "pictures.camera": {
        "Camera.size": (320, 320),
    },
    "policy": {
        "Policy.threads": 1,
    },
    "progress": {
        "Progress.nonfinite_actions": 0,
        "Progress.teacher_distance": 0.0,
    },
    "recipe": {
        "Recipe.envs": 2048,
        "Recipe.steps": 24,
        "Recipe.epochs": 5,
        "Recipe.batches": 4,
        "Recipe.learning_rate": 0.001,
        "Recipe.kl": 0.01,
        "Recipe.discount": 0.99,
        "Recipe.trace": 0.95,
        "Recipe.clip": 0.2,
        "Recipe.entropy": 0.01,
        "Recipe.deviation": 1.0,
        "Recipe.layers": (128, 128, 64),
        "Recipe.minutes": 8.0,
    },
    "several_processes": {
        "Processes.count": 1,
        "Processes.rank": 0,
        "Processes.here": 1,
        "Processes.rank_here": 0,
    },
    "task": {
        "Episode.in_contact.threshold": 0.0,
        "Task.dt": 0.005,
        "Task.substeps": 4,
        "Task.sweeps": 4,
        "Task.largest_action": 6.0,
        "Task.seconds": 20.0,
        "Task.substep_forces": False,
        "Task.random_start": True,
    },
    "tasks.motion_clip": {
        "velocities_of.closed": False,
    },
    "tasks.quadruped": {
        "Quadruped.action": 0.25,
    },
    "tasks.rough_tasks": {
        "rough_ground.seed": 0,
    },
    "tasks.tracking_tasks": {
        "MotionTracking.ahead": (0.02, 0.1, 0.3),
    },
    "terms.contact_terms": {
        "touching.threshold": 1.0,
        "landing_reward.most": 0.5,
        "stumble.ratio": 4.0,
    },
    "terms.gait_terms": {
        "is_moving.least": 0.001,
        "clock.moving": 1.0,
        "swing_shares.moving": 1.0,
        "gait_match.least": 0.2,
    },
    "terms.joint_terms": {
        "joint_limits.share": 0.9,
        "middle_range.share": 0.9,
        "speed_limits.share": 0.9,
        "torque_limits.share": 0.9,
        "torque_cost.scale": 1.0,
        "deviation.weights": 1.0,
    },
    "training": {
        "Trainer.seed": 0,
        "Trainer.run.save_every": 25,
    },
    "variation": {
        "Vary.seconds": 5.0,
        "Push.seconds": 5.0,
        "Push.least": 0.0,
        "HeldPush.hold": 0.2,
        "HeldPush.seconds": 5.0,
        "DomainRandomization.bumps": 0.0,
    },
    "varied_simulation": {
        "with_its_numbers.moving": True,
    },
    "vec_env": {
        "VecEnv.envs": 1024,
        "VecEnv.seed": 0,
        "VecEnv.first": 0,
    },
}


def test_defaults_change_only_on_purpose() -> None:
    assert default_numbers("warpdyn/rl") == DEFAULTS
