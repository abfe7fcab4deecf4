"""Steps per second of random play, here and in other packages, as ratios of one run.

    python benchmarks/peers.py [--seconds 1] [--rounds 5] [--games 4096] [--threads 2]

Nothing is installed: peers that are there take part (open_spiel; py-draughts or pydraughts, which cannot be installed
together; dame-rs). In every round all contenders of a table play for the same time, one after the other; the ratios are
taken within each round, so that a machine that others use as well changes them little. Printed are the median rate, the
median ratio to the reference, and the least and the greatest ratio. One thread, unless it says otherwise.

A step is one decision: a complete move here and in the draughts packages, one jump in OpenSpiel.
"""

from __future__ import annotations

import argparse
import importlib
import random
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np

from draughts_env import Game
from draughts_env.variants import variant

#: Plays on for a while at each `next` and yields the number of steps.
Player = Iterator[int]
_Random = random.random


# --- here -------------------------------------------------------------------------------------------


def single_env(name: str) -> Player:
    env = gymnasium.make(name)
    step, reset, nonzero = env.step, env.reset, np.flatnonzero
    while True:
        _, info = reset()
        steps, over = 0, False
        while not over:
            legal = nonzero(info["action_mask"])
            _, _, terminated, truncated, info = step(legal[int(_Random() * len(legal))])
            over = terminated or truncated
            steps += 1
        yield steps


def vector_env(name: str, games: int, threads: int) -> Player:
    envs: Any = gymnasium.make_vec(name, num_envs=games, threads=threads)
    envs.reset(seed=0)
    while True:
        envs.step(envs.sample_actions())
        yield games


def objects(name: str) -> Player:
    rules = variant(name)
    while True:
        game = Game(rules)
        while game.outcome() is None:
            moves = game.legal_moves()
            game.push(moves[int(_Random() * len(moves))])
        yield game.ply


# --- peers ------------------------------------------------------------------------------------------


def open_spiel_tensors(pyspiel: Any) -> Player:
    game = pyspiel.load_game("checkers")
    while True:
        state = game.new_initial_state()
        steps = 0
        while not state.is_terminal():
            state.observation_tensor()  # lists of numbers; making arrays of them would take longer than the rest
            state.legal_actions_mask()
            legal = state.legal_actions()
            state.apply_action(legal[int(_Random() * len(legal))])
            steps += 1
        yield steps


def open_spiel_objects(pyspiel: Any) -> Player:
    game = pyspiel.load_game("checkers")
    while True:
        state = game.new_initial_state()
        steps = 0
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(_Random() * len(legal))])
            steps += 1
        yield steps


def py_draughts_tensors(board_class: Any) -> Player:
    while True:
        board = board_class()
        steps = 0
        while not board.game_over:
            board.to_tensor()
            board.legal_moves_mask()
            moves = board.legal_moves
            board.push(moves[int(_Random() * len(moves))])
            steps += 1
        yield steps


def py_draughts_objects(board_class: Any) -> Player:
    while True:
        board = board_class()
        steps = 0
        while not board.game_over:
            moves = board.legal_moves
            board.push(moves[int(_Random() * len(moves))])
            steps += 1
        yield steps


def pydraughts_objects(board_class: Any, name: str) -> Player:
    while True:
        board = board_class(variant=name)
        steps = 0
        while not board.is_over() and steps < 300:
            moves = list(board.legal_moves())
            board.push(moves[int(_Random() * len(moves))])
            steps += 1
        yield steps


def dame_objects(board_class: Any) -> Player:
    while True:
        board = board_class()
        steps = 0
        while board.outcome() is None:
            moves = board.legal_moves
            board.push(moves[int(_Random() * len(moves))])
            steps += 1
        yield steps


# --- running ----------------------------------------------------------------------------------------


