"""Double DQN with legal moves only, in one file, on the native vector environment.

    python examples/dqn_vector.py [--help]

Hundreds of games against a random player step in one call. With autoreset in the same step every transition is a real
one: (observation, action, reward, next observation, its legal moves), where a game that has ended has no next value.
"""

from __future__ import annotations

import argparse
import copy
import time
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import nn

import draughts_env  # noqa: F401  (makes the ids known to Gymnasium)
from draughts_env.wrappers import VectorFlatVector


class Replay:
    """The last transitions, in a ring. Masks are kept as bits: they are most of the memory otherwise."""

    def __init__(self, size: int, features: int, actions: int) -> None:
        self.observations = np.zeros((size, features), np.float32)
        self.next_observations = np.zeros((size, features), np.float32)
        self.next_masks = np.zeros((size, (actions + 7) // 8), np.uint8)
        self.actions = np.zeros(size, np.int64)
        self.rewards = np.zeros(size, np.float32)
        self.ended = np.zeros(size, np.float32)
        self.n_actions = actions
        self.size, self.count = size, 0

    def add(
        self, observations: Any, actions: Any, rewards: Any, next_observations: Any, masks: Any, ended: Any
    ) -> None:
        """Add a transition of every game."""
        at = np.arange(self.count, self.count + len(actions)) % self.size
        self.observations[at] = observations
        self.next_observations[at] = next_observations
        self.next_masks[at] = np.packbits(masks, axis=1)
        self.actions[at], self.rewards[at], self.ended[at] = actions, rewards, ended
        self.count += len(actions)

    def sample(self, n: int, random: np.random.Generator) -> list[torch.Tensor]:
        """``n`` transitions: observations, actions, rewards, next observations, their masks, whether ended."""
        at = random.integers(min(self.count, self.size), size=n)
        masks = np.unpackbits(self.next_masks[at], axis=1, count=self.n_actions).view(np.bool_)
        arrays = (self.observations, self.actions, self.rewards, self.next_observations)
        return [torch.from_numpy(x) for x in (*(array[at] for array in arrays), masks, self.ended[at])]


def network(features: int, actions: int, width: int) -> nn.Module:
    """A value between -1 and 1 for each action."""
    return nn.Sequential(
        nn.Linear(features, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, actions),
        nn.Tanh(),
    )


def best(q: nn.Module, observations: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """The legal action of the greatest value in each row; shape ``(rows,)``."""
    return q(observations).masked_fill(~masks, -2.0).argmax(1)


def update(
    q: nn.Module, target: nn.Module, optimizer: torch.optim.Optimizer, batch: list[torch.Tensor], gamma: float
) -> float:
    """One step of gradient descent; returns the loss."""
    observations, actions, rewards, next_observations, next_masks, ended = batch
    with torch.no_grad():
        # the network chooses, the slower copy values: double DQN
        chosen = best(q, next_observations, next_masks)
        following = target(next_observations).gather(1, chosen[:, None])[:, 0]
        goal = rewards + gamma * (1.0 - ended) * following
    values = q(observations).gather(1, actions[:, None])[:, 0]
    loss = nn.functional.mse_loss(values, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def win_rate(q: nn.Module, variant: str, games: int, seed: int) -> float:
    """Share of games that the best moves win; all games are played side by side."""
    envs = make_envs(variant, games, AutoresetMode.NEXT_STEP)
    observations, infos = envs.reset(seed=seed)
    result = np.full(games, np.nan)
    while np.isnan(result).any():
        masks = torch.from_numpy(infos["action_mask"]).bool()
        actions = best(q, torch.from_numpy(observations), masks).numpy()
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        first = (terminated | truncated) & np.isnan(result)  # games that start anew do not count again
        result[first] = rewards[first]
    envs.close()
    return float((result > 0).mean())


def make_envs(variant: str, games: int, mode: AutoresetMode) -> Any:
    """Games against a random player; observations are one flat vector each."""
    return VectorFlatVector(
        gymnasium.make_vec(f"Draughts/{variant}-v0", num_envs=games, opponent="random", autoreset_mode=mode)  # type: ignore[arg-type]
    )


def main(arguments: list[str] | None = None) -> float:
    """Train and evaluate; returns the share of games won."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", default="English")
    parser.add_argument("--envs", type=int, default=128)
    parser.add_argument("--steps", type=int, default=1500, help="steps of all games (default 1500)")
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--buffer", type=int, default=100_000, help="transitions kept")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--lr", type=float, default=5e-4)
    parser.add_argument("--target-every", type=int, default=100, help="steps between copies to the target network")
    parser.add_argument("--games", type=int, default=256, help="games of the evaluation")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)

    random = np.random.default_rng(options.seed)
    torch.manual_seed(options.seed)
    envs = make_envs(options.variant, options.envs, AutoresetMode.SAME_STEP)
    features, actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
    q = network(features, actions, options.width)
    target = copy.deepcopy(q)
    optimizer = torch.optim.Adam(q.parameters(), options.lr)
    replay = Replay(options.buffer, features, actions)

    begun = time.monotonic()
    observations, infos = envs.reset(seed=options.seed)
    won = lost = drawn = 0
    for step in range(1, options.steps + 1):
        epsilon = max(0.05, 1.0 - 2.0 * step / options.steps)
        with torch.no_grad():
            masks = torch.from_numpy(infos["action_mask"]).bool()
            chosen = best(q, torch.from_numpy(observations), masks).numpy()
        explore = random.random(options.envs) < epsilon
        chosen = np.where(explore, envs.unwrapped.sample_actions(), chosen)
        next_observations, rewards, terminated, truncated, infos = envs.step(chosen)
        replay.add(observations, chosen, rewards, next_observations, infos["action_mask"], terminated | truncated)
        observations = next_observations
        won += int((rewards > 0).sum())
        lost += int((rewards < 0).sum())
        drawn += int((terminated & (rewards == 0)).sum())

        if replay.count >= 10 * options.batch:
            loss = update(q, target, optimizer, replay.sample(options.batch, random), options.gamma)
            if step % options.target_every == 0:
                target.load_state_dict(q.state_dict())
            if step % max(1, options.steps // 20) == 0:
                share = won / max(1, won + lost + drawn)
                seconds = time.monotonic() - begun
                print(
                    f"{step:>6} steps  epsilon {epsilon:.2f}  loss {loss:.4f}  {share:6.1%} won  {seconds:4.0f} s",
                    flush=True,
                )
                won = lost = drawn = 0
    envs.close()
    rate = win_rate(q, options.variant, options.games, seed=10_000 + options.seed)
    print(f"{rate:.1%} of {options.games} games won against a random player")
    return rate


if __name__ == "__main__":
    main()
