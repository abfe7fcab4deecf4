"""The command ``draughts endgame-accuracy``."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer()


@app.command(
    "endgame-accuracy",
    epilog="Examples:  draughts endgame-accuracy --agent alphabeta:depth=9    "
    "draughts endgame-accuracy --agent best:simulations=400,tablebase=0 --pieces 4",
)
def endgame_accuracy(
    agent: Annotated[str, typer.Option("--agent", "-a", help="Agent to measure; tablebase=0 takes its tables away.")],
    variant: Annotated[str, typer.Option("--variant", "-v", help="Rules of the game.")] = "english",
    pieces: Annotated[
        int | None, typer.Option("--pieces", min=2, help="Pieces on the board; default: the most.")
    ] = None,
    positions: Annotated[int, typer.Option("--positions", min=0, help="Positions to ask for a move in.")] = 300,
    games: Annotated[int, typer.Option("--games", min=0, help="Won positions to play out.")] = 50,
    seed: Annotated[int, typer.Option("--seed", help="Start of all random choices.")] = 0,
) -> None:
    """Hold an agent's endgames against the tablebase.

    Two figures: how often its move keeps the theoretical result, in positions where not every move does; and how many
    won positions it wins against perfect defence before a draw rule ends the game.
    """
    from rich.console import Console
    from rich.progress import Progress

    from agents.agent import load_agent
    from agents.arena.endgames import measure_accuracy
    from agents.tablebase import Tablebase

    tables = Tablebase.open(variant)
    player = load_agent(agent, variant)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("endgames", total=positions + games)
        found = measure_accuracy(
            player,
            tables,
            pieces or tables.pieces,
            positions,
            games,
            seed,
            on_progress=lambda done: progress.update(task, completed=done),
        )
    print(f"{player.name}, {tables.variant}, {pieces or tables.pieces} pieces, seed {seed}")
    if found.positions:
        print(f"result kept  {found.kept} of {found.positions}: {found.kept / found.positions:.1%}")
    if found.won_positions:
        print(f"wins won     {found.won} of {found.won_positions}: {found.won / found.won_positions:.1%}")
