"""Speed of scoring and of the tables, on outputs that this script writes from our own synthetic dialogues.

    python benchmarks/scoring.py [--out benchmarks]

1. 200,000 P2 outputs over 5,000 contexts: `tpbench_score.score` against a plain scorer that takes one row at a time.
   Both give the same verdicts, which is checked.
2. `tpbench-score tables --ci` (10,000 resamples) over 76,000 outputs, about as many as were published: processor
   seconds and memory.
3. `tpbench-score --help`: wall seconds, the least of five.

The limits are 25 times the plain scorer, 10 s and 600 MB, and 0.3 s; exit 1 where one is passed.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
from table import markdown, save

from tpbench_data.build import build
from tpbench_data.build_plan import BuildPlan
from tpbench_data.canonical import prompt_hash
from tpbench_data.files import write_parquet, write_text
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import OUTPUTS, PLAN, RUNS
from tpbench_data.run_folder import RunFolder, write_run_row
from tpbench_data.synthetic.generate import plain_lines, synthesize
from tpbench_score import score

ROOT = Path(__file__).resolve().parent.parent
DELETIONS = ("drop_update", "drop_update_control", "drop_evidence", "drop_evidence_control")
LEAST_TIMES, MOST_SECONDS, MOST_MEGABYTES, MOST_HELP = 25, 10.0, 600.0, 0.3
CONTEXTS, READERS, TABLE_OUTPUTS = 5_000, 40, 76_000

# A process of its own with no import before the command's: the command chooses how memory is allocated.
_CHILD = """
import sys, time
sys.path.insert(0, sys.argv[1])
from memory import peak_megabytes
sys.argv = ["tpbench-score", *sys.argv[2:]]
from tpbench_score.cli import main
try:
    main()
finally:
    print(time.process_time(), peak_megabytes(), file=sys.stderr)
