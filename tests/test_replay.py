"""Samples and the replay window."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest
from training_fakes import ENGLISH, samples

from agents.network.features import feature_count, fill_features
from agents.training.replay import Replay, window_size
from agents.training.samples import COLUMNS, SampleBlock, SampleError, concat, load_block, save_block
from draughts_env.kernels import U


def same(a: SampleBlock, b: SampleBlock) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in COLUMNS)


def part(block: SampleBlock, index: list[int]) -> SampleBlock:
    """Some samples of a block, the slow way."""
    actions = [block.actions[block.offsets[i] : block.offsets[i + 1]] for i in index]
    probs = [block.probs[block.offsets[i] : block.offsets[i + 1]] for i in index]
    names = ("boards", "clocks", "result", "value", "weight", "game")
    return SampleBlock(
        **{name: getattr(block, name)[index] for name in names},
        offsets=np.r_[0, np.cumsum([len(a) for a in actions])].astype(np.int64),
        actions=np.concatenate(actions),
        probs=np.concatenate(probs),
    )


# --- blocks -----------------------------------------------------------------------------------------


def test_file_round_trip(tmp_path: Path) -> None:
    block = samples(30)
    block.validate(1034)
    save_block(tmp_path / "a.npz", block)
    assert same(load_block(tmp_path / "a.npz"), block)
    save_block(tmp_path / "a.npz", SampleBlock.empty())
    assert len(load_block(tmp_path / "a.npz")) == 0
    assert [p.name for p in tmp_path.iterdir()] == ["a.npz"]


def test_concat_is_splitting_backwards() -> None:
    block = samples(25)
    assert same(concat([part(block, list(range(7))), SampleBlock.empty(), part(block, list(range(7, 25)))]), block)
    assert same(concat([]), SampleBlock.empty())


def test_torn_and_foreign_files(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with pytest.raises(SampleError, match="no samples at"):
        load_block(path)
    save_block(path, samples(30))
    data = path.read_bytes()
    for length in (0, 10, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(SampleError, match="does not hold samples"):
            load_block(path)
    middle = len(data) // 2
    path.write_bytes(data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :])
    with pytest.raises(SampleError):
        load_block(path)
    np.savez(path, boards=np.zeros(3))
    with pytest.raises(SampleError):
        load_block(path)
    with open(path, "wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(SampleError):
        load_block(path)


class _Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("exploded",)


def test_pickled_arrays_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("a.npz", boards=np.array([_Bomb()], dtype=object))
    with pytest.raises(SampleError):
        load_block(Path("a.npz"))
    assert not Path("exploded").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"boards": np.zeros((5, 3), np.uint64)}, "boards"),
        ({"result": np.zeros(5, np.int16)}, "result is int16"),
        ({"result": np.full(5, 2, np.int8)}, "result is not 1, 0 or -1"),
        ({"value": np.full(5, np.nan, np.float32)}, "value"),
        ({"weight": np.full(5, -1, np.float32)}, "weight"),
        ({"offsets": np.zeros(6, np.int64)}, "offsets"),
    ],
)
def test_validation(change: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        dataclasses.replace(samples(5), **change).validate()


def test_validation_of_policies() -> None:
    block = samples(5)
    with pytest.raises(SampleError, match="does not add up to 1"):
        dataclasses.replace(block, probs=block.probs * 2).validate()
    with pytest.raises(SampleError, match="beyond the 10"):
        block.validate(10)


# --- window -----------------------------------------------------------------------------------------


def test_window_grows_between_its_limits() -> None:
    sizes = [window_size(total, 100, 0.5, 1000) for total in (0, 100, 400, 1000, 3000)]
    assert sizes == [100, 100, 200, 500, 1000]


def test_batches_are_the_samples_asked_for() -> None:
    chance = np.random.default_rng(1)
    replay = Replay(ENGLISH)
    blocks: list[SampleBlock] = []
    # Sizes that make the arrays grow, wrap and be cut many times.
    for iteration in range(1, 40):
        blocks.append(samples(int(chance.integers(1, 200)), seed=iteration))
        replay.append(iteration, blocks[-1])
        replay.prune(300)
        while sum(map(len, blocks[1:])) >= 300:
            blocks.pop(0)
        assert len(replay) == sum(map(len, blocks))
        assert replay.iterations == list(range(iteration - len(blocks) + 1, iteration + 1))
        index = chance.integers(0, len(replay), 50)
        index[:2] = 0, len(replay) - 1
        batch = replay.batch(index)
        wanted = part(concat(blocks), index.tolist())
        features = np.empty((50, feature_count(ENGLISH)), np.float32)
        fill_features(wanted.boards, wanted.clocks, U(ENGLISH.rules), features)
        assert np.array_equal(batch.features, features)
        assert np.array_equal(batch.result, wanted.result)
        assert np.array_equal(batch.value, wanted.value)
        assert np.array_equal(batch.actions, wanted.actions)
        assert np.array_equal(batch.probs, wanted.probs)
        assert np.array_equal(batch.rows, np.repeat(np.arange(50), np.diff(wanted.offsets)))


def test_the_newest_block_stays_however_small_the_window() -> None:
    replay = Replay(ENGLISH)
    for iteration in (3, 4):
        replay.append(iteration, samples(50, seed=iteration))
    replay.prune(1)
    assert replay.iterations == [4]
    with pytest.raises(ValueError, match="iteration 4 follows iteration 4"):
        replay.append(4, samples(5))
