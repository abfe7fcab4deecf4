"""Runs that begin with the weights of another run's checkpoint."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch
from training_fakes import ENGLISH, FakePlayer, samples, session, tiny

from agents.network.checkpoint import CheckpointError, load_checkpoint
from agents.network.models import build_model
from agents.training.config import LearnerConfig
from agents.training.learner import Learner
from agents.training.lineage import totals
from agents.training.loop import Stopped
from agents.training.replay import Replay


def test_totals_of_a_chain_and_of_foreign_notes() -> None:
    own = {"run": "b", "games": 3, "positions": 30, "simulations": 5, "steps": 2, "minutes": 1.25, "cpu_minutes": 2.5}
    assert totals(own) == {name: own[name] for name in own if name != "run"} | {"runs": ["b"]}
    both = totals(own | {"before": {"games": 10, "minutes": 0.5, "runs": ["a"]}})
    assert (both["games"], both["positions"], both["minutes"], both["runs"]) == (13, 30, 1.75, ["a", "b"])
    assert totals({"games": "many", "steps": True, "before": [1]})["games"] == 0


def test_a_new_run_begins_with_the_weights_of_another(tmp_path: Path) -> None:
    first = tiny(tmp_path, 2)
    first.run.name = "first"
    session(first)
    given = load_checkpoint(tmp_path / "first" / "best.safetensors")

    second = tiny(tmp_path, 4)
    second.run.name, second.run.initial = "second", str(tmp_path / "first" / "best.safetensors")
    seen: list[dict[str, torch.Tensor]] = []

    class Watching(FakePlayer):
        def play(self, model, *others):  # type: ignore[no-untyped-def]
            seen.append(model.state_dict())
            return super().play(model, *others)

    done = [0]
    with pytest.raises(Stopped):
        session(second, Watching(before=lambda game: done.__setitem__(0, game)), stop=lambda: done[0] == 9)
    assert all(torch.equal(value, seen[0][name]) for name, value in given.model.state_dict().items())
    # Gone on with, it needs that file no longer, and still knows what was before.
    (tmp_path / "first" / "best.safetensors").unlink()
    training = session(second)
    assert training.before == totals(given.meta)
    meta = load_checkpoint(tmp_path / "second" / "best.safetensors").meta
    assert (meta["games"], meta["before"]["games"], meta["before"]["runs"]) == (16, 8, ["first"])
    assert totals(meta)["games"] == 24
    assert totals(meta)["runs"] == ["first", "second"]


def test_a_run_from_a_checkpoint_in_sessions_is_the_run_in_one(tmp_path: Path) -> None:
    first = tiny(tmp_path, 1)
    first.run.name = "first"
    session(first)
    found = []
    games: list[int] = []
    for name in ("whole", "parts"):
        config = tiny(tmp_path, 3)
        config.run.name, config.run.initial = name, str(tmp_path / "first" / "latest.safetensors")
        if name == "parts":
            with pytest.raises(Stopped):
                session(config, FakePlayer(before=games.append), stop=lambda: 5 in games)
        found.append(session(config).learner.tensors())
    assert all(torch.equal(value, found[1][name]) for name, value in found[0].items())


def test_the_average_of_a_trained_network_moves_slowly_from_the_first_step() -> None:
    config = tiny(Path(), 1)
    replay = Replay(ENGLISH)
    replay.append(1, samples(64))
    moved = []
    for trained in (False, True):
        torch.manual_seed(0)
        model = build_model(config.network, ENGLISH)
        learner = Learner(model, LearnerConfig(batch_size=64, warmup_steps=0, ema_decay=0.99), trained=trained)
        before = [p.clone() for p in learner.ema.parameters()]
        learner.step(replay, torch.arange(64).numpy(), 0.0)
        moved.append(sum(float((p - q).abs().sum()) for p, q in zip(learner.ema.parameters(), before)))
    assert moved[1] < moved[0] / 50


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda config: setattr(config.network, "hidden1", 48),
            r"another network than this run's; it has network\.hidden1=32",
        ),
        (lambda config: setattr(config.variant, "name", "russian"), "was trained for english, not for russian"),
        (lambda config: setattr(config.run, "initial", "nowhere.safetensors"), "no checkpoint at nowhere"),
    ],
    ids=["network", "variant", "missing"],
)
def test_an_unfit_checkpoint_is_refused(tmp_path: Path, change, message: str) -> None:  # type: ignore[no-untyped-def]
    first = tiny(tmp_path, 1)
    first.run.name = "first"
    session(first)
    config = tiny(tmp_path, 1)
    config.run.initial = str(tmp_path / "first" / "best.safetensors")
    change(config)
    with pytest.raises(CheckpointError, match=message):
        session(config)


def test_the_work_of_the_processor_is_counted_over_all_sessions(tmp_path: Path) -> None:
    def busy(game: int) -> None:
        until = time.process_time() + 0.02
        while time.process_time() < until:
            pass

    config = tiny(tmp_path, 2)
    games: list[int] = []
    with pytest.raises(Stopped):
        session(config, FakePlayer(before=lambda game: games.append(game) or busy(game)), stop=lambda: 3 in games)
    counters = session(config, FakePlayer(before=busy)).counters
    assert counters.games == 8
    assert counters.cpu_seconds >= 0.02 * 12  # those of the stopped session, too
    assert load_checkpoint(tmp_path / "tiny" / "best.safetensors").meta["cpu_minutes"] >= 0
