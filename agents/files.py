"""Writing files so that a reader, or a process killed at any moment, never meets half of one."""

from __future__ import annotations

import os
from pathlib import Path

#: Ending of files being written. What bears it after a crash is rubbish and may be deleted.
TEMPORARY = ".tmp"


def replace_file(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: to a temporary file beside it, to the disk, then into place.

    A link stays one, and its file is replaced; a pipe or a device such as ``/dev/stdout`` is written to.

    Raises:
        OSError: the folder does not exist or cannot be written.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    path = Path(os.path.realpath(path))
    temporary = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
