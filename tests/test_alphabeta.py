"""Alpha-beta: forced results, signs, draws, limits, determinism."""

from __future__ import annotations

import random
import threading
import time

import pytest

from agents import AgentError, Limit
from agents.alphabeta import AlphaBetaAgent
from draughts_env import Game, Position
from draughts_env.variants import VARIANTS, Variant

AGENT = AlphaBetaAgent()

# Variant, position, plies to the end, winning moves (found by brute force over the rules).
FORCED = [
    ("english", "W:WK10:B7", 1, {"10x3"}),
    ("english", "B:W18:BK15", 1, {"15x22"}),
    ("english", "B:W5:BK6,27", 1, {"6-1"}),
    ("english", "W:WK14,K28:BK2", 3, {"14-10"}),
    ("english", "B:W19:B8,22", 3, {"8-11"}),
    ("english", "W:W12,K13:BK25", 5, {"13-17"}),
    ("english", "B:W25:B7,27", 5, {"7-10"}),
    ("english", "W:W31,27,19:B17,12,5", 7, {"19-16"}),
    ("international", "W:WK22,27:B45", 1, {"22-50"}),
    ("international", "B:WK48:BK7,25", 3, {"7-34"}),
    ("international", "W:WK3,9:B26", 3, {"9-4"}),
]

# Position and the moves that hold out longest where every move loses.
LOST = [
    ("W:W24:B21,K23", {"24-20"}),
    ("W:W32:B10,K24", {"32-28"}),
    ("B:WK10,K19:B9", {"9-13"}),
    ("W:WK7:BK15,17", {"7-3", "7-2"}),
    ("B:W13,K15:BK7", {"7-3", "7-2"}),
]


def brute(game: Game, depth: int) -> int:
    """Plies to a forced end within ``depth``: positive when the mover wins, negative when it loses, 0 when neither.

    The lines of the game itself, without any of the kernels of the search. A win in ``n`` is ``1000 - n``.
    """
    outcome = game.outcome()
    if outcome is not None:
        return 0 if outcome.winner is None else (1000 if outcome.winner == game.turn else -1000)
    if depth == 0:
        return 0
    best = -1000
    for move in game.legal_moves():
        game.push(move)
        score = -brute(game, depth - 1)
        game.pop()
        best = max(best, score - (score > 0) + (score < 0))
    return best


def random_position(rules: Variant, chance: random.Random, plies: int) -> Game:
    """A game from the position after random moves, without its history."""
    game = Game(rules)
    for _ in range(plies):
        if game.is_over:
            break
        game.push(chance.choice(game.legal_moves()))
    return Game.from_position(game.position)


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_agrees_with_brute_force_in_endings(rules: Variant) -> None:
    chance = random.Random(5)
    board = rules.geometry
    depth = 3 if rules.flying_kings else 4
    decided = 0
    for _ in range(200):
        whites, pieces = chance.choice(((1, 2), (1, 3), (2, 3)))
        placed = chance.sample(range(1, board.squares + 1), pieces)
        white, black = board.mask(placed[:whites]), board.mask(placed[whites:])
        kings = board.mask(s for s in placed if chance.random() < 0.5) | white & board.top | black & board.bottom
        game = Game.from_position(Position(rules, white, black, kings, chance.choice(("white", "black"))))
        if game.is_over:
            continue
        expected = brute(game, depth)
        decision = AGENT.choose(game, Limit(depth=depth))
        assert decision.value is not None
        if expected:
            decided += 1
            assert decision.exact
            assert decision.value == (1 if expected > 0 else -1)
        elif decision.exact:
            assert len(decision.pv) > depth  # seen by following captures
        if decision.exact:
            winner = game.turn if decision.value > 0 else ("white" if game.turn == "black" else "black")
            for move in decision.pv:
                # every position of the line is decided, for the one side as for the other
                value = AGENT.choose(game, Limit(depth=depth)).value
                assert value == (1 if game.turn == winner else -1)
                game.push(move)
            outcome = game.outcome()
            assert outcome is not None
            assert outcome.winner == winner
    assert decided > 10


@pytest.mark.parametrize(("name", "fen", "plies", "moves"), FORCED)
def test_finds_forced_wins(name: str, fen: str, plies: int, moves: set[str] | None) -> None:
    game = Game(name, fen)
    decision = AGENT.choose(game, Limit(depth=plies))
    assert decision.value == 1
    assert decision.exact
    assert len(decision.pv) == plies
    if moves is not None:
        assert str(decision.move) in moves
    for move in decision.pv:
        game.push(move)
    outcome = game.outcome()
    assert outcome is not None
    assert outcome.winner == Position.from_fen(fen, name).turn


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_value_does_not_depend_on_the_colour(rules: Variant) -> None:
    chance = random.Random(2)
    for plies in (3, 20, 30, 45):
        game = random_position(rules, chance, plies)
        if game.is_over:
            continue
        turned = Game.from_position(game.position.turned())
        assert AGENT.choose(game, Limit(depth=5)).value == AGENT.choose(turned, Limit(depth=5)).value


