"""The characters of a PDN source, a window of them at a time.

Files are UTF-8, with or without a byte order mark, or Windows-1252, of which Latin-1 is a part, or some of their games
are the one and some the other. So the choice is made for each character: bytes that are no valid UTF-8 are read as
Windows-1252. In a file of one kind this decides every byte right, short of accented letters in Windows-1252 that happen
to spell a valid sequence. UTF-16 is recognised by its byte order mark. All line ends become ``\\n``.
"""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterator
from typing import Protocol

from draughts_env.errors import PdnError

_CHUNK = 1 << 16
#: So many characters lie ahead of the place, unless the source ends: no token but a comment is longer.
AHEAD = 1 << 13
_BEHIND = 1 << 10


class Readable(Protocol):
    """A file object, binary or text."""

    def read(self, size: int, /) -> bytes | str: ...


#: A path, the content as bytes or text, or a file object. A text that ends in ``.pdn`` is a path.
Source = os.PathLike[str] | bytes | bytearray | memoryview | str | Readable


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    wrong = error.object[error.start : error.end]
    return "".join(_character(byte) for byte in wrong), error.end


def _character(byte: int) -> str:
    try:
        return bytes([byte]).decode("cp1252")
    except UnicodeDecodeError:  # five bytes have no character
        return chr(byte)


codecs.register_error("draughts_env.windows-1252", _as_windows_1252)


def _decoder(beginning: bytes) -> codecs.IncrementalDecoder:
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return codecs.getincrementaldecoder("utf-16")("replace")
    return codecs.getincrementaldecoder("utf-8")("draughts_env.windows-1252")


def _is_path(text: str) -> bool:
    return text.lower().endswith(".pdn") and not set(text) & set("\n\r\0[")


def _raw(source: Source) -> Iterator[bytes | str]:
    """The source in pieces of moderate size."""
    if isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
        with open(source, "rb") as file:
            yield from iter(lambda: file.read(_CHUNK), b"")
    elif isinstance(source, str | bytes | bytearray | memoryview):
        content = source if isinstance(source, str | bytes) else bytes(source)
        for start in range(0, len(content), _CHUNK):
            yield content[start : start + _CHUNK]
    else:
        while piece := source.read(_CHUNK):
            yield piece


def _characters(source: Source) -> Iterator[str]:
    """The source as text with ``\\n`` as line end and without byte order marks."""
    lines = io.IncrementalNewlineDecoder(None, translate=True)
    decoder: codecs.IncrementalDecoder | None = None
    for piece in _raw(source):
        if isinstance(piece, bytes):
            decoder = decoder or _decoder(piece)
            piece = decoder.decode(piece)
        yield lines.decode(piece).replace("\ufeff", "")
    rest = decoder.decode(b"", True) if decoder else ""
    yield lines.decode(rest, True).replace("\ufeff", "")


def check_source(source: object) -> None:
    """
    Raises:
        PdnError: not something that can be read.
    """
    if not isinstance(source, str | bytes | bytearray | memoryview | os.PathLike) and not hasattr(source, "read"):
        raise PdnError(f"games are read from a path, bytes, text or a file, not from {type(source).__name__}")


class PdnText:
    """The window: :attr:`buffer` holds the text around :attr:`at`, the place where the reader is.

    Places are indices into the buffer and valid until the next :meth:`fill`, which drops what lies behind.
    """

    def __init__(self, source: Source) -> None:
        self.buffer = ""
        self.at = 0
        #: Whether the buffer goes to the end of the source.
        self.ended = False
        self._pieces = _characters(source)
        self._line = 1  # of the first character in the buffer
        self._column = 0  # characters of that line that were dropped
        self._counted = 0, 1  # a place and its line
        self._braceless = -1  # no closing brace between the place and here; unknown if negative

    def fill(self) -> bool:
        """Make sure that :data:`AHEAD` characters lie ahead, as far as there are any; false at the end of the text."""
        if len(self.buffer) - self.at < AHEAD and not self.ended:
            self._drop()
            self._read(AHEAD)
        return self.at < len(self.buffer)

    def _drop(self) -> None:
        keep = self.at
        line = self.buffer.rfind("\n", 0, keep) + 1
        if keep - line < _BEHIND:  # what stands before the place in its line can matter
            keep = line
        newlines = self.buffer.count("\n", 0, keep)
        self._line += newlines
        self._counted = 0, self._line
        self._column = keep - 1 - self.buffer.rfind("\n", 0, keep) + (0 if newlines else self._column)
        self.buffer = self.buffer[keep:]
        self._braceless -= keep
        self.at -= keep

    def _read(self, ahead: int) -> None:
        """Read on until so many characters lie ahead."""
        pieces = [self.buffer[self.at :]]
        length = len(pieces[0])
        while length < ahead:
            piece = next(self._pieces, None)
            if piece is None:
                self.ended = True
                break
            pieces.append(piece)
            length += len(piece)
        self.buffer = self.buffer[: self.at] + "".join(pieces)

    def find(self, wanted: str, start: int, limit: int) -> int:
        """Place of the next ``wanted`` character at most ``limit`` characters after the start, which is not before
        :attr:`at`; reads on as needed. -1 if there is none.
        """
        while True:
            begin = max(start, self._braceless) if wanted == "}" else start
            found = self.buffer.find(wanted, begin, start + limit)
            if found >= 0:
                return found
            if wanted == "}":
                self._braceless = max(self._braceless, min(len(self.buffer), start + limit))
            if self.ended or len(self.buffer) >= start + limit:
                return -1
            self._read(len(self.buffer) - self.at + _CHUNK)

    def place(self, at: int) -> tuple[int, int]:
        """Line and column, both from 1, of a place."""
        since, line = self._counted if self._counted[0] <= at else (0, self._line)
        line += self.buffer.count("\n", since, at)
        self._counted = at, line
        newline = self.buffer.rfind("\n", 0, at)
        return line, at - newline if newline >= 0 else at + 1 + self._column

    def begins_line(self, at: int) -> bool:
        """Whether nothing but blanks stands before a place in its line."""
        newline = self.buffer.rfind("\n", 0, at)
        return self.buffer[newline + 1 : at].strip(" \t") == "" and (newline >= 0 or self._column == 0)
