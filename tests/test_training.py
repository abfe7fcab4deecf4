"""The learner and the loop, on made-up games."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console
from training_fakes import ENGLISH, FakePlayer, FakeReferee, equal, rows, samples, session, tiny, weights

from agents.network.checkpoint import load_checkpoint
from agents.network.config import NetworkConfig
from agents.network.models import build_model
from agents.training.config import LearnerConfig
from agents.training.learner import Learner, Tensors, log_policy, losses, value_targets
from agents.training.loop import Stopped, Training
from agents.training.replay import Replay
from agents.training.reporting import Display, clock, elo_text, short
from agents.training.run_folder import RunFolder


def learner(threads: int = 1, **options: Any) -> Learner:
    torch.manual_seed(3)
    network = NetworkConfig(hidden1=64, hidden2=32)
    return Learner(build_model(network, ENGLISH), LearnerConfig(**({"batch_size": 256} | options)), threads=threads)


@pytest.fixture(scope="module")
def replay() -> Replay:
    filled = Replay(ENGLISH)
    filled.append(1, samples(3000))
    return filled


# --- losses -----------------------------------------------------------------------------------------


def test_value_targets_mix_result_and_search() -> None:
    result = torch.tensor([1, 0, -1, 1], dtype=torch.int8)
    value = torch.tensor([0.5, 0.25, -1.0, -0.5])
    assert value_targets(result, value, 0.0).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert value_targets(result, value, 1.0).tolist() == [[0.5, 0.5, 0], [0.25, 0.75, 0], [0, 0, 1], [0, 0.5, 0.5]]
    mixed = value_targets(result, value, 0.25)
    assert mixed[3].tolist() == [0.75, 0.125, 0.125]
    assert torch.allclose(mixed.sum(1), torch.ones(4))


def test_log_policy_is_softmax_within_each_sample() -> None:
    logits = torch.tensor([1.0, 2.0, 300.0, -5.0, 0.0, 400.0], requires_grad=True)
    rows = torch.tensor([0, 0, 1, 2, 2, 2])
    found = log_policy(logits, rows, 3)
    wanted = torch.cat([torch.log_softmax(part, 0) for part in logits.split([2, 1, 3])])
    torch.testing.assert_close(found, wanted)
    (gradient,) = torch.autograd.grad((found * torch.arange(6)).sum(), logits)
    (wanted_gradient,) = torch.autograd.grad((wanted * torch.arange(6)).sum(), logits)
    torch.testing.assert_close(gradient, wanted_gradient)


def test_losses_are_those_of_the_whole_policy_with_illegal_moves_masked(replay: Replay) -> None:
    model = learner().model
    batch = replay.batch(np.arange(50))
    batch.weight[::3] = 0.25
    tensors = Tensors.of(batch, torch.device("cpu"))
    policy, value = losses(model, tensors, 0.0)
    wdl, logits = model(tensors.features)
    mask = torch.full_like(logits, -math.inf)
    mask[tensors.rows, tensors.actions] = 0
    logp = torch.log_softmax(logits + mask, 1)[tensors.rows, tensors.actions]
    each = torch.zeros(50).index_add(0, tensors.rows, -tensors.probs * logp)
    torch.testing.assert_close(policy, (each * tensors.weight).sum())
    wanted = torch.nn.functional.cross_entropy(wdl, 1 - tensors.result.long(), reduction="sum")
    torch.testing.assert_close(value, wanted)


@pytest.mark.parametrize("kind", ["sparse", "resmlp", "resnet"])
def test_losses_fall(replay: Replay, kind: str) -> None:
    torch.manual_seed(0)
    network = NetworkConfig(kind=kind, hidden1=64, hidden2=32, width=32, blocks=1, channels=8)
    config = LearnerConfig(batch_size=256, learning_rate=5e-3, warmup_steps=10)
    trained = Learner(build_model(network, ENGLISH), config, threads=2)
    chance = np.random.default_rng(0)
    first = trained.train(replay, 5, chance, 0.0)
    trained.train(replay, 90, chance, 0.5)
    last = trained.train(replay, 5, chance, 1.0)
    assert last[0] < 0.85 * first[0]
    assert last[1] < 0.9 * first[1]
    # The averaged weights follow.
    measured = trained.measure(replay, np.arange(500))
    assert measured["policy_loss"] < 0.95 * first[0]


def test_threads_do_not_change_the_weights(replay: Replay) -> None:
    found = []
    for threads in (1, 2):
        trained = learner(threads)
        trained.train(replay, 8, np.random.default_rng(5), 0.1)
        found.append(trained.tensors())
    assert found[0].keys() == found[1].keys()
    assert all(torch.equal(value, found[1][name]) for name, value in found[0].items())


def test_a_restored_learner_goes_on_as_if_nothing_had_happened(replay: Replay) -> None:
    straight, chance = learner(), np.random.default_rng(5)
    straight.train(replay, 6, chance, 0.1)
    saved = {name: value.clone() for name, value in straight.tensors().items()}
    state = chance.bit_generator.state
    straight.train(replay, 6, chance, 0.2)

    torch.manual_seed(99)
    other = learner()
    other.restore(saved, 6)
    chance.bit_generator.state = state
    other.train(replay, 6, chance, 0.2)
    assert other.steps == straight.steps == 12
    wanted = straight.tensors()
    assert all(torch.equal(value, wanted[name]) for name, value in other.tensors().items())
    assert any(name.startswith("adam/exp_avg_sq/") for name in wanted)


def test_learning_rate_warms_up_and_falls_to_its_floor() -> None:
    trained = learner(learning_rate=1.0, final_learning_rate=0.1, warmup_steps=10)
    assert trained.learning_rate(0.0) == pytest.approx(0.1)
    trained.steps = 10
    rates = [trained.learning_rate(progress) for progress in (0.0, 0.5, 1.0, 7.0)]
    assert rates == pytest.approx([1.0, 0.55, 0.1, 0.1])


def test_measures_of_an_untrained_network(replay: Replay) -> None:
    found = learner().measure(replay, np.arange(3000))
    assert found["value_loss"] == pytest.approx(math.log(3), abs=0.1)
    assert found["policy_kl"] == pytest.approx(found["policy_loss"] - found["target_entropy"])
    assert found["policy_kl"] > 0
    assert 0 <= found["value_calibration"] <= found["value_error"]
    assert learner().measure(replay, np.arange(0))["value_loss"] == 0


# --- the loop ---------------------------------------------------------------------------------------


def test_a_run_counts_what_it_does(tmp_path: Path) -> None:
    config = tiny(tmp_path, 5)
    player, referee = FakePlayer(), FakeReferee([1.0])
    training = session(config, player, referee)
    counters = training.counters
    assert (counters.iteration, counters.games, counters.positions) == (5, 20, 800)
    assert counters.steps == int(800 * config.learner.reuse / 64)
    assert player.first_games == [0, 4, 8, 12, 16]
    assert counters.finished
    assert referee.opponents == ["random", "random"]  # the last evaluation, the closing table
    assert [score.points for score in training.final] == [1.0]
    assert training.replay.iterations == [3, 4, 5]  # 160 positions each, and the window asks for half of 800
    metrics = [row for row in rows(config) if "match" not in row]
    assert [row["iteration"] for row in metrics] == [1, 2, 3, 4, 5]
    assert [row["games"] for row in metrics] == [4, 8, 12, 16, 20]
    assert None not in [value for row in metrics for value in row.values()]
    folder = tmp_path / "tiny"
    assert load_checkpoint(folder / "best.safetensors").meta["games"] == 20
    assert load_checkpoint(folder / "latest.safetensors").meta["steps"] == counters.steps
    assert sorted(p.name for p in (folder / "state").iterdir()) == [
        "replay-3.npz",
        "replay-4.npz",
        "replay-5.npz",
        "state.json",
        "weights-5.safetensors",
    ]


def test_simulations_grow_over_their_share_of_the_run(tmp_path: Path) -> None:
    config = tiny(tmp_path, 8)
    config.selfplay.simulations_start, config.selfplay.simulations_growth, config.search.simulations = 16, 0.5, 64
    player = FakePlayer()
    session(config, player)
    assert player.simulations == [16, 23, 32, 45, 64, 64, 64, 64]


def test_the_same_seed_gives_the_same_weights_and_another_does_not(tmp_path: Path) -> None:
    found = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        config = tiny(tmp_path)
        config.run.name, config.run.seed = name, seed
        found.append(weights(session(config)))
    assert equal(found[0], found[1])
    assert not equal(found[0], found[2])


def test_a_run_in_sessions_is_the_run_in_one(tmp_path: Path) -> None:
    whole = tiny(tmp_path / "whole", 6)
    straight = session(whole)
    # The budget steers learning rate and simulations, so sessions end by a stop, not by a smaller budget.
    config = tiny(tmp_path / "parts", 6)
    for last in (2, 3, 5):
        with pytest.raises(Stopped):
            session(config, stop=lambda last=last: len(rows(config)) >= last)
    player = FakePlayer()
    training = session(config, player)
    assert player.first_games == [20]
    assert equal(weights(training), weights(straight))
    assert training.counters.games == 24
    kept = [(row["iteration"], row["policy_loss"]) for row in rows(config) if "match" not in row]
    assert kept == [(row["iteration"], row["policy_loss"]) for row in rows(whole) if "match" not in row]


def test_a_stop_amid_self_play_leaves_the_last_iteration(tmp_path: Path) -> None:
    straight = session(tiny(tmp_path / "whole", 4))
    config = tiny(tmp_path / "parts", 4)
    games: list[int] = []
    player = FakePlayer(before=games.append)
    with pytest.raises(Stopped):
        session(config, player, stop=lambda: 9 in games)
    again = FakePlayer()
    training = session(config, again)
    assert again.first_games == [8, 12]
    assert equal(weights(training), weights(straight))


def test_a_stop_amid_a_match_plays_that_match_again(tmp_path: Path) -> None:
    config = tiny(tmp_path, 2)
    first = FakeReferee()
    with pytest.raises(Stopped):
        session(config, referee=first, stop=lambda: len(first.opponents) == 2)
    second = FakeReferee([0.75])
    player = FakePlayer()
    training = session(config, player, second)
    assert player.first_games == []
    assert second.opponents == ["random"]
    assert [score.points for score in training.final] == [0.75]
    assert training.counters.finished


def test_a_longer_budget_goes_on_and_measures_anew(tmp_path: Path) -> None:
    session(tiny(tmp_path, 2))
    referee = FakeReferee([0.9])
    training = session(tiny(tmp_path, 3), referee=referee)
    assert training.counters.iteration == 3
    assert [score.points for score in training.final] == [0.9]


def test_the_best_network_stays_unless_the_new_one_is_about_as_good(tmp_path: Path) -> None:
    config = tiny(tmp_path, 4)
    config.evaluation.every_minutes = 1e-9
    config.evaluation.games = 50
    config.evaluation.final = []
    training = session(config, referee=FakeReferee([0.5, 0.8, 0.75, 0.4]))
    assert training.counters.best_score == 0.8
    meta = load_checkpoint(tmp_path / "tiny" / "best.safetensors").meta
    assert meta["iteration"] == 3
    assert meta["scores"][0]["points"] == 0.75


def test_without_matches_the_newest_network_is_the_best(tmp_path: Path) -> None:
    config = tiny(tmp_path, 3)
    config.evaluation.opponents, config.evaluation.final = [], []
    session(config)
    assert load_checkpoint(tmp_path / "tiny" / "best.safetensors").meta["iteration"] == 3


def test_a_budget_of_time(tmp_path: Path) -> None:
    config = tiny(tmp_path)
    config.run.iterations, config.run.minutes = None, 1 / 60
    config.evaluation.opponents, config.evaluation.final = [], []
    training = session(config)
    assert training.counters.iteration >= 1
    assert training.progress() >= 1
    assert 1 <= training.counters.seconds < 30


def test_scalars_for_tensorboard(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    config = tiny(tmp_path, 3)
    session(config, referee=FakeReferee([0.75]))
    events = EventAccumulator(str(tmp_path / "tiny"))
    events.Reload()
    tags = events.Tags()["scalars"]
    for tag in ("loss/policy", "loss/value", "policy/entropy", "value/calibration error", "games/draw rate"):
        assert [event.step for event in events.Scalars(tag)] == [160, 320, 480], tag
    assert "match points/random at 100 simulations" in tags
    assert "final points/random at 2 simulations" in tags


# --- what the user sees -----------------------------------------------------------------------------


def test_texts() -> None:
    assert [clock(s) for s in (0, 59.6, 3599, 3600, -5)] == ["0:00", "1:00", "59:59", "1:00:00", "0:00"]
    assert [short(n) for n in (5, 1234, 250_000, 3_456_789)] == ["5", "1.23k", "250k", "3.46M"]
    score = FakeReferee([1.0])(Path(__file__), ENGLISH, "random", 2, 2, 0, lambda: None)
    assert elo_text(score) == "unknown"


@pytest.mark.parametrize("terminal", [True, False])
def test_the_display_shows_figures(tmp_path: Path, terminal: bool) -> None:
    config = tiny(tmp_path, 2)
    console = Console(force_terminal=terminal, width=160, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with RunFolder(tmp_path / "tiny") as folder, Display(console) as display:
        Training(config, folder, display, FakePlayer(), FakeReferee()).run()
    text = console.export_text()
    assert "against random at 2 simulations" in text
    if not terminal:
        assert "iteration    2 | 8 games, 320 positions | policy loss" in text
