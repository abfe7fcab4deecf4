"""The opponents that the page offers: levels from beginner to the strongest model, as data (``levels.json``).

A level names an agent with its limit and how often it slips: a slip is a legal move chosen by chance. Ratings are
those of the ladder in ``benchmarks/web_ladder.py``; a level that was not measured has none.
"""

from __future__ import annotations

import json
import random
import threading
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from agents.agent import Agent, AgentSpec, Decision, Limit, Watch, parse_spec
from draughts_env.errors import DraughtsError, quoted
from draughts_env.game import Game
from draughts_env.variants import Variant

_FILE = Path(__file__).with_name("levels.json")
#: Plies from the start in which an agent that weighs moves varies its choice.
_VARIED_PLIES = 8
#: What share of the best move's weight another must have to be chosen then.
_VARIED_SHARE = 0.6


class LevelError(DraughtsError, ValueError):
    """No level of that name."""


@dataclass(frozen=True)
class Level:
    """One opponent.

    Attributes:
        id: its name in requests.
        title: what people read.
        agent: specification of the agent, limit included.
        slips: share of moves that are chosen by chance.
        rating: by the ladder; None when it was not measured.
        description: a sentence on it.
    """

    id: str
    title: str
    agent: str
    slips: float
    rating: int | None
    description: str

    @property
    def spec(self) -> AgentSpec:
        """The agent's specification, read."""
        return parse_spec(self.agent)

    def shown(self) -> dict[str, Any]:
        """The level for the page."""
        return {"id": self.id, "title": self.title, "rating": self.rating, "description": self.description}


@cache
def levels(variant_name: str) -> tuple[Level, ...]:
    """The levels of a variant, weakest first."""
    return tuple(Level(**entry) for entry in json.loads(_FILE.read_text(encoding="utf-8"))[variant_name])


def level(of: Variant, name: str) -> Level:
    """A level of a variant by its id.

    Raises:
        LevelError: there is none.
    """
    known = levels(of.without_huffing().name)
    for found in known:
        if found.id == name:
            return found
    raise LevelError(f"unknown level {quoted(name)}; known are {', '.join(found.id for found in known)}")


def strongest(of: Variant) -> Level:
    """The level that gives hints and analyses."""
    return levels(of.without_huffing().name)[-1]


class LevelPlayer:
    """A level as a player: its agent with its slips, and some variety in the opening.

    Args:
        level: the level.
        agent: its agent, which may be shared with other levels as long as one thread uses it at a time.
        seed: start of the chances; by default another each time.
    """

    def __init__(self, level: Level, agent: Agent, seed: int | None = None) -> None:
        self.name = level.title
        self._level = level
        self.agent = agent
        self._random = random.Random(seed)

    def new_game(self) -> None:
        """Forget what was remembered of the last game."""
        self.agent.new_game()

    def seed(self, seed: int) -> None:
        """Start the chances anew."""
        self._random = random.Random(seed)

    def choose(
        self,
        game: Game,
        limit: Limit | None = None,
        watch: Watch | None = None,
        stop: threading.Event | None = None,
    ) -> Decision:
        """The move to play; see :meth:`agents.agent.Agent.choose`."""
        if self._level.slips and self._random.random() < self._level.slips:
            return Decision(self._random.choice(game.legal_moves()))
        self.agent.seed(self._random.getrandbits(32))
        decision = self.agent.choose(game, limit or self._level.spec.limit, watch, stop)
        return self._varied(game, decision)

    def judge(self, game: Game, stop: threading.Event | None = None) -> float | None:
        """What its agent thinks of a game, for the side to move, without slips."""
        return self.agent.choose(game, self._level.spec.limit, stop=stop).value

    def _varied(self, game: Game, decision: Decision) -> Decision:
        """In the opening, one of the moves that the agent weighs nearly as much as the best."""
        if game.ply >= _VARIED_PLIES or decision.exact or not decision.policy:
            return decision
        least = _VARIED_SHARE * decision.policy.get(decision.move, 1.0)
        good = [move for move, share in decision.policy.items() if share >= least]
        move = self._random.choice(good) if good else decision.move
        return decision if move == decision.move else replace(decision, move=move, pv=(move,))
