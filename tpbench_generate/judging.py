"""Judging answers with a model: pairs in, judgments out, by way of an ordinary run whose inputs are the pairs.

So a judge is resumed, shared out and retried as every run is, its raw replies are kept, and equal pairs are asked
once. `judgments.parquet` beside them is what `tpbench-data freeze --judgments` takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tpbench_data.canonical import prompt_hash
from tpbench_data.errors import BadInput
from tpbench_data.files import write_parquet
from tpbench_data.judgment_files import JUDGMENTS_FILE
from tpbench_data.judgments import GOAL_QUESTION, pair_id
from tpbench_data.release.limits import MAX_FILE_BYTES
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import JUDGMENTS
from tpbench_data.release.strict_json import parse_strict
from tpbench_data.run_folder import read_run
from tpbench_generate.answering import encoder_of
from tpbench_generate.batch_loop import Progress
from tpbench_generate.engine import retry_errors, run_plan, run_row
from tpbench_generate.judge_prompts import ANSWER, GOAL, JudgePrompt, Pair, messages_for, read_verdict
from tpbench_generate.plan import Batching, PlannedInput, make_plan
from tpbench_generate.readers.base import Reader

_PROBE = "initial_goal"


@dataclass(frozen=True)
class JudgeSummary:
    """What a judge came to.

    Attributes:
        pairs: Pairs to judge.
        prompts: Distinct ones.
        labels: Label -> pairs.
        failed: Judgment id -> why there is no verdict.
        agreed, rated: Pairs with a human label, and those of them on which the judge agrees; undecided is wrong.
        written: Whether judgments.parquet was written.
    """

    run_id: str
    folder: str
    pairs: int
    prompts: int
    labels: dict[str, int]
    failed: dict[str, str]
    agreed: int
    rated: int
    written: bool


def goal_pairs(release: Release, scores: Path) -> list[Pair]:
    """The distinct (reference, answer) pairs of P1, from a file of `tpbench-score score --out`.

    An input without an answer needs no judgment.

    Raises:
        BadInput: A file without the columns, or an input that the release lacks.
    """
    references = dict(
        zip(
            *(release.table(_PROBE)[name].to_pylist() for name in ("input_id", "reference_goal")),
            strict=True,
        )
    )
    pairs: dict[str, Pair] = {}
    for number, row in enumerate(_rows(scores), start=1):
        if not {"input_id", "probe", "answer"} <= set(row):
            raise BadInput(
                "has no input_id, probe and answer", file=scores, row=number, remedy="Give a file of `score --out`"
            )
        if row["probe"] != _PROBE or not row["answer"]:
            continue
        if row["input_id"] not in references:
            raise BadInput(f"{row['input_id']!r} is not in this release", file=scores, row=number, field="input_id")
        reference, answer = references[row["input_id"]], row["answer"]
        if reference is None or not isinstance(answer, str):
            raise BadInput("reference and answer must be texts", file=scores, row=number)
        name = pair_id(reference, answer)
        pairs[name] = Pair(name, reference, answer, GOAL_QUESTION)
    if not pairs:
        raise BadInput(f"holds no answer to {_PROBE}", file=scores)
    return [pairs[name] for name in sorted(pairs)]


def listed_pairs(file: Path) -> list[Pair]:
    """Pairs of a file in the style of Answer Equivalence, JSON Lines or Parquet.

    Columns: ``reference``, ``answer`` or ``candidate``, ``question``; optional ``id``, ``passage`` or ``context``, and
    human ratings as ``n_ratings`` and ``n_positive``, or one ``label`` (true, false, or null for a tie).

    Raises:
        BadInput: A column is missing or of the wrong type, or an id stands twice.
    """
    pairs: dict[str, Pair] = {}
    for number, row in enumerate(_rows(file), start=1):
        texts = {
            "reference": row.get("reference"),
            "answer": row.get("answer", row.get("candidate")),
            "question": row.get("question"),
        }
        for name, text in texts.items():
            if not isinstance(text, str):
                raise BadInput("is missing or not a text", file=file, row=number, field=name)
        passage = row.get("passage", row.get("context"))
        name = row.get("id") or pair_id(str(texts["reference"]), str(texts["answer"]))
        if not isinstance(name, str) or not (passage is None or isinstance(passage, str)):
            raise BadInput("id and passage must be texts", file=file, row=number)
        if name in pairs:
            raise BadInput(f"the id {name!r} stands twice", file=file, row=number, field="id")
        pairs[name] = Pair(name, **texts, passage=passage, human=_human(row, file, number))  # type: ignore[arg-type]
    if not pairs:
        raise BadInput("holds no pair", file=file)
    return list(pairs.values())


def judge(
    pairs: Sequence[Pair],
    reader: Reader,
    out: Path,
    *,
    batch_size: int,
    release_digest: str | None = None,
    again: bool = False,
    failed_uncertain: bool = False,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    warn: Callable[[str], None] = lambda text: None,
) -> JudgeSummary:
    """Judges pairs and leaves a run folder with ``judgments.parquet`` beside the raw replies.

    Args:
        pairs: What to judge.
        reader: The judge.
        out: The folder; new, or holding this very judging, which then goes on.
        batch_size: Most pairs saved together.
        release_digest: Of the release that the answers are about.
        again: Ask again where the last call ended in an error.
        failed_uncertain: Store pairs without a valid verdict as "uncertain" with the failure as reason; otherwise
            nothing is stored as long as there are such pairs.
        on_progress, warn: As for `run_plan`.

    Raises:
        BadInput: As `run_plan`.
    """
    asked = {pair.id: _prompt_of(pair) for pair in pairs}
    inputs = [
        PlannedInput(pair.id, _PROBE, "judge", None, messages_for(pair, asked[pair.id]), asked[pair.id].name)
        for pair in pairs
    ]
    batching = Batching(batch_size)
    plan = make_plan(inputs, encoder_of(reader), batching)
    names = ", ".join(sorted({prompt.name for prompt in asked.values()}))
    # The prompt's name goes into the run id: another wording is another judge.
    reader.settings = replace(reader.settings, decoding=f"{reader.settings.decoding}; prompt {names}")
    row: Mapping[str, Any] = run_row(
        plan, reader, role="judge", batch_plan=str(batching), release_digest=release_digest or ""
    )
    row = {**row, "release_digest": release_digest}
    carry_out = retry_errors if again else run_plan
    carry_out(plan, reader, row, out, on_progress=on_progress, warn=warn)
    return _finish(pairs, asked, out, failed_uncertain=failed_uncertain)


def _finish(
    pairs: Sequence[Pair], asked: Mapping[str, JudgePrompt], out: Path, *, failed_uncertain: bool
) -> JudgeSummary:
    run = read_run(out)
    rows, failed = [], {}
    for pair, output in zip(pairs, run.outputs.to_pylist(), strict=True):
        try:
            if output["error"] is not None:
                raise ValueError(output["error"])
            verdict = read_verdict(output["text"])
            label, reason = verdict.label, verdict.reason
        except ValueError as problem:
            failed[pair.id] = str(problem).splitlines()[0]
            label, reason = "uncertain", f"no valid verdict: {failed[pair.id]}"
        rows.append(
            {
                "judgment_id": pair.id,
                "run_id": run.run["run_id"],
                "reference": pair.reference,
                "answer": pair.answer,
                "label": label,
                "reason": reason,
                "prompt_hash": prompt_hash(messages_for(pair, asked[pair.id])),
            }
        )
    written = failed_uncertain or not failed
    if written:
        write_parquet(out / JUDGMENTS_FILE, pa.Table.from_pylist(rows, schema=JUDGMENTS))
    kept = [row["label"] for row in rows if written or row["judgment_id"] not in failed]
    rated = [(pair, row["label"]) for pair, row in zip(pairs, rows, strict=True) if pair.human is not None]
    return JudgeSummary(
        run_id=run.run["run_id"],
        folder=str(out),
        pairs=len(pairs),
        prompts=len(set(run.plan["prompt_hash"].to_pylist())),
        labels={label: kept.count(label) for label in sorted(set(kept))},
        failed=failed,
        agreed=sum(label == ("equivalent" if pair.human else "not_equivalent") for pair, label in rated),
        rated=len(rated),
        written=written,
    )


def _prompt_of(pair: Pair) -> JudgePrompt:
    return GOAL if pair.question == GOAL_QUESTION and pair.passage is None else ANSWER


def _human(row: Mapping[str, Any], file: Path, number: int) -> bool | None:
    ratings, positive, label = row.get("n_ratings"), row.get("n_positive"), row.get("label")
    if ratings is None and positive is None:
        if label is not None and not isinstance(label, bool):
            raise BadInput("must be true, false or null", file=file, row=number, field="label")
        return label
    if type(ratings) is not int or type(positive) is not int or not 0 <= positive <= ratings:
        raise BadInput("must be counts", file=file, row=number, field="n_ratings")
    return None if 2 * positive == ratings else 2 * positive > ratings


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    if not file.is_file():
        raise BadInput("no such file", file=file)
    if file.stat().st_size > MAX_FILE_BYTES:
        raise BadInput(f"larger than {MAX_FILE_BYTES} bytes", file=file)
    if file.suffix == ".parquet":
        try:
            yield from pq.read_table(file).to_pylist()
        except pa.ArrowException as problem:
            raise BadInput(f"not a Parquet file: {str(problem).splitlines()[0]}", file=file) from None
        return
    # Only the byte 0x0A ends a line: U+2028 and its kin may stand inside an answer.
    for number, line in enumerate(file.read_bytes().split(b"\n"), start=1):
        if line.strip():
            row = parse_strict(line, f"{file}, row {number}")
            if not isinstance(row, dict):
                raise BadInput("is not an object", file=file, row=number)
            yield row
