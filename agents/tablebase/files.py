"""Table files: one for each variant and number of pieces, ``english-4.dtb``.

A file is a header and one record for each signature, in the order of :mod:`agents.tablebase.signatures`. All numbers
are little-endian. Every byte is covered by a digest (BLAKE2b, 8 bytes), and nothing is handed out before its digest has
been checked.

======================  =======================================================================================
file header             ``DRAUGHTB``; u16 format version; u8 pieces; u8 0; u32 rules key; digest of these
record                  record header, block table, digest of these two, blocks
record header           ``SLIC``; four u8 the signature; u64 positions, wins, draws, losses; u32 distance of the
                        longest win, of the longest loss; u32 positions in a block; u8 bytes of a distance (1
                        or 2); three u8 0
block table             for each block u32 length and digest: those of the values first, then those of the distances
block of values         raw LZMA2 of two bits a position, the first in the lowest: 0 loss, 1 draw, 2 win
block of distances      raw LZMA2 of half the distance to the end in plies, rounded down; 0 for a draw
======================  =======================================================================================

A win is an odd number of plies from the end and a loss an even one, so half the distance says it all.
The rules key holds the flags that matter to values; limits on the number of moves do not.
A file that is being built has the ending ``.part`` and ends where its builder stopped.
"""

from __future__ import annotations

import hashlib
import lzma
import mmap
import os
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import platformdirs

from agents.tablebase.signatures import Signature, signatures
from draughts_env.errors import DraughtsError
from draughts_env.variants import Variant

#: Positions in a block.
BLOCK = 1 << 18

FORMAT_VERSION = 1
_MAGIC = b"DRAUGHTB"
_RECORD_MAGIC = b"SLIC"
_HEADER = struct.Struct("<8sHBBI")
_RECORD = struct.Struct("<4s4B4QIIIB3x")
_ENTRY = struct.Struct("<I8s")
_DIGEST = 8
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 0, "lp": 0, "pb": 0, "dict_size": BLOCK}]


class TablebaseError(DraughtsError):
    """A table that is missing, damaged, not for these rules, or cannot be written; or a position it does not hold."""


def chosen_folder(folder: Path | str | None = None) -> Path | None:
    """The folder a user asked for: the argument, else the environment variable DRAUGHTS_TABLEBASE_DIR, else None."""
    chosen = folder or os.environ.get("DRAUGHTS_TABLEBASE_DIR")
    return Path(chosen) if chosen else None


def table_folder(folder: Path | str | None = None) -> Path:
    """Folder that tables are built in: the one asked for, else the user's data folder."""
    return chosen_folder(folder) or Path(platformdirs.user_data_dir("draughts-zero", appauthor=False)) / "tablebases"


#: Folder of the tables that ship with the project.
SHIPPED = Path(__file__).parent / "data"


def file_name(rules: Variant, pieces: int) -> str:
    """Name of a table file."""
    return f"{rules.name}-{pieces}.dtb"


def find_file(rules: Variant, pieces: int, folder: Path | str | None = None) -> Path | None:
    """The table file of a variant and number of pieces, in the folder or among those that ship; None: there is none."""
    for place in (table_folder(folder), SHIPPED):
        path = place / file_name(rules, pieces)
        if path.is_file():
            return path
    return None


def check_rules(rules: Variant) -> None:
    """Raise TablebaseError for rules that there can be no tables for."""
    if rules.huffing:
        raise TablebaseError(f"there are no tablebases of games with huffing; {rules.without_huffing()} has some")


def rules_key(rules: Variant) -> int:
    """The flags that matter to values: board, captures, kings, crowning."""
    return rules.rules & 0xFF


def _digest(*parts: bytes | memoryview) -> bytes:
    digest = hashlib.blake2b(digest_size=_DIGEST)
    for part in parts:
        digest.update(part)
    return digest.digest()


def block_ranges(positions: int) -> Iterator[tuple[int, int]]:
    """Start and stop of every block of a signature."""
    for start in range(0, positions, BLOCK):
        yield start, min(start + BLOCK, positions)


# --- writing ----------------------------------------------------------------------------------------


def file_header(rules: Variant, pieces: int) -> bytes:
    """The header of a table file."""
    header = _HEADER.pack(_MAGIC, FORMAT_VERSION, pieces, 0, rules_key(rules))
    return header + _digest(header)


