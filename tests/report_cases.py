"""Releases with outputs for tests of the report: one with content for every figure, one that means harm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, run_command
from simple_reader import write_simple_run
from small_release import probe_row, write_small_release, write_small_run

from tpbench_data.inputs import input_id
from tpbench_data.release.reader import Release

SOURCE = ROOT / "releases" / "sources" / "tpbench_en.jsonl"

BREAKERS = (
    "<script>document.title='broken'; window.broken=1</script>",
    "<img src=x onerror=\"document.title='broken'; window.broken=1\">",
    "</script><script>window.broken=1</script>",
    "<!-- <script>",
    '" onmouseover="window.broken=1" x="',
    "'><svg onload=window.broken=1>",
    "javascript:window.broken=1",
    "{{7*7}}${7*7}",
    "&lt;b&gt; &amp; \u202eright to left\u202c \u2028 \x00 \x1b[31m",
)
"""Texts that would do something if a page took them for more than text."""
HARM = " ".join(BREAKERS)


def report(*arguments: object, **options: Any) -> Path:
    """Runs `tpbench-score report` and returns the page; the last argument is the file to write."""
    *before, out = arguments
    result = run_command("tpbench-score", "report", *before, "--out", out, **options)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == str(out)
    return Path(str(out))


@pytest.fixture(scope="session")
def rich_case(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A release of our own dialogues with all selectors and deletions, and a run of the simple reader."""
    place = tmp_path_factory.mktemp("rich")
    result = run_command(
        "tpbench-data", "build", "--corpus", f"tpbench_en={SOURCE}", "--methods", "selectors,deletions",
        "--out", place / "tpbench",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    run = write_simple_run(Release.open(place / "tpbench"), place / "run")
    return place / "tpbench", run


@pytest.fixture(scope="session")
def rich_page(rich_case: tuple[Path, Path]) -> Path:
    """The report of `rich_case`."""
    release, run = rich_case
    return report(release, "--outputs", run, run.parent / "report.html")


def hostile_inputs() -> list[dict[str, Any]]:
    """Inputs of all probes whose every free text means harm."""
    rows = []
    for probe in ("initial_goal", "current_value", "joint_recovery"):
        for method in ("full_context", f"mine{HARM}", "rewriter"):
            changes: dict[str, Any] = {
                "dialogue_id": f"d0{HARM}",
                "example_id": f"e{HARM}",
                "corpus": "sgd",
                "method": method,
                "method_config": method,
                "template": HARM,
                "kept_turns": None if method == "rewriter" else [0, 1],
                "context": f"[T0] USER: {HARM}\n[T1] SYSTEM: {HARM}",
                "n_turns": 3,
                "update_turn": 1,
                "answer_turns": [1],
                "transition_type": "replace_value",
            }
            if probe != "initial_goal":
                changes |= {
                    "slot": f"slot{HARM}",
                    "slot_label": f"slot{HARM}",
                    "old_value": f"old {HARM}",
                    "reference_value": f"new {HARM}",
                    "value_alternatives": [f"new {HARM}", f"other {HARM}"],
                }
            if probe != "current_value":
                changes["reference_goal"] = f"a table {HARM}"
            row = probe_row(probe, **changes)
            keys = ("corpus", "example_id", "method_config", "ratio", "selector_seed", "protocol")
            row["input_id"] = input_id(probe=probe, **{key: row[key] for key in keys})
            rows.append(row)
    return rows


def hostile_case(place: Path) -> tuple[Path, Path]:
    """A release and a run folder in which dialogues, values, methods, reader and answers mean harm."""
    rows = hostile_inputs()
    probes = ("initial_goal", "current_value", "joint_recovery")
    by_probe: dict[str, list[dict[str, Any]]] = {probe: rows[i * 3 : i * 3 + 3] for i, probe in enumerate(probes)}
    dialogue = {
        "dialogue_id": f"d0{HARM}",
        "corpus": "sgd",
        "language": "en",
        "n_turns": 3,
        "speakers": ["user", "system", "user"],
        "texts": [HARM] * 3,
        "states": ["null"] * 3,
    }
    write_small_release(place / "release", {**by_probe, "dialogues": [dialogue]})
    answers: dict[str, Any] = {row["input_id"]: f'{HARM} {{"value": "{HARM[:20]}"}}' for row in rows}
    answers[rows[0]["input_id"]] = RuntimeError(f"out of memory {HARM}")
    answers[rows[4]["input_id"]] = '{"value": "a table <b>bold</b>; slot: new", "<i>": "<u>", "abstain": false}'
    run = write_small_run(place / "run", rows, answers, f"tiny-{0:08}", reader=f"reader{HARM}", model_id=HARM)
    return place / "release", run
