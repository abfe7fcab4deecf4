"""How games end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from draughts_env.variants import Color


class Reason(str, Enum):
    """Why a game ended."""

    NO_PIECES = "no pieces"
    NO_MOVES = "no moves"
    REPETITION = "threefold repetition"
    QUIET_LIMIT = "move limit without progress"
    ENDING_LIMIT = "endgame move limit"
    AGREEMENT = "agreement"
    RESIGNATION = "resignation"
    REFUSAL = "draw refused, no advantage in 40 moves"
    COUNT = "count"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Outcome:
    """How a game ended.

    Attributes:
        winner: ``"black"``, ``"white"``, or ``None`` for a draw.
        reason: why.
    """

    winner: Color | None
    reason: Reason

    def __str__(self) -> str:
        return f"{self.winner} wins ({self.reason})" if self.winner else f"draw ({self.reason})"
