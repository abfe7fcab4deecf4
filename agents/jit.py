"""The decorator of the agents' kernels: that of :mod:`draughts_env.jit`, keyed on the sources of both packages.

The agents' kernels call those of the rules, so a change in either has to lead to fresh machine code.
"""

from __future__ import annotations

from pathlib import Path

import draughts_env
from draughts_env.jit import KernelCompiler

#: The decorator: ``@kernel()``.
kernel = KernelCompiler(Path(__file__).parent, Path(draughts_env.__file__).parent)
