"""The command ``draughts``.

Commands import what they need when they run: ``draughts perft`` and ``draughts --help`` start fast and never load a
network library.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from draughts_env.errors import DraughtsError
from draughts_play.endgame_commands import app as endgame_app
from draughts_play.pdn_commands import app as pdn_app
from draughts_play.tablebase_commands import app as tablebase_app

if TYPE_CHECKING:
    from agents.agent import Limit

_LONGEST = 1000  # characters of a message
_INTERRUPTED = 130  # exit status of a command stopped by Ctrl-C


class _Commands(TyperGroup):
    """The commands; whatever a caller does wrong is one line on stderr and exit status 2."""

    def main(self, *args: Any, **options: Any) -> Any:
        standalone = options.get("standalone_mode", True)
        options["standalone_mode"] = False
        if not standalone:
            return super().main(*args, **options)
        try:
            status = super().main(*args, **options)
        except (KeyboardInterrupt, typer.Abort):
            _complain("stopped")
            sys.exit(_INTERRUPTED)
        except DraughtsError as error:
            _complain(str(error))
            sys.exit(2)
        except Exception as error:
            # Typer's errors of usage; their class is in different places in different versions.
            if not hasattr(error, "format_message"):
                raise
            _complain(error.format_message())
            sys.exit(2)
        sys.exit(status if isinstance(status, int) else 0)


def _complain(message: str) -> None:
    line = " ".join(message.split())
    print(f"draughts: {line[:_LONGEST]}{'...' * (len(line) > _LONGEST)}", file=sys.stderr)


app = typer.Typer(
    name="draughts",
    cls=_Commands,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)

_AGENTS_HELP = "Agent, such as alphabeta:depth=7 or best; `draughts agents` lists them."

VariantOption = Annotated[
    str, typer.Option("--variant", "-v", help="Rules: english, international, russian, brazilian, pool or italian.")
]
FenOption = Annotated[str | None, typer.Option(help="Position to start from; default: the starting position.")]
Simulations = Annotated[int | None, typer.Option(help="Simulations for a move, for agents that count them.")]
Nodes = Annotated[int | None, typer.Option(help="Positions searched for a move.")]
Depth = Annotated[int | None, typer.Option(help="Plies searched for a move.")]
Seconds = Annotated[float | None, typer.Option(help="Time for a move in seconds.")]


def main() -> None:
    """Run the command line."""
    # PyTorch's threads would spin while they wait; read when PyTorch is loaded, which commands do when they run.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    app()


def _version(wanted: bool) -> None:
    if wanted:
        print(f"draughts-zero {metadata.version('draughts-zero')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")] = (
        False
    ),
) -> None:
    """Draughts: play, analyse, let agents play matches, count positions."""
    if context.invoked_subcommand is None:
        print(context.get_help())


# --- perft ------------------------------------------------------------------------------------------


@app.command(
    epilog="Examples:  draughts perft --depth 8    draughts perft -v polish -d 5 --divide",
)
def perft(
    variant: VariantOption = "english",
    fen: FenOption = None,
    depth: Annotated[int, typer.Option("--depth", "-d", min=0, max=1000, help="Greatest depth in plies.")] = 6,
    divide: Annotated[bool, typer.Option("--divide", help="Only the greatest depth, move by move.")] = False,
) -> None:
    """Count the sequences of legal moves, the usual test of a move generator.

    A line for each depth: depth, nodes, seconds, millions of nodes per second.
    """
    from draughts_env.position import Position

    position = Position.from_fen(fen, variant) if fen is not None else Position.start(variant)
    position.perft(2)  # load or compile the kernels before the clock starts
    with _interruptible():
        if divide and depth > 0:
            total = 0
            for move in position.legal_moves():
                nodes = position.play(move).perft(depth - 1)
                total += nodes
                print(f"{move} {nodes}", flush=True)
            print(f"total {total}")
            return
        print(f"{'depth':>5} {'nodes':>20} {'seconds':>9} {'M nodes/s':>9}")
        for d in range(depth + 1):
            started = time.perf_counter()
            nodes = position.perft(d)
            seconds = time.perf_counter() - started
            print(f"{d:>5} {nodes:>20} {seconds:>9.3f} {nodes / max(seconds, 1e-9) / 1e6:>9.1f}", flush=True)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end the process at once: Python would hear it only after the kernel has returned."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# --- agents -----------------------------------------------------------------------------------------


@app.command()
def agents() -> None:
    """List the agents and their options."""
    from agents.agent import AGENTS, CHECKPOINT

    for name, kind in (*AGENTS.items(), ("PATH.safetensors, best", CHECKPOINT)):
        print(f"{name}\n    {kind.help}")
        for option, what in kind.options.items():
            print(f"    {option + '=' + ('N' if what.kind is int else 'X'):<14} {what.help}")
    print("\nWrite options after a colon: alphabeta:depth=9   best:simulations=400,seed=1")


def _limit(simulations: int | None, nodes: int | None, depth: int | None, seconds: float | None) -> Limit | None:
    from agents.agent import Limit

    return Limit(simulations=simulations, nodes=nodes, depth=depth, seconds=seconds) or None


# --- match ------------------------------------------------------------------------------------------


@app.command(
    epilog="Examples:  draughts match alphabeta:depth=5 alphabeta:depth=7 --games 100    "
    "draughts match best alphabeta:depth=9 -v english --games 40 --simulations 2000 --json match.json --pdn match.pdn",
)
def match(
    a: Annotated[str, typer.Argument(help=_AGENTS_HELP)],
    b: Annotated[str, typer.Argument(help="Its opponent.")],
    variant: VariantOption = "english",
    games: Annotated[
        int | None,
        typer.Option("--games", "-n", help="Number of games, even; default 40, with --openings two for each card."),
    ] = None,
    simulations: Simulations = None,
    nodes: Nodes = None,
    depth: Depth = None,
    seconds: Seconds = None,
    seed: Annotated[int, typer.Option(help="Start of all random choices.")] = 0,
    openings: Annotated[
        str | None,
        typer.Option("--openings", "-o", help="Opening cards: three-move, two-move, or a file, a card a line."),
    ] = None,
    opening_plies: Annotated[
        int | None, typer.Option(min=0, help="Length of the random openings; default 4, 6 from 200 games on.")
    ] = None,
    max_plies: Annotated[int, typer.Option(min=1, help="Cut longer games and count them as draws.")] = 1000,
    workers: Annotated[int, typer.Option(min=1, help="Games played at the same time.")] = 1,
    json: Annotated[Path | None, typer.Option("--json", help="Write the result with all games to this file.")] = None,
    pdn: Annotated[Path | None, typer.Option("--pdn", help="Write the games to this file.")] = None,
) -> None:
    """Let two agents play a match.

    Games come in pairs from one opening, colours swapped, and the better total wins the pair. The openings are random
    balanced ones, or with --openings cards; the seed shuffles them. The limits hold for both agents, except for one
    whose specification has a limit of its own.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from agents.arena import GameRecord, play_match, random_openings
    from draughts_env.openings import deck, draw_cards
    from draughts_play import reports

    for path in (json, pdn):
        reports.check_writable(path)
    limit = _limit(simulations, nodes, depth, seconds)
    if openings is not None and opening_plies is not None:
        raise typer.BadParameter("openings come from --openings or have --opening-plies, not both")
    beginnings = None
    if openings is not None:
        cards = deck(variant, openings)
        games = 2 * len(cards) if games is None else games
        beginnings = draw_cards(cards, max(1, games // 2), seed)
    games = 40 if games is None else games
    if opening_plies is not None:
        beginnings = random_openings(variant, opening_plies, max(1, games // 2), seed)
    console = Console(stderr=True)
    scores: list[float] = []
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task("+0 =0 -0", total=games)

        def show(record: GameRecord) -> None:
            scores.append(record.score)
            standing = f"+{scores.count(1)} ={scores.count(0.5)} -{scores.count(0)}"
            progress.update(task, advance=1, description=standing)

        result = play_match(
            a,
            b,
            variant,
            games,
            limit=limit,
            openings=beginnings,
            seed=seed,
            max_plies=max_plies,
            on_game=show,
            workers=workers,
        )
    print(reports.match_summary(result))
    if json is not None:
        reports.write_output(json, reports.match_json(result))
    if pdn is not None:
        reports.write_output(pdn, reports.match_pdn(result))


# --- openings ---------------------------------------------------------------------------------------

openings_app = typer.Typer(no_args_is_help=True, help="Opening cards (ballots): list or draw them.")
app.add_typer(openings_app, name="openings")
app.add_typer(tablebase_app, name="tablebase")
app.add_typer(endgame_app)
app.add_typer(pdn_app, name="pdn")
DeckArgument = Annotated[
    str | None,
    typer.Argument(metavar="[DECK]", help="three-move, two-move, or a file; default: the longest that ships."),
]


def _deck(variant: str, name: str | None) -> tuple[tuple[str, ...], ...]:
    from draughts_env.openings import deck, decks

    known = decks(variant)
    return deck(variant, name or ("three-move" if "three-move" in known else "two-move"))


@openings_app.command(
    name="list", epilog="Examples:  draughts openings list    draughts openings list -v polish two-move"
)
def list_openings(name: DeckArgument = None, variant: VariantOption = "english") -> None:
    """List the cards of a deck, numbered."""
    cards = _deck(variant, name)
    for number, card in enumerate(cards, start=1):
        print(f"{number:>{len(str(len(cards)))}}  {' '.join(card)}")


@openings_app.command(
    name="draw", epilog="Examples:  draughts openings draw    draughts openings draw --count 5 --seed 1"
)
def draw_openings(
    name: DeckArgument = None,
    variant: VariantOption = "english",
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=1_000_000, help="Number of cards.")] = 1,
    seed: Annotated[int | None, typer.Option(help="Start of the random choice; default: another each time.")] = None,
) -> None:
    """Draw cards from a deck by lot."""
    import random

    from draughts_env.openings import draw_cards

    for card in draw_cards(_deck(variant, name), count, random.randrange(1 << 32) if seed is None else seed):
        print(" ".join(card))


# --- analyse ----------------------------------------------------------------------------------------


@app.command(
    epilog="Examples:  draughts analyse start    draughts analyse 'W:W31,27,19:B17,12,5' --agent alphabeta:depth=15",
)
def analyse(
    fen: Annotated[str, typer.Argument(help="The position, or start.")] = "start",
    variant: VariantOption = "english",
    agent: Annotated[str | None, typer.Option("--agent", "-a", help=_AGENTS_HELP)] = None,
    simulations: Simulations = None,
    nodes: Nodes = None,
    depth: Depth = None,
    seconds: Seconds = None,
) -> None:
    """Say what an agent thinks of a position: value, best moves, expected line."""
    from rich.console import Console

    from agents.agent import load_agent
    from draughts_env.game import Game
    from draughts_play import reports

    game = Game(variant, None if fen.strip().lower() == "start" else fen)
    limit = _limit(simulations, nodes, depth, seconds)
    player = load_agent(_default_agent(variant) if agent is None else agent, variant)
    console = Console(highlight=False)
    if game.is_over:
        reports.print_position(console, game)
        return
    started = time.perf_counter()
    with _interruptible():
        decision = player.choose(game, limit)
    reports.print_analysis(console, game, player.name, decision, time.perf_counter() - started)


def _default_agent(variant: str) -> str:
    """The checkpoint that ships, or else a second of alpha-beta."""
    from agents.agent import AgentError, shipped_checkpoint

    try:
        shipped_checkpoint(variant)
    except AgentError:
        return "alphabeta:seconds=1"
    return "best"


# --- play -------------------------------------------------------------------------------------------


@app.command(
    epilog="Examples:  draughts play    draughts play --port 9000 --no-browser    draughts play --terminal -v russian "
    "--agent alphabeta:depth=5 --color white",
)
def play(
    terminal: Annotated[bool, typer.Option("--terminal", "-t", help="Play in this terminal.")] = False,
    variant: VariantOption = "english",
    agent: Annotated[str | None, typer.Option("--agent", "-a", help=_AGENTS_HELP)] = None,
    color: Annotated[str, typer.Option("--color", "-c", help="Your colour: black, white or random.")] = "random",
    fen: FenOption = None,
    huffing: Annotated[bool, typer.Option("--huffing", help="Captures may be missed, and huffed (English).")] = False,
    simulations: Simulations = None,
    nodes: Nodes = None,
    depth: Depth = None,
    seconds: Seconds = None,
    seed: Annotated[int | None, typer.Option(help="Start of the random choices.")] = None,
    host: Annotated[str, typer.Option(help="Address to serve the page on; the default is this computer only.")] = (
        "127.0.0.1"
    ),
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port of the page; default: 8000 or the next that is free.")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    data: Annotated[Path | None, typer.Option("--data", help="Folder in which the page's games are kept.")] = None,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Searches of the page at the same time.")] = 2,
) -> None:
    """Play against an agent: in the browser, or with --terminal here.

    The options up to --seed are for the terminal; on the page all that is chosen there.
    """
    if terminal:
        _play_in_terminal(variant, agent, color, fen, huffing, _limit(simulations, nodes, depth, seconds), seed)
        return
    from draughts_play.web.serve import serve

    serve(host, port, data, browser, threads)


def _play_in_terminal(
    variant: str, agent: str | None, color: str, fen: str | None, huffing: bool, limit: Limit | None, seed: int | None
) -> None:
    from agents.agent import parse_spec
    from draughts_env.variants import variant as variant_named
    from draughts_play.huffing_terminal import HuffingTerminal
    from draughts_play.terminal import Terminal

    colors = {"black": "black", "white": "white", "random": None}
    if color.lower() not in colors:
        raise typer.BadParameter(f"the colour is black, white or random, not {color!r}")
    named = variant_named(variant)
    rules = named.without_huffing()
    spec = parse_spec(_default_agent(rules.name) if agent is None else agent)
    if limit is not None:
        spec.kind.check_limit(limit)
    opponent = spec.load(rules)
    if seed is not None:
        opponent.seed(seed)
    table, played = (HuffingTerminal, rules.with_huffing()) if huffing or named.huffing else (Terminal, rules)
    game = table(played, opponent, color=colors[color.lower()], limit=limit, fen=fen, seed=seed)  # type: ignore[arg-type]
    with suppress(ImportError):
        import readline  # noqa: F401  (arrow keys and history in input())
    game.run()
