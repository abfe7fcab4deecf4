"""MaskablePPO of sb3-contrib learns to beat a random player.

    pip install -e '.[examples]'
    python examples/maskable_ppo.py [--help]

The environment is an ordinary one for one player: `opponent="random"` answers every move. MaskablePPO finds the legal
actions through the environment's `action_masks()`. Training stops when the last games were won often enough.
"""

from __future__ import annotations

import argparse
import time
from collections import deque
from typing import Any

import gymnasium
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

import draughts_env  # noqa: F401  (makes the ids known to Gymnasium)
from draughts_env.wrappers import FlatVector


def make_env(variant: str) -> gymnasium.Env[Any, Any]:
    """One game against a random player, the learner's side drawn by lot; observations are one flat vector."""
    return FlatVector(gymnasium.make(f"Draughts/{variant}-v0", opponent="random"))


class Progress(BaseCallback):
    """Prints a line after each batch of games, and ends the training at the target."""

    def __init__(self, target: float) -> None:
        super().__init__()
        self.target = target
        self.results: deque[float] = deque(maxlen=300)
        self.begun = time.monotonic()

    def _on_step(self) -> bool:
        """Called after each step of all environments; False ends the training."""
        self.results.extend(self.locals["rewards"][self.locals["dones"]])
        return len(self.results) < (self.results.maxlen or 0) or self.won < self.target

    def _on_rollout_end(self) -> None:
        print(f"{self.num_timesteps:>8} steps  {self.won:6.1%} won  {time.monotonic() - self.begun:4.0f} s", flush=True)

    @property
    def won(self) -> float:
        """Share of the last games that were won."""
        return sum(result > 0 for result in self.results) / max(1, len(self.results))


def win_rate(model: MaskablePPO, variant: str, games: int, seed: int) -> float:
    """Share of games that the model wins when it always plays its best move."""
    env = make_env(variant)
    wins = 0
    for game in range(games):
        observation, info = env.reset(seed=seed + game)
        reward, over = 0.0, False
        while not over:
            action, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
            observation, reward, terminated, truncated, info = env.step(int(action))  # type: ignore[assignment]
            over = terminated or truncated
        wins += reward > 0
    return wins / games


def main(arguments: list[str] | None = None) -> float:
    """Train and evaluate; returns the share of games won."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", default="English")
    parser.add_argument("--steps", type=int, default=400_000, help="moves of the learner at most (default 400000)")
    parser.add_argument("--target", type=float, default=0.85, help="stop at this share of wins (default 0.85)")
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--rollout", type=int, default=256, help="moves of each environment between updates")
    parser.add_argument("--games", type=int, default=200, help="games of the evaluation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", help="file for the trained model")
    options = parser.parse_args(arguments)

    envs = DummyVecEnv([lambda: make_env(options.variant)] * options.envs)
    model = MaskablePPO(
        "MlpPolicy",
        envs,
        n_steps=options.rollout,
        batch_size=256,
        n_epochs=4,
        learning_rate=1e-3,
        gamma=0.97,  # a win soon is worth more: that keeps winning games from wandering into draws
        ent_coef=0.01,
        policy_kwargs={"net_arch": [128, 128]},
        seed=options.seed,
        device="cpu",
    )
    model.learn(options.steps, callback=Progress(options.target))
    if options.save:
        model.save(options.save)
    won = win_rate(model, options.variant, options.games, seed=10_000 + options.seed)
    print(f"{won:.1%} of {options.games} games won against a random player")
    return won


if __name__ == "__main__":
    main()
