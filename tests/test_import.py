"""What importing the environments costs, and what it leaves alone."""

from __future__ import annotations

import subprocess
import sys


def test_import_does_not_pull_in_torch_or_the_players() -> None:
    code = "import sys, draughts_env; print([m for m in ('torch', 'agents', 'draughts_play') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_example_in_the_docstring() -> None:
    import doctest

    import draughts_env

    assert doctest.testmod(draughts_env).failed == 0
