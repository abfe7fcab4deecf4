"""The players: search, networks, training, arena. Importing this package imports no network library."""

from agents.agent import (
    AGENTS,
    Agent,
    AgentError,
    AgentKind,
    AgentSpec,
    Decision,
    Limit,
    Line,
    Watch,
    load_agent,
    parse_spec,
    shipped_checkpoint,
)

__all__ = [
    "AGENTS",
    "Agent",
    "AgentError",
    "AgentKind",
    "AgentSpec",
    "Decision",
    "Limit",
    "Line",
    "Watch",
    "load_agent",
    "parse_spec",
    "shipped_checkpoint",
]
