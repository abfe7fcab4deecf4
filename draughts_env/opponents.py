"""Who answers the learner: anything that can choose a move, under one face.

An opponent is given to an environment as

* a function ``f(game) -> move``, or an object with ``choose(game) -> decision`` (an agent), where the move is a
  :class:`Move` or text such as ``"11-15"``, and a decision is a move or has it as ``.move``;
* a text: ``"random"``, or whatever a *resolver* understands, such as ``"alphabeta:depth=3"``.

A resolver is a function ``f(text, variant) -> agent or function``, or ``None`` when the text is not its business. One
is registered with :func:`register_resolver`, or found as an entry point of the group ``draughts_env.opponents``. This
is how the package `agents` offers its players without being imported from here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

from draughts_env.errors import DraughtsError, IllegalMoveError, OpponentError
from draughts_env.game import Game
from draughts_env.moves import Move
from draughts_env.variants import Variant

#: The entry points' group.
GROUP = "draughts_env.opponents"
#: The opponent that the kernels play themselves.
RANDOM = "random"

Resolver = Callable[[str, Variant], Any]

_resolvers: list[Resolver] = []


def register_resolver(resolver: Resolver) -> None:
    """Let environments ask ``resolver(text, variant)`` for opponents. The latest registered is asked first."""
    if resolver not in _resolvers:
        _resolvers.insert(0, resolver)


@functools.cache
def _installed() -> tuple[Resolver, ...]:
    """Resolvers that installed packages declare; looked up once, when a text is first resolved."""
    return tuple(point.load() for point in entry_points(group=GROUP))


class Opponent:
    """An opponent under one face.

    Args:
        of: what was given: an agent, a function, or a text for a resolver.
        variant: the rules that will be played.

    Raises:
        OpponentError: nobody knows the text, or the object cannot choose.
        DraughtsError: whatever the resolver says about the text.

    Attributes:
        name: what it is called; player: the agent or function behind it.
    """

    def __init__(self, of: Any, variant: Variant) -> None:
        self.name = of if isinstance(of, str) else getattr(of, "name", None) or getattr(of, "__name__", repr(of))
        self.player = _resolve(of, variant) if isinstance(of, str) else of
        if not callable(getattr(self.player, "choose", None)) and not callable(self.player):
            raise OpponentError(
                f"an opponent is a text, a function of a game, or has choose(game); {of!r} is none of these"
            )

    def begin(self, seed: int | None) -> None:
        """Get ready for a new game; with a seed, start the random choices anew. Only agents have these two calls."""
        seeding = getattr(self.player, "seed", None)
        if seed is not None and callable(seeding):
            seeding(seed)
        new_game = getattr(self.player, "new_game", None)
        if callable(new_game):
            new_game()

    def move(self, game: Game) -> Move:
        """The legal move it plays. It gets a copy of the game and can do with it what it likes.

        Raises:
            OpponentError: what it answers is no legal move. Its own errors go through as they are.
        """
        choose = getattr(self.player, "choose", None)
        answer = choose(game.copy()) if callable(choose) else self.player(game.copy())
        move = getattr(answer, "move", answer)
        try:
            if isinstance(move, str):
                return game.position.parse(move)
            if isinstance(move, Move):
                return game.position.legal_move(game.position.index(move))
        except IllegalMoveError as error:
            raise OpponentError(f"the opponent {self.name} played an illegal move: {error}") from error
        raise OpponentError(f"the opponent {self.name} answered {answer!r}, which is no move, in {game.fen}")


def _resolve(text: str, variant: Variant) -> Any:
    """What the first resolver that knows the text makes of it."""
    complaints = []
    for resolver in (*_resolvers, *_installed()):
        try:
            player = resolver(text, variant)
        except DraughtsError as error:
            complaints.append(error)
            continue
        if player is not None:
            return player
    if len(complaints) == 1:
        raise complaints[0]
    known = "; ".join(map(str, complaints)) or "no package that offers opponents is installed"
    raise OpponentError(f"unknown opponent {text!r}: {known}")
