"""``tpbench-generate judge``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tpbench_data.console import CHECK_FAILED, progress
from tpbench_data.errors import BadInput
from tpbench_generate.cli.options import release_option
from tpbench_generate.cli.showing import line_ender, note, resumable, shown

if TYPE_CHECKING:
    from tpbench_generate.judging import JudgeSummary

DEFAULT_MAX_NEW_TOKENS = 512


@click.command("judge")
@release_option
@click.option(
    "--scores",
    type=click.Path(path_type=Path),
    help="Judge the P1 answers of this file of `tpbench-score score --out` (.parquet or .jsonl).",
)
@click.option(
    "--pairs",
    type=click.Path(path_type=Path),
    help="Judge the pairs of this file instead: reference, answer or candidate, question, and if you like id, "
    "passage, and human ratings (n_ratings, n_positive, or label).",
)
@click.option("--reader", required=True, help="The judge; see `tpbench-generate readers`.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder to write, or to go on with.")
@click.option(
    "--max-new-tokens",
    type=click.IntRange(min=1),
    help=f"Most tokens of a verdict (default: the reader's, {DEFAULT_MAX_NEW_TOKENS}).",
)
@click.option("--batch-size", type=click.IntRange(min=1), help="Pairs saved together (default: the reader's).")
@click.option("--retry-errors", is_flag=True, help="Ask again where the last call ended in an error.")
@click.option(
    "--failed-uncertain",
    is_flag=True,
    help="Store pairs without a valid verdict as uncertain, with the failure as reason.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(
    release: Path | None,
    scores: Path | None,
    pairs: Path | None,
    reader: str,
    out: Path,
    max_new_tokens: int | None,
    batch_size: int | None,
    retry_errors: bool,
    failed_uncertain: bool,
    as_json: bool,
) -> None:
    """Let a model judge whether answers mean the same as their references.

    Every distinct pair is asked once. An interrupted judge goes on when the same command is given again. A reply that
    is not exactly one JSON object with a label and a reason is no verdict: then nothing is stored for
    `tpbench-data freeze --judgments` and the exit is 1, unless --failed-uncertain is given.

    \b
    Examples:
      tpbench-score score R --outputs runs/a --out scores.parquet
      tpbench-generate judge --release R --scores scores.parquet --reader openai:MODEL --out judged
      tpbench-generate judge --pairs ae_dev.jsonl --reader judge.yaml --out judged-ae
    """
    from tpbench_data.embedded import embedded_release
    from tpbench_data.release.reader import Release
    from tpbench_generate.judging import goal_pairs, judge, listed_pairs
    from tpbench_generate.readers import find_reader, open_reader

    if (scores is None) == (pairs is None):
        raise BadInput("give one of --scores and --pairs", field="--scores")
    digest = None
    if scores is not None:
        opened = Release.open(release or embedded_release())
        to_judge, digest = goal_pairs(opened, scores), opened.digest
    else:
        assert pairs is not None
        to_judge = listed_pairs(pairs)
    show, done = progress("tpbench-generate"), line_ender()
    spec = find_reader(reader)
    limit = max_new_tokens or (None if "max_new_tokens" in spec.defaults else DEFAULT_MAX_NEW_TOKENS)
    model = open_reader(spec, say=show, max_new_tokens=limit)
    with resumable(out, done):
        summary = judge(
            to_judge,
            model,
            out,
            batch_size=batch_size or spec.batch_size,
            release_digest=digest,
            again=retry_errors,
            failed_uncertain=failed_uncertain,
            on_progress=shown(show),
            warn=note,
        )
    click.echo(json.dumps(asdict(summary), ensure_ascii=False) if as_json else _told(summary))
    if not summary.written:
        raise click.exceptions.Exit(CHECK_FAILED)


def _told(summary: JudgeSummary) -> str:
    counts = ", ".join(f"{count} {label}" for label, count in summary.labels.items()) or "no verdict"
    lines = [
        f"judge {summary.run_id} in {summary.folder}: {summary.pairs} pairs ({summary.prompts} distinct): {counts}"
    ]
    if summary.failed:
        name, why = next(iter(summary.failed.items()))
        lines.append(f"{len(summary.failed)} without a valid verdict, such as {name}: {why}")
    if summary.rated:
        lines.append(
            f"agrees with people on {summary.agreed} of {summary.rated} pairs"
            f" ({summary.agreed / summary.rated:.1%}; an undecided judge is counted as wrong)"
        )
    if summary.written:
        freeze = f"tpbench-data freeze RELEASE --judgments {summary.folder}"
        lines.append(f"next: {freeze} --release-version X.Y.Z --out NEW")
    else:
        lines.append("nothing was stored as judgments: use --retry-errors, or --failed-uncertain")
    return "\n".join(lines)
