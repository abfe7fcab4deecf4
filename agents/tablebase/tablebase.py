"""Tablebase: the values of all positions of few pieces, for Python and for searches."""

from __future__ import annotations

import random
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from agents.tablebase.build import MAX_PIECES, Report, build, check_pieces
from agents.tablebase.files import BLOCK, Counts, TablebaseError, TableFile, block_ranges, check_rules, find_file
from agents.tablebase.indexing import CODES, position_at
from agents.tablebase.probing import NOT_COVERED, TablebaseArrays, locate, probe_wdl
from agents.tablebase.progress import shown_progress
from agents.tablebase.signatures import Signature, signatures
from draughts_env.moves import Move
from draughts_env.position import Position
from draughts_env.variants import Variant, variant

Value = Literal["win", "draw", "loss"]
_VALUES: tuple[Value, Value, Value] = ("draw", "win", "loss")  # -1 is the last

#: Blocks of distances kept in memory, 512 KiB each.
_KEPT = 256


@dataclass(frozen=True)
class Probe:
    """What a table says of a position, for the side to move and without the rules that limit the number of moves.

    Attributes:
        value: win, draw or loss.
        plies: distance to the end, the winner taking the shortest way and the loser the longest; None for a draw.
        best_moves: the moves that keep the value and, in a win or loss, the distance. Empty when there is no move.
    """

    value: Value
    plies: int | None
    best_moves: tuple[Move, ...]

    @property
    def score(self) -> int:
        """1 for a win, 0 for a draw, -1 for a loss."""
        return {"win": 1, "draw": 0, "loss": -1}[self.value]


