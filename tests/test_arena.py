"""Matches, openings and what is concluded from them."""

from __future__ import annotations

import json
import math

import pytest

from agents import AgentError, Decision, Limit
from agents.alphabeta import AlphaBetaAgent
from agents.arena import (
    GameRecord,
    MatchResult,
    OpeningError,
    elo_difference,
    elo_from_score,
    mean_score,
    pentanomial,
    play_match,
    random_openings,
)
from agents.random_agent import RandomAgent
from draughts_env import Game, Move, variant
from draughts_env.pdn import result_text, write_game
from draughts_env.variants import VARIANTS, Variant

# --- statistics, against numbers worked out by hand -------------------------------------------------


def test_elo_from_score() -> None:
    assert elo_from_score(0.5) == 0
    assert elo_from_score(0.75) == pytest.approx(190.848, abs=0.001)  # 400 log10(3)
    assert elo_from_score(0.25) == pytest.approx(-190.848, abs=0.001)
    assert elo_from_score(10 / 11) == pytest.approx(400)
    assert elo_from_score(1) == math.inf
    assert elo_from_score(0) == -math.inf


def test_pentanomial() -> None:
    assert pentanomial([0, 0.25, 0.25, 0.5, 1, 1, 1]) == (1, 2, 1, 0, 3)
    assert pentanomial([]) == (0, 0, 0, 0, 0)


def test_interval_of_the_mean() -> None:
    # mean 0.6; squared deviations .01 + .01 + .16 + .01 + .01 + .0225 + .0225 + ... worked out:
    # scores 1, 0.5, 0.75, 0.25, 0.5: mean 0.6, sum of squares .16 + .01 + .0225 + .1225 + .01 = .325
    # variance .325 / 4 = .08125, standard error sqrt(.08125 / 5) = .127475, times 1.959964 = .249848
    estimate = mean_score([1, 0.5, 0.75, 0.25, 0.5])
    assert estimate.value == pytest.approx(0.6)
    assert estimate.low == pytest.approx(0.6 - 0.249848, abs=1e-6)
    assert estimate.high == pytest.approx(0.6 + 0.249848, abs=1e-6)
    elo = elo_difference([1, 0.5, 0.75, 0.25, 0.5])
    assert elo.value == pytest.approx(70.4365, abs=0.001)
    assert elo.low == pytest.approx(400 * math.log10(0.350152 / 0.649848), abs=0.01)
    assert elo.high == pytest.approx(400 * math.log10(0.849848 / 0.150152), abs=0.01)


def test_pairs_count_not_games() -> None:
    # 50 pairs split one win each: as single games a coin, as pairs no variance at all between them
    even = mean_score([0.5] * 50)
    assert even.value == 0.5
    # one pair more, half won and half lost: variance .25 / 50 = .005, error 1.96 sqrt(.005 / 50) = .0196
    assert even.high - 0.5 == pytest.approx(0.0196, abs=1e-4)


@pytest.mark.parametrize("pairs", [2, 10, 100])
def test_all_or_nothing(pairs: int) -> None:
    won, lost = elo_difference([1.0] * pairs), elo_difference([0.0] * pairs)
    assert won.value == won.high == math.inf
    assert lost.value == lost.low == -math.inf
    assert won.low == pytest.approx(elo_from_score(0.025 ** (1 / pairs)))
    assert lost.high == pytest.approx(-won.low)
    assert mean_score([1.0] * pairs).high == 1


def test_little_data() -> None:
    for scores in ([], [1.0], [0.25]):
        estimate = mean_score(scores)
        assert (estimate.low, estimate.high) == (0, 1)
    assert mean_score([0.0, 1.0]).low == 0  # the interval stays within what is possible
    assert mean_score([0.0, 1.0]).high == 1


