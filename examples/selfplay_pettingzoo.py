"""Self-play in PettingZoo's turn-based (AEC) environment: one network plays both sides and learns from the results.

    pip install -e '.[examples]'
    python examples/selfplay_pettingzoo.py [--help]

Policy gradient with a learned baseline: after each batch of games the moves of the winners become likelier, those of
the losers less likely. An opponent of the past plays in some of the games, so that the network does not only learn to
beat itself.
"""

from __future__ import annotations

import argparse
import copy
import time
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from draughts_env import pettingzoo_env


class Move(NamedTuple):
    """What a player saw and did."""

    planes: Any
    mask: Any
    action: int


class Network(nn.Module):
    """Logits of all actions, and the expected result."""

    def __init__(self, features: int, actions: int, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.policy = nn.Linear(width, actions)
        self.value = nn.Linear(width, 1)

    def forward(self, planes: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Log probabilities of the actions (illegal ones: next to none) and values, for a batch."""
        hidden = self.body(planes.flatten(1))
        logits = self.policy(hidden).masked_fill(masks == 0, -1e9)
        return logits.log_softmax(1), self.value(hidden)[:, 0].tanh()


def act(network: Network | None, seen: dict[str, Any], random: np.random.Generator) -> int:
    """An action drawn from the network's policy; without a network, any legal one."""
    if network is None:
        return int(random.choice(np.flatnonzero(seen["action_mask"])))
    with torch.no_grad():
        planes, mask = (torch.from_numpy(seen[name])[None] for name in ("observation", "action_mask"))
        logs, _ = network(planes, mask)
    return int((logs[0].numpy() + random.gumbel(size=logs.shape[1])).argmax())


def play(
    env: Any, players: dict[str, Network | None], random: np.random.Generator
) -> tuple[dict[str, list[Move]], dict[str, float]]:
    """One game; the moves and the result of each agent."""
    env.reset()
    moves: dict[str, list[Move]] = {agent: [] for agent in env.possible_agents}
    results = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, _ = env.last()
        results[agent] += reward
        if terminated or truncated:
            env.step(None)
            continue
        action = act(players[agent], seen, random)
        moves[agent].append(Move(seen["observation"], seen["action_mask"], action))
        env.step(action)
    return moves, results


def learn(network: Network, optimizer: torch.optim.Optimizer, played: list[tuple[Move, float]], entropy: float) -> None:
    """One step along the policy gradient of all moves, each with the (discounted) result of its player."""
    planes = torch.from_numpy(np.stack([move.planes for move, _ in played]))
    masks = torch.from_numpy(np.stack([move.mask for move, _ in played]))
    actions = torch.tensor([move.action for move, _ in played])
    results = torch.tensor([result for _, result in played])
    logs, values = network(planes, masks)
    gained = results - values.detach()
    chosen = logs.gather(1, actions[:, None])[:, 0]
    spread = -(logs.exp() * logs.clamp(min=-50.0)).sum(1)
    loss = (-gained * chosen).mean() + 0.5 * (values - results).square().mean() - entropy * spread.mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimizer.step()


def win_rate(env: Any, network: Network, games: int, random: np.random.Generator) -> float:
    """Share of games won against a random player, half of them with each side."""
    wins = 0
    for game in range(games):
        side = env.possible_agents[game % 2]
        _, results = play(env, {agent: network if agent == side else None for agent in env.possible_agents}, random)
        wins += results[side] > 0
    return wins / games


def main(arguments: list[str] | None = None) -> float:
    """Train and evaluate; returns the share of games won against a random player."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", default="english")
    parser.add_argument("--updates", type=int, default=120, help="steps of learning (default 120)")
    parser.add_argument("--batch", type=int, default=24, help="games for each step")
    parser.add_argument("--past", type=float, default=0.25, help="share of games against a network of the past")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--gamma", type=float, default=0.97, help="how a result fades towards earlier moves")
    parser.add_argument("--entropy", type=float, default=0.01)
    parser.add_argument("--max-plies", type=int, default=150)
    parser.add_argument("--games", type=int, default=200, help="games of the evaluation")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)

    random = np.random.default_rng(options.seed)
    torch.manual_seed(options.seed)
    env = pettingzoo_env.env(options.variant, max_plies=options.max_plies)
    black, white = env.possible_agents
    features = int(np.prod(env.observation_space(black)["observation"].shape))
    network = Network(features, int(env.action_space(black).n), options.width)
    past = copy.deepcopy(network)
    optimizer = torch.optim.Adam(network.parameters(), options.lr)

    begun = time.monotonic()
    for number in range(1, options.updates + 1):
        played: list[tuple[Move, float]] = []
        decided = plies = 0
        for _ in range(options.batch):
            players: dict[str, Network | None] = {black: network, white: network}
            if random.random() < options.past:
                players[(black, white)[random.integers(2)]] = past
            moves, results = play(env, players, random)
            decided += results[black] != 0
            for agent, own in moves.items():
                plies += len(own)
                if players[agent] is network:
                    played += [(m, results[agent] * options.gamma**k) for k, m in enumerate(reversed(own))]
        learn(network, optimizer, played, options.entropy)
        if number % 10 == 0:
            past.load_state_dict(network.state_dict())
        if number % max(1, options.updates // 20) == 0:
            share, length = decided / options.batch, plies / options.batch
            seconds = time.monotonic() - begun
            print(
                f"{number:>5} updates  {share:4.0%} decided  {length:5.1f} plies a game  {seconds:4.0f} s",
                flush=True,
            )
    won = win_rate(env, network, options.games, random)
    print(f"{won:.1%} of {options.games} games won against a random player")
    return won


if __name__ == "__main__":
    main()
