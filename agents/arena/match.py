"""Matches: pairs of games from the same opening with colours swapped."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from agents.agent import Agent, AgentError, Limit, parse_spec
from agents.arena.openings import Opening, OpeningError, random_openings
from agents.arena.result import GameRecord, MatchResult
from draughts_env.errors import DraughtsError
from draughts_env.game import Game
from draughts_env.openings import played
from draughts_env.variants import Color, Variant, variant

#: Games longer than this are cut and counted as draws. The draw rules end games long before.
MAX_PLIES = 1000
#: Plies of the random openings of a match that names none.
OPENING_PLIES = 4
_LONGER_OPENINGS_FROM = 100  # pairs

#: An agent, or its specification.
Player = Agent | str


def play_match(
    a: Player,
    b: Player,
    of: Variant | str,
    games: int,
    *,
    limit: Limit | None = None,
    openings: Sequence[Opening] | None = None,
    seed: int = 0,
    max_plies: int = MAX_PLIES,
    on_game: Callable[[GameRecord], None] | None = None,
    workers: int = 1,
) -> MatchResult:
    """Play a match.

    The games of a pair start from the same opening; A plays the side that moves first in the even ones. Before each
    game both players get ``new_game`` and a seed of their own, so that the result depends on nothing but the arguments
    as long as the limits are not of time. A player that raises an exception or plays an illegal move loses the game.

    Args:
        a, b: the players. With several workers, specifications, as every worker needs players of its own.
        of: the variant.
        games: an even number.
        limit: for both players, where their specification has no limit; an agent given as an object always gets it.
        openings: used in turn; by default random ones of 4 plies (6 from a hundred pairs on).
        seed: decides openings and the players' random choices.
        max_plies: length at which a game is cut and counted as a draw.
        on_game: called after each game, in the order in which they end, one call at a time.
        workers: games played at the same time, each in a thread (kernels run in parallel).

    Raises:
        AgentError: a specification that cannot be loaded, a limit that a player cannot keep, an odd number of games.
        OpeningError: an opening that cannot be played, or not enough of them.
        VariantError: an unknown variant.
    """
    rules = variant(of)
    if games < 2 or games % 2:
        raise AgentError(f"a match is played in pairs of games: their number must be even, not {games}")
    if workers < 1 or max_plies < 1:
        raise AgentError("a match needs at least one worker and one ply")
    if workers > 1 and not (isinstance(a, str) and isinstance(b, str)):
        raise AgentError("with several workers, players must be given as specifications")
    limits = (_limit_of(a, limit), _limit_of(b, limit))
    seats = [(_load(a, rules), _load(b, rules)) for _ in range(min(workers, games))]
    if openings is None:
        pairs = games // 2
        plies = OPENING_PLIES if pairs < _LONGER_OPENINGS_FROM else OPENING_PLIES + 2
        openings = random_openings(rules, plies, pairs, seed)
    _check_openings(openings, rules)
    hall = _Hall(seats, limits, rules, openings, seed, max_plies)

    def play(number: int) -> GameRecord:
        record = hall.play(number)
        if on_game is not None:
            with hall.lock:
                on_game(record)
        return record

    if workers == 1:
        records = [play(number) for number in range(games)]
    else:
        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(play, number) for number in range(games)]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
                records = [future.result() for future in futures]
            finally:
                hall.closed.set()
                pool.shutdown(wait=False, cancel_futures=True)
    return MatchResult(
        variant=rules.name,
        a=seats[0][0].name,
        b=seats[0][1].name,
        limit=str(limit or ""),
        seed=seed,
        max_plies=max_plies,
        games=tuple(records),
    )


def _load(player: Player, rules: Variant) -> Agent:
    return parse_spec(player).load(rules) if isinstance(player, str) else player


def _limit_of(player: Player, limit: Limit | None) -> Limit | None:
    """The limit to hand to a player: none where its specification has one."""
    if not limit or not isinstance(player, str):
        return limit or None
    spec = parse_spec(player)
    if spec.limit:
        return None
    spec.kind.check_limit(limit)
    return limit


def _check_openings(openings: Sequence[Opening], rules: Variant) -> None:
    if not openings:
        raise OpeningError("a match needs at least one opening")
    for opening in openings:
        played(opening, rules)


class _Closed(Exception):
    """The match was given up while a game was on."""


class _Hall:
    """Where the games of a match are played: as many at a time as there are pairs of players."""

    def __init__(
        self,
        seats: Sequence[tuple[Agent, Agent]],
        limits: tuple[Limit | None, Limit | None],
        rules: Variant,
        openings: Sequence[Opening],
        seed: int,
        max_plies: int,
    ) -> None:
        self.lock = threading.Lock()
        self.closed = threading.Event()
        self._free = list(seats)
        self._limits = limits
        self._rules = rules
        self._openings = openings
        self._seed = seed
        self._max_plies = max_plies

    def play(self, number: int) -> GameRecord:
        """Play the game of a number."""
        with self.lock:
            seats = self._free.pop()
        try:
            return self._play(number, seats)
        finally:
            with self.lock:
                self._free.append(seats)

    def _play(self, number: int, seats: tuple[Agent, Agent]) -> GameRecord:
        rules = self._rules
        opening = self._openings[number // 2 % len(self._openings)]
        second: Color = "black" if rules.first == "white" else "white"
        colors = (rules.first, second) if number % 2 == 0 else (second, rules.first)
        seconds, nodes, decisions = [0.0, 0.0], [0, 0], [0, 0]
        game = Game(rules)

        def record(winner: Color | None, reason: str, failure: str | None = None, cut: bool = False) -> GameRecord:
            return GameRecord(
                number=number,
                opening=tuple(opening),
                a_color=colors[0],
                moves=tuple(map(str, game.moves)),
                winner=winner,
                reason=reason,
                truncated=cut,
                failure=failure,
                seconds=(seconds[0], seconds[1]),
                nodes=(nodes[0], nodes[1]),
                decisions=(decisions[0], decisions[1]),
            )

        chance = random.Random(f"{self._seed} {number}")
        for agent in seats:
            agent.new_game()
            agent.seed(chance.getrandbits(32))
        for move in opening:
            game.push(move)
        while not game.is_over:
            if self.closed.is_set():
                raise _Closed
            if game.ply >= self._max_plies:
                return record(None, "cut short", cut=True)
            player = colors.index(game.turn)
            agent = seats[player]
            started = time.perf_counter()
            try:
                decision = agent.choose(game.copy(), self._limits[player])
                chosen, searched = decision.move, int(decision.nodes)
            except Exception as error:
                return record(colors[1 - player], "error", f"{agent.name}: {type(error).__name__}: {error}")
            seconds[player] += time.perf_counter() - started
            nodes[player] += searched
            decisions[player] += 1
            try:
                game.push(chosen)
            except (DraughtsError, AttributeError, TypeError) as error:
                return record(colors[1 - player], "illegal move", f"{agent.name}: {error}")
        outcome = game.outcome()
        assert outcome is not None
        return record(outcome.winner, str(outcome.reason))
