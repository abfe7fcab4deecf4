"""Checkpoints: whole round trip, and a clear refusal of everything else."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pytest
import safetensors.torch
import torch

from agents.files import replace_file
from agents.network.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from agents.network.config import NetworkConfig
from agents.network.models import build_model
from draughts_env.errors import DraughtsError
from draughts_env.variants import variant

ENGLISH = variant("english")
SMALL = NetworkConfig(name="small", hidden1=16, hidden2=8)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A checkpoint of a small network."""
    file = tmp_path / "net.safetensors"
    save_checkpoint(file, build_model(SMALL, ENGLISH), SMALL, ENGLISH, {"games": 12})
    return file


@pytest.mark.parametrize("kind", ["sparse", "resmlp", "resnet"])
@pytest.mark.parametrize("name", ["english", "international"])
def test_round_trip(tmp_path: Path, kind: str, name: str) -> None:
    config = NetworkConfig(name="n", kind=kind, hidden1=16, hidden2=8, width=16, blocks=1, channels=4)
    model = build_model(config, variant(name))
    save_checkpoint(tmp_path / "n.safetensors", model, config, variant(name), {"note": "ü", "list": [1, 2.5, None]})
    chance = torch.get_rng_state()
    found = load_checkpoint(tmp_path / "n.safetensors", variant(name))
    assert torch.equal(torch.get_rng_state(), chance)
    assert found.network == config
    assert found.variant is variant(name)
    assert found.meta == {"note": "ü", "list": [1, 2.5, None]}
    assert not found.model.training
    for key, value in model.state_dict().items():
        assert torch.equal(found.model.state_dict()[key], value)
    assert [p.name for p in tmp_path.iterdir()] == ["n.safetensors"]


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no checkpoint at"):
        load_checkpoint(tmp_path / "none.safetensors")
    with pytest.raises(CheckpointError, match="no checkpoint at"):
        load_checkpoint(tmp_path)
    assert issubclass(CheckpointError, DraughtsError)


def test_torn_at_any_length(path: Path) -> None:
    data = path.read_bytes()
    for length in (0, 1, 7, 8, 9, 100, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(CheckpointError, match="no safetensors file, or only part of one"):
            load_checkpoint(path)
    path.write_bytes(data + b"x")
    with pytest.raises(CheckpointError):
        load_checkpoint(path)


class _Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("exploded",)


def test_pickles_are_refused_and_not_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    path.write_bytes(pickle.dumps(_Bomb()))
    with pytest.raises(CheckpointError):
        load_checkpoint(path)
    torch.save({"a": _Bomb()}, path)
    with pytest.raises(CheckpointError):
        load_checkpoint(path)
    assert not Path("exploded").exists()


def header(path: Path, **changes: str | None) -> None:
    """Write the file anew with changes to its header."""
    with safetensors.safe_open(path, framework="pt") as file:
        metadata = dict(file.metadata())
    metadata |= {k: v for k, v in changes.items() if v is not None}
    for key in [k for k, v in changes.items() if v is None]:
        del metadata[key]
    path.write_bytes(safetensors.torch.save(safetensors.torch.load_file(path), metadata))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "pt"}, "no checkpoint of this project"),
        ({"format": None}, "no checkpoint of this project"),
        ({"format_version": "2"}, "has checkpoint format 2; this version of the project reads up to 1"),
        ({"format_version": "x"}, "header that cannot be read"),
        ({"variant": "chess"}, "header that cannot be read: unknown variant 'chess'"),
        ({"network": "{"}, "header that cannot be read"),
        ({"network": "[]"}, "header that cannot be read"),
        ({"network": None}, "header that cannot be read"),
        ({"network": json.dumps({"kind": "gnn"})}, "network.kind must be one of"),
        ({"network": json.dumps({"depth": 3})}, "network.depth is not known"),
        (
            {"network": json.dumps({"hidden1": 16, "hidden2": 9})},
            "does not hold the network its header describes: policy",
        ),
        ({"network": json.dumps({"hidden1": 8000, "hidden2": 8})}, "does not hold the network its header describes"),
        ({"network": json.dumps({"hidden1": 10**9, "hidden2": 8})}, "network.hidden1 must be at most"),
        ({"meta": "[" * 100_000}, "header that cannot be read"),
        ({"variant": "international"}, "does not hold the network its header describes"),
    ],
)
def test_foreign_headers(path: Path, changes: dict[str, str | None], message: str) -> None:
    header(path, **changes)
    with pytest.raises(CheckpointError, match=message.replace("[", r"\[")):
        load_checkpoint(path)


def test_other_safetensors_files(path: Path) -> None:
    path.write_bytes(safetensors.torch.save({"a": torch.zeros(3)}))
    with pytest.raises(CheckpointError, match="no checkpoint of this project"):
        load_checkpoint(path)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers(tmp_path: Path, value: float) -> None:
    model = build_model(SMALL, ENGLISH)
    with torch.no_grad():
        next(model.parameters())[0] = value
    save_checkpoint(tmp_path / "n.safetensors", model, SMALL, ENGLISH, {})
    with pytest.raises(CheckpointError, match="has weights that are not finite numbers: "):
        load_checkpoint(tmp_path / "n.safetensors")


def test_another_variant(path: Path) -> None:
    with pytest.raises(CheckpointError, match="was trained for english, not for russian"):
        load_checkpoint(path, variant("russian"))


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, failing, fail)
        with pytest.raises(OSError, match="No space"):
            save_checkpoint(path, build_model(SMALL, ENGLISH), SMALL, ENGLISH, {})
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_the_new_file_is_whole_before_it_takes_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    seen = []
    replace = os.replace

    def watch(source: Path, target: Path) -> None:
        seen.append((Path(source).read_bytes(), path.read_bytes(), Path(source).parent == path.parent))
        replace(source, target)

    monkeypatch.setattr(os, "replace", watch)
    replace_file(path, b"new")
    assert seen == [(b"new", b"old", True)]
    assert path.read_bytes() == b"new"
