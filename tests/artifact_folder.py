"""Writes folders in the layout of the published artifact, from a release of ours or from single rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tpbench_data.artifact_import import names
from tpbench_data.judgments import pair_id
from tpbench_data.release.reader import Release
from tpbench_score.parsing import extract_json, parse_reader_text, read_string_value, read_text_value

Row = dict[str, Any]
PROBE_TYPES = {probe: name for name, probe in names.PROBES.items()}
METHODS = {ours: theirs for theirs, ours in names.SELECTORS.items()} | {"random": "random_seed42"}
SHORT = {"sgd": "sgd", "multiwoz": "mw"}
FILE_TAGS = {"initial_goal": "p1_n200", "current_value": "p3_n200", "joint_recovery": "n200_late_intent"}


def write_lines(folder: Path, file: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """One object a line, as the artifact writes them: non-ASCII text unescaped."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_bytes(text.encode("utf-8"))


def write_hashes(folder: Path) -> None:
    """The list ``SHA256SUMS`` over everything there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}" for path in files
    ]
    (folder / "SHA256SUMS").write_bytes(("\n".join(lines) + "\n").encode())


def write_artifact(folder: Path, release: Release, answer: Callable[[str, Row], str]) -> None:
    """The artifact that would have held the inputs of a release and the answers of two readers.

    Args:
        folder: Where to write it.
        release: A release with protocol ``paper``.
        answer: (reader, input row) -> text of the answer, a JSON object.
    """
    for probe in release.probes:
        rows = [row for row in release.table(probe).to_pylist() if is_published(probe, row)]
        cells = sorted({(row["corpus"], seed, row["ratio"]) for row in rows for seed in row["sample_seeds"]})
        for corpus, seed, ratio in cells:
            mine = [
                row for row in rows if (row["corpus"], row["ratio"]) == (corpus, ratio) and seed in row["sample_seeds"]
            ]
            percent = f"{round(100 * ratio):02d}"
            name = f"probes_{corpus}_s{seed}_r{percent}_{FILE_TAGS[probe]}.jsonl"
            write_lines(folder, f"data/probes/{name}", [probe_row(probe, row, seed) for row in mine])
            for reader in ("llama", "mistral"):
                texts = [(row, answer(reader, row)) for row in mine]
                _write_answers(folder, probe, reader, SHORT[corpus], corpus, seed, percent, texts)
    write_hashes(folder)


def is_published(probe: str, row: Row) -> bool:
    """Whether the artifact has such inputs: P1 and P3 at ratio 0.30 only."""
    return row["protocol"] == "paper" and (probe == "current_value" or row["ratio"] == 0.3)


def probe_row(probe: str, row: Row, seed: int) -> Row:
    """An input of ours as a row of a probe file."""
    system, user = (message["content"] for message in row["prompt"])
    made: Row = {
        "dialogue_id": row["example_id"],
        "dataset": row["corpus"],
        "method": METHODS[row["method"]],
        "probe_type": PROBE_TYPES[probe],
        "prompt_system": system,
        "prompt_user": user,
        "compressed_text_used": row["context"],
        "meta": {"ratio": row["ratio"], "n_turns": row["n_turns"], "k_turns": row["k_turns"]},
    }
    if probe == "initial_goal":
        return made | {"gold": row["reference_goal"], "sample_seed": seed}
    made |= {"slot": row["slot"], "slot_human": row["slot_label"], "old_value": row["old_value"]}
    if probe == "current_value":
        return made | {"gold": row["reference_value"], "new_value": row["reference_value"]}
    made["meta"]["sample_seed"] = seed
    return made | {
        "gold": f"{row['reference_goal']}; {row['slot_label']}: {row['reference_value']}",
        "gold_story_label": row["reference_goal"],
        "gold_value": row["reference_value"],
    }


def _write_answers(
    folder: Path,
    probe: str,
    reader: str,
    short: str,
    corpus: str,
    seed: int,
    percent: str,
    texts: list[tuple[Row, str]],
) -> None:
    identities = [
        {
            "dialogue_id": row["example_id"],
            "dataset": corpus,
            "method": METHODS[row["method"]],
            "probe_type": PROBE_TYPES[probe],
        }
        for row, _ in texts
    ]
    raw = [
        identity
        | {"reader_output_text": text, "error": None, "model": f"org/{reader}@0123", "meta": {"sample_seed": seed}}
        for identity, (_, text) in zip(identities, texts, strict=True)
    ]
    if probe == "joint_recovery":
        write_lines(folder, f"results/diagnostics/update_evidence/p3_{corpus}_s{seed}_reader_{reader}.jsonl", raw)
    elif probe == "current_value" and reader == "mistral":
        write_lines(folder, f"results/diagnostics/mistral_128/{short}_r{percent}_s{seed}_p3_reader_all.jsonl", raw)
    elif probe == "current_value":
        scored = [identity | scored_value(text) for identity, (_, text) in zip(identities, texts, strict=True)]
        write_lines(folder, f"results/main/{short}_r{percent}_s{seed}_p3_scored.jsonl", scored)
    elif reader == "llama":
        scored = [identity | scored_goal(text) for identity, (_, text) in zip(identities, texts, strict=True)]
        write_lines(folder, f"results/p1_saved/{short}_r{percent}_s{seed}_scored.jsonl", scored)


def scored_value(text: str) -> Row:
    """What a scored P2 row stores of an answer."""
    extracted = read_string_value(extract_json(text))
    return {"pred_value": extracted.value, "abstain": int(extracted.abstained), "err": 0}


def scored_goal(text: str) -> Row:
    """What a scored P1 row stores of an answer."""
    extracted = read_text_value(parse_reader_text(text))
    return {"pred_value": extracted.value, "abstain": extracted.abstained}


def write_judgments(folder: Path, pairs: Iterable[tuple[str, str, bool | None]]) -> None:
    """Judged pairs of reference and answer."""
    found = [(pair_id(reference, answer), reference, answer, label) for reference, answer, label in pairs]
    inputs = [{"id": name, "question": "?", "reference": r, "candidate": a} for name, r, a, _ in found]
    write_lines(folder, "data/semantic_evaluation/p1_inputs.jsonl", inputs)
    labels = [{"id": name, "equivalent": label, "reason": "because"} for name, _, _, label in reversed(found)]
    write_lines(folder, "results/semantic_evaluation/p1/judgments.jsonl", labels)
