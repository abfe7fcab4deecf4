"""Every command and every piece of Python in README.md is run, so that none of them rots."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL = [
    line.split("#")[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in block.splitlines()
    if line.split("#")[0].strip()
]
PYTHON = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)

#: What is added to a command to make it short; the command itself stays as it is.
SHORTER = {
    "python train.py": [
        "run.iterations=2",
        "run.minutes=null",
        "selfplay.games_per_iteration=8",
        "search.simulations=8",
        "selfplay.simulations_start=null",
        "evaluation.final=[]",
        "evaluation.opponents=[random]",
        "evaluation.games=2",
    ],
    "draughts match": ["--games", "2"],
    "draughts perft": ["--depth", "4"],
}
#: The file that the reader's own training run would have made.
OWN_RUN = "runs/english-sparse/best.safetensors"


def test_there_are_exactly_two_set_up_commands() -> None:
    assert SHELL[0] == "pip install -e . && python train.py"
    assert SHELL[1] == "pip install -e '.[test]' && pytest"


@pytest.mark.parametrize("command", [SHELL[0], *SHELL[2:]])
def test_command(command: str, tmp_path: Path) -> None:
    """Installing is what made this test run; what comes after it is run here."""
    command = command.split("&&")[-1].strip().replace(OWN_RUN, str(ROOT / "checkpoints/english.safetensors"))
    words = shlex.split(command)
    for prefix, extra in SHORTER.items():
        if command.startswith(prefix):
            words += extra
    if words[0] == "python":
        words[:2] = [sys.executable, str(ROOT / words[1])]
        words += [f"run.folder={tmp_path}"] if "train.py" in command else []
    else:
        assert words[0] == "draughts"
        words[:1] = [sys.executable, "-m", "draughts_play"]
    done = subprocess.run(words, cwd=tmp_path, input="quit\n", capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("code", PYTHON, ids=[f"block{i}" for i in range(len(PYTHON))])
def test_python(code: str) -> None:
    exec(compile(code, "README.md", "exec"), {})
