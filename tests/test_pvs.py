"""The pvs agent: the same value as plain minimax, forced results, draws, determinism, limits, weights."""

from __future__ import annotations

import random
import threading
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from agents import AgentError, Limit, load_agent
from agents.pvs import PvsAgent
from agents.pvs.agent import VALUE_SCALE
from agents.pvs.kernels.evaluation import evaluate
from agents.pvs.kernels.workspace import MATE
from agents.pvs.weights import COLORS, PLACES, TURNED, first_weights, read_weights, shipped_block
from draughts_env import Game, Position
from draughts_env.variants import VARIANTS, Variant, variant


def points(position: Position) -> int:
    """The evaluation of a position by the weights in use, for the side to move."""
    white = position.turn == "white"
    own, opp = (position.white, position.black) if white else (position.black, position.white)
    block = shipped_block(position.variant)
    return int(
        evaluate(
            np.uint64(own),
            np.uint64(opp),
            np.uint64(position.kings),
            white,
            np.uint64(position.variant.rules),
            np.uint64(block.ctypes.data),
        )
    )


def minimax(game: Game, depth: int, ply: int = 0) -> int:
    """The score by plain minimax over the lines of the game itself, captures followed to their end."""
    outcome = game.outcome()
    if outcome is not None:
        return 0 if outcome.winner is None else ply - MATE
    moves = game.legal_moves()
    if depth <= 0 and not moves[0].captured:
        return points(game.position)
    best = -MATE
    for move in moves:
        game.push(move)
        best = max(best, -minimax(game, depth - 1, ply + 1))
        game.pop()
    return best


def middle_game(rules: Variant, chance: random.Random, plies: int) -> Game:
    """A game after so many random moves, its history forgotten."""
    game = Game(rules)
    while game.ply < plies and not game.is_over:
        game.push(chance.choice(game.legal_moves()))
    return Game.from_position(game.position)


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_plain_search_finds_the_minimax_value(rules: Variant) -> None:
    chance = random.Random(7)
    agent = PvsAgent(rules, plain=True, tablebase=False, hash=1)
    for plies in (6, 24, 36, 50):
        game = middle_game(rules, chance, plies)
        if game.is_over:
            continue
        depth = 3 if rules.size == 8 else 2
        expected = minimax(game, depth)
        value = agent.choose(game, Limit(depth=depth)).value
        assert value is not None
        assert abs(expected) > MATE - 128 or value == pytest.approx(np.tanh(expected / VALUE_SCALE))
        assert abs(expected) <= MATE - 128 or value == np.sign(expected)


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_value_does_not_depend_on_the_colour(rules: Variant) -> None:
    chance = random.Random(2)
    for plies in (3, 20, 30, 45):
        game = middle_game(rules, chance, plies)
        assert points(game.position) == points(game.position.turned())


@pytest.mark.parametrize(
    ("name", "fen", "plies", "moves"),
    [
        ("english", "W:WK10:B7", 1, {"10x3"}),
        ("english", "B:W19:B8,22", 3, {"8-11"}),
        ("english", "W:W31,27,19:B17,12,5", 7, {"19-16"}),
        ("international", "B:WK48:BK7,25", 3, {"7-34"}),
        ("international", "W:WK3,9:B26", 3, {"9-4"}),
    ],
)
def test_finds_forced_wins(name: str, fen: str, plies: int, moves: set[str]) -> None:
    game = Game(name, fen)
    decision = PvsAgent(name, tablebase=False, hash=1).choose(game, Limit(depth=plies))
    assert str(decision.move) in moves
    assert (decision.value, decision.exact) == (1, True)
    for move in decision.pv:
        game.push(move)
    outcome = game.outcome()
    assert outcome is not None
    assert outcome.winner == Position.from_fen(fen, name).turn


def test_a_repetition_and_a_spent_clock_are_draws() -> None:
    agent = PvsAgent("english", tablebase=False, hash=1)
    position = Position.from_fen("W:WK30,K31:BK3", "english")
    assert agent.choose(Game.from_position(position, quiet=79), Limit(depth=3)).value == 0
    value = agent.choose(Game.from_position(position, quiet=70), Limit(depth=3)).value
    assert value is not None
    assert value > 0.1
    game = Game("english", "W:WK30,K31:BK3")
    for move in ("30-26", "3-7", "26-30"):
        game.push(move)
    decision = agent.choose(game, Limit(depth=1))
    assert (str(decision.move), decision.value) == ("7-3", 0)


def test_tables_decide_small_endings() -> None:
    won = Game("english", "W:WK14,K28:BK2")
    decision = PvsAgent("english").choose(won, Limit(depth=1))
    assert (decision.value, decision.exact, str(decision.move)) == (1, True, "14-10")
    # five pieces, one of which falls at once: the search meets the tables
    before = Game("english", "W:WK14,K28,27:BK2,24")
    assert PvsAgent("english").choose(before, Limit(depth=3)).exact
    assert not PvsAgent("english", tablebase=False).choose(before, Limit(depth=3)).exact


