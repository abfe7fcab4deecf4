"""Settings of the whole test run."""

from __future__ import annotations

import os

# With more threads than free cores, PyTorch's threads spin and starve each other; this must be set before it is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
