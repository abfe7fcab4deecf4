"""The tree search: exact values, proofs, signs, schedules, and agreement of the two drivers."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

from agents.agent import Decision, Limit
from agents.alphabeta import AlphaBetaAgent
from agents.alphazero import AlphaZeroAgent
from agents.network.config import NetworkConfig
from agents.network.evaluator import SparseEvaluator
from agents.network.models import build_model
from agents.search.search import halving_schedule
from agents.tablebase import available
from agents.training.config import SearchConfig, SelfPlayConfig
from agents.training.selfplay import SelfPlay
from draughts_env import BRAZILIAN, ENGLISH, INTERNATIONAL, RUSSIAN, Game, Position, Variant

VARIANTS = (ENGLISH, INTERNATIONAL, RUSSIAN, BRAZILIAN)


def fresh(variant: Variant, kind: str = "sparse", seed: int = 0, **options: int) -> AlphaZeroAgent:
    """An agent with random weights that are large enough to prefer some moves."""
    torch.manual_seed(seed)
    model = build_model(NetworkConfig(kind=kind), variant)
    for parameter in model.parameters():
        parameter.data.mul_(1.5)
    return AlphaZeroAgent(model, variant, **options)


def without_tables(variant: Variant, **options: int) -> AlphaZeroAgent:
    """The same agent, which has to find out everything by search."""
    torch.manual_seed(0)
    return AlphaZeroAgent(build_model(NetworkConfig(), variant), variant, tablebase=False, **options)


def random_endings(variant: Variant, pieces: int, count: int, seed: int) -> list[Position]:
    """Positions with few pieces, kings among them, in which the side to move can move."""
    rng = np.random.default_rng(seed)
    found: list[Position] = []
    while len(found) < count:
        squares = rng.choice(
            np.arange(variant.geometry.half + 1, variant.geometry.squares - variant.geometry.half), pieces, False
        )
        names = [("K" if rng.random() < 0.6 else "") + str(square) for square in squares]
        white = int(rng.integers(1, pieces))
        turn = "WB"[int(rng.integers(2))]
        position = Position.from_fen(f"{turn}:W{','.join(names[:white])}:B{','.join(names[white:])}", variant)
        if position.legal_moves():
            found.append(position)
    return found


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_forced_wins_and_losses_are_proven(variant: Variant) -> None:
    """Wherever alpha-beta proves a result within five plies, the search proves the same one."""
    agent = without_tables(variant, simulations=20_000)
    judge = AlphaBetaAgent(variant, depth=6)
    proven = {1: 0, -1: 0}
    for position in random_endings(variant, 4, 150, seed=5):
        game = Game.from_position(position)
        truth = judge.choose(game)
        if not truth.exact or len(truth.pv) > 5:
            continue
        decision = agent.choose(game)
        assert decision.exact, position.fen
        assert decision.value == truth.value, position.fen
        proven[int(decision.value)] += 1
    assert proven[1] >= 5
    assert proven[-1] >= 1


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_tablebase_positions_are_exact_in_the_search(variant: Variant) -> None:
    """With tables of fewer pieces than are on the board, every value that the search proves is alpha-beta's."""
    agent = fresh(variant, simulations=3000)
    judge = AlphaBetaAgent(variant, depth=8)
    pieces = available(variant).pieces
    agreed = 0
    for position in random_endings(variant, pieces + 1, 60, seed=8):
        game = Game.from_position(position)
        decision, truth = agent.choose(game), judge.choose(game)
        if decision.exact and truth.exact:
            assert decision.value == truth.value, position.fen
            agreed += 1
    assert agreed >= 5


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_won_endings_of_the_tables_are_won(variant: Variant) -> None:
    """In a won position that the tables hold, the agent wins in exactly the number of plies they say."""
    agent = fresh(variant, simulations=50)
    tables = available(variant)
    won = 0
    for position in random_endings(variant, 3, 80, seed=9):
        found = tables.probe(position)
        if found.value != "win" or found.plies > 9:
            continue
        game = Game.from_position(position)
        winner = game.turn
        while not game.is_over:
            game.push(agent.choose(game).move)
        assert game.outcome().winner == winner, position.fen
        assert len(game.moves) == found.plies
        won += 1
    assert won >= 5


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_proven_win_is_played_out_and_a_lost_position_delays(variant: Variant) -> None:
    """Two agents play proven positions: the winner wins, and no sooner than the loser must allow."""
    agent = without_tables(variant, simulations=20_000)
    judge = AlphaBetaAgent(variant, depth=6)
    seen = 0
    for position in random_endings(variant, 4, 150, seed=6):
        game = Game.from_position(position)
        truth = judge.choose(game)
        if not truth.exact or truth.value != 1 or len(truth.pv) not in (3, 5):
            continue
        seen += 1
        winner = game.turn
        plies = 0
        while not game.is_over:
            game.push(agent.choose(game).move)
            plies += 1
        outcome = game.outcome()
        assert outcome is not None
        assert outcome.winner == winner, position.fen
        assert plies >= len(truth.pv), f"{position.fen}: the loser gave in early"
        if seen == 4:
            return
    assert seen > 0


