"""Self-play training from a configuration: ``python train.py --help``."""

import sys
from pathlib import Path

from agents.training.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path(__file__).parent / "configs"))