# --- openings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_openings(rules: Variant) -> None:
    openings = random_openings(rules, 4, 20, seed=1)
    assert openings == random_openings(rules, 4, 20, seed=1)
    assert openings != random_openings(rules, 4, 20, seed=2)
    assert openings[:5] == random_openings(rules, 4, 5, seed=1)
    positions = set()
    for opening in openings:
        assert len(opening) == 4
        game = Game(rules)
        for move in opening:
            game.push(move)
        positions.add(game.position)
        value = AlphaBetaAgent().choose(game, Limit(depth=5)).value
        assert value is not None
        assert abs(value) < 0.13  # less than half a man
    assert len(positions) == 20


def test_too_many_openings() -> None:
    with pytest.raises(OpeningError, match=r"found only \d+ of 1000 balanced openings of 2 plies"):
        random_openings("english", 2, 1000)
    assert random_openings("english", 0, 1) == [()]
    with pytest.raises(OpeningError):
        random_openings("english", 0, 2)
    with pytest.raises(OpeningError):
        random_openings("english", -1, 2)


# --- matches ----------------------------------------------------------------------------------------


class Stub(RandomAgent):
    """Random, unless told to fail in one of several ways."""

    def __init__(self, failure: str = "") -> None:
        super().__init__(seed=0)
        self.name = failure or "stub"
        self.failure = failure
        self.limits: list[Limit | None] = []
        self.games = 0

    def new_game(self) -> None:
        self.games += 1

    def choose(self, game: Game, limit: Limit | None = None) -> Decision:
        self.limits.append(limit)
        if self.failure == "raises":
            raise RuntimeError("out of ideas")
        if self.failure == "illegal":
            return Decision(Move(1, 32))
        if self.failure == "nothing":
            return None  # type: ignore[return-value]
        decision = super().choose(game, limit)
        if self.failure == "meddles":
            game.push(decision.move)
        return decision


def test_games_come_in_pairs_with_colours_swapped() -> None:
    seen: list[GameRecord] = []
    result = play_match("random", "alphabeta:depth=1", "international", 8, seed=3, on_game=seen.append)
    assert seen == list(result.games)
    assert [game.number for game in result.games] == list(range(8))
    for first, second in zip(result.games[::2], result.games[1::2]):
        assert first.opening == second.opening
        assert (first.a_color, second.a_color) == ("white", "black")
        assert first.moves[:4] == second.moves[:4] == first.opening
    assert len({game.opening for game in result.games}) == 4
    assert result.wins + result.draws + result.losses == 8
    assert sum(result.pairs) == 4
    assert result.score.value == pytest.approx((result.wins + result.draws / 2) / 8)
    assert result.losses >= 7


def test_records_agree_with_the_rules() -> None:
    result = play_match("random", "random", "english", 10, seed=1)
    for record in result.games:
        game = Game()
        for move in record.moves:
            game.push(move)
        outcome = game.outcome()
        assert outcome is not None
        assert (outcome.winner, str(outcome.reason)) == (record.winner, record.reason)
        expected = 0.5 if record.winner is None else float(record.winner == record.a_color)
        assert record.score == expected
        assert sum(record.decisions) == len(record.moves) - 4


def test_a_match_is_reproducible_with_any_number_of_workers() -> None:
    def moves(**options: int) -> list[tuple[str, ...]]:
        return [game.moves for game in play_match("random", "alphabeta:depth=2", "russian", 6, **options).games]

    assert moves(seed=1) == moves(seed=1)
    assert moves(seed=1) == moves(seed=1, workers=2)
    assert moves(seed=1) != moves(seed=2)


def test_stronger_scores_more() -> None:
    result = play_match("alphabeta:depth=1", "alphabeta:depth=5", "english", 20, seed=0)
    assert result.score.value < 0.4
    assert result.elo.value < 0


@pytest.mark.parametrize(
    ("failure", "reason", "text"),
    [
        ("raises", "error", "RuntimeError: out of ideas"),
        ("illegal", "illegal move", "1-32"),
        ("nothing", "error", "AttributeError"),
    ],
)
def test_a_player_that_fails_loses(failure: str, reason: str, text: str) -> None:
    result = play_match(Stub(failure), Stub(), "english", 4)
    assert (result.wins, result.draws, result.losses) == (0, 0, 4)
    assert result.failures == 4
    for game in result.games:
        assert game.reason == reason
        assert game.failure is not None
        assert text in game.failure


