"""``tpbench-score explain``: why an answer is right or wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from tpbench_score.rules import RULES

_FACTS = (
    ("slot", "slot"),
    ("old_value", "old value"),
    ("reference_goal", "reference goal"),
    ("reference_value", "reference value"),
    ("value_alternatives", "alternatives"),
)
_OWN_LINES = {"token_f1", "parsed", "goal_ok", "value_strict", "value_loose", "goal_segment", "value_segment"}
_OWN_LINES |= {"whole_strict", "whole_loose", "superseded", "retained"}


@click.command("explain")
@click.argument("name", metavar="ID")
@click.argument("release", type=click.Path(path_type=Path), required=False)
@click.option(
    "--outputs",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A run folder; may be repeated. Default: the runs stored in the release.",
)
@click.option("--scorer", type=click.Choice(list(RULES)), help="Only this scorer. Default: all.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(name: str, release: Path | None, folders: tuple[Path, ...], scorer: str | None, as_json: bool) -> None:
    """Explain the answers to the input ID, or to every input of the example ID.

    Prints what was asked, the turns with a mark on kept ones, and for every run its raw answer, what each scorer took
    from it, the forms that were compared, the rule and the verdict. RELEASE: default the one that ships with TPBench.

    \b
    Example:
      tpbench-score explain "sgd|sgd_1_00007__qa_00|current_value|recency|0.3||paper" tpbench --outputs runs/x
    """
    from tpbench_data.embedded import embedded_release
    from tpbench_data.release.reader import Release
    from tpbench_score.explain import explain
    from tpbench_score.json_lines import json_text

    found = explain(
        Release.open(release or embedded_release()),
        name,
        list(folders) or None,
        scorers=[scorer] if scorer else list(RULES),
    )
    if as_json:
        click.echo(json.dumps(json.loads(json_text(found))))
        return
    text = "\n\n".join("\n".join(_lines(one)) for one in found)
    # As bytes: an answer may hold characters that the terminal's encoding lacks.
    click.echo(text.encode("utf-8", "replace"))


def _lines(found: Mapping[str, Any]) -> list[str]:
    about = found["input"]
    lines = [about["input_id"]]
    lines += [f"  {label}: {_shown(about[key])}" for key, label in _FACTS if about[key] not in (None, [])]
    lines.append(f"  question: {_shown((found['question'] or 'not known').splitlines()[0])}")
    lines += _turns(found)
    if not found["answers"]:
        lines.append("  no run answers this input")
    for answer in found["answers"]:
        cell = answer["method"] if answer["ratio"] is None else f"{answer['method']} at {answer['ratio']:g}"
        lines.append(f"run {answer['run_id']} ({answer['role']}, {cell}): {answer['status']}")
        if answer["error"] is not None:
            lines.append(f"  error: {_shown(answer['error'])}")
        lines.append(f"  raw answer: {_shown(answer['text'])}")
        for verdict in answer["verdicts"]:
            lines += _verdict(verdict)
    return lines


def _turns(found: Mapping[str, Any]) -> list[str]:
    if found["turns"] is None:
        return [f"  context: {_shown(found['context'])}"]
    lines = ["  turns (+ kept, - dropped, ? not known; U update turn, A answer-bearing turn):"]
    for turn in found["turns"]:
        mark = "?" if turn["kept"] is None else "+" if turn["kept"] else "-"
        marks = mark + ("U" if turn["update"] else " ") + ("A" if turn["answer"] else " ")
        lines.append(f"    {marks} T{turn['turn']} {turn['speaker']}: {turn['text']}")
    return lines


def _verdict(verdict: Mapping[str, Any]) -> list[str]:
    right = "right, strict" if verdict["strict"] else "right, loose only" if verdict["loose"] else "wrong"
    abstained = ", abstained" if verdict["abstained"] else ""
    level = f" (parse level {verdict['parse_level']})" if verdict["parse_level"] else ""
    lines = [f"  {verdict['scorer']}: {right}{abstained}. {verdict['reason']}: {verdict['meaning']}"]
    lines.append(f"    rule: {verdict['criterion']}")
    lines.append(f"    object: {_shown(verdict['object'])}{level}")
    lines.append(f"    answer: {_shown(verdict['answer'])}")
    lines += [f"    {name}: {_shown(form)}" for name, form in verdict["forms"].items()]
    others = [f"{key} {_shown(value)}" for key, value in verdict.items() if key in _OWN_LINES and value is not None]
    if others:
        lines.append(f"    {', '.join(others)}")
    return lines


def _shown(value: Any) -> str:
    from tpbench_score.json_lines import json_text

    return json_text(value)