def test_the_same_game_is_played_again() -> None:
    def play(limit: Limit) -> list[str]:
        game = Game("english")
        while not game.is_over and game.ply < 30:
            game.push(agent.choose(game, limit).move)
        agent.new_game()
        return [str(move) for move in game.moves]

    agent = PvsAgent("english", hash=1)
    for limit in (Limit(nodes=3000), Limit(depth=5)):
        assert play(limit) == play(limit)


def test_limits() -> None:
    agent = PvsAgent("international", hash=1)
    game = Game("international")
    decision = agent.choose(game, Limit(nodes=5000))
    assert 2500 < decision.nodes <= 5000
    decision = agent.choose(game, Limit(depth=3))
    assert decision.depth == 3
    position = game.position
    for move in decision.pv:
        position = position.play(move)  # the line can be played
    assert agent.choose(game, Limit(seconds=0.05)).depth
    with pytest.raises(AgentError, match="cannot be limited by simulations"):
        agent.choose(game, Limit(simulations=5))
    with pytest.raises(AgentError, match="plays international, not english"):
        agent.choose(Game("english"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pvs:hash=0", "hash must be at least 1"),
        ("pvs:hash=99999999", "hash can be at most"),
        ("pvs:seed=1", "unknown option 'seed'"),
        ("pvs:depth=0", "depth must be greater than 0"),
    ],
)
def test_bad_specifications(text: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        load_agent(text, "english")


def test_states_turn_round() -> None:
    chance = random.Random(1)
    for state in chance.sample(range(3**8), 50):
        colors = COLORS[state].tolist()
        assert COLORS[TURNED[state]].tolist() == [(0, 2, 1)[color] for color in reversed(colors)]


def test_weights_survive_their_file(tmp_path: Path) -> None:
    rules = variant("russian")
    weights = first_weights(rules)
    assert weights.patterns.shape[0] == PLACES[8] ** 2
    weights.save(tmp_path / "w.npz")
    assert np.abs(read_weights(tmp_path / "w.npz", rules).block(rules) - weights.block(rules)).max() <= 65536 + 1
    with pytest.raises(AgentError, match="does not hold weights for international"):
        read_weights(tmp_path / "w.npz", variant("international"))
    (tmp_path / "w.npz").write_bytes(b"nonsense")
    with pytest.raises(AgentError, match="cannot read the weights"):
        read_weights(tmp_path / "w.npz", rules)


@pytest.mark.parametrize("name", ["english", "international"])
def test_beats_the_plain_alpha_beta(name: str) -> None:
    from agents.arena import play_match

    result = play_match("pvs:nodes=2000,hash=1", "alphabeta:nodes=2000", name, 6)
    assert not any(game.failure for game in result.games)
    wins = [game.winner == game.a_color for game in result.games if game.winner]
    assert wins.count(True) > wins.count(False)


def test_is_called_off() -> None:
    stop = threading.Event()
    stop.set()
    decision = PvsAgent("english", hash=1).choose(Game("english"), Limit(depth=90), stop=stop)
    assert decision.depth is not None
    assert decision.depth < 90


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_what_is_tuned_is_what_is_searched(rules: Variant) -> None:
    from agents.pvs import tune

    with resources.as_file(resources.files("agents.pvs") / "data" / f"{rules.name}.npz") as path:
        model = tune.Model(rules, read_weights(path, rules))
    chance = random.Random(3)
    for plies in (0, 9, 16, 30):
        position = middle_game(rules, chance, plies).position
        p = position if position.turn == "white" else position.turned()
        boards = np.array([[p.white & ~p.kings, p.white & p.kings, p.black & ~p.kings, p.black & p.kings]], np.uint64)
        assert float(model(boards)[0].detach()) == pytest.approx(points(position), abs=2)


def test_tuning_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from agents.pvs import tune

    out = tmp_path / "w.npz"
    command = ["tune", "--games", "6", "--nodes", "100", "--epochs", "2", "--out", str(out)]
    monkeypatch.setattr("sys.argv", command)
    tune.main()
    assert read_weights(out, variant("english")).patterns.shape[0] == PLACES[8] ** 2
    rules = variant("english")
    positions = tune.play_games(rules, 4, 100, seed=1).quiet(rules)
    _, before, after = tune.fit(rules, positions, epochs=4)
    assert after < before
    monkeypatch.setattr("sys.argv", ["tune", "--run", str(tmp_path / "nowhere")])
    with pytest.raises(SystemExit, match="holds no self-play games"):
        tune.main()