def test_value_is_that_of_the_side_to_move() -> None:
    for side, sign in (("W", 1), ("B", -1)):
        value = AGENT.choose(Game("english", f"{side}:W21-32:B1-11"), Limit(depth=3)).value
        assert value is not None
        assert sign * value > 0.1


@pytest.mark.parametrize(("fen", "moves"), LOST)
def test_a_lost_side_delays(fen: str, moves: set[str]) -> None:
    decision = AGENT.choose(Game("english", fen), Limit(depth=6))
    assert decision.value == -1
    assert decision.exact
    assert str(decision.move) in moves
    assert len(decision.pv) == 4


def test_a_repetition_is_a_draw() -> None:
    fen = "W:WK30,K31:BK3"
    game = Game("english", fen)
    for move in ("30-26", "3-7", "26-30"):
        game.push(move)
    decision = AGENT.choose(game, Limit(depth=1))
    assert str(decision.move) == "7-3"
    assert decision.value == 0
    fresh = AGENT.choose(Game.from_position(game.position), Limit(depth=1))
    assert fresh.value is not None
    assert fresh.value < -0.1


def test_a_spent_clock_is_a_draw() -> None:
    position = Position.from_fen("W:WK30,K31:BK3", "english")
    assert AGENT.choose(Game.from_position(position, quiet=79), Limit(depth=3)).value == 0
    value = AGENT.choose(Game.from_position(position, quiet=70), Limit(depth=3)).value
    assert value is not None
    assert value > 0.1
    # International: two kings against one, drawn after five moves of each side
    ending = Game("international", "W:WK30,K31:BK3")
    assert AGENT.choose(ending, Limit(depth=9)).value != 0
    assert AGENT.choose(ending, Limit(depth=11)).value == 0


def test_depth_limit() -> None:
    for depth in (1, 2, 5):
        decision = AGENT.choose(Game(), Limit(depth=depth))
        assert decision.depth == depth
        assert len(decision.pv) >= depth
    assert AlphaBetaAgent().choose(Game()).depth == 7
    assert AlphaBetaAgent(depth=3).choose(Game()).depth == 3
    assert AlphaBetaAgent(depth=3).choose(Game(), Limit(depth=2)).depth == 2


def test_node_limit() -> None:
    for nodes in (100, 5000, 77777):
        decision = AGENT.choose(Game("international"), Limit(nodes=nodes))
        assert decision.nodes <= nodes
        assert decision.nodes > nodes / 2
    assert AGENT.choose(Game(), Limit(nodes=1)).depth == 1


def test_time_limit() -> None:
    AGENT.choose(Game(), Limit(depth=2))
    started = time.perf_counter()
    decision = AGENT.choose(Game("international"), Limit(seconds=0.3))
    seconds = time.perf_counter() - started
    assert 0.25 < seconds < 3
    assert decision.depth is not None
    assert decision.depth > 4


def test_a_forced_move_takes_no_time() -> None:
    game = Game("english", "W:W21,31,30,29:B1,2,3,17")
    assert len(game.legal_moves()) == 1
    started = time.perf_counter()
    AGENT.choose(game, Limit(seconds=20))
    assert time.perf_counter() - started < 5


def test_a_limit_of_simulations_is_refused() -> None:
    with pytest.raises(AgentError, match="cannot be limited by simulations"):
        AGENT.choose(Game(), Limit(simulations=5))


def test_the_same_seed_plays_the_same_and_another_differs() -> None:
    def play(seed: int) -> list[str]:
        agent = AlphaBetaAgent(depth=3, seed=seed)
        game = Game()
        while not game.is_over and game.ply < 40:
            game.push(agent.choose(game).move)
        return [str(move) for move in game.moves]

    assert play(0) == play(0)
    assert play(1) == play(1)
    assert len({tuple(play(seed)) for seed in range(6)}) > 3


def test_threads_do_not_disturb_each_other() -> None:
    game = Game("international")
    expected = AGENT.choose(game, Limit(depth=7))
    found = []
    threads = [threading.Thread(target=lambda: found.append(AGENT.choose(game, Limit(depth=7)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_beats_random_as_either_colour() -> None:
    chance = random.Random(0)
    for rules in VARIANTS:
        for color in ("black", "white"):
            game = Game(rules)
            while not game.is_over:
                mine = game.turn == color
                game.push(AGENT.choose(game, Limit(depth=4)).move if mine else chance.choice(game.legal_moves()))
            outcome = game.outcome()
            assert outcome is not None
            assert outcome.winner == color


def test_follows_captures_to_their_end() -> None:
    # A shot: one ply deep, the man that 11-16 gives away must be seen to bring three and the game.
    decision = AGENT.choose(Game("english", "B:W18,20,25:B4,8,11"), Limit(depth=1))
    assert [str(move) for move in decision.pv] == ["11-16", "20x11", "8x29"]
    assert decision.value == 1


def test_an_event_stops_the_search() -> None:
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    assert AGENT.choose(Game(), Limit(depth=60), stop=stop).depth < 60
    assert AGENT.choose(Game(), Limit(seconds=20), stop=stop).depth < 60
