"""The clocks of a game: time left to each side, kept by the server."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from draughts_env.variants import Color


@dataclass
class Clock:
    """Two clocks of which one at most runs.

    Attributes:
        left: seconds left to each side, up to the last change.
        increment: seconds added after each move.
        running: the side whose clock runs.
        since: when it began to run, by the monotonic clock.
    """

    left: dict[Color, float]
    increment: float
    running: Color | None = None
    since: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, minutes: float, increment: float) -> Clock:
        """Two full clocks."""
        return cls({"black": 60 * minutes, "white": 60 * minutes}, increment)

    def seconds(self, color: Color) -> float:
        """Time left to a side; not below 0."""
        spent = time.monotonic() - self.since if self.running == color else 0.0
        return max(0.0, self.left[color] - spent)

    def run(self, color: Color | None) -> None:
        """Stop the clock that runs and start that of a side, or none."""
        if self.running is not None:
            self.left[self.running] = self.seconds(self.running)
        self.running = color
        self.since = time.monotonic()

    def moved(self, color: Color) -> None:
        """Add the increment after a move of a side."""
        self.left[color] = self.seconds(color) + self.increment
        self.since = time.monotonic()

    def flag(self) -> Color | None:
        """The side whose time is up."""
        return self.running if self.running is not None and self.seconds(self.running) <= 0 else None

    def shown(self) -> dict[str, Any]:
        """The clocks for the page."""
        return {
            "black": round(self.seconds("black"), 1),
            "white": round(self.seconds("white"), 1),
            "running": self.running,
            "increment": self.increment,
        }

    def saved(self) -> dict[str, Any]:
        """The clocks for the store; none of them runs when they are read again."""
        return {"left": {color: self.seconds(color) for color in self.left}, "increment": self.increment}

    @classmethod
    def read(cls, saved: dict[str, Any]) -> Clock:
        """The clocks that :meth:`saved` gave."""
        return cls(dict(saved["left"]), saved["increment"])
