"""A strong classical player: principal variation search with an evaluation tuned on the project's own games."""

from agents.pvs.agent import PvsAgent

__all__ = ["PvsAgent"]
