"""Checking tables: every byte against its digest and, on request, every value against those after its moves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agents.tablebase.build import MAX_PIECES, Report, Solver, silent
from agents.tablebase.files import TablebaseError, TableFile, check_rules, find_file
from draughts_env.variants import Variant


def verify_tables(
    rules: Variant,
    folder: Path | str | None = None,
    deep: bool = False,
    workers: int | None = None,
    report: Report = silent,
) -> Iterator[tuple[Path, int]]:
    """Check the tables of a variant, those of fewest pieces first.

    Args:
        rules: the variant.
        folder: where they are; default: DRAUGHTS_TABLEBASE_DIR or the user's data folder, then those that ship.
        deep: whether to compare every value with those after its moves. This proves the tables: distances that agree
            everywhere are right, whoever computed them.
        workers: threads for that; default: one for each core.
        report: told how it goes.

    Yields:
        Each file that is sound, with its number of positions.

    Raises:
        TablebaseError: one is not, or there can be none.
    """
    check_rules(rules)
    found = {pieces: find_file(rules, pieces, folder) for pieces in range(2, MAX_PIECES + 1)}
    paths = {pieces: path for pieces, path in found.items() if path is not None}
    if not deep:
        for pieces, path in paths.items():
            file = TableFile(path, rules, pieces)
            file.verify()
            yield path, file.counts.positions
            file.close()
    elif paths:
        missing = next(pieces for pieces in range(2, max(paths) + 2) if pieces not in paths)
        if missing < max(paths):
            raise TablebaseError(f"the {rules} table of {missing} pieces is missing: larger ones cannot be compared")
        with Solver(rules, max(paths), workers) as solver:
            for pieces, path in paths.items():
                yield path, _check_values(solver, pieces, path, report)


def _check_values(solver: Solver, pieces: int, path: Path, report: Report) -> int:
    """Compare the values of one file with those after every move. Returns the number of positions."""
    file = TableFile(path, solver.rules, pieces)
    file.verify()
    for signature in file.records:
        solver.load(file, signature)
    total, done = file.counts.positions, 0
    for signature, record in file.records.items():
        faults, first = solver.check(signature)
        if faults:
            raise TablebaseError(
                f"{path}: {faults} positions of {signature.name} do not agree with their moves, first number {first}"
            )
        if solver.counts(signature) != record.counts:
            raise TablebaseError(f"{path}: the figures of {signature.name} do not agree with its positions")
        done += record.counts.positions
        report(f"{solver.rules}, {pieces} pieces", done, total)
    file.close()
    return total
