"""A training that begins with the networks of an earlier one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from policy_files import linear_policy
from rl_cases import DoubledSpeed, Hold

from warpdyn.rl import initial_policy
from warpdyn.rl.deployment import deployment_record

RECIPE = rl.Recipe(envs=16, steps=4, epochs=1, batches=2, layers=(8,))


@pytest.fixture(scope="module")
def first_training(tmp_path_factory: pytest.TempPathFactory) -> tuple[rl.Trainer, Path]:
    folder = tmp_path_factory.mktemp("first")
    trainer = rl.Trainer(Hold(), recipe=RECIPE, folder=folder)
    list(trainer.run(iterations=3))
    rl.export(trainer, folder / "policy.onnx")
    return trainer, folder


def test_a_training_begun_from_a_policy_file_acts_as_the_file(
    first_training: tuple[rl.Trainer, Path],
) -> None:
    """The actions agree to the rounding of the normalisation. The critic is new."""
    first, folder = first_training
    second = rl.Trainer(Hold(), recipe=RECIPE, seed=1, init=folder / "policy.onnx")
    seen = torch.randn(5, 6)
    assert torch.allclose(first.policy()(seen), second.policy()(seen), atol=1e-5)
    critics = [x.learner.critic.last.weight for x in (first, second)]
    assert not torch.equal(*critics)
    assert next(iter(second.run(iterations=1))).iteration == 1


def test_the_hash_of_a_policy_file_does_not_change_between_versions(tmp_path: Path) -> None:
    """Checkpoints store this hash of the file from which the training began."""
    (tmp_path / "policy.onnx").write_bytes(b"a policy")
    assert initial_policy.file_hash(tmp_path / "policy.onnx") == "1b551587059622f0"
    with pytest.raises(rl.TaskError, match=r"none\.onnx cannot be read: No such file"):
        initial_policy.file_hash(tmp_path / "none.onnx")


def test_a_training_begun_from_a_checkpoint_has_both_networks(
    first_training: tuple[rl.Trainer, Path],
) -> None:
    """A resumed training must name the same initial file."""
    first, folder = first_training
    again = folder / "again"
    second = rl.Trainer(Hold(), recipe=RECIPE, seed=1, init=folder / "checkpoint.pt", folder=again)
    for part in ("actor", "critic"):
        one, two = (x.learner.state()[part] for x in (first, second))
        assert all(torch.equal(one[n], two[n]) for n in one)
    list(second.run(iterations=1))
    assert (
        rl.Trainer(
            Hold(), recipe=RECIPE, seed=1, init=folder / "checkpoint.pt", folder=again
        ).iteration
        == 1
    )
    with pytest.raises(
        rl.TaskError, match=r"belongs to another training run, with init \w+ instead of none;"
    ):
        rl.Trainer(Hold(), recipe=RECIPE, seed=1, folder=again)


def test_the_deviation_of_a_checkpoint_overrides_the_recipes(
    first_training: tuple[rl.Trainer, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line is printed if they differ. From a policy file the recipe's deviation is used."""
    first, folder = first_training
    lines: list[str] = []
    monkeypatch.setattr(initial_policy, "say", lines.append)
    other = replace(RECIPE, deviation=0.3)
    for file, deviation in (("checkpoint.pt", first.learner.deviation), ("policy.onnx", 0.3)):
        second = rl.Trainer(Hold(), recipe=other, init=folder / file)
        assert second.learner.deviation == pytest.approx(deviation)
    rl.Trainer(Hold(), recipe=RECIPE, init=folder / "checkpoint.pt")
    (line,) = lines
    assert "checkpoint.pt" in line and "the recipe's deviation, 0.3, has no effect" in line


def test_networks_of_other_sizes_are_refused(first_training: tuple[rl.Trainer, Path]) -> None:
    _, folder = first_training
    wide = rl.Recipe(envs=16, steps=4, epochs=1, batches=2, layers=(16, 8))
    with pytest.raises(rl.TaskError, match=r"--set recipe.layers=8"):
        rl.Trainer(Hold(), recipe=wide, init=folder / "policy.onnx")
    said = (
        r"its task Hold observes 6 \(policy\), .*layers \[8\] .* observes 6, with layers \[16, 8\]"
    )
    with pytest.raises(rl.TaskError, match=said):
        rl.Trainer(Hold(), recipe=wide, init=folder / "checkpoint.pt")
    (folder / "my.py").write_text("a file of one's own")
    with pytest.raises(rl.TaskError, match=r"; name the policy.onnx or the checkpoint.pt of"):
        rl.Trainer(Hold(), recipe=RECIPE, init=folder / "my.py")
    with pytest.raises(rl.TaskError, match=r"observes 6 numbers; CartpoleSwingUp for cartpole"):
        rl.Trainer(rl.CartpoleSwingUp(), recipe=RECIPE, init=folder / "policy.onnx")
    other = replace(RECIPE, activation="tanh")
    with pytest.raises(rl.TaskError, match="activation relu and the recipe tanh"):
        rl.Trainer(Hold(), recipe=other, init=folder / "policy.onnx")
    with pytest.raises(rl.TaskError, match="no such policy file"):
        rl.Trainer(Hold(), recipe=RECIPE, init=folder / "none.onnx")


