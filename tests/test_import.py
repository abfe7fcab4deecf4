"""What importing the environments costs, and what it leaves alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from draughts_env.jit import KernelCompiler


def test_import_does_not_pull_in_torch_or_the_players() -> None:
    code = "import sys, draughts_env; print([m for m in ('torch', 'agents', 'draughts_play') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_a_place_for_a_cache_kernels_are_compiled_and_not_cached_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the sources numba would cache by its own rules, which miss changes in other files."""
    (tmp_path / "file").touch()
    for place, caches in ((tmp_path / "folder", True), (tmp_path / "file", False)):
        monkeypatch.setenv("DRAUGHTS_CACHE_DIR", str(place))
        kernel = KernelCompiler(Path(__file__).parent)
        double = kernel()(_double)
        assert double(4) == 8
        assert any(tmp_path.rglob("*._double-*.nbi")) == caches
        for file in tmp_path.rglob("*.nb?"):
            file.unlink()
        assert not any((Path(__file__).parent / "__pycache__").glob("*_double*.nbi"))


def _double(x: int) -> int:
    return 2 * x


def test_the_example_in_the_docstring() -> None:
    import doctest

    import draughts_env

    assert doctest.testmod(draughts_env).failed == 0