def found(module: str) -> Any:
    """A module if it is installed, else None."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def rate(player: Player, seconds: float) -> float:
    """Steps per second over at least ``seconds``."""
    steps, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        steps += next(player)
    return steps / passed


def table(title: str, contenders: dict[str, Callable[[], Player]], reference: str, seconds: float, rounds: int) -> None:
    """Let the contenders play in rounds and print their rates and ratios."""
    print(f"\n{title}")
    if reference not in contenders:
        reference = next(iter(contenders))
    players = {name: make() for name, make in contenders.items()}
    for player in players.values():  # compile, load, warm up
        next(player)
    rates: dict[str, list[float]] = {name: [] for name in players}
    for _ in range(rounds):
        for name, player in players.items():
            rates[name].append(rate(player, seconds))
    print(f"| {'contender':<34} | {'steps/s':>10} | {'ratio':>6} | {'least':>6} | {'greatest':>8} |")
    print(f"|{'-' * 36}|{'-' * 11}:|{'-' * 7}:|{'-' * 7}:|{'-' * 9}:|")
    for name, own in rates.items():
        ratios = [a / b for a, b in zip(own, rates[reference])]
        print(
            f"| {name:<34} | {statistics.median(own):>10,.0f} | {statistics.median(ratios):>6.2f} "
            f"| {min(ratios):>6.2f} | {max(ratios):>8.2f} |"
        )
    print(f"Ratios to {reference}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each contender in each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--games", type=int, default=4096, help="games of the vector environment")
    parser.add_argument("--threads", type=int, default=2, help="threads of the vector environment")
    options = parser.parse_args()
    random.seed(0)

    pyspiel, draughts, dame = found("pyspiel"), found("draughts"), found("dame")
    py_draughts = draughts if hasattr(draughts, "StandardBoard") else None
    pydraughts = draughts if draughts is not None and py_draughts is None else None
    there = {"open_spiel": pyspiel, "py-draughts": py_draughts, "pydraughts": pydraughts, "dame-rs": dame}
    print("peers:", ", ".join(f"{name} {'yes' if module else 'no'}" for name, module in there.items()))

    for name in ("English", "International"):
        env_id = f"Draughts/{name}-v0"
        contenders: dict[str, Callable[[], Player]] = {}
        if pyspiel and name == "English":
            contenders["open_spiel checkers"] = lambda: open_spiel_tensors(pyspiel)
        if py_draughts:
            board = py_draughts.AmericanBoard if name == "English" else py_draughts.StandardBoard
            contenders["py-draughts"] = lambda board=board: py_draughts_tensors(board)  # type: ignore[misc]
        contenders["here, Gymnasium"] = lambda env_id=env_id: single_env(env_id)  # type: ignore[misc]
        for threads in sorted({1, options.threads}):
            contenders[f"here, vector, {options.games} games, {threads} thr."] = (  # type: ignore[assignment]
                lambda env_id=env_id, threads=threads: vector_env(env_id, options.games, threads)
            )
        table(
            f"{name}: observation and mask at each step",
            contenders,
            "open_spiel checkers",
            options.seconds,
            options.rounds,
        )

    for name in ("English", "International"):
        contenders = {}
        if pyspiel and name == "English":
            contenders["open_spiel checkers"] = lambda: open_spiel_objects(pyspiel)
        if py_draughts:
            board = py_draughts.AmericanBoard if name == "English" else py_draughts.StandardBoard
            contenders["py-draughts"] = lambda board=board: py_draughts_objects(board)  # type: ignore[misc]
        if pydraughts:
            peer = "english" if name == "English" else "standard"
            contenders["pydraughts"] = lambda peer=peer: pydraughts_objects(pydraughts.Board, peer)  # type: ignore[misc]
        if dame and name == "International":
            contenders["dame-rs"] = lambda: dame_objects(dame.Board)
        contenders["here, Game"] = lambda name=name: objects(name)  # type: ignore[misc]
        table(f"{name}: objects, no tensors", contenders, "py-draughts", options.seconds, options.rounds)


if __name__ == "__main__":
    main()
