"""Inputs of answers whose prompts are not published: LongMemEval-KU at ratio 0.30 (layout section 1, quirk c).

Reference and ids come from the scored rows; context and prompt stay null.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tpbench_data.artifact_import import names
from tpbench_data.artifact_import.findings import Findings
from tpbench_data.artifact_import.lines import rows_of
from tpbench_data.artifact_import.probe_rows import FIRST_SEED
from tpbench_data.artifact_import.records import Asked, SourceInput

SCORED_FILE = re.compile(r"results/seed_robustness/scored/lme_ku_p2\.jsonl")
RATIO = 0.3


def inputs_of(folder: Path, file: str, findings: Findings) -> Iterator[SourceInput]:
    """An input without context and prompt for every scored row."""
    for number, row in rows_of(folder, file, findings):
        mapped = names.selector(str(row.get("method")))
        gold = row.get("gold_value")
        if mapped is None or not isinstance(row.get("dialogue_id"), str) or not isinstance(gold, str | int | float):
            findings.problem(file, number, "has no known method, dialogue_id or gold_value")
            continue
        method, config, selector_seed = mapped
        yield SourceInput(
            asked=Asked("lme_ku", "current_value", row["dialogue_id"], FIRST_SEED, RATIO),
            method=method,
            method_config=config,
            selector_seed=selector_seed,
            facts={"reference_value": str(gold), "old_value": ""},
            context=None,
            prompt=None,
            place=(file, number),
        )
