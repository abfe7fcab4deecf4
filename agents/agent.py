"""What every player is: the Agent protocol, limits and decisions, and agents by name.

A specification names an agent and its options: ``alphabeta:depth=9``, ``random:seed=3``,
``checkpoints/english.safetensors:simulations=400``, or ``best`` for the checkpoint that ships with the project.
:data:`AGENTS` lists the kinds there are; their modules are imported when one is asked for.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from draughts_env.errors import DraughtsError, quoted
from draughts_env.game import Game
from draughts_env.moves import Move
from draughts_env.variants import Variant, variant


class AgentError(DraughtsError, ValueError):
    """An agent that does not exist, an option that it does not know, or a limit that it cannot keep."""


@dataclass(frozen=True)
class Limit:
    """How long an agent may think about one move. With several limits, the first to be reached counts.

    Attributes:
        simulations: simulations of a tree search.
        nodes: positions searched.
        depth: plies searched.
        seconds: time on the clock.

    Raises:
        AgentError: a limit that is not greater than 0.
    """

    simulations: int | None = None
    nodes: int | None = None
    depth: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name, value in self.given().items():
            if not (value > 0 and math.isfinite(value)):
                raise AgentError(f"{name} must be greater than 0, not {value}")

    def given(self) -> dict[str, int | float]:
        """The limits that are set, by name."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value is not None}

    @classmethod
    def parse(cls, text: str) -> Limit:
        """The limit of a text such as ``depth=9`` or ``simulations=400,seconds=2``.

        Raises:
            AgentError: an unknown name or a bad number.
        """
        return cls(**_read_options(text, LIMITS, "limits"))

    def __bool__(self) -> bool:
        return bool(self.given())

    def __str__(self) -> str:
        return _write_options(self.given())


@dataclass(frozen=True)
class Line:
    """One of the moves that an agent weighed.

    Attributes:
        move: the move.
        visits: simulations (or positions) spent on it.
        value: expected result for the side that makes the move, from -1 (lost) to 1 (won).
        pv: the line of best play that begins with it.
    """

    move: Move
    visits: int
    value: float
    pv: tuple[Move, ...]


@dataclass(frozen=True)
class Decision:
    """What an agent plays, and what it thought.

    Attributes:
        move: the move.
        value: expected result for the side to move, from -1 (lost) to 1 (won); None when the agent has no opinion.
        policy: weight of each move considered, summing to 1; None when the agent does not weigh moves.
        pv: the line of best play it expects, from ``move`` on; may be empty.
        nodes: positions (or simulations) searched.
        exact: whether ``value`` is proven.
        depth: plies searched to the end; None when the search has no such depth.
        lines: the best moves, ``move`` first; empty when the agent does not tell.
    """

    move: Move
    value: float | None = None
    policy: Mapping[Move, float] | None = None
    pv: tuple[Move, ...] = ()
    nodes: int = 0
    exact: bool = False
    depth: int | None = None
    lines: tuple[Line, ...] = ()


#: Is shown an agent's thoughts while it thinks, a few times a second, in the thread that called
#: :meth:`Agent.choose`. Whoever returns True ends the thinking: the decision is what was found so far.
Watch = Callable[[Decision], bool | None]


@runtime_checkable
class Agent(Protocol):
    """A player. One object plays one game at a time, in one thread."""

    name: str

    def choose(
        self,
        game: Game,
        limit: Limit | None = None,
        watch: Watch | None = None,
        stop: threading.Event | None = None,
    ) -> Decision:
        """The move to play. The game is not changed.

        Args:
            game: a game that is not over.
            limit: how long to think; overrides the agent's own limit.
            watch: is shown what the agent thinks meanwhile; agents that cannot tell never call it.
            stop: once set, from whichever thread, the agent answers at once with what it has found.

        Raises:
            GameOverError: the game is over.
            AgentError: a limit of a kind that the agent cannot keep.
        """

    def new_game(self) -> None:
        """Forget what was remembered of the last game."""

    def seed(self, seed: int) -> None:
        """Start the agent's random choices anew."""


# --- the kinds of agents, as data -------------------------------------------------------------------