def test_a_player_cannot_change_the_game() -> None:
    result = play_match(Stub("meddles"), Stub(), "english", 2)
    assert result.failures == 0


def test_long_games_are_cut_and_say_so() -> None:
    result = play_match("random", "random", "english", 4, max_plies=10)
    assert result.truncated == result.draws == 4
    assert all(game.reason == "cut short" and len(game.moves) == 10 for game in result.games)


def test_limits_reach_the_players() -> None:
    a = Stub()
    play_match(a, "alphabeta:depth=1", "english", 2, limit=Limit(nodes=50))
    assert set(a.limits) == {Limit(nodes=50)}
    assert a.games == 2
    # the limit of a specification comes first
    result = play_match("alphabeta:depth=1", "alphabeta", "english", 2, limit=Limit(depth=3))
    assert result.per_move(0)[1] < result.per_move(1)[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"games": 3}, "must be even"),
        ({"games": 0}, "must be even"),
        ({"limit": Limit(simulations=5)}, "cannot be limited by simulations"),
        ({"workers": 0}, "at least one worker"),
        ({"a": Stub(), "workers": 2}, "as specifications"),
        ({"a": "nobody"}, "unknown agent"),
        ({"openings": []}, "at least one opening"),
        ({"openings": [("11-15", "11-15")]}, "cannot be played"),
    ],
)
def test_bad_arguments(options: dict[str, object], message: str) -> None:
    arguments = {"a": "alphabeta", "b": "random", "of": "english", "games": 2, **options}
    with pytest.raises((AgentError, OpeningError), match=message):
        play_match(**arguments)  # type: ignore[arg-type]


def test_result_as_plain_values() -> None:
    result = play_match("random", "alphabeta:depth=3", "english", 4, seed=1)
    text = json.dumps(result.as_dict(), allow_nan=False)
    data = json.loads(text)
    assert data["wins"] + data["draws"] + data["losses"] == 4
    assert len(data["games"]) == 4
    assert isinstance(result, MatchResult)
    if data["losses"] == 4:
        assert data["elo"] is None


# --- games as text ----------------------------------------------------------------------------------


def test_pdn_of_a_game() -> None:
    game = Game()
    for move in ("11-15", "23-18", "8-11"):
        game.push(move)
    text = write_game(game, {"Event": 'The "Test"\nMatch', "Black": "A"})
    assert text.startswith("[Event \"The 'Test' Match\"]\n")
    assert '[Black "A"]\n[White "?"]\n[Result "*"]\n[GameType "21"]\n' in text
    assert text.endswith("\n\n1. 11-15 23-18 2. 8-11 *\n")


def test_pdn_results_belong_to_the_side_that_moves_first() -> None:
    english, international = variant("english"), variant("international")
    assert result_text("black", english) == result_text("white", international) == "1-0"
    assert result_text("white", english) == result_text("black", international) == "0-1"
    assert result_text(None, english) == "1/2-1/2"


def test_pdn_from_a_position() -> None:
    game = Game("english", "W:WK30,K31:BK3:H10")
    game.push("30-26")
    text = write_game(game)
    assert '[SetUp "1"]\n[FEN "' in text
    assert text.endswith("\n\n1... 30-26 *\n")
    line = next(line for line in text.splitlines() if line.startswith("[FEN"))
    assert Game("english", line[6:-2]).fen == Game("english", "W:WK30,K31:BK3:H10").fen


def test_pdn_is_wrapped_and_can_be_played_again() -> None:
    for rules in VARIANTS:
        record = play_match("random", "random", rules, 2, seed=2).games[0]
        game = Game(rules)
        for move in record.moves:
            game.push(move)
        body = write_game(game).split("\n\n")[1]
        assert max(map(len, body.splitlines())) <= 80
        *words, result = body.split()
        again = Game(rules)
        for word in words:
            if not word.endswith("."):
                again.push(word)
        assert again == game
        assert result == result_text(record.winner, rules)
