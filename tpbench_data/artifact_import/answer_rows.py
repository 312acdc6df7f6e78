"""Saved answers of P1 to P3 (layout sections 4 to 9 and 12): raw reader rows where they exist, else scored rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tpbench_data.artifact_import import names
from tpbench_data.artifact_import.findings import Findings
from tpbench_data.artifact_import.lines import Row, object_of, rows_of
from tpbench_data.artifact_import.probe_rows import DELETION_RATIO, DELETION_SEED, FIRST_SEED
from tpbench_data.artifact_import.records import Asked, RunKey, SourceAnswer
from tpbench_data.names import Probe, Role

FULL_CONTEXT = "full_context"
BUDGET_RATIOS = (0.5, 0.7)
"""Ratios that the paper answers in runs of their own (table 14)."""

_EVIDENCE = r"results/diagnostics/update_evidence"


@dataclass(frozen=True)
class Family:
    """Files of answers of one kind.

    Attributes:
        pattern: Their paths; groups ``corpus``, ``seed``, ``ratio`` and ``reader`` say what a name states.
        raw: Whether they hold what the reader said, and not only the stored value.
        probe: The probe, ``None`` = as each row says.
        role: Role of the run; the cache methods of a row decide it where they are.
        ratio: Ratio where the name states none.
    """

    pattern: re.Pattern[str]
    raw: bool
    probe: Probe | None
    role: Role = "main"
    ratio: float = 0.3


FAMILIES = (
    Family(
        re.compile(r"results/p1_saved/(?P<corpus>sgd|mw)_r(?P<ratio>\d\d)_s(?P<seed>\d+)_scored\.jsonl"),
        False,
        "initial_goal",
    ),
    Family(
        re.compile(r"results/main/(?P<corpus>sgd|mw)_r(?P<ratio>\d\d)_s(?P<seed>\d+)_p3_scored\.jsonl"),
        False,
        "current_value",
    ),
    Family(
        re.compile(r"results/main/chunkkv_(?P<corpus>sgd|mw)_r(?P<ratio>\d\d)_p3_scored\.jsonl"),
        False,
        "current_value",
        "kv",
    ),
    Family(re.compile(r"results/kv_methods/(?:[^/]+/)*[^/]*_scored\.jsonl"), False, None, "kv"),
    Family(
        re.compile(r"results/diagnostics/chunkkv_chunklen/(?P<corpus>sgd|mw)_r(?P<ratio>\d\d)_p3_[^/]*_scored\.jsonl"),
        False,
        "current_value",
        "chunk_sweep",
    ),
    Family(
        re.compile(
            r"results/diagnostics/mistral_128/(?P<corpus>sgd|mw)_r(?P<ratio>\d\d)_s(?P<seed>\d+)_p3_reader_all\.jsonl"
        ),
        True,
        "current_value",
    ),
    Family(
        re.compile(
            r"results/diagnostics/mistral_128/(?P<corpus>sgd|mw)_r(?P<ratio>\d\d)_s(?P<seed>\d+)_p3_scored\.jsonl"
        ),
        False,
        "current_value",
    ),
    Family(
        re.compile(rf"{_EVIDENCE}/p2_all_reader_(?P<reader>llama)\.jsonl"),
        True,
        "current_value",
        "deletion",
        DELETION_RATIO,
    ),
    Family(
        re.compile(rf"{_EVIDENCE}/p2_scored_(?P<reader>llama)\.jsonl"),
        False,
        "current_value",
        "deletion",
        DELETION_RATIO,
    ),
    Family(
        re.compile(
            rf"{_EVIDENCE}/p3_(?P<corpus>sgd|multiwoz)_s(?P<seed>\d+)_reader_(?P<reader>llama|mistral|chunkkv)\.jsonl"
        ),
        True,
        "joint_recovery",
    ),
    Family(
        re.compile(
            rf"{_EVIDENCE}/p3_(?P<corpus>sgd|multiwoz)_s(?P<seed>\d+)_scored_(?P<reader>llama|mistral|chunkkv)\.jsonl"
        ),
        False,
        "joint_recovery",
    ),
    Family(
        re.compile(
            r"results/seed_robustness/reader/(?P<corpus>lme_ku|risawoz)_all\d+_r(?P<ratio>\d\d)_(?P<reader>llama)\.jsonl"
        ),
        True,
        "current_value",
        "corpus",
    ),
    Family(
        re.compile(r"results/seed_robustness/scored/(?P<corpus>lme_ku|risawoz)_p2\.jsonl"),
        False,
        "current_value",
        "corpus",
    ),
)
"""Every kind of answer file; of a raw and a scored file of the same cell the raw one is imported."""


def family_of(file: str) -> tuple[Family, re.Match[str]] | None:
    """The kind of a file of answers; ``None`` for any other file."""
    for family in FAMILIES:
        match = family.pattern.fullmatch(file)
        if match:
            return family, match
    return None


def cell_key(file: str) -> tuple[Any, ...] | None:
    """What the raw and the scored file of one cell have in common; ``None`` for a file of another kind."""
    found = family_of(file)
    if found is None:
        return None
    family, match = found
    groups = match.groupdict()
    corpus, ratio = groups.get("corpus"), groups.get("ratio")
    return (
        family.role,
        family.probe,
        _reader(file, groups),
        names.CORPORA[corpus] if corpus else None,
        groups.get("seed"),
        int(ratio) / 100 if ratio else family.ratio,
        "chunkkv" in file,
        file if family.role == "kv" and family.probe is None else "",
    )


def is_raw(file: str) -> bool:
    """Whether a file of answers holds what the reader said."""
    found = family_of(file)
    return found is not None and found[0].raw


def answers_of(folder: Path, file: str, findings: Findings) -> Iterator[SourceAnswer]:
    """The answers of a file whose name `family_of` knows."""
    found = family_of(file)
    if found is None:
        return
    family, match = found
    groups = match.groupdict()
    seen: dict[tuple[Any, ...], int] = {}
    for number, row in rows_of(folder, file, findings):
        answer = _answer(family, groups, row, (file, number))
        if isinstance(answer, str):
            findings.problem(file, number, answer)
            continue
        key = (answer.asked, answer.run, answer.method_config)
        if key in seen:
            findings.problem(
                file, number, f"answers {row['dialogue_id']}, {row['method']} again, as row {seen[key]} does"
            )
            continue
        seen[key] = number
        findings.imported[file] += 1
        yield answer


def _answer(family: Family, groups: dict[str, Any], row: Row, place: tuple[str, int]) -> SourceAnswer | str:
    """The answer of a row, or why it cannot be imported."""
    for field in ("dialogue_id", "dataset", "method", "probe_type"):
        if not isinstance(row.get(field), str):
            return f"has no text in {field}"
    corpus, probe = names.CORPORA.get(row["dataset"]), names.PROBES.get(row["probe_type"])
    named = groups.get("corpus")
    if corpus is None or (named and names.CORPORA[named] != corpus):
        return f"is of data set {row['dataset']!r}, which does not fit the file"
    if probe is None or (family.probe and family.probe != probe):
        return f"is of probe type {row['probe_type']!r}, which does not fit the file"
    meta = object_of(row, "meta")
    seed = int(groups["seed"]) if groups.get("seed") else DELETION_SEED if family.role == "deletion" else FIRST_SEED
    if isinstance(meta.get("sample_seed"), int) and meta["sample_seed"] != seed:
        return f"states sample seed {meta['sample_seed']}, the file name {seed}"
    ratio = int(groups["ratio"]) / 100 if groups.get("ratio") else family.ratio
    run = _run(family, groups, row["method"], ratio, place[0])
    if run is None:
        return f"is of the unknown method {row['method']!r}"
    text = _text(row) if family.raw else _rebuilt(row)
    if text is None:
        return "has no text in reader_output_text"
    return SourceAnswer(
        asked=Asked(corpus, probe, row["dialogue_id"], seed, ratio),
        run=run,
        method_config=_config(row["method"]),
        text=text,
        text_source="json_span" if family.raw else "rebuilt",
        error=_error(row, family.raw),
        provenance=provenance_of(row),
        tokens=row["input_tokens"] if type(row.get("input_tokens")) is int else None,
        place=place,
    )


def _run(family: Family, groups: dict[str, Any], method: str, ratio: float, file: str) -> RunKey | None:
    reader = names.READERS[_reader(file, groups)]
    if method in names.KV_METHODS:
        kv, length = names.KV_METHODS[method]
        return RunKey(reader, "chunk_sweep" if length is not None else "kv", kv, length)
    if names.selector(method) is None:
        return None
    return RunKey(reader, "budgets" if family.role == "main" and ratio in BUDGET_RATIOS else family.role)


def _reader(file: str, groups: dict[str, Any]) -> str:
    named = groups.get("reader")
    if named in names.READERS:
        return str(named)
    return "mistral" if "/mistral" in file else "llama"


def _config(method: str) -> str:
    """The method whose context was read: cache methods read the full one."""
    mapped = names.selector(method)
    return mapped[1] if mapped else FULL_CONTEXT


def _text(row: Row) -> str | None:
    text = row.get("reader_output_text")
    return text if isinstance(text, str) else None


def _rebuilt(row: Row) -> str:
    """An answer that parses to the stored value and flag; "" for a row whose reader failed."""
    if row.get("err") == 1:
        return ""
    return rebuilt_answer(row.get("pred_value"), bool(row.get("abstain")))


def rebuilt_answer(value: Any, abstain: bool) -> str:
    """The object with a stored value and flag; braces inside a text are escaped, so every parser finds the object."""
    shown = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        shown = shown.replace("{", "\\u007b").replace("}", "\\u007d")
    return f'{{"value": {shown}, "abstain": {json.dumps(abstain)}}}'


def _error(row: Row, raw: bool) -> str | None:
    error = row.get("error")
    if isinstance(error, str) and error:
        return error
    return "reader error" if not raw and row.get("err") == 1 else None


def provenance_of(row: Row) -> dict[str, Any]:
    """The columns of a `runs` row that an answer states."""
    model = row.get("model")
    if not isinstance(model, str) or not model:
        return {}
    name, _, revision = model.partition("@")
    found: dict[str, Any] = {"model_id": name, "model_revision": revision or None}
    config = object_of(row, "reader_config")
    for column, kind in (("max_new_tokens", int), ("max_input_tokens", int), ("dtype", str)):
        if type(config.get(column)) is kind:
            found[column] = config[column]
    attention = config.get("attn_impl", config.get("attn_implementation"))
    return found | ({"attention": attention} if isinstance(attention, str) else {})
