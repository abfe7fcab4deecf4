"""How kernels are compiled: one decorator, an on-disk cache that notices every change, a visible message.

Numba's own cache looks at the file of the function it compiles, not at the files of the functions
that one calls, so an edit to a callee would go unnoticed. Here the cache lives in a folder whose
name is a hash of all kernel sources that can be involved; any edit leads to a fresh folder.

A trap: numba compiles a kernel anew for a literal argument (``f(0)``, ``f(True)``, a global constant), and a
recursive kernel that exists in several such versions crashes when it is loaded from the cache. Arguments of recursive
kernels are therefore never literals: ``np.int64(0)``, or a variable.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import platformdirs
from numba.core import event

_F = TypeVar("_F", bound=Callable[..., Any])

#: A file takes part in the cache key when it mentions this module or the decorator that `agents` makes of it.
_MARK = re.compile(rb"\b(draughts_env|agents)\.jit\b")


def cache_root() -> Path:
    """Folder that holds the compiled kernels, overridden by the environment variable DRAUGHTS_CACHE_DIR."""
    chosen = os.environ.get("DRAUGHTS_CACHE_DIR")
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("draughts-zero", appauthor=False))


def _is_usable(folder: Path) -> bool:
    """Whether files can be written to a folder, which is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _sources_key(folders: tuple[Path, ...]) -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in folders:
        for file in sorted(folder.rglob("*.py")):
            text = file.read_bytes()
            if _MARK.search(text):
                digest.update(file.relative_to(folder).as_posix().encode())
                digest.update(text)
    return digest.hexdigest()[:16]


class KernelCompiler:
    """Compiles the kernels of a package, cached on disk under a key of the given source folders.

    Args:
        folders: the package's own folder and those of every package whose kernels it calls.
    """

    def __init__(self, *folders: Path) -> None:
        self.folder = cache_root() / f"kernels-{_sources_key(folders)}"
        # Without it numba would cache beside the sources, where it notices only some of the changes (see above).
        self._caches = _is_usable(self.folder)

    def __call__(self, **options: Any) -> Callable[[_F], _F]:
        """Decorator: `numba.njit` without the interpreter lock, cached in :attr:`folder`.

        Args:
            **options: passed on to `numba.njit`.
        """
        settings: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": False} | options

        def decorate(function: _F) -> _F:
            compiled = numba.njit(**settings)(function)
            if not self._caches:  # a read-only home: the kernels still work, compiled anew in each process
                return compiled
            before = numba.config.CACHE_DIR
            numba.config.CACHE_DIR = str(self.folder)
            try:
                compiled.enable_caching()
            except (RuntimeError, OSError):
                pass  # it has become unusable since
            finally:
                numba.config.CACHE_DIR = before
            return compiled

        return decorate


class _Announcer(event.Listener):  # type: ignore[misc]
    """Says once per process that kernels are being compiled, so that a first start does not look hung."""

    _prefixes = ("draughts_env.", "agents.")

    def __init__(self) -> None:
        self._said = False

    def on_start(self, what: event.Event) -> None:
        if self._said or not what.data["dispatcher"].py_func.__module__.startswith(self._prefixes):
            return
        self._said = True
        print(
            "Compiling the draughts kernels (once, up to a minute; later starts use the cache) ...",
            file=sys.stderr,
            flush=True,
        )

    def on_end(self, what: event.Event) -> None:
        pass


event.register("numba:compile", _Announcer())

#: The decorator of this package's kernels: ``@kernel()``.
kernel = KernelCompiler(Path(__file__).parent)
