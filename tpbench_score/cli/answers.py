"""``tpbench-score answers``: score answers in a plain file, without a release."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from tpbench_data.errors import BadInput
from tpbench_score.answer import score_answer
from tpbench_score.json_lines import json_line, read_json_lines
from tpbench_score.records import ANSWER_FIELDS
from tpbench_score.rules import DEFAULT_RULE, RULES

_STDIN = "-"


@click.command("answers")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--out", type=click.Path(path_type=Path), help="Write here instead of to the standard output.")
@click.option("--scorer", type=click.Choice(list(RULES)), default=DEFAULT_RULE, show_default=True, help="Scorer.")
def command(file: Path, out: Path | None, scorer: str) -> None:
    """Score the answers in FILE, JSON Lines; "-" is the standard input.

    A line holds id, probe (initial_goal, current_value or joint_recovery), corpus, text (the answer as generated,
    null for none) and the references that the probe needs, reference_goal and reference_value; value_alternatives
    may list further values that count under tpbench-1. Further keys are ignored. Every line gives one line of
    scores, in the same order. A line that cannot be scored is an error with its row, and then nothing is written.

    \b
    Example:
      tpbench-score answers answers.jsonl --out scores.jsonl
    with lines such as
      {"id": "1", "probe": "current_value", "corpus": "sgd", "reference_value": "12 pm",
       "text": "{\\"value\\": \\"12:00\\", \\"abstain\\": false}"}
    """
    from tpbench_data.files import write_bytes

    if out is not None and out.exists():
        raise BadInput("already exists", file=out, remedy="Choose another --out, or move the old file away")
    if str(file) == _STDIN:
        data = b"".join(_scored(sys.stdin.buffer, "standard input", scorer))
    else:
        with file.open("rb") as lines:
            data = b"".join(_scored(lines, file, scorer))
    if out is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_bytes(out, data)


def _scored(lines: Iterable[bytes], file: str | Path, rule: str) -> Iterator[bytes]:
    seen: dict[str | int, int] = {}
    for row, record in read_json_lines(lines, file):
        name = _key(record, file, row)
        if name in seen:
            raise BadInput(f"{name!r} is the id of row {seen[name]} as well", file=file, row=row, field="id")
        seen[name] = row
        probe = _text(record, "probe", file, row)
        if "text" not in record:
            raise BadInput("is missing", file=file, row=row, field="text", remedy="Give null for no answer")
        try:
            result = score_answer(
                probe,
                _text_or_none(record, "text", file, row),
                corpus=_text(record, "corpus", file, row),
                reference_goal=_text_or_none(record, "reference_goal", file, row),
                reference_value=_text_or_none(record, "reference_value", file, row),
                value_alternatives=_texts(record, "value_alternatives", file, row),
                rule=rule,
            )
        except BadInput as problem:
            if problem.row is not None:
                raise
            raise BadInput(problem.problem, file=file, row=row, field=problem.field, remedy=problem.remedy) from None
        scores = {field: getattr(result, field) for field in ANSWER_FIELDS}
        yield json_line({"id": name, "probe": probe, "scorer": rule, **scores})


def _key(record: dict[str, Any], file: str | Path, row: int) -> str | int:
    name = record.get("id")
    if isinstance(name, bool) or not isinstance(name, str | int):
        problem = "is missing" if name is None else "is neither text nor a whole number"
        raise BadInput(problem, file=file, row=row, field="id")
    return name


def _text(record: dict[str, Any], field: str, file: str | Path, row: int) -> str:
    value = _text_or_none(record, field, file, row)
    if value is None:
        raise BadInput("is missing", file=file, row=row, field=field)
    return value


def _text_or_none(record: dict[str, Any], field: str, file: str | Path, row: int) -> str | None:
    value = record.get(field)
    if value is not None and not isinstance(value, str):
        raise BadInput(f"is {type(value).__name__}, not text", file=file, row=row, field=field)
    return value


def _texts(record: dict[str, Any], field: str, file: str | Path, row: int) -> list[str]:
    values = record.get(field)
    if values is None:
        return []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise BadInput("is not a list of texts", file=file, row=row, field=field)
    return values
