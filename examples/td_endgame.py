"""Tabular temporal differences learn an endgame of one piece against one, and are checked against the tablebase.

    python examples/td_endgame.py [--help]

One table plays both sides. A position's value is that of its best action for the player on turn, and what is good for
one is bad for the other, so the update is `Q(s, a) += alpha * (r - gamma * max Q(s', .) - Q(s, a))`. In the default
position White, to move, wins in 13 plies; most other ways draw.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

import draughts_env  # noqa: F401  (makes the ids known to Gymnasium)
from agents.tablebase import Tablebase
from draughts_env.actions import action_space

#: Values of the legal actions (in the order of their numbers) of each position that was seen.
Table = dict[bytes, npt.NDArray[np.float64]]


def key_of(observation: npt.NDArray[np.float32]) -> bytes:
    """The pieces as the player on turn sees them; the clocks do not matter here."""
    return np.packbits(observation[:4].astype(np.bool_)).tobytes()


def values_of(table: Table, key: bytes, legal: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The entry of a position, made of zeros when it is new."""
    values = table.get(key)
    if values is None:
        values = table[key] = np.zeros(len(legal))
    return values


def play_episode(
    env: gymnasium.Env[Any, Any], table: Table, alpha: float, gamma: float, epsilon: float, random: np.random.Generator
) -> None:
    """Play a game against oneself and learn from each move."""
    observation, info = env.reset()
    key, legal = key_of(observation), np.flatnonzero(info["action_mask"])
    over = False
    while not over:
        values = values_of(table, key, legal)
        if random.random() < epsilon:
            k = int(random.integers(len(legal)))
        else:
            k = int(random.choice(np.flatnonzero(values == values.max())))
        observation, reward, terminated, truncated, info = env.step(legal[k])
        over = terminated or truncated
        goal = float(reward)
        if not terminated:
            key, legal = key_of(observation), np.flatnonzero(info["action_mask"])
            if not over:
                goal = -gamma * values_of(table, key, legal).max()
        values[k] += alpha * (goal - values[k])


def agreement(env: gymnasium.Env[Any, Any], table: Table, variant: str) -> tuple[float, float, int]:
    """Follow the best moves from the start.

    Returns:
        Value of the start; share of the moves that keep the tablebase's value; result for the first player.
    """
    tables = Tablebase.open(variant)
    space = action_space(variant)
    observation, info = env.reset()
    first = float(values_of(table, key_of(observation), np.flatnonzero(info["action_mask"])).max())
    kept = plies = 0
    result, over = 0.0, False
    while not over:
        legal = np.flatnonzero(info["action_mask"])
        position = env.unwrapped.game.position  # type: ignore[attr-defined]
        action = legal[values_of(table, key_of(observation), legal).argmax()]
        score, _ = tables.moves(position)[space.decode(position, action)]
        kept += score == tables.probe(position).score
        observation, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
        result = float(reward) * (-1) ** plies
        plies += 1
    return first, kept / plies, int(result)


def main(arguments: list[str] | None = None) -> tuple[float, float, int]:
    """Learn and check; returns what :func:`agreement` does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", default="English")
    parser.add_argument("--fen", default="W:W8:B3", help="start (default W:W8:B3)")
    parser.add_argument("--episodes", type=int, default=3000)
    parser.add_argument("--alpha", type=float, default=0.5)
    parser.add_argument("--gamma", type=float, default=0.95, help="below 1, so that a quick win is worth more")
    parser.add_argument("--epsilon", type=float, default=0.3)
    parser.add_argument("--max-plies", type=int, default=40, help="length at which an episode is cut short")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)

    random = np.random.default_rng(options.seed)
    env = gymnasium.make(f"Draughts/{options.variant}-v0", fen=options.fen, max_plies=options.max_plies)
    env.reset(seed=options.seed)
    table: Table = {}
    begun = time.monotonic()
    for episode in range(1, options.episodes + 1):
        play_episode(env, table, options.alpha, options.gamma, options.epsilon, random)
        if episode % max(1, options.episodes // 10) == 0:
            observation, info = env.reset()
            start = values_of(table, key_of(observation), np.flatnonzero(info["action_mask"])).max()
            seconds = time.monotonic() - begun
            print(f"{episode:>6} episodes  {len(table):>5} positions  value {start:+.3f}  {seconds:4.0f} s", flush=True)
    value, kept, result = agreement(env, table, options.variant.lower())
    said = {1: "wins", 0: "draws", -1: "loses"}[result]
    print(f"value {value:+.3f}; the first player {said}; {kept:.0%} of the moves are right by the tablebase")
    return value, kept, result


if __name__ == "__main__":
    main()
