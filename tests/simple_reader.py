"""A reader without a model, so that reports have something to show: it takes the last value it knows from the context.

It knows which values a question is about, so its answers depend on nothing but the context, and the methods differ
as they do with a real reader. One answer in twelve is spoilt, by a hash of its id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from small_release import write_small_run

from tpbench_data.canonical import sha256_hex
from tpbench_data.release.reader import Release

_MARKER = re.compile(r"^\[T\d+\] (?:USER|SYSTEM): ")


def first_request(row: Mapping[str, Any]) -> str:
    """The first words of the context."""
    line = (row["context"] or "").split("\n")[0]
    return " ".join(_MARKER.sub("", line).split()[:12])


def last_value(row: Mapping[str, Any]) -> str | None:
    """Whichever of the old and the new value is mentioned last; ``None`` where neither is."""
    context = (row["context"] or "").lower()
    known = [row["old_value"], *(row["value_alternatives"] or [row["reference_value"]])]
    found = [(context.rfind(value.lower()), value) for value in known if value]
    place, value = max(found, default=(-1, ""))
    return value if place >= 0 else None


def answer(row: Mapping[str, Any], probe: str) -> str:
    """The answer of this reader to an input."""
    value = last_value(row) if probe != "initial_goal" else None
    request = first_request(row) if probe != "current_value" else ""
    if not request and value is None:
        return json.dumps({"value": None, "support": "", "abstain": True})
    text = {
        "initial_goal": request,
        "current_value": value,
        "joint_recovery": f"{request}; {row['slot_label']}: {value or 'unknown'}",
    }[probe]
    spoilt = int(sha256_hex(row["input_id"])[:8], 16)
    if spoilt % 12 == 0:
        return f"I think it is {text}."
    record = json.dumps({"value": text, "support": request, "abstain": False}, ensure_ascii=False)
    return f"```json\n{record}\n```" if spoilt % 12 == 1 else record


def write_simple_run(
    release: Release,
    folder: Path,
    run_id: str = "simple-00000000",
    change: Callable[[dict[str, Any], str, str], str] = lambda row, probe, text: text,
    **run_changes: Any,
) -> Path:
    """A run folder in which this reader answers every probe of a release; ``change`` may alter (row, probe, text)."""
    rows, answers = [], {}
    for probe in release.probes:
        for row in release.table(probe).to_pylist():
            rows.append(row)
            answers[row["input_id"]] = change(row, probe, answer(row, probe))
    facts = {"reader": run_id.rpartition("-")[0], "release_digest": release.digest} | run_changes
    return write_small_run(folder, rows, answers, run_id, **facts)
