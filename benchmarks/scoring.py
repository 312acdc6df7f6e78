"""Speed of scoring and of the tables, on outputs that this script writes from our own synthetic dialogues.

    python benchmarks/scoring.py [--out benchmarks]

1. 200,000 P2 outputs over 5,000 contexts: `tpbench_score.score` against a plain scorer that takes one row at a time.
   Both give the same verdicts, which is checked.
2. `tpbench-score tables --ci` (10,000 resamples) over about 76,000 outputs, as many as were published, in all the
   paper's roles (`scoring_release.py`), so that every table and figure is made: processor seconds and memory. Beside
   it `tpbench-score report`, which has no limit.
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
from pathlib import Path
from typing import Any

from scoring_release import make_release, published_size, rows_of, run_folder
from table import markdown, save

from tpbench_score import score
from tpbench_score.tables.registry import FIGURES, TABLES

ROOT = Path(__file__).resolve().parent.parent
LEAST_TIMES, MOST_SECONDS, MOST_MEGABYTES, MOST_HELP = 25, 10.0, 600.0, 0.3
CONTEXTS, READERS = 5_000, 40

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
            Path(name), {"en": 1, "zh": 1}, ["current_value"], 40,
            ratios=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), protocols=("paper", "matched"),
        )  # fmt: skip
        distinct = {row["context"]: row for row in rows_of(release.table("current_value"), "current_value")}
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


def child(*arguments: object) -> dict[str, float]:
    """Processor seconds and peak megabytes of `tpbench-score` with these arguments."""
    command = [sys.executable, "-c", _CHILD, str(Path(__file__).parent), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        raise SystemExit(done.stderr)
    seconds, megabytes = map(float, done.stderr.split()[-2:])
    return {"seconds": seconds, "megabytes": megabytes}


def published_step() -> dict[str, dict[str, float]]:
    """Step 2: what all tables, and the report with its own second scoring, cost."""
    with tempfile.TemporaryDirectory() as name:
        made = published_size(Path(name), per_type=110, n=300)
        given = [made.release, *(part for run in made.runs for part in ("--outputs", run))]
        tables = child("tables", *given, "--ci", "--format", "json", "--out", Path(name) / "tables")
        files = [json.loads(file.read_text(encoding="utf-8")) for file in (Path(name) / "tables").iterdir()]
        numbers = {(table["kind"], table["number"]) for file in files for table in file["tables"]}
        lacking = {("table", n) for n in TABLES} | {("figure", n) for n in FIGURES}
        if lacking - numbers:
            raise SystemExit(f"not made: {sorted(lacking - numbers)}")
        tables |= {"outputs": made.outputs, "tables": len(files)}
        return {"tables": tables, "report": child("report", *given, "--out", Path(name) / "report.html")}


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
    scoring, published, shown = scoring_step(), published_step(), help_step()
    tables, report = published["tables"], published["report"]
    times = scoring["plain"] / scoring["ours"]
    limits = f"{MOST_SECONDS:.0f} s, {MOST_MEGABYTES:.0f} MB"
    every = f"`tables --ci`, {tables['outputs']:,} outputs, all tables and figures ({tables['tables']} files)"
    rows = [
        (f"score {scoring['outputs']:,} P2 outputs over {scoring['contexts']:,} contexts, row by row",
         f"{scoring['plain']:.2f}", "1.0", "–", "–"),
        ("the same with `tpbench_score.score`", f"{scoring['ours']:.2f}", f"{times:.1f}", "–", f"{LEAST_TIMES} times"),
        (every, f"{tables['seconds']:.2f}", "–", f"{tables['megabytes']:.0f}", limits),
        ("`report` of them, both scorers", f"{report['seconds']:.2f}", "–", f"{report['megabytes']:.0f}", "–"),
        ("`--help` (wall seconds)", f"{shown['seconds']:.2f}", "–", "–", f"{MOST_HELP} s"),
    ]  # fmt: skip
    text = "# Speed of scoring\n\nProcessor seconds of one process; the rows of a pair give equal verdicts.\n\n"
    text += markdown(["step", "seconds", "times the plain scorer", "peak MB", "limit"], rows)
    print(text)
    if chosen.out is not None:
        save(chosen.out, "scoring", text, {"scoring": scoring, **published, "help": shown})
    good = times >= LEAST_TIMES and tables["seconds"] < MOST_SECONDS and tables["megabytes"] < MOST_MEGABYTES
    if not good or shown["seconds"] >= MOST_HELP:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
