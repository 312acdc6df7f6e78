"""What the benchmark scripts share: a Markdown table, and writing it beside its numbers as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tpbench_data.canonical import pretty_json
from tpbench_data.files import write_text


def markdown(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    lines = [f"| {' | '.join(columns)} |", f"| --- |{' ---: |' * (len(columns) - 1)}"]
    lines += [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def share(part: float, whole: float, digits: int = 1) -> str:
    """A percentage, or a dash where there is nothing to divide by."""
    return "–" if not whole else f"{100 * part / whole:.{digits}f}"


def save(out: Path, name: str, text: str, numbers: Any) -> None:
    """Writes ``name.md`` and ``name.json``."""
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / f"{name}.md", text)
    write_text(out / f"{name}.json", pretty_json(numbers))
