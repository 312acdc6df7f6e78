"""Tables as text: Markdown, CSV, LaTeX, JSON, and for a terminal. The only place that rounds.

``FORMATS`` maps the name that ``--format`` takes to a ``Format``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tpbench_score.render.comma import to_csv
from tpbench_score.render.counts import with_counts
from tpbench_score.render.jsontext import table_object, to_json
from tpbench_score.render.latex import to_latex
from tpbench_score.render.markdown import to_markdown
from tpbench_score.render.names import file_stems
from tpbench_score.tables.model import TableResult, Unavailable

__all__ = [
    "FORMATS",
    "Format",
    "file_stems",
    "table_object",
    "to_csv",
    "to_json",
    "to_latex",
    "to_markdown",
    "with_counts",
]


@dataclass(frozen=True)
class Format:
    """An output format: ending of a file with one table, and the function that makes the text of some tables."""

    suffix: str
    render: Callable[[Sequence[TableResult | Unavailable]], str]


FORMATS: dict[str, Format] = {
    "md": Format(".md", to_markdown),
    "csv": Format(".csv", to_csv),
    "latex": Format(".tex", to_latex),
    "json": Format(".json", to_json),
}
