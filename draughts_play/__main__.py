"""``python -m draughts_play`` is the ``draughts`` command."""

from draughts_play.cli import main

main()
