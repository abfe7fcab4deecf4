"""The commands ``draughts pdn ...``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Read files of games in PDN.", no_args_is_help=True)


@app.command(epilog="Examples:  draughts pdn check games.pdn    draughts pdn check --variant russian *.pdn")
def check(
    files: Annotated[list[Path], typer.Argument(help="Files in PDN.")],
    variant: Annotated[
        str | None, typer.Option("--variant", "-v", help="Rules of games that do not say; default: guessed.")
    ] = None,
    show: Annotated[int, typer.Option("--show", min=0, help="Problems to list for each file.")] = 20,
) -> None:
    """Check every move of every game for legality.

    Prints games, plies and problems of each file. The exit status is 1 when a game has an error, 2 when a file cannot be
    read.
    """
    from rich.console import Console
    from rich.status import Status

    from draughts_env.pdn import read_games

    status = 0
    for file in files:
        games = plies = errors = warnings = shown = 0
        try:
            with file.open("rb") as stream, Status(f"{file}", console=Console(stderr=True)) as working:
                for game in read_games(stream, variant):
                    games += 1
                    plies += len(game.moves)
                    errors += len(game.errors)
                    warnings += len(game.warnings)
                    for problem in game.problems:
                        if shown < show:
                            print(f"{file}: {problem}")
                        shown += 1
                    if games % 100 == 0:
                        working.update(f"{file}: {games:,} games, {plies:,} plies")
        except OSError as error:
            print(f"draughts: {file} cannot be read: {error.strerror or error}", file=sys.stderr)
            status = 2
            continue
        if shown > show:
            print(f"{file}: {shown - show} more")
        print(f"{file}: {games} games, {plies} plies, {errors} errors, {warnings} warnings")
        status = max(status, int(errors > 0))
    if status:
        raise typer.Exit(status)