"""


def make_release(folder: Path, probes: Sequence[str], per_type: int, **options: Any) -> Release:
    """A release of synthetic dialogues in both languages."""
    corpora = {}
    for language in ("en", "zh"):
        corpora[f"tpbench_{language}"] = folder / f"tpbench_{language}.jsonl"
        write_text(corpora[f"tpbench_{language}"], plain_lines(synthesize(language, 1, per_type)))
    build(BuildPlan(corpora, probes=tuple(probes), **options), folder / "release")
    return Release.open(folder / "release")


def answer(row: dict[str, Any], reader: str) -> str:
    """What a reader might say: right, outdated, wrong, wordy, malformed, or nothing; drawn by hash."""
    draw = int.from_bytes(sha256(f"{reader}|{row['input_id']}".encode()).digest()[:4], "big") % 100
    value, old = row.get("reference_value") or "", row.get("old_value") or "nothing"
    said = {True: value, False: old}[draw % 3 > 0]
    if draw < 70:
        return json.dumps({"value": said, "support": "the user said so", "abstain": False}, ensure_ascii=False)
    if draw < 80:
        return f"The user wants {said} now."
    if draw < 90:
        return json.dumps({"value": "", "support": "", "abstain": True})
    return '{"value": "' + said


def run_folder(release: Release, reader: str, role: str, rows: Sequence[dict[str, Any]]) -> RunFolder:
    """A run that answers some inputs."""
    run_id = f"{reader}-{role}"
    run: dict[str, Any] = dict.fromkeys(RUNS.names)
    run |= {"run_id": run_id, "reader": reader, "role": role, "backend": "benchmark", "n_planned": len(rows)}
    plan = [
        {"input_id": row["input_id"], "probe": row["config"], "method": row["method"], "ratio": row["ratio"],
         "prompt_hash": row["hash"]}
        for row in rows
    ]  # fmt: skip
    given = [
        {"run_id": run_id, "input_id": row["input_id"], "method": row["method"], "ratio": row["ratio"],
         "text": answer(row, reader), "text_source": "raw", "finish_reason": "stop", "attempts": 1}
        for row in rows
    ]  # fmt: skip
    tables = (pa.Table.from_pylist(plan, schema=PLAN), pa.Table.from_pylist(given, schema=OUTPUTS))
    return RunFolder(release.path, run, *tables)


def rows_of(
    release: Release, config: str, keep: Callable[[dict[str, Any]], bool] = lambda row: True
) -> list[dict[str, Any]]:
    """The inputs of a probe, with what a run needs of them."""
    rows = [row | {"config": config} for row in release.table(config).to_pylist() if keep(row)]
    return [row | {"hash": prompt_hash(row["prompt"])} for row in rows]


def plain_normal(text: str) -> str:
    """The normal form of a text, as its rules are told (only for corpora without aliases)."""
    text = unicodedata.normalize("NFKC", text).lower().strip()
    text = re.sub(r"\b(\d{1,2})(?::(\d\d))?\s*(am|pm|a\.m\.|p\.m\.)\b", _half_day, text)
    text = re.sub(r"\b(\d{1,2}):(\d\d)\b", lambda m: f"{int(m[1]):02d}:{int(m[2]):02d}", text)
    text = re.sub(r"\b(\d{1,2})(\d\d)\b", _bare, text)
    return " ".join(re.sub(r"[^\w\s:/-]+", " ", text).split())


def _half_day(match: re.Match[str]) -> str:
    hour, minute, half = int(match[1]), int(match[2] or 0), match[3][0]
    hour += 12 if half == "p" and hour != 12 else -12 if half == "a" and hour == 12 else 0
    return f"{hour:02d}:{minute:02d}"


def _bare(match: re.Match[str]) -> str:
    hour, minute = int(match[1]), int(match[2])
    return f"{hour:02d}:{minute:02d}" if hour <= 23 and minute <= 59 else match[0]


def plain_states(text: str, value: str) -> bool:
    """Whether a text states a value, both in normal form."""
    return bool(value) and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def plain_verdict(row: dict[str, Any], text: str) -> tuple[bool, bool, bool]:
    """The baseline: strict, loose and retained of one row, with nothing remembered from another."""
    expected = plain_normal(row["reference_value"])
    retained = plain_states(plain_normal(row["context"]), expected)
    start, end = text.rfind("{"), text.rfind("}")
    try:
        record = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except ValueError:
        record = None
    value = record.get("value") if isinstance(record, dict) and not record.get("abstain") else None
    if not isinstance(value, str) or value.strip().lower() in ("", "unknown", "n/a", "none"):
        return False, False, retained
    given = plain_normal(value)
    strict = bool(expected) and given == expected
    return strict, strict or plain_states(given, expected), retained


def scoring_step() -> dict[str, float]:
    """Step 1: processor seconds of both scorers."""
    with tempfile.TemporaryDirectory() as name:
        release = make_release(
            Path(name),
            ["current_value"],
            40,
            ratios=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7),
            protocols=("paper", "matched"),
        )
        distinct = {row["context"]: row for row in rows_of(release, "current_value")}
        rows = list(distinct.values())[:CONTEXTS]
        runs = [run_folder(release, f"reader{number:02d}", "main", rows) for number in range(READERS)]
        score(release, runs[:1])  # what the first call of a process does once
        begin = time.process_time()
        scores = score(release, runs)
        ours = time.process_time() - begin
        texts = [text for run in runs for text in run.outputs["text"].to_pylist()]
        begin = time.process_time()
        plain = [plain_verdict(row, text) for row, text in zip(rows * READERS, texts, strict=True)]
        theirs = time.process_time() - begin
        order = {row["input_id"]: place for place, row in enumerate(rows)}
        columns = [scores[name].to_pylist() for name in ("run_id", "input_id", "strict", "loose", "retained")]
        for run_id, input_id, *verdict in zip(*columns, strict=True):
            reader = int(run_id.removeprefix("reader").split("-")[0])
            if tuple(verdict) != plain[reader * len(rows) + order[input_id]]:
                raise SystemExit(f"the scorers disagree about {run_id} {input_id}")
        contexts = len({row["context"] for row in rows})
        return {"outputs": scores.num_rows, "inputs": len(rows), "contexts": contexts, "ours": ours, "plain": theirs}


def tables_step() -> dict[str, float]:
    """Step 2: processor seconds and peak memory of all tables."""
    with tempfile.TemporaryDirectory() as name:
        release = make_release(
            Path(name), ["initial_goal", "current_value", "joint_recovery", "free_form"], 40,
            ratios=(0.1, 0.3, 0.5, 0.7), deletions=DELETIONS,
        )  # fmt: skip
        deleted = {"full_context", *DELETIONS}
        parts = [
            ("main", rows_of(release, config, lambda row: row["method"] not in DELETIONS))
            for config in ("initial_goal", "current_value", "joint_recovery")
        ]
        parts.append(("deletion", rows_of(release, "current_value", lambda row: row["method"] in deleted)))
        parts.append(("free_form", rows_of(release, "free_form")))
        by_role: dict[str, list[dict[str, Any]]] = {}
        for role, rows in parts:
            by_role.setdefault(role, []).extend(rows)
        folders: list[str] = []
        count = 0
        for reader in ("first", "second", "third", "fourth", "fifth", "sixth"):
            for role, rows in by_role.items():
                rows = rows[: TABLE_OUTPUTS - count]
                if not rows:
                    continue
                folder = Path(name) / f"{reader}-{role}"
                folder.mkdir()
                run = run_folder(release, reader, role, rows)
                write_run_row(folder, run.run)
                write_parquet(folder / "plan.parquet", run.plan)
                write_parquet(folder / "outputs.parquet", run.outputs)
                folders += ["--outputs", str(folder)]
                count += len(rows)
        command = ["tables", str(release.path), *folders, "--ci", "--format", "json", "--out", f"{name}/tables"]
        program = [sys.executable, "-c", _CHILD, str(Path(__file__).parent)]
        done = subprocess.run([*program, *command], capture_output=True, text=True, check=False, cwd=ROOT)
        if done.returncode:
            raise SystemExit(done.stderr)
        seconds, megabytes = map(float, done.stderr.split()[-2:])
        made = len(list((Path(name) / "tables").iterdir()))
        return {"outputs": count, "tables": made, "seconds": seconds, "megabytes": megabytes}


def help_step() -> dict[str, float]:
    """Step 3: wall seconds of the help text, the least of five."""
    program = [sys.executable, "-c", "from tpbench_score.cli import main; main()", "--help"]
    found = []
    for _ in range(5):
        begin = time.perf_counter()
        subprocess.run(program, check=True, capture_output=True, cwd=ROOT)
        found.append(time.perf_counter() - begin)
    return {"seconds": min(found)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    scoring, tables, shown = scoring_step(), tables_step(), help_step()
    times = scoring["plain"] / scoring["ours"]
    rows = [
        (f"score {scoring['outputs']:,} P2 outputs over {scoring['contexts']:,} contexts, row by row",
         f"{scoring['plain']:.2f}", "1.0", "–", "–"),
        ("the same with `tpbench_score.score`", f"{scoring['ours']:.2f}", f"{times:.1f}", "–", f"{LEAST_TIMES} times"),
        (f"`tables --ci`, {tables['outputs']:,} outputs, {tables['tables']:,} tables", f"{tables['seconds']:.2f}", "–",
         f"{tables['megabytes']:.0f}", f"{MOST_SECONDS:.0f} s, {MOST_MEGABYTES:.0f} MB"),
        ("`--help` (wall seconds)", f"{shown['seconds']:.2f}", "–", "–", f"{MOST_HELP} s"),
    ]  # fmt: skip
    text = "# Speed of scoring\n\nProcessor seconds of one process; the rows of a pair give equal verdicts.\n\n"
    text += markdown(["step", "seconds", "times the plain scorer", "peak MB", "limit"], rows)
    print(text)
    if chosen.out is not None:
        save(chosen.out, "scoring", text, {"scoring": scoring, "tables": tables, "help": shown})
    good = times >= LEAST_TIMES and tables["seconds"] < MOST_SECONDS and tables["megabytes"] < MOST_MEGABYTES
    if not good or shown["seconds"] >= MOST_HELP:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
