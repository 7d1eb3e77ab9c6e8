"""Reading a checkpoint runs no code of the file. A file that is not a checkpoint is refused."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from rl_cases import Hold

from warpdyn.rl.checkpoint import NEEDED, _reason, read_checkpoint

NAME = "checkpoint.pt"


class Code:
    """An object whose pickle calls the operating system when it is loaded."""

    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.mark),)


def refusal(folder: Path) -> str:
    with pytest.raises(rl.TaskError) as caught:
        rl.Trainer(Hold(), seed=0, folder=folder)
    assert "\n" not in str(caught.value)
    assert f"{folder / NAME} is not a training checkpoint: " in str(caught.value)
    assert str(caught.value).endswith("choose another folder, or remove that file")
    return str(caught.value)


@pytest.mark.parametrize("written_by", ["pickle", "torch"])
def test_code_in_a_checkpoint_is_not_run(tmp_path: Path, written_by: str) -> None:
    """An untrusted file in the working folder is refused before any of it runs."""
    mark, path = tmp_path / "ran", tmp_path / NAME
    if written_by == "torch":
        torch.save({"of": {}, "learner": Code(mark)}, path)
    else:
        path.write_bytes(pickle.dumps(Code(mark)))
    assert "objects other than tensors, numbers and strings, which could run code" in refusal(
        tmp_path
    )
    assert not mark.exists()


@pytest.mark.parametrize("words", ["Weights only load failed", "pass weights_only=False"])
def test_code_is_recognised_in_the_messages_of_all_torch_releases(words: str) -> None:
    """Releases of Torch report code in a file in different words."""
    assert "could run code" in _reason(RuntimeError(words))


def test_files_that_are_not_checkpoints_are_refused(tmp_path: Path) -> None:
    """Text, an empty file, a folder, a pipe, a list, and a dictionary with a wrong set of keys."""
    path = tmp_path / NAME
    for content in (b"", b"import numpy as np\n", b"PK\x03\x04 cut off"):
        path.write_bytes(content)
        said, is_archive = refusal(tmp_path), content[:1] == b"P"
        assert "which could run code" not in said
        assert ("it was not written by torch.save" in said) == (not is_archive)
    torch.save([1, 2], path)
    assert "it holds a list, not a dictionary" in refusal(tmp_path)
    torch.save({"of": {}}, path)
    assert "it has no 'environments', 'observations'" in refusal(tmp_path)
    torch.save(dict.fromkeys(NEEDED, 5), path)
    assert "its 'environments' is a int, not a dict" in refusal(tmp_path)
    path.unlink()
    path.mkdir()
    assert "not a regular file" in refusal(tmp_path)
    path.rmdir()
    os.mkfifo(path)
    assert "not a regular file" in refusal(tmp_path)


def test_contents_that_do_not_fit_the_training_are_refused(tmp_path: Path) -> None:
    """A checkpoint of this training with one entry of another type or shape."""
    list(rl.Trainer(Hold(), seed=0, folder=tmp_path).run(iterations=1))
    path = tmp_path / NAME
    whole = read_checkpoint(path)
    for name, wrong in (
        ("environments", {}),
        ("observations", {"policy": torch.zeros(3)}),
        ("learner", {}),
        ("curve", [(1,)]),
        ("seconds", (1.0,)),
    ):
        torch.save({**whole, name: wrong}, path)
        assert "its contents do not fit this training" in refusal(tmp_path), name
