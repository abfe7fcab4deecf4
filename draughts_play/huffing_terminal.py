"""A game with huffing against an agent in a terminal."""

from __future__ import annotations

from typing import Any

from draughts_env.huffing import HuffingGame
from draughts_env.huffing_env import choose_action
from draughts_env.huffing_text import rights, write_huffing
from draughts_env.moves import Move
from draughts_play.board_picture import move_text
from draughts_play.terminal import Terminal


class HuffingTerminal(Terminal):
    """Games with huffing, played like the others; `huff 18` and `insist` are further things to type.

    The variant is one with huffing; the agent is one of the strict game and never misses a capture itself.
    """

    def _new_game(self) -> HuffingGame:
        return HuffingGame(self._variant, self._fen)

    def _choices(self) -> list[Any]:
        return self._game.legal_actions()

    def _name(self, choice: Any) -> str:
        return move_text(choice, self._game.position) if isinstance(choice, Move) else str(choice)

    def _ask_agent(self, game: Any) -> tuple[Any, float | None]:
        values: list[float | None] = []

        def choose(strict: Any) -> Any:
            decision = self._agent.choose(strict, self._limit)
            values.append(decision.value)
            return decision

        action = choose_action(game, choose)
        return action, values[-1] if isinstance(action, Move) and values else None

    def _lead_in(self) -> str:
        return rights(self._game).replace(self._game.turn.capitalize(), "You") or "Moves"

    def _written(self, tags: dict[str, str]) -> str:
        return write_huffing(self._game, tags)

    def _marked(self) -> tuple[int, ...]:
        actions = self._game.actions
        return actions[-1].path if actions and isinstance(actions[-1], Move) else ()