def test_a_repetition_is_valued_as_drawn() -> None:
    """King against king far apart can only repeat: the value is 0 however the network guesses."""
    agent = fresh(ENGLISH, simulations=4000)
    game = Game("english", fen="W:WK1,9:BK32,24")
    for text in ("1-5", "32-28", "5-1", "28-32", "1-5", "32-28", "5-1"):
        game.push(text)
    decision = agent.choose(game)
    assert str(decision.move) in {str(move) for move in game.legal_moves()}
    drawn = next(move for move in game.legal_moves() if str(move) == "28-32")
    game.push(drawn)
    outcome = game.outcome()
    assert outcome is not None
    assert outcome.winner is None


def test_clock_draws_are_exact() -> None:
    """One ply before the move limit every king move draws: the value is exactly 0."""
    agent = fresh(INTERNATIONAL, simulations=500)
    game = Game("international", fen="W:WK46,K47,36:BK5,K4,15:H49")
    decision = agent.choose(game)
    if decision.move.origin != 36:
        assert decision.value == 0.0


def test_values_are_for_the_side_to_move() -> None:
    """A position turned around with colours swapped has the same value, policy and visits."""
    agent = fresh(ENGLISH, simulations=300)
    game = Game("english")
    for text in ("11-15", "23-19", "8-11"):
        game.push(text)
    here = agent.choose(Game.from_position(game.position))
    there = agent.choose(Game.from_position(game.position.turned()))
    assert here.value == pytest.approx(there.value, abs=1e-6)
    assert sorted(here.policy.values()) == pytest.approx(sorted(there.policy.values()), abs=1e-6)


def test_the_same_search_twice_gives_the_same_tree() -> None:
    """Without noise there is no chance in a search."""
    first = fresh(INTERNATIONAL, simulations=500).choose(Game("international"))
    second = fresh(INTERNATIONAL, simulations=500).choose(Game("international"))
    assert first == second


@pytest.mark.parametrize("kind", ["resmlp", "resnet"])
def test_batched_networks_play(kind: str) -> None:
    agent = fresh(ENGLISH, kind=kind, simulations=30)
    game = Game("english")
    for _ in range(6):
        decision = agent.choose(game)
        assert decision.nodes == 30
        assert sum(decision.policy.values()) == pytest.approx(1, abs=1e-5)
        game.push(decision.move)


def test_limits() -> None:
    agent = fresh(ENGLISH)
    assert agent.choose(Game("english"), Limit(simulations=77)).nodes == 77
    timed = agent.choose(Game("english"), Limit(seconds=0.05))
    assert timed.nodes >= 256


@pytest.mark.parametrize("moves", [1, 2, 3, 7, 16])
@pytest.mark.parametrize("simulations", [1, 8, 50, 64, 200])
def test_halving_schedule(moves: int, simulations: int) -> None:
    """Each simulation finds a move with the wanted visits; the budget is spent; half the moves survive each round."""
    order = halving_schedule(16, simulations)[moves]
    visits = [0] * moves
    for wanted in order:
        place = next(i for i, count in enumerate(visits) if count == wanted)
        visits[place] += 1
    assert sum(visits) == simulations
    assert visits == sorted(visits, reverse=True)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("root", ["gumbel", "puct"])
