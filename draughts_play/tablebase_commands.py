"""The commands ``draughts tablebase``: build, info, probe, verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agents.tablebase.files import Counts

app = typer.Typer(
    name="tablebase",
    invoke_without_command=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Rules = Annotated[str, typer.Option("--variant", "-v", help="Rules: english, international, russian or brazilian.")]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--dir", help="Folder of the tables; default: DRAUGHTS_TABLEBASE_DIR, or else the data folder of the user."
    ),
]
Workers = Annotated[int | None, typer.Option("--workers", "-w", min=1, help="Threads; default: one for each core.")]

_WORDS = {1: "win", 0: "draw", -1: "loss"}


@app.callback()
def root(context: typer.Context) -> None:
    """Exact endgames: build and ask tables of all positions of few pieces."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command(epilog="Example:  draughts tablebase build --variant english --pieces 4")
def build(
    variant: Rules = "english",
    pieces: Annotated[int, typer.Option("--pieces", "-p", help="The most pieces on the board, both sides.")] = 4,
    folder: Folder = None,
    workers: Workers = None,
    again: Annotated[bool, typer.Option("--again", help="Build even what is there.")] = False,
) -> None:
    """Build the tables of up to a number of pieces, as far as they are missing.

    A build that was stopped goes on where it was. Tables that ship with the project are not built again, unless a
    folder is named.
    """
    from agents import tablebase
    from agents.tablebase.files import TableFile
    from agents.tablebase.progress import shown_progress
    from draughts_env.variants import variant as variant_named

    rules = variant_named(variant)
    with shown_progress(f"Building the {rules} tablebase of up to {pieces} pieces ...") as report:
        paths = tablebase.build(rules, pieces, folder, workers, report, again)
    for n, path in enumerate(paths, start=2):
        file = TableFile(path, rules, n)
        print(f"{n} pieces: {_figures(file.counts)}, {file.size:,} bytes in {path}")
        file.close()


@app.command()
def info(
    variant: Annotated[str | None, typer.Option("--variant", "-v", help="One variant only.")] = None,
    folder: Folder = None,
    signatures: Annotated[bool, typer.Option("--signatures", help="A line for every signature.")] = False,
) -> None:
    """List the tables there are, with their figures."""
    from agents.tablebase.build import MAX_PIECES
    from agents.tablebase.files import TableFile, check_rules, find_file, table_folder
    from draughts_env.variants import VARIANTS
    from draughts_env.variants import variant as variant_named

    print(f"folder: {table_folder(folder)}")
    for rules in VARIANTS if variant is None else [variant_named(variant)]:
        check_rules(rules)
        paths = {n: find_file(rules, n, folder) for n in range(2, MAX_PIECES + 1)}
        if not any(paths.values()):
            print(f"\n{rules}: none")
        for n, path in paths.items():
            if path is None:
                continue
            file = TableFile(path, rules, n)
            counts = file.counts
            print(f"\n{rules}, {n} pieces: {_figures(counts)}")
            print(f"    {file.size:,} bytes, {8 * file.size / counts.positions:.2f} bits a position, {path}")
            if signatures:
                for signature, record in file.records.items():
                    print(f"    {signature.name:<9} {_figures(record.counts)}")
            file.close()


@app.command(epilog="Example:  draughts tablebase probe 'W:WK30,K31:BK3'")
def probe(
    fen: Annotated[str, typer.Argument(help="The position.")],
    variant: Rules = "english",
    folder: Folder = None,
) -> None:
    """Say what a position is worth, how far the end is, and what each move leads to."""
    from agents.tablebase import Tablebase
    from draughts_env.position import Position

    position = Position.from_fen(fen, variant)
    base = Tablebase.open(variant, folder=folder)
    found = base.probe(position)
    after = base.moves(position)
    print(f"value  {_outcome(found.score, found.plies)} for {position.turn.capitalize()}")
    print(f"best   {', '.join(map(str, found.best_moves)) or 'no move: the game is over'}")
    for move, (score, plies) in sorted(after.items(), key=lambda entry: _rank(*entry[1])):
        print(f"       {move!s:<8} {_outcome(score, plies)}")
    print("Rules that limit the number of moves are left out of account.")


@app.command()
def verify(
    variant: Annotated[str | None, typer.Option("--variant", "-v", help="One variant only.")] = None,
    folder: Folder = None,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep", help="Also compare every value with those after its moves; takes about as long as building."
        ),
    ] = False,
    workers: Workers = None,
) -> None:
    """Check every byte of the tables against its digest."""
    from agents.tablebase.progress import shown_progress
    from agents.tablebase.verification import verify_tables
    from draughts_env.variants import VARIANTS
    from draughts_env.variants import variant as variant_named

    checked = 0
    with shown_progress("Verifying ...") as report:
        for rules in VARIANTS if variant is None else [variant_named(variant)]:
            for path, positions in verify_tables(rules, folder, deep, workers, report):
                checked += 1
                print(f"{path}: {positions:,} positions, {'sound and right' if deep else 'sound'}")
    if not checked:
        print("there are no tables")


def _figures(counts: Counts) -> str:
    return (
        f"{counts.positions:,} positions, {counts.wins:,} won, {counts.draws:,} drawn, {counts.losses:,} lost, "
        f"longest win {counts.longest_win} plies"
    )


def _outcome(score: int, plies: int | None) -> str:
    return _WORDS[score] if plies is None else f"{_WORDS[score]} in {plies} plies"


def _rank(score: int, plies: int | None) -> tuple[int, int]:
    """Best first: the shortest win, draws, the longest loss."""
    return -score, score * (plies or 0)