@dataclass(frozen=True)
class Option:
    """An option of a specification.

    Attributes:
        kind: int or float.
        help: what it does, in a line.
        most: the greatest value.
    """

    kind: type
    help: str
    most: float = math.inf


#: Simulations of one search: a tree that holds them takes tens of gigabytes.
MOST_SIMULATIONS = 10_000_000

#: Options that limit the time for a move.
LIMITS: Mapping[str, Option] = {
    "simulations": Option(int, "simulations for a move"),
    "nodes": Option(int, "positions searched for a move"),
    "depth": Option(int, "plies searched for a move"),
    "seconds": Option(float, "time for a move"),
}
_SEED = Option(int, "start of the random choices (0)")


def _limits(*names: str) -> dict[str, Option]:
    return {name: LIMITS[name] for name in names}


@dataclass(frozen=True)
class AgentKind:
    """A kind of agent.

    Attributes:
        name: its name in a specification.
        help: what it is, in a line.
        factory: ``module:callable``, called as ``callable(variant, **options)`` with the options that were given;
            for checkpoints as ``callable(path, variant, **options)``.
        options: the options it knows.
        any_limit: whether it takes every limit because it needs none.
    """

    name: str
    help: str
    factory: str
    options: Mapping[str, Option]
    any_limit: bool = False

    def limits(self) -> list[str]:
        """Names of the limits that it understands."""
        return [name for name in LIMITS if self.any_limit or name in self.options]

    def check_limit(self, limit: Limit) -> None:
        """Raise AgentError when ``limit`` has a part that this agent cannot keep."""
        unknown = [name for name in limit.given() if name not in self.limits()]
        if unknown:
            raise AgentError(f"{self.name} cannot be limited by {unknown[0]}, only by {_listed(self.limits())}")
        for name, value in limit.given().items():
            _check_most(name, value, self.options)

    def create(self, *arguments: Any, **options: Any) -> Agent:
        """An agent of this kind."""
        module, _, attribute = self.factory.partition(":")
        factory: Any = importlib.import_module(module)
        for part in attribute.split("."):
            factory = getattr(factory, part)
        return factory(*arguments, **options)


#: Agents that are read from a checkpoint file, named by its path or as ``best``.
CHECKPOINT = AgentKind(
    "checkpoint",
    "search guided by a network, named by the path of its .safetensors file; best is the one that ships",
    "agents.alphazero:AlphaZeroAgent.from_checkpoint",
    {
        "simulations": Option(int, LIMITS["simulations"].help, most=MOST_SIMULATIONS),
        **_limits("seconds"),
        "seed": _SEED,
        "tablebase": Option(int, "0: do without the endgame tables (1)"),
    },
)

#: Agents by name.
AGENTS: Mapping[str, AgentKind] = {
    kind.name: kind
    for kind in (
        AgentKind(
            "random",
            "any legal move, each as likely",
            "agents.random_agent:RandomAgent",
            {"seed": _SEED},
            any_limit=True,
        ),
        AgentKind(
            "alphabeta",
            "alpha-beta that counts material, captures followed to their end; plays to depth 7 unless told otherwise",
            "agents.alphabeta:AlphaBetaAgent",
            {**_limits("depth", "nodes", "seconds"), "seed": _SEED},
        ),
        AgentKind(
            "pvs",
            "a strong classical search whose evaluation is tuned on games; plays to depth 11 unless told otherwise",
            "agents.pvs.agent:PvsAgent",
            {
                **_limits("depth", "nodes", "seconds"),
                "hash": Option(int, "MiB for the positions it remembers (32)", most=65536),
                "tablebase": Option(int, "0: do without the endgame tables (1)"),
            },
        ),
    )
}

#: Names of the checkpoint that ships.
SHIPPED_NAMES = ("best", "alphazero")
_SUFFIX = ".safetensors"
_CHECKPOINT_SPEC = re.compile(rf"(?P<path>.*{re.escape(_SUFFIX)})(?::(?P<options>.*))?", re.DOTALL)


