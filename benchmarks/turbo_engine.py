"""The pvs agent against the TurboEngine of py-draughts, International, the same time for every move.

    python benchmarks/turbo_engine.py [--games 20] [--seconds 0.2]

The other engine runs in a process of its own (this file with --serve), which reads lines: ``new``, ``play MOVE`` and
``go``, and answers ``go`` with a move, as ``from to captured,captured``. py-draughts is needed, of the tests' packages.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
from typing import Any

from agents.agent import Decision, Limit, Watch
from agents.arena import play_match
from agents.pvs import PvsAgent
from draughts_env import Game, Move


def written(origin: int, target: int, captured: Any) -> str:
    """A move on the line, in PDN squares."""
    return f"{origin} {target} {','.join(map(str, sorted(captured)))}"


def serve(seconds: float) -> None:
    """Play TurboEngine's side on the standard streams."""
    import draughts
    from draughts.engines import TurboEngine

    def named(move: Any) -> str:
        squares = move.square_list
        return written(squares[0] + 1, squares[-1] + 1, [square + 1 for square in move.captured_list])

    engine = TurboEngine(depth_limit=99, time_limit=seconds)
    board = draughts.StandardBoard()
    for line in sys.stdin:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "new":
            board = draughts.StandardBoard()
        elif word == "play":
            board.push(next(move for move in board.legal_moves if named(move) == rest))
        else:
            print(named(engine.get_best_move(board)), flush=True)


class Turbo:
    """TurboEngine as an agent of ours, for games from the start."""

    name = "TurboEngine"

    def __init__(self, seconds: float) -> None:
        command = [sys.executable, __file__, "--serve", "--seconds", str(seconds)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._told = 0

    def seed(self, seed: int) -> None:
        """It has no chance in it."""

    def new_game(self) -> None:
        self._say("new")
        self._told = 0

    def choose(
        self,
        game: Game,
        limit: Limit | None = None,
        watch: Watch | None = None,
        stop: threading.Event | None = None,
    ) -> Decision:
        for move in game.moves[self._told :]:
            self._say(f"play {written(move.origin, move.target, move.captured)}")
        self._told = game.ply
        self._say("go")
        assert self._process.stdout is not None
        answer = self._process.stdout.readline().rstrip("\n")
        chosen: Move = next(
            move for move in game.legal_moves() if written(move.origin, move.target, move.captured) == answer
        )
        return Decision(chosen)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _say(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.seconds)
        return
    ours = PvsAgent("international", seconds=options.seconds)
    ours.choose(Game("international"), Limit(depth=2))  # compiled before the first game
    turbo = Turbo(options.seconds)
    try:
        result = play_match(
            ours,
            turbo,
            "international",
            options.games,
            seed=options.seed,
            on_game=lambda game: print(
                f"game {game.number + 1}: pvs is {game.a_color}, {game.winner or 'nobody'} wins ({game.reason}, "
                f"{len(game.moves)} plies) {game.failure or ''}",
                flush=True,
            ),
        )
    finally:
        turbo.close()
    print(f"pvs {result.wins} won, {result.draws} drawn, {result.losses} lost: {result.score.value:.1%}")
    for name, player in (("pvs", 0), ("TurboEngine", 1)):
        print(f"{name}: {result.per_move(player)[0]:.3f} s for a move")


if __name__ == "__main__":
    main()