class OtherOrder(Hold):
    """Its policy observes the same terms in another order, its critic another term of that size."""

    groups = {"policy": ("speed", "off", "last"), "hidden": ("last", "speed", "more")}  # noqa: RUF012


class OtherRobot(Hold):
    """The same task for another robot of the same size."""

    def __init__(self) -> None:
        super().__init__()
        self.model = self.model.rename(name="other_pendulum")


def test_a_checkpoint_with_other_observations_is_refused(
    first_training: tuple[rl.Trainer, Path],
) -> None:
    """The sizes of the networks fit, but terms would be mistaken for others."""
    file = first_training[1] / "checkpoint.pt"
    words = (
        r"policy: off \(2\), speed \(2\), last \(2\); hidden: .*; OtherOrder observes "
        r"policy: speed \(2\), off \(2\), last \(2\); hidden: last \(2\), speed \(2\), more \(3\)"
    )
    with pytest.raises(rl.TaskError, match=words):
        rl.Trainer(OtherOrder(), recipe=RECIPE, init=file)
    with pytest.raises(rl.TaskError, match=r"the robot double_pendulum; OtherRobot is for other"):
        rl.Trainer(OtherRobot(), recipe=RECIPE, init=file)


def test_a_checkpoint_of_an_earlier_version_is_accepted_with_a_remark(
    first_training: tuple[rl.Trainer, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not record what its task observed."""
    whole = torch.load(first_training[1] / "checkpoint.pt", weights_only=True)
    del whole["terms"], whole["deployment"]
    torch.save(whole, tmp_path / "checkpoint.pt")
    remarks = list[str]()
    monkeypatch.setattr(initial_policy, "say", remarks.append)
    rl.Trainer(Hold(), recipe=RECIPE, init=tmp_path / "checkpoint.pt")
    assert "does not record what its task observed" in "".join(remarks)


@pytest.mark.parametrize("kind", ["policy.onnx", "checkpoint.pt"])
def test_an_rsl_rl_training_begins_from_a_file(kind: str, tmp_path: Path) -> None:
    recipe = replace(RECIPE, learner="rsl_rl", activation="elu")
    first = rl.Trainer(Hold(), recipe=recipe, seed=0, folder=tmp_path)
    list(first.run(iterations=2))
    rl.export(first, tmp_path / "policy.onnx")
    second = rl.Trainer(Hold(), recipe=recipe, seed=1, init=tmp_path / kind)
    seen = torch.randn(5, 6)
    assert torch.allclose(first.policy()(seen), second.policy()(seen), atol=1e-5)


@pytest.mark.parametrize("kind", ["policy.onnx", "checkpoint.pt"])
def test_a_file_with_another_observation_prints_a_remark(
    kind: str, first_training: tuple[rl.Trainer, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    remarks = list[str]()
    monkeypatch.setattr(deployment_record, "say", remarks.append)
    rl.Trainer(DoubledSpeed(), recipe=RECIPE, init=first_training[1] / kind)
    assert "its observe() or update() computed another speed" in "".join(remarks)


def test_randomisation_in_training_prints_no_remark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file's record is that of the task without it. Late targets and biased encoders are kept in
    memory, which the task without randomisation does not have."""
    late = rl.DomainRandomization(
        {
            "latency": rl.Vary(0.0, 0.02, how="abs"),
            "encoder_bias": rl.Vary(-0.01, 0.01, how="abs"),
        }
    )
    recipe = replace(RECIPE, vary=late)
    first = rl.Trainer(Hold(), recipe=recipe)
    list(first.run(iterations=1))
    rl.export(first, tmp_path / "policy.onnx")
    remarks = list[str]()
    monkeypatch.setattr(deployment_record, "say", remarks.append)
    rl.Trainer(Hold(), recipe=recipe, init=tmp_path / "policy.onnx")
    assert not remarks


def test_a_network_that_warpdyn_did_not_export_is_refused(tmp_path: Path) -> None:
    path = linear_policy(tmp_path / "a.onnx", np.zeros((6, 2)), task="Hold")
    with pytest.raises(
        rl.TaskError, match=r"a\.onnx is not a policy that warpdyn exported: it has the"
    ):
        initial_policy.network_of_onnx(path)


@pytest.mark.parametrize("layers", [(7, 5), (5,)])
def test_a_network_of_any_depth_is_read_from_its_file(
    layers: tuple[int, ...], tmp_path: Path
) -> None:
    trainer = rl.Trainer(Hold(), recipe=replace(RECIPE, layers=layers), folder=tmp_path)
    rl.export(trainer, tmp_path / "policy.onnx")
    network = initial_policy.network_of_onnx(tmp_path / "policy.onnx")
    assert [layer.out_features for layer in network.linear_layers[:-1]] == [*layers]
    given = torch.randn(5, 6)
    assert torch.allclose(trainer.policy()(given), network(given), atol=1e-5)
