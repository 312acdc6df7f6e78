"""Turns saved outputs into scores, tables and figures, on a CPU, with no model and no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpbench_data.matching import alias_equivalent, value_in_text
from tpbench_data.normalize import normalize_value
from tpbench_data.slots import slot_group
from tpbench_score.answer import score_answer

if TYPE_CHECKING:
    from tpbench_score.scoring import score

__all__ = ["alias_equivalent", "normalize_value", "score", "score_answer", "slot_group", "value_in_text"]


def __getattr__(name: str) -> Any:
    # `score` needs pyarrow, which scoring a single answer does not.
    if name == "score":
        from tpbench_score.scoring import score

        return score
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