@dataclass(frozen=True)
class Counts:
    """Figures of a set of positions.

    Attributes:
        positions, wins, draws, losses: numbers of positions, for the side to move.
        longest_win, longest_loss: the greatest distances to the end in plies, 0 when there is none.
    """

    positions: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    longest_win: int = 0
    longest_loss: int = 0

    @classmethod
    def of_codes(cls, counts: npt.NDArray[np.int64]) -> Counts:
        """From the number of positions of each value code (:mod:`agents.tablebase.retrograde`)."""
        wins, losses = counts[2::2], counts[1::2]
        longest_win = 2 * int(np.flatnonzero(wins)[-1]) + 1 if wins.any() else 0
        longest_loss = 2 * int(np.flatnonzero(losses)[-1]) if losses.any() else 0
        return cls(int(counts.sum()), int(wins.sum()), int(counts[0]), int(losses.sum()), longest_win, longest_loss)

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.positions + other.positions,
            self.wins + other.wins,
            self.draws + other.draws,
            self.losses + other.losses,
            max(self.longest_win, other.longest_win),
            max(self.longest_loss, other.longest_loss),
        )


def _compressed(data: bytes) -> bytes:
    return lzma.compress(data, format=lzma.FORMAT_RAW, filters=_FILTERS)


def _encode_block(codes: npt.NDArray[np.uint16], width: int) -> tuple[bytes, bytes]:
    """Values and distances of the positions of a block, compressed."""
    values = np.where(codes == 0, 1, np.where(codes & 1, 0, 2)).astype(np.uint8)
    four = np.concatenate([values, np.zeros(-len(values) % 4, np.uint8)]).reshape(-1, 4)
    packed = four[:, 0] | four[:, 1] << 2 | four[:, 2] << 4 | four[:, 3] << 6
    halves = np.where(codes == 0, 0, (codes - np.uint16(1)) >> 1).astype(f"<u{width}")
    return _compressed(packed.tobytes()), _compressed(halves.tobytes())


def encode_record(
    signature: Signature,
    codes: npt.NDArray[np.uint16],
    counts: Counts,
    spread: Callable[[Callable[..., Any], Iterable[Any]], Iterable[Any]] = map,
) -> bytes:
    """The record of a signature.

    Args:
        codes: value codes of all its positions.
        counts: its figures.
        spread: ``map``, or that of a pool of threads.
    """
    width = 1 if max(counts.longest_win, counts.longest_loss) // 2 < 256 else 2
    blocks = list(spread(lambda part: _encode_block(codes[part[0] : part[1]], width), block_ranges(len(codes))))
    data = [values for values, _ in blocks] + [distances for _, distances in blocks]
    header = _RECORD.pack(
        _RECORD_MAGIC,
        *signature,
        counts.positions,
        counts.wins,
        counts.draws,
        counts.losses,
        counts.longest_win,
        counts.longest_loss,
        BLOCK,
        width,
    )
    table = b"".join(_ENTRY.pack(len(block), _digest(block)) for block in data)
    return b"".join([header, table, _digest(header, table), *data])