class Tablebase:
    """The tables of a variant, up to a number of pieces. Made by :meth:`open`.

    Wins, draws and losses of all positions are in memory, two bits each (:attr:`arrays`); distances are read from the
    files when they are needed. Safe among threads.

    Attributes:
        variant: the rules.
        pieces: the most pieces.
        files: the table file of each number of pieces.
        arrays: for kernels: :func:`agents.tablebase.probe_wdl`.
    """

    def __init__(self, rules: Variant, files: dict[int, TableFile]) -> None:
        self.variant = rules
        self.pieces = max(files)
        self.files = files
        self.arrays = _load_arrays(rules, files)
        self._word = np.uint64(rules.rules)
        self._blocks: OrderedDict[tuple[Signature, int], npt.NDArray[np.uint16]] = OrderedDict()
        self._lock = threading.Lock()

    @classmethod
    def open(
        cls,
        of: Variant | str,
        pieces: int | None = None,
        folder: Path | str | None = None,
        build: bool = False,
        workers: int | None = None,
        report: Report | None = None,
    ) -> Tablebase:
        """Open the tables of a variant.

        Args:
            of: the variant or its name.
            pieces: the most pieces; default: all that there is.
            folder: where the files are; default: DRAUGHTS_TABLEBASE_DIR or the user's data folder. Those that ship
                with the project are found without it.
            build: whether to build what is missing, with a message.
            workers: threads to build with; default: one for each core.
            report: told how building goes; default: a progress bar on stderr.

        Raises:
            TablebaseError: a table is missing, damaged or not for these rules.
            VariantError: no variant of that name.
        """
        rules = variant(of)
        check_rules(rules)
        if pieces is not None:
            check_pieces(pieces)
        found: dict[int, Path] = {}
        for n in range(2, (pieces or MAX_PIECES) + 1):
            path = find_file(rules, n, folder)
            if path is None:
                break
            found[n] = path
        if pieces is not None and len(found) < pieces - 1 and build:
            found = dict(enumerate(_built(rules, pieces, folder, workers, report), start=2))
        if not found or (pieces is not None and len(found) < pieces - 1):
            missing = len(found) + 2
            raise TablebaseError(
                f"there is no {rules} tablebase of {missing} pieces; "
                f"make it with: draughts tablebase build --variant {rules} --pieces {pieces or missing}"
            )
        return cls(rules, {n: TableFile(path, rules, n) for n, path in found.items()})

    def contains(self, position: Position) -> bool:
        """Whether a position is in the tables: of their variant, few pieces, some of both sides."""
        return self._wdl(position) != NOT_COVERED

    def wdl(self, position: Position) -> int:
        """1 when the side to move wins, 0 for a draw, -1 when it loses.

        Raises:
            TablebaseError: the tables do not hold the position.
        """
        value = self._wdl(position)
        if value == NOT_COVERED:
            if position.variant != self.variant:
                raise TablebaseError(f"these are tables for {self.variant}; the position is one of {position.variant}")
            raise TablebaseError(
                f"the tables hold positions of up to {self.pieces} pieces, some of both sides; not {position.fen}"
            )
        return value

    def plies(self, position: Position) -> int | None:
        """Distance to the end in plies with best play of both; None for a draw.

        Raises:
            TablebaseError: the tables do not hold the position, or the file is damaged.
        """
        value = self.wdl(position)
        if value == 0:
            return None
        code, index = locate(*self._kernel_position(position), self._word)
        signature = Signature(code >> 9, code >> 6 & 7, code >> 3 & 7, code & 7)
        plies = int(self._block(signature, index // BLOCK)[index % BLOCK]) - 1
        if (value == 1) != (plies % 2 == 1) or plies < 0:
            raise self.files[signature.pieces].damaged(f"values and distances of {signature.name} do not agree")
        return plies

    def probe(self, position: Position) -> Probe:
        """Value, distance and best moves of a position.

        Raises:
            TablebaseError: the tables do not hold the position, or a file is damaged.
        """
        value, plies = self.wdl(position), self.plies(position)
        after = self.moves(position)
        best = tuple(
            move for move, (score, left) in after.items() if score == value and (plies is None or left == plies)
        )
        if after and not best:
            raise TablebaseError(f"the tables contradict themselves at {position.fen}: verify them")
        return Probe(_VALUES[value], plies, best)

    def moves(self, position: Position) -> dict[Move, tuple[int, int | None]]:
        """What every legal move leads to: the value for the side that makes it, and its distance counted from here.

        Raises:
            TablebaseError: as for :meth:`probe`.
        """
        self.wdl(position)
        found: dict[Move, tuple[int, int | None]] = {}
        for move in position.legal_moves():
            after = position.play(move)
            if not (after.white and after.black):
                found[move] = (1, 1)
                continue
            plies = self.plies(after)
            found[move] = (-self.wdl(after), None if plies is None else plies + 1)
        return found

    def sample(self, rng: random.Random, pieces: int) -> Position:
        """A random position of exactly so many pieces: every placement and either side to move as likely.

        Raises:
            TablebaseError: the tables do not hold so many pieces.
        """
        if pieces not in self.files:
            raise TablebaseError(f"the tables hold 2 to {self.pieces} pieces, not {pieces}")
        number = rng.randrange(sum(signature.size(self.variant) for signature in signatures(pieces)))
        for signature in signatures(pieces):
            if number < signature.size(self.variant):
                break
            number -= signature.size(self.variant)
        position = position_of(self.variant, signature, number)
        return position if rng.random() < 0.5 else position.turned()

    def counts(self) -> Iterator[tuple[int, Signature, Counts]]:
        """Number of pieces, signature and figures of every signature."""
        for pieces, file in self.files.items():
            for signature, record in file.records.items():
                yield pieces, signature, record.counts

    def close(self) -> None:
        """Release the files. Values stay; distances cannot be read any more."""
        for file in self.files.values():
            file.close()

    def __repr__(self) -> str:
        return f"<Tablebase of {self.variant}, up to {self.pieces} pieces>"

    @staticmethod
    def _kernel_position(position: Position) -> tuple[np.uint64, np.uint64, np.uint64, bool]:
        return (
            np.uint64(position.white),
            np.uint64(position.black),
            np.uint64(position.kings),
            position.turn == "white",
        )

    def _wdl(self, position: Position) -> int:
        if position.variant != self.variant:
            return NOT_COVERED
        return int(probe_wdl(self.arrays, *self._kernel_position(position)))

    def _block(self, signature: Signature, number: int) -> npt.NDArray[np.uint16]:
        key = signature, number
        with self._lock:
            block = self._blocks.get(key)
            if block is None:
                block = self._blocks[key] = self.files[signature.pieces].codes(signature, number)
                if len(self._blocks) > _KEPT:
                    self._blocks.popitem(last=False)
            self._blocks.move_to_end(key)
        return block


@cache
def available(of: Variant) -> Tablebase | None:
    """All tables of a variant that ship or were built, opened once in a process; None where there are none.

    Raises:
        TablebaseError: a table is damaged.
    """
    if of.huffing or find_file(of, 2, None) is None:
        return None
    return Tablebase.open(of)


def position_of(rules: Variant, signature: Signature, index: int) -> Position:
    """The position of an index, White to move."""
    own, opp, kings = position_at(signature.code, index, np.uint64(rules.rules))
    return Position(rules, int(own), int(opp), int(kings), "white")


def _built(
    rules: Variant, pieces: int, folder: Path | str | None, workers: int | None, report: Report | None
) -> list[Path]:
    if report is not None:
        return build(rules, pieces, folder, workers, report)
    with shown_progress(f"Building the {rules} tablebase of {pieces} pieces (once; later starts read it) ...") as shown:
        return build(rules, pieces, folder, workers, shown)


def _load_arrays(rules: Variant, files: dict[int, TableFile]) -> TablebaseArrays:
    """Values of all positions, checked against their digests."""
    offsets = np.full(CODES, -1, np.int64)
    total = 0
    for file in files.values():
        for signature, record in file.records.items():
            offsets[signature.code] = total
            total += (record.counts.positions + 3) // 4 * 4
    wdl = np.empty(total // 4, np.uint8)
    for file in files.values():
        for signature, record in file.records.items():
            start = offsets[signature.code] // 4
            for number, (first, stop) in enumerate(block_ranges(record.counts.positions)):
                part = slice(start + first // 4, start + (stop + 3) // 4)
                wdl[part] = file.packed_values(signature, number)
    return TablebaseArrays(np.uint64(rules.rules), max(files), offsets, wdl)
