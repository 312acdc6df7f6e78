"""Protocol ``matched``: did every selector really get the same budget, rendering, templates and whole turns?"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tpbench_data.audit.finding import Audit
from tpbench_data.audit.material import ReleaseMaterial
from tpbench_data.budget import keep_count
from tpbench_data.deletions import DELETIONS
from tpbench_data.dialogue import Dialogue
from tpbench_data.release.schema import INPUT_CONFIGS
from tpbench_data.rendering import render

WITHOUT_BUDGET = ("full_context", "no_context", *DELETIONS)
"""Methods that keep a number of turns that no ratio decides; so do rewriters and adaptive methods (ratio null)."""

_COLUMNS = (
    "input_id",
    "corpus",
    "language",
    "dialogue_id",
    "method",
    "ratio",
    "n_turns",
    "k_turns",
    "kept_turns",
    "context",
    "template",
    "protocol",
)


def audit_release(material: ReleaseMaterial) -> Audit:
    """Checks the rows of protocol ``matched``."""
    audit = Audit("matched", "same budget, rendering and templates for every selector under protocol matched")
    counts = []
    for probe in INPUT_CONFIGS:
        rows = material.release.table(probe).select(list(_COLUMNS)).to_pylist()
        checked = [row for row in rows if row["protocol"] == "matched"]
        if not checked:
            continue
        problems: Counter[str] = Counter()
        first: dict[str, str] = {}
        for row in checked:
            for problem in _problems(row, material.dialogue_of(row)):
                problems[problem] += 1
                first.setdefault(problem, row["input_id"])
        for (corpus, language), used in sorted(_templates(checked).items()):
            if len(used) > 1:
                audit.problems.append(f"{probe}, {corpus} ({language}): several templates ({', '.join(sorted(used))})")
        budgeted = sum(_has_budget(row) for row in checked)
        counts.append((probe, len(checked), budgeted, len({row["method"] for row in checked}), sum(problems.values())))
        audit.problems += [f"{probe}: {n} rows {text}, such as {first[text]}" for text, n in sorted(problems.items())]
    audit.add("rows", ("probe", "rows", "with a budget", "methods", "problems"), counts)
    if not counts:
        audit.notes.append("the release has no rows of protocol matched")
    return audit


def _has_budget(row: dict[str, Any]) -> bool:
    return row["ratio"] is not None and row["method"] not in WITHOUT_BUDGET and row["kept_turns"] is not None


def _problems(row: dict[str, Any], dialogue: Dialogue) -> list[str]:
    found = []
    if _has_budget(row):
        wanted = keep_count(row["n_turns"], row["ratio"], "round-half-up")
        if row["k_turns"] != wanted:
            found.append("keep another number of turns than the common budget")
    kept = row["kept_turns"]
    if kept is not None and row["context"] != render(kept, dialogue.speakers, dialogue.texts, "marked"):
        found.append("are not the whole turns in the marked rendering")
    return found


def _templates(rows: list[dict[str, Any]]) -> dict[tuple[str, str], set[str]]:
    used: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        used.setdefault((row["corpus"], row["language"]), set()).add(row["template"])
    return used