# --- reading ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """A signature in a file.

    Attributes:
        signature: which.
        counts: its figures.
        width: bytes of a distance.
        blocks: start, length and digest of each block: values, then distances.
        stop: where the record ends in the file.
    """

    signature: Signature
    counts: Counts
    width: int
    blocks: tuple[tuple[int, int, bytes], ...]
    stop: int


class TableFile:
    """A table file, memory-mapped. Its headers are checked at once, each block when it is read.

    Args:
        path: the file.
        rules: the variant that it should be for.
        pieces: the number of pieces that it should be for.
        partial: whether it may end early; what follows the last whole record is left out of account.

    Attributes:
        records: the signatures it holds.
        header_stop: where the header of every file ends.

    Raises:
        TablebaseError: no such file, not a table of these rules and pieces, or damaged.
    """

    header_stop = _HEADER.size + _DIGEST

    def __init__(self, path: Path, rules: Variant, pieces: int, partial: bool = False) -> None:
        self.path, self.rules, self.pieces = path, rules, pieces
        self.records: dict[Signature, Record] = {}
        try:
            with open(path, "rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # an empty file cannot be mapped
            reason = getattr(error, "strerror", None) or error
            raise TablebaseError(f"the tablebase {path} cannot be read: {reason}") from error
        self._read_header()
        stop = self.header_stop
        try:
            for signature in signatures(pieces):
                record = self._read_record(stop, signature)
                self.records[signature] = record
                stop = record.stop
        except TablebaseError:
            if not partial:
                raise
        if not partial and stop != len(self._data):
            raise self.damaged(f"{len(self._data) - stop} bytes follow its end")

    def damaged(self, what: str) -> TablebaseError:
        """The error that says that the file is damaged."""
        return TablebaseError(f"the tablebase {self.path} is damaged: {what}; delete the file and build it again")

    def _read_header(self) -> None:
        raw = self._data[: _HEADER.size]
        if len(raw) < _HEADER.size or raw[:8] != _MAGIC:
            raise TablebaseError(f"{self.path} is not a tablebase, or its first bytes are damaged")
        if self._data[_HEADER.size : _HEADER.size + _DIGEST] != _digest(raw):
            raise self.damaged("the header does not agree with its digest")
        _, version, pieces, _, key = _HEADER.unpack(raw)
        if version != FORMAT_VERSION:
            raise TablebaseError(f"{self.path} has format {version}; this version reads format {FORMAT_VERSION}")
        if key != rules_key(self.rules):
            raise TablebaseError(f"{self.path} is a tablebase for other rules than those of {self.rules}")
        if pieces != self.pieces:
            raise TablebaseError(f"{self.path} holds positions of {pieces} pieces, not of {self.pieces}")

    def _read_record(self, start: int, expected: Signature) -> Record:
        name = f"the record of {expected.name}"
        raw = self._data[start : start + _RECORD.size]
        if len(raw) < _RECORD.size:
            raise self.damaged(f"it ends before {name}")
        magic, *fields, block, width = _RECORD.unpack(raw)
        signature, counts = Signature(*fields[:4]), Counts(*fields[4:])
        ranges = list(block_ranges(expected.size(self.rules)))
        table_stop = start + _RECORD.size + 2 * len(ranges) * _ENTRY.size
        table = self._data[start + _RECORD.size : table_stop]
        sane = magic == _RECORD_MAGIC and signature == expected and counts.positions == expected.size(self.rules)
        if not sane or self._data[table_stop : table_stop + _DIGEST] != _digest(raw, table):
            raise self.damaged(f"{name} does not agree with its digest")
        if block != BLOCK:
            raise TablebaseError(f"{self.path} has blocks of {block} positions; this version reads blocks of {BLOCK}")
        at = table_stop + _DIGEST
        blocks = []
        for length, digest in _ENTRY.iter_unpack(table):
            blocks.append((at, length, digest))
            at += length
        if at > len(self._data):
            raise self.damaged(f"it ends within {name}")
        return Record(signature, counts, width, tuple(blocks), at)

    def _block(self, record: Record, number: int, size: int) -> bytes:
        """A block, checked and decompressed."""
        start, length, digest = record.blocks[number]
        data = self._data[start : start + length]
        if _digest(data) != digest:
            raise self.damaged(f"block {number} of {record.signature.name} does not agree with its digest")
        try:
            raw = lzma.decompress(data, format=lzma.FORMAT_RAW, filters=_FILTERS)
        except lzma.LZMAError as error:
            raise self.damaged(f"block {number} of {record.signature.name} cannot be decompressed") from error
        if len(raw) != size:
            raise self.damaged(f"block {number} of {record.signature.name} has the wrong size")
        return raw

    def packed_values(self, signature: Signature, number: int) -> npt.NDArray[np.uint8]:
        """Values of a block's positions, four a byte.

        Raises:
            TablebaseError: the block is damaged.
        """
        record = self.records[signature]
        positions = min(BLOCK, record.counts.positions - number * BLOCK)
        return np.frombuffer(self._block(record, number, (positions + 3) // 4), np.uint8)

    def codes(self, signature: Signature, number: int) -> npt.NDArray[np.uint16]:
        """Value codes of a block's positions (:mod:`agents.tablebase.retrograde`).

        Raises:
            TablebaseError: the block is damaged.
        """
        record = self.records[signature]
        positions = min(BLOCK, record.counts.positions - number * BLOCK)
        packed = self.packed_values(signature, number)
        values = (packed[:, None] >> np.array([0, 2, 4, 6], np.uint8) & 3).reshape(-1)[:positions]
        raw = self._block(record, number + len(record.blocks) // 2, positions * record.width)
        halves = np.frombuffer(raw, f"<u{record.width}").astype(np.uint16)
        return np.where(values == 1, 0, 2 * halves + 1 + (values == 2)).astype(np.uint16)

    def verify(self) -> None:
        """Check every block against its digest.

        Raises:
            TablebaseError: one is damaged.
        """
        for record in self.records.values():
            for number, (start, length, digest) in enumerate(record.blocks):
                if _digest(self._data[start : start + length]) != digest:
                    raise self.damaged(f"block {number} of {record.signature.name} does not agree with its digest")

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self._data)

    @property
    def counts(self) -> Counts:
        """Figures of all its positions."""
        return sum((record.counts for record in self.records.values()), Counts())

    def close(self) -> None:
        """Release the file."""
        self._data.close()
