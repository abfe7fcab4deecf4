"""Exact endgames: win, draw or loss of every position of few pieces, and the distance to the end.

Values leave the rules that limit the number of moves out of account (repetition, 40 moves and the like).
"""

from agents.tablebase.build import build
from agents.tablebase.files import TablebaseError, table_folder
from agents.tablebase.probing import NOT_COVERED, TablebaseArrays, no_tablebase, probe_wdl
from agents.tablebase.signatures import Signature, signatures
from agents.tablebase.tablebase import Probe, Tablebase, available, position_of

__all__ = [
    "NOT_COVERED",
    "Probe",
    "Signature",
    "Tablebase",
    "TablebaseArrays",
    "TablebaseError",
    "available",
    "build",
    "no_tablebase",
    "position_of",
    "probe_wdl",
    "signatures",
    "table_folder",
]
