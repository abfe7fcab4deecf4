"""The command ``draughts pdn check``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from draughts_env.pdn import Problem
    from draughts_env.variants import Variant

app = typer.Typer(
    name="pdn",
    invoke_without_command=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

_FAULTY, _UNREADABLE = 1, 2  # exit statuses
_LARGE = 1 << 20  # bytes from which on progress is shown


@app.callback()
def root(context: typer.Context) -> None:
    """Recorded games: check files."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@dataclass
class _Report:
    """What was found in a file; no more than ``limit`` problems of each kind are kept."""

    limit: int
    games: int = 0
    plies: int = 0
    counts: dict[str, int] = field(default_factory=lambda: {"error": 0, "warning": 0})
    kept: dict[str, list[Problem]] = field(default_factory=lambda: {"error": [], "warning": []})

    def add(self, problem: Problem) -> None:
        self.counts[problem.kind] += 1
        if len(self.kept[problem.kind]) < self.limit:
            self.kept[problem.kind].append(problem)

    def lines(self, name: str) -> Iterator[str]:
        """The report: a line of figures, the problems, errors first."""
        figures = [_count(self.games, "game"), _count(self.plies, "ply", "plies")]
        figures += [_count(self.counts[kind], kind) for kind in self.counts]
        yield f"{name}: {', '.join(figures)}"
        if self.games == 0:
            yield "  there is no game in it"
        shown = (self.kept["error"] + self.kept["warning"])[: self.limit]
        yield from (f"  {problem}" for problem in shown)
        more = sum(self.counts.values()) - len(shown)
        if more:
            yield f"  and {more:,} more"


def _count(number: int, singular: str, plural: str = "") -> str:
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


class _Counted:
    """A file that says how much of it has been read."""

    def __init__(self, file: IO[bytes], advance: Callable[[int], None]) -> None:
        self._file = file
        self._advance = advance

    def read(self, size: int, /) -> bytes:
        piece = self._file.read(size)
        self._advance(len(piece))
        return piece


@contextmanager
def _opened(name: str) -> Iterator[_Counted]:
    """A file by its name, or standard input, with a progress bar if it is large."""
    if name == "-":
        yield _Counted(sys.stdin.buffer, lambda size: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    with open(name, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        with Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal or size < _LARGE,
        ) as progress:
            task = progress.add_task(name, total=size)
            yield _Counted(file, lambda read: progress.update(task, advance=read))


def _check(name: str, variant: Variant | None, limit: int) -> _Report:
    from draughts_env.pdn import read_games

    report = _Report(limit)
    with _opened(name) as file:
        for game in read_games(file, variant):
            report.games += 1
            report.plies += len(game.moves)
            for problem in game.problems:
                report.add(problem)
    return report


@app.command(epilog="Examples:  draughts pdn check games.pdn    draughts pdn check -v english --limit 5 *.pdn")
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="The files; - is standard input.")],
    variant: Annotated[
        str | None,
        typer.Option("--variant", "-v", help="Rules of games whose tags do not say; default: a guess for each game."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="Problems listed for each file.")] = 20,
) -> None:
    """Read files of games and say what is wrong with them.

    For each file: games, plies, and the problems with their places, errors first. An error is something that could
    not be read, such as an illegal move; a warning is something odd that could. The exit status is 0 without errors, 1
    with some or without any game, 2 if a file cannot be read at all.
    """
    from draughts_env.variants import variant as variant_named

    rules = None if variant is None else variant_named(variant)
    status = 0
    for name in files:
        try:
            report = _check(name, rules, limit)
        except OSError as error:
            print(f"draughts: {name} cannot be read: {error.strerror or error}", file=sys.stderr)
            status = _UNREADABLE
            continue
        for line in report.lines(name):
            print(line)
        if (report.counts["error"] or not report.games) and status == 0:
            status = _FAULTY
    raise typer.Exit(status)
