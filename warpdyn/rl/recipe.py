"""Numbers for training a policy by proximal policy optimisation (PPO)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from ..model.old_members import OldMember
from .variation import DomainRandomization

Activation = Literal["elu", "relu", "silu", "tanh"]
LearnerName = Literal["warpdyn", "rsl_rl", "shac", "distillation"]
Precision = Literal["auto", "float32", "bfloat16"]


@dataclass(frozen=True)
class Recipe:
    """Numbers of PPO (Schulman et al., arXiv 1707.06347), with the learning rate of rsl_rl.

    envs: number of environments.
    steps: steps of each environment between two updates.
    epochs, batches: passes over these steps, and parts of a pass.
    learning_rate: its initial value. It adapts so that successive policies differ by `kl`.
    discount, trace: gamma and lambda.
    clip, entropy: clipping range of the objective, and weight of the entropy in it.
    deviation: initial standard deviation of the actions.
    layers: widths of the hidden layers of both networks.
    activation: function between two layers: "elu", "relu", "silu" or "tanh".
    learner: "warpdyn", "rsl_rl" for the PPO of rsl_rl 5 (float32 only), "shac" for learning from the
    derivatives of the simulation, or "distillation", which learns a teacher's actions and uses envs,
    steps, epochs, batches, learning_rate and layers only. "shac" does not use kl, clip and entropy,
    and computes in float32; epochs and batches are those of its critic.
    precision: of the hidden layers: "float32", "bfloat16", or "auto": bfloat16 on CPUs that have
    instructions for it (AVX-512 BF16, AMX), else float32. Weights, losses and the last layer are
    always float32.
    vary: a `DomainRandomization`, such as `SIM_TO_REAL`; None for the task's own.
    practice: attributes of the task, by name, that have other values during training,
    `{"seconds": 8.0}`.
    minutes: length of the training in CPU minutes of the process, if no other limit is set.
    """

    envs: int = 2048
    steps: int = 24
    epochs: int = 5
    batches: int = 4
    learning_rate: float = 1e-3
    kl: float = 0.01
    discount: float = 0.99
    trace: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    deviation: float = 1.0
    layers: tuple[int, ...] = (128, 128, 64)
    activation: Activation = "relu"
    learner: LearnerName = "warpdyn"
    precision: Precision = "auto"
    vary: DomainRandomization | None = None
    practice: Mapping[str, Any] = field(default_factory=dict)
    minutes: float = 8.0

    def rsl_rl_config(self, groups: dict[str, list[str]]) -> dict[str, Any]:
        """The configuration of rsl_rl 5."""
        network = {
            "class_name": "rsl_rl.models.MLPModel",
            "hidden_dims": list(self.layers),
            "activation": self.activation,
            "obs_normalization": True,
        }
        law = {
            "class_name": "rsl_rl.modules.distribution.GaussianDistribution",
            "init_std": self.deviation,
        }
        algorithm = {
            "class_name": "rsl_rl.algorithms.PPO",
            "num_learning_epochs": self.epochs,
            "num_mini_batches": self.batches,
            "learning_rate": self.learning_rate,
            "gamma": self.discount,
            "lam": self.trace,
            "entropy_coef": self.entropy,
            "desired_kl": self.kl,
            "schedule": "adaptive",
            "clip_param": self.clip,
            "value_loss_coef": 1.0,
            "max_grad_norm": 1.0,
            "rnd_cfg": None,
            "symmetry_cfg": None,
        }
        # Actor and critic have the same network, but only the actor has a distribution of actions.
        return {
            "num_steps_per_env": self.steps,
            "obs_groups": groups,
            "multi_gpu": None,
            "algorithm": algorithm,
            "actor": {**network, "distribution_cfg": law},
            "critic": network,
        }

    of_rsl_rl = OldMember("of_rsl_rl", "rsl_rl_config")

    def as_dict(self) -> dict[str, Any]:
        """All numbers by name."""
        return asdict(self)
