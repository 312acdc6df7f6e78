"""Turn selectors that need no model: one file each, listed here in the order of every table."""

from __future__ import annotations

from tpbench_data.selectors.base import ScoredSelector, Selection, SelectionInput, Selector
from tpbench_data.selectors.bm25 import BM25
from tpbench_data.selectors.first_turns import FirstTurns
from tpbench_data.selectors.first_user_recent import FirstUserRecent
from tpbench_data.selectors.full_context import FullContext
from tpbench_data.selectors.no_context import NoContext
from tpbench_data.selectors.oracle_evidence import OracleEvidence
from tpbench_data.selectors.random_turns import RandomTurns
from tpbench_data.selectors.recency import Recency
from tpbench_data.selectors.settings import parse_method
from tpbench_data.selectors.uniform_stride import UniformStride

SELECTORS: dict[str, type[Selector]] = {
    kind.name: kind
    for kind in (
        FullContext,
        NoContext,
        OracleEvidence,
        Recency,
        RandomTurns,
        FirstTurns,
        UniformStride,
        FirstUserRecent,
        BM25,
    )
}
"""Method name -> class."""


def parse_selector(text: str) -> Selector:
    """Reads a method such as ``recency`` or ``random(seed=43)``.

    Raises:
        BadInput: Unknown method or setting.
    """
    return parse_method(text, SELECTORS)


__all__ = ["SELECTORS", "ScoredSelector", "Selection", "SelectionInput", "Selector", "parse_selector"]
