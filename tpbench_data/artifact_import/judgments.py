"""Saved judgments of P1 answers (layout section 13)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data.artifact_import.findings import Findings
from tpbench_data.artifact_import.lines import rows_of
from tpbench_data.artifact_import.tables import BACKEND
from tpbench_data.canonical import canonical_json, sha256_hex
from tpbench_data.judgments import label_of, pair_id
from tpbench_data.release.schema import JUDGMENTS, RUNS

INPUTS = "data/semantic_evaluation/p1_inputs.jsonl"
LABELS = "results/semantic_evaluation/p1/judgments.jsonl"
FILES = (INPUTS, LABELS)
READER = "published-judge"


def read(folder: Path, findings: Findings) -> tuple[pa.Table, dict[str, Any] | None]:
    """The table `judgments` and the `runs` row of the judge; no row where there are no judgments."""
    pairs: dict[str, tuple[str, str]] = {}
    for number, row in rows_of(folder, INPUTS, findings):
        name, reference, answer = row.get("id"), row.get("reference"), row.get("candidate")
        if not (isinstance(name, str) and isinstance(reference, str) and isinstance(answer, str)):
            findings.problem(INPUTS, number, "has no text in id, reference or candidate")
        elif name in pairs:
            findings.problem(INPUTS, number, f"repeats the id {name}")
        else:
            if name != pair_id(reference, answer):
                findings.problem(INPUTS, number, f"has the id {name}, which is not that of its pair")
            pairs[name] = (reference, answer)
            findings.imported[INPUTS] += 1
    run_id = f"{READER}-{sha256_hex(canonical_json([BACKEND, LABELS]))[:8]}"
    rows = []
    judged: set[str] = set()
    for number, row in rows_of(folder, LABELS, findings):
        name = row.get("id")
        if name not in pairs or name in judged or row.get("equivalent") not in (True, False, None):
            problem = "repeats the id" if name in judged else "has no verdict or no pair in the inputs for the id"
            findings.problem(LABELS, number, f"{problem} {name}")
            continue
        judged.add(name)
        reference, answer = pairs[name]
        reason = row.get("reason")
        findings.imported[LABELS] += 1
        rows.append(
            {
                "judgment_id": name,
                "run_id": run_id,
                "reference": reference,
                "answer": answer,
                "label": label_of(row.get("equivalent")),
                "reason": reason if isinstance(reason, str) else None,
                "prompt_hash": None,
            }
        )
    for name in pairs:
        if name not in judged:
            findings.problem(LABELS, 0, f"has no judgment of the pair {name}")
    run = dict.fromkeys(RUNS.names) | {
        "run_id": run_id,
        "role": "judge",
        "reader": READER,
        "backend": BACKEND,
        "n_planned": len(rows),
    }
    return pa.Table.from_pylist(rows, schema=JUDGMENTS), run if rows else None
