"""The paper's tables and figures as a registry: number, title, needed inputs, columns, function.

Public: ``TABLES``, ``FIGURES`` (number -> Table), ``make_tables``, ``Study``, ``open_study``.
"""

from __future__ import annotations

from tpbench_score.tables.model import Cell, Column, Counts, Number, Row, SeedValue, TableResult, Unavailable
from tpbench_score.tables.registry import FIGURES, TABLES, Need, Table, make_tables
from tpbench_score.tables.scores import Scores
from tpbench_score.tables.study import Study, open_study
from tpbench_score.tables.universe import Universe

__all__ = [
    "FIGURES",
    "TABLES",
    "Cell",
    "Column",
    "Counts",
    "Need",
    "Number",
    "Row",
    "Scores",
    "SeedValue",
    "Study",
    "Table",
    "TableResult",
    "Unavailable",
    "Universe",
    "make_tables",
    "open_study",
]