@dataclass(frozen=True)
class AgentSpec:
    """A specification, read but not yet an agent.

    Attributes:
        text: as it was written.
        kind: the kind of agent.
        options: the options that were given.
        path: file of a checkpoint; None for other agents and for the one that ships.
    """

    text: str
    kind: AgentKind
    options: Mapping[str, int | float]
    path: Path | None = None

    @property
    def limit(self) -> Limit:
        """The limits in the specification."""
        return Limit(**{name: value for name, value in self.options.items() if name in LIMITS})  # type: ignore[arg-type]

    def load(self, of: Variant | str) -> Agent:
        """The agent, for games of a variant.

        Raises:
            AgentError: its checkpoint does not exist or does not fit the variant.
        """
        rules = variant(of)
        if self.kind is not CHECKPOINT:
            return self.kind.create(rules, **self.options)
        path = self.path or shipped_checkpoint(rules)
        if not path.is_file():
            raise AgentError(f"there is no checkpoint {path}")
        return self.kind.create(path, rules, **self.options)


def parse_spec(text: str) -> AgentSpec:
    """Read a specification such as ``alphabeta:depth=9``.

    Raises:
        AgentError: an unknown agent or option, or a bad number.
    """
    found = _CHECKPOINT_SPEC.fullmatch(text.strip())
    if found:
        kind, rest, path = CHECKPOINT, found["options"] or "", Path(found["path"])
    else:
        name, _, rest = text.strip().partition(":")
        path = None
        name = name.strip().lower()
        if name in SHIPPED_NAMES:
            kind = CHECKPOINT
        elif name in AGENTS:
            kind = AGENTS[name]
        else:
            known = _listed([*AGENTS, SHIPPED_NAMES[0]])
            raise AgentError(f"unknown agent {quoted(text)}; known are {known}, and a path ending in {_SUFFIX}")
    options = _read_options(rest, kind.options, f"options of {kind.name}")
    spec = AgentSpec(text.strip(), kind, options, path)
    spec.limit.given()  # a limit of 0 is found here
    return spec


def load_agent(text: str, of: Variant | str) -> Agent:
    """The agent of a specification, for games of a variant.

    A limit in the specification is the agent's own; one given to :meth:`Agent.choose` overrides it.

    Raises:
        AgentError: an unknown agent or option, a bad number, or a checkpoint that is missing or does not fit.
        VariantError: an unknown variant.
    """
    return parse_spec(text).load(of)


def shipped_checkpoint(of: Variant | str) -> Path:
    """The checkpoint of a variant that ships with the project.

    Raises:
        AgentError: there is none.
        VariantError: an unknown variant.
    """
    name = variant(of).name
    package = Path(__file__).resolve().parent
    for folder in (package.parent / "checkpoints", package / "checkpoints"):
        path = folder / f"{name}{_SUFFIX}"
        if path.is_file():
            return path
    raise AgentError(
        f"no checkpoint for {name} ships with this version; name another agent or the path of a checkpoint"
    )


# --- options in text --------------------------------------------------------------------------------


def _read_options(text: str, known: Mapping[str, Option], what: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, separator, value = (p.strip() for p in part.partition("="))
        if name not in known:
            raise AgentError(f"unknown option {quoted(name)}; the {what} are {_listed(known)}")
        if not separator or not value:
            raise AgentError(f"{name} needs a value, as in {name}=5")
        if name in found:
            raise AgentError(f"{name} is given twice")
        kind = known[name].kind
        try:
            found[name] = kind(value)
        except ValueError:
            raise AgentError(
                f"{name} must be {'a whole number' if kind is int else 'a number'}, not {quoted(value)}"
            ) from None
        _check_most(name, found[name], known)
    return found


def _check_most(name: str, value: float, known: Mapping[str, Option]) -> None:
    if name in known and value > known[name].most:
        raise AgentError(f"{name} can be at most {known[name].most:,}, not {value:,}")


def _write_options(options: Mapping[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in options.items())


def spec_text(name: str, options: Mapping[str, Any]) -> str:
    """The specification of an agent with options: ``alphabeta:depth=9``; options that are None are left out."""
    given = {key: value for key, value in options.items() if value is not None}
    return f"{name}:{_write_options(given)}" if given else name


def _listed(names: Sequence[str] | Mapping[str, Any]) -> str:
    *some, last = names
    return f"{', '.join(some)} and {last}" if some else last
