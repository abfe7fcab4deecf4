"""Games on disk: one SQLite file, so that they survive a restart."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

_SCHEMA = """
CREATE TABLE IF NOT EXISTS games (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    updated REAL NOT NULL,
    plies INTEGER NOT NULL,
    title TEXT NOT NULL,
    result TEXT NOT NULL,
    variant TEXT NOT NULL,
    saved TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS games_by_owner ON games (owner, updated DESC);
"""


class Store:
    """The games of all sessions. Its methods may be called from any thread.

    Args:
        path: the file; it is made when it does not exist.

    Raises:
        sqlite3.Error: the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._base = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = NORMAL")
        self._base.executescript(_SCHEMA)

    def save(self, id: str, owner: str, saved: dict[str, Any], row: dict[str, Any]) -> None:
        """Write a game; ``row`` is what the list of games shows of it: plies, title, result, variant."""
        values = (id, owner, time.time(), row["plies"], row["title"], row["result"], row["variant"], json.dumps(saved))
        with self._lock:
            self._base.execute("INSERT OR REPLACE INTO games VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)

    def load(self, id: str) -> tuple[str, dict[str, Any]] | None:
        """Owner and saved game; None when there is none."""
        with self._lock:
            row = self._base.execute("SELECT owner, saved FROM games WHERE id = ?", (id,)).fetchone()
        return None if row is None else (row[0], json.loads(row[1]))

    def delete(self, id: str) -> None:
        """Forget a game."""
        with self._lock:
            self._base.execute("DELETE FROM games WHERE id = ?", (id,))

    def games(self, owner: str) -> list[dict[str, Any]]:
        """The games of a session, the last changed first."""
        with self._lock:
            rows = self._base.execute(
                "SELECT id, variant, title, updated, plies, result FROM games WHERE owner = ? ORDER BY updated DESC",
                (owner,),
            ).fetchall()
        names = ("id", "variant", "title", "updated", "plies", "result")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def count(self, owner: str | None = None) -> int:
        """Number of games of a session, or of all."""
        where, values = ("", ()) if owner is None else (" WHERE owner = ?", (owner,))
        with self._lock:
            found = self._base.execute("SELECT COUNT(*) FROM games" + where, values).fetchone()
        return int(found[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()