def test_lockstep_and_one_game_at_a_time_give_the_same_games(variant: Variant, root: str) -> None:
    """Same network, same seeds: the drivers search the same trees and play the same games."""
    torch.manual_seed(1)
    model = build_model(NetworkConfig(), variant)
    play = SelfPlay(variant, SearchConfig(root=root), SelfPlayConfig(max_plies=120), seed=3)
    alone = play.play(model, first_game=10, games=6, simulations=24)
    together = play.play(SparseEvaluator.of(model, variant), first_game=10, games=6, simulations=24)
    assert alone.sample_game == together.sample_game
    for name in ("boards", "clocks", "result", "actions", "offsets", "game"):
        np.testing.assert_array_equal(getattr(alone.block, name), getattr(together.block, name), err_msg=name)
    np.testing.assert_allclose(alone.block.probs, together.block.probs, atol=1e-5)
    np.testing.assert_allclose(alone.block.value, together.block.value, atol=1e-5)
    assert alone.stats["simulations"] == together.stats["simulations"]


@pytest.mark.parametrize("variant", [ENGLISH, INTERNATIONAL], ids=str)
def test_self_play_games_are_legal_and_their_record_is_true(variant: Variant) -> None:
    """Replaying a recorded game through Game gives the recorded positions, actions, clocks and result."""
    from draughts_env import action_space

    torch.manual_seed(2)
    model = build_model(NetworkConfig(), variant)
    config = SelfPlayConfig(quiet_plies=None, max_plies=400, workers=1, tablebase=False)
    result = SelfPlay(variant, SearchConfig(), config, seed=1).play(model, 0, 1, 16)
    space = action_space(variant)
    game = Game(variant)
    sample = 0
    block = result.block
    for origin, target, captured in result.sample_game:
        position = game.position
        words = [tuple(int(word) for word in row) for row in position.move_words]
        index = words.index((1 << origin, 1 << target, captured))
        if len(words) > 1 and sample < len(block.result):
            view = position if position.turn == "white" else position.turned()
            own, opp = view.white, view.black
            board = (own & ~view.kings, own & view.kings, opp & ~view.kings, opp & view.kings)
            if board == tuple(int(word) for word in block.boards[sample]):
                legal = block.actions[block.offsets[sample] : block.offsets[sample + 1]]
                assert sorted(legal.tolist()) == sorted(space.legal(position).tolist())
                assert tuple(block.clocks[sample]) == (game.quiet, game.ending, game.repeats)
                sample += 1
        game.push(position.legal_moves()[index])
    assert sample == len(block.result), "every recorded position occurs in the game, in order"
    outcome = game.outcome()
    if result.stats["truncated"] == 0:
        assert outcome is not None
        last = int(block.result[-1])
        assert (outcome.winner is None) == (last == 0)


def test_games_do_not_depend_on_the_number_of_workers() -> None:
    torch.manual_seed(1)
    model = build_model(NetworkConfig(), ENGLISH)
    one = SelfPlay(ENGLISH, SearchConfig(), SelfPlayConfig(workers=1), seed=3).play(model, 0, 6, 16)
    two = SelfPlay(ENGLISH, SearchConfig(), SelfPlayConfig(workers=3), seed=3).play(model, 0, 6, 16)
    np.testing.assert_array_equal(one.block.probs, two.block.probs)


def test_thinking_can_be_watched_and_stopped() -> None:
    """The watcher sees a growing search with its best moves; returning True, or the event, ends it at once."""
    agent = fresh(INTERNATIONAL)
    game = Game("international")
    seen: list[Decision] = []

    def watch(decision: Decision) -> bool:
        seen.append(decision)
        return len(seen) == 2

    decision = agent.choose(game, Limit(simulations=1_000_000), watch=watch)
    assert len(seen) == 2
    assert 0 < seen[0].nodes < seen[1].nodes <= decision.nodes < 1_000_000
    for shown in seen:
        assert len(shown.lines) == 5
        assert shown.lines[0].move == shown.move
        assert shown.lines[0].pv == shown.pv
        assert [line.visits for line in shown.lines] == sorted((line.visits for line in shown.lines), reverse=True)
        for line in shown.lines:
            assert line.pv[0] == line.move
            after = game.copy()
            for move in line.pv:
                after.push(move)
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    assert 0 < agent.choose(game, Limit(simulations=1_000_000), stop=stop).nodes < 1_000_000
    assert agent.choose(game, Limit(simulations=1_000_000), stop=stop).nodes == 1


def test_the_lines_agree_with_the_search() -> None:
    decision = fresh(ENGLISH, simulations=500).choose(Game("english"))
    assert sum(line.visits for line in decision.lines) <= 500
    assert [line.move for line in decision.lines] == sorted(decision.policy, key=decision.policy.__getitem__)[:-6:-1]
    assert decision.lines[0].value == decision.value
