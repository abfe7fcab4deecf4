"""Tuning of the evaluation: logistic regression on games that the project has played with itself.

    python -m agents.pvs.tune --variant english --run RUN_FOLDER
    python -m agents.pvs.tune --variant russian --games 2000

The positions are those of the self-play of a training run (their target is the value of the network's search, mixed
with the result of the game), or of quick games of this agent against itself. Left out are positions in which a side
can capture: the search evaluates others only. The weights go to the folder of those that ship.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from rich.progress import track

from agents.agent import AgentError, Limit
from agents.pvs.agent import VALUE_SCALE, PvsAgent
from agents.pvs.kernels.evaluation import COUNT_NAMES, STATES
from agents.pvs.weights import PLACES, TURNED, Weights, first_weights
from agents.training.samples import load_block
from draughts_env.errors import DraughtsError
from draughts_env.game import Game
from draughts_env.variants import Variant, variant

Bits = npt.NDArray[np.uint64]

_BATCH = 8192
_HELD_OUT = 0.03  # share of positions to measure on
_OF_RESULT = 0.3  # share of the game's result in the target
_RANDOM_PLIES = 8  # with which a game of self-play begins


@dataclass(frozen=True)
class Positions:
    """N positions, White to move.

    Attributes:
        boards: uint64 (N, 4): white men, white kings, black men, black kings.
        target: float32 (N,): expected result for White, from 0 to 1.
    """

    boards: Bits
    target: npt.NDArray[np.float32]

    def quiet(self, rules: Variant) -> Positions:
        """Those in which neither side can capture (kings that fly taken for kings that do not)."""
        men, kings, opposing, opposing_kings = self.boards.T
        keep = ~(_jumps(rules, men, kings, opposing | opposing_kings, True))
        keep &= ~(_jumps(rules, opposing, opposing_kings, men | kings, False))
        return Positions(self.boards[keep], self.target[keep])


def _jumps(rules: Variant, men: Bits, kings: Bits, prey: Bits, up: bool) -> npt.NDArray[np.bool_]:
    """Whether any piece stands before one of ``prey`` with an empty square behind."""
    empty = np.uint64(rules.geometry.board) & ~(men | kings | prey)
    found = np.zeros(len(men), bool)
    for step in (rules.size // 2, rules.size // 2 + 1):
        by = np.uint64(step)
        upward = ((empty << by) & prey) << by
        down = ((empty >> by) & prey) >> by
        back = men | kings if rules.men_capture_backwards else kings
        found |= ((men | kings if up else back) & upward) != 0
        found |= ((back if up else men | kings) & down) != 0
    return found


def read_run(folder: Path) -> Positions:
    """The positions of a run's self-play that are on disk.

    Raises:
        AgentError: there are none.
        SampleError: a file is damaged.
    """
    files = sorted(folder.glob("state/replay-*.npz"))
    if not files:
        raise AgentError(f"{folder} holds no self-play games (state/replay-*.npz)")
    boards, targets = [], []
    for file in track(files, "Reading"):
        block = load_block(file)
        boards.append(block.boards)
        mixed = (1 - _OF_RESULT) * block.value + _OF_RESULT * block.result
        targets.append(((mixed + 1) / 2).astype(np.float32))
    return Positions(np.concatenate(boards), np.concatenate(targets))


def play_games(rules: Variant, games: int, nodes: int, seed: int) -> Positions:
    """Positions of games of the agent against itself, each move searched over so many nodes."""
    agent = PvsAgent(rules, hash=4)
    boards: list[tuple[int, ...]] = []
    targets: list[float] = []
    for number in track(range(games), "Playing"):
        chance = random.Random(f"{seed} {number}")
        game = Game(rules)
        agent.new_game()
        seen: list[tuple[tuple[int, ...], float, bool]] = []
        while not game.is_over:
            if game.ply < _RANDOM_PLIES:
                game.push(chance.choice(game.legal_moves()))
                continue
            decision = agent.choose(game, Limit(nodes=nodes))
            white = game.turn == "white"
            p = game.position if white else game.position.turned()
            placed = (p.white & ~p.kings, p.white & p.kings, p.black & ~p.kings, p.black & p.kings)
            seen.append((placed, decision.value or 0.0, white))
            game.push(decision.move)
        outcome = game.outcome()
        winner = outcome.winner if outcome else None
        for men, value, white in seen:
            result = 0.0 if winner is None else (1.0 if (winner == "white") == white else -1.0)
            boards.append(men)
            targets.append(((1 - _OF_RESULT) * value + _OF_RESULT * result + 1) / 2)
    return Positions(np.array(boards, np.uint64), np.array(targets, np.float32))


class Model(torch.nn.Module):
    """The evaluation as a function of its weights, in points (:class:`agents.pvs.weights.Weights`)."""

    def __init__(self, rules: Variant, start: Weights) -> None:
        super().__init__()
        self.rules = rules
        self.most = float(24 if rules.size == 8 else 40)
        self.counts = torch.nn.Parameter(torch.tensor(start.counts, dtype=torch.float32))
        self.kings = torch.nn.Parameter(torch.tensor(start.kings, dtype=torch.float32))
        self.patterns = torch.nn.Parameter(torch.tensor(start.patterns, dtype=torch.float32))
        self.turned = torch.tensor(TURNED)

    def weights(self) -> Weights:
        """The weights as they are now."""
        arrays = (p.detach().double().numpy() for p in (self.counts, self.kings, self.patterns))
        return Weights(*arrays)

    def forward(self, boards: Bits) -> torch.Tensor:
        """Points for White, who is to move; float32 (N,)."""
        of = _Features(self.rules, boards)
        opposite = (self.patterns - self.patterns.flip(0)[:, self.turned]) / 2
        total = opposite.reshape(-1, 2)[torch.from_numpy(of.states)].sum(1)
        total = total + torch.from_numpy(of.kings) @ self.kings + torch.from_numpy(of.counts) @ self.counts
        full = torch.from_numpy(np.minimum(of.pieces, self.most) / self.most).float()
        return total[:, 0] * full + total[:, 1] * (1 - full)


class _Features:
    """What the evaluation of :mod:`agents.pvs.kernels.evaluation` looks at, in numpy."""

    def __init__(self, rules: Variant, boards: Bits) -> None:
        men, kings, opposing, opposing_kings = boards.T
        geometry, half, places = rules.geometry, rules.size // 2, PLACES[rules.size]
        squares = np.array(geometry.bit_of[1:], np.uint64).reshape(rules.size, half)
        if rules.mirrored:
            squares = squares[:, ::-1]
        colors = (men[:, None, None] >> squares & np.uint64(1)).astype(np.int64)
        colors += 2 * (opposing[:, None, None] >> squares & np.uint64(1)).astype(np.int64)
        digits = 3 ** np.arange(8)
        self.states = np.empty((len(boards), places**2), np.int64)
        for p in range(places**2):
            column, row = divmod(p, places)
            part = colors[:, 2 * row : 2 * row + 4, column : column + 2].reshape(-1, 8)
            self.states[:, p] = part @ digits + p * STATES
        bits = np.arange(geometry.bits, dtype=np.uint64)
        self.kings = np.zeros((len(boards), 64), np.float32)
        self.kings[:, : geometry.bits] = kings[:, None] >> bits & np.uint64(1)
        self.kings[:, : geometry.bits] -= opposing_kings[:, None] >> bits[::-1] & np.uint64(1)
        white, black = _ones(men | kings), _ones(opposing | opposing_kings)
        self.pieces = white + black
        self.counts = np.zeros((len(boards), len(COUNT_NAMES)), np.float32)
        self.counts[:, 0] = _ones(men) - _ones(opposing)
        self.counts[:, 1] = _ones(kings) - _ones(opposing_kings)
        self.counts[:, 2] = (kings != 0).astype(np.float32) - (opposing_kings != 0)
        empty = np.uint64(geometry.board) & ~(men | kings | opposing | opposing_kings)
        for step in (np.uint64(half), np.uint64(half + 1)):
            self.counts[:, 3] += _ones(men & (empty << step)) - _ones(opposing & (empty >> step))
        self.counts[:, 4] = 1
        system = np.uint64(sum(1 << int(bit) for bit in squares[1::2].reshape(-1)))
        parity = _ones((men | kings | opposing | opposing_kings) & system) % 2
        self.counts[:, 5] = np.where(white == black, 2 * parity - 1, 0)


def _ones(x: Bits) -> npt.NDArray[np.int64]:
    """Number of one bits of each word."""
    x = x - (x >> np.uint64(1) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + (x >> np.uint64(2) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101) >> np.uint64(56)).astype(np.int64)


def fit(rules: Variant, positions: Positions, epochs: int, seed: int = 0) -> tuple[Weights, float, float]:
    """Fit the weights; returns them and the loss on positions held out, before and after."""
    model = Model(rules, first_weights(rules))
    order = np.random.default_rng(seed).permutation(len(positions.target))
    held = max(int(_HELD_OUT * len(order)), 1)
    test, train = order[:held], order[held:]

    def loss(rows: npt.NDArray[np.int64]) -> torch.Tensor:
        points = model(positions.boards[rows])
        target = torch.from_numpy(positions.target[rows])
        return torch.nn.functional.binary_cross_entropy_with_logits(2 * points / VALUE_SCALE, target)

    with torch.no_grad():
        before = float(loss(test))
    optimizer = torch.optim.Adagrad(model.parameters(), lr=3.0)
    for epoch in range(epochs):
        shuffled = np.random.default_rng(seed + 1 + epoch).permutation(train)
        for first in track(range(0, len(shuffled), _BATCH), f"Epoch {epoch + 1} of {epochs}"):
            optimizer.zero_grad()
            loss(shuffled[first : first + _BATCH]).backward()
            optimizer.step()
    with torch.no_grad():
        return model.weights(), before, float(loss(test))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", default="english")
    parser.add_argument("--run", type=Path, help="folder of a training run, to learn from its games")
    parser.add_argument("--games", type=int, default=1000, help="games to play when no run is named")
    parser.add_argument("--nodes", type=int, default=1000, help="nodes for each of their moves")
    parser.add_argument("--most", type=int, default=1_000_000, help="positions to learn from")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="file of the weights; default: where the agent looks for them")
    options = parser.parse_args()
    try:
        rules = variant(options.variant)
        found = read_run(options.run) if options.run else play_games(rules, options.games, options.nodes, options.seed)
        positions = found.quiet(rules)
        rows = np.random.default_rng(options.seed).permutation(len(positions.target))[: options.most]
        positions = Positions(positions.boards[rows], positions.target[rows])
        print(f"{len(found.target):,} positions, {len(rows):,} of them learnt from")
        weights, before, after = fit(rules, positions, options.epochs, options.seed)
        print(f"loss on positions held out: {before:.4f} before, {after:.4f} after")
        for name, (full, empty) in zip(COUNT_NAMES, weights.counts, strict=True):
            print(f"  {name:16} {full:7.1f} on a full board {empty:7.1f} on an empty one")
        out = options.out or Path(__file__).parent / "data" / f"{rules.name}.npz"
        out.parent.mkdir(exist_ok=True)
        weights.save(out)
        print(f"wrote {out}")
    except (DraughtsError, OSError) as error:
        raise SystemExit(f"{type(error).__name__}: {error}") from None


if __name__ == "__main__":
    main()
