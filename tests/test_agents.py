"""Agents by name: specifications, limits, errors; the random agent."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import agents.agent
from agents import AgentError, Limit, load_agent, parse_spec, shipped_checkpoint
from agents.agent import AGENTS, Agent, spec_text
from draughts_env import ENGLISH, DraughtsError, Game, GameOverError, VariantError

GOOD_SPECS = [
    ("random", {}, Limit()),
    ("random:seed=3", {"seed": 3}, Limit()),
    ("alphabeta", {}, Limit()),
    (" AlphaBeta : depth=9 ", {"depth": 9}, Limit(depth=9)),
    ("alphabeta:seconds=0.1,seed=-4", {"seconds": 0.1, "seed": -4}, Limit(seconds=0.1)),
    ("runs/a:b/model.safetensors:simulations=40", {"simulations": 40}, Limit(simulations=40)),
    ("best:seconds=2", {"seconds": 2.0}, Limit(seconds=2)),
    ("alphazero", {}, Limit()),
]

BAD_SPECS = [
    ("", "unknown agent"),
    ("nobody", "random, alphabeta, pvs and best"),
    ("nobody:depth=3", "unknown agent 'nobody:depth=3'"),
    ("alphabeta:dpth=3", "depth, nodes, seconds and seed"),
    ("alphabeta:depth", "depth needs a value"),
    ("alphabeta:depth=", "depth needs a value"),
    ("alphabeta:depth=x", "depth must be a whole number, not 'x'"),
    ("alphabeta:depth=2.5", "whole number"),
    ("alphabeta:seconds=soon", "seconds must be a number"),
    ("alphabeta:depth=0", "depth must be greater than 0"),
    ("alphabeta:seconds=-1", "seconds must be greater than 0"),
    ("alphabeta:seconds=nan", "seconds must be greater than 0"),
    ("alphabeta:depth=3,depth=4", "twice"),
    ("alphabeta:simulations=3", "unknown option 'simulations'"),
    ("random:depth=3", "unknown option 'depth'"),
    ("best:depth=3", "unknown option 'depth'"),
    ("best:simulations=99999999999999999999", "simulations can be at most 10,000,000"),
]


@pytest.mark.parametrize(("text", "options", "limit"), GOOD_SPECS)
def test_specification_is_read(text: str, options: dict[str, float], limit: Limit) -> None:
    spec = parse_spec(text)
    assert spec.options == options
    assert spec.limit == limit


def test_checkpoint_path_may_contain_colons() -> None:
    assert parse_spec("runs/a:b/model.safetensors:seed=1").path == Path("runs/a:b/model.safetensors")


@pytest.mark.parametrize(("text", "message"), BAD_SPECS)
def test_bad_specification_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(AgentError, match=message) as caught:
        load_agent(text, ENGLISH)
    assert isinstance(caught.value, DraughtsError)
    assert "\n" not in str(caught.value)


def test_missing_checkpoint_is_named() -> None:
    with pytest.raises(AgentError, match=r"there is no checkpoint nowhere.model\.safetensors"):
        load_agent("nowhere/model.safetensors", ENGLISH)


def test_unknown_variant() -> None:
    with pytest.raises(VariantError):
        load_agent("random", "chess")


def test_shipped_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents.agent, "__file__", str(tmp_path / "agents" / "agent.py"))
    with pytest.raises(AgentError, match="no checkpoint for russian ships"):
        shipped_checkpoint("russian")
    for folder in (tmp_path / "agents" / "checkpoints", tmp_path / "checkpoints"):
        folder.mkdir(parents=True)
        (folder / "russian.safetensors").touch()
        assert shipped_checkpoint("russian") == folder / "russian.safetensors"


@pytest.mark.parametrize("name", AGENTS)
def test_agent_follows_the_protocol(name: str) -> None:
    agent = load_agent(name, ENGLISH)
    assert isinstance(agent, Agent)
    agent.new_game()
    agent.seed(5)
    game = Game()
    decision = agent.choose(game)
    assert game.position.is_legal(decision.move)
    assert game.ply == 0
    with pytest.raises(GameOverError):
        agent.choose(Game("english", "W:W:B1"))


def test_name_is_a_specification() -> None:
    for text in ("random", "random:seed=3", "alphabeta:depth=9", "alphabeta:nodes=500,seconds=2.0,seed=1"):
        assert load_agent(text, ENGLISH).name == text
    assert spec_text("x", {"a": 1, "b": None}) == "x:a=1"


def test_limit() -> None:
    assert Limit.parse("simulations=400") == Limit(simulations=400)
    assert Limit.parse("depth=3, seconds=.5") == Limit(depth=3, seconds=0.5)
    assert not Limit()
    assert str(Limit(depth=3, seconds=0.5)) == "depth=3,seconds=0.5"
    with pytest.raises(AgentError, match="the limits are"):
        Limit.parse("seed=3")
    with pytest.raises(AgentError, match="greater than 0"):
        Limit(nodes=0)


def test_absurd_limits() -> None:
    with pytest.raises(AgentError, match=r"^unknown agent 'x{60}\.\.\.';"):
        load_agent("x" * 100_000, ENGLISH)
    agent = load_agent(f"alphabeta:depth={10**30},nodes=100", ENGLISH)
    assert agent.choose(Game()).depth
    best = load_agent("best", ENGLISH)
    with pytest.raises(AgentError, match="at most 10,000,000"):
        best.choose(Game(), Limit(simulations=10**30))
    decision = best.choose(Game(), Limit(seconds=1e-9))
    assert decision.policy is not None
    assert sum(decision.policy.values()) == pytest.approx(1)


def test_random_agent_plays_every_move_and_repeats_itself_for_a_seed() -> None:
    game = Game()
    agent = load_agent("random:seed=1", ENGLISH)
    first = [agent.choose(game).move for _ in range(700)]
    agent.seed(1)
    assert [agent.choose(game).move for _ in range(700)] == first
    counts = Counter(first)
    assert set(counts) == set(game.legal_moves())
    assert min(counts.values()) > 60
    decision = agent.choose(game, Limit(simulations=3))
    assert decision.policy is not None
    assert sum(decision.policy.values()) == pytest.approx(1)


def test_agents_load_without_torch() -> None:
    code = (
        "import sys, agents, agents.arena; agents.load_agent('alphabeta', 'english'); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
