"""``tpbench-generate run``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tpbench_data.console import CHECK_FAILED, progress
from tpbench_data.errors import BadInput
from tpbench_data.names import ROLES
from tpbench_generate.cli.options import input_options, reader_options, split_options
from tpbench_generate.cli.showing import duration, line_ender, note, resumable, shown

if TYPE_CHECKING:
    from tpbench_generate.dry_run import Estimate
    from tpbench_generate.run_summary import RunSummary


@click.command("run")
@click.option("--out", type=click.Path(path_type=Path), help="Run folder to write, or to go on with.")
@input_options
@click.option(
    "--kv",
    help="Compress the cache of full contexts: a method of `tpbench-generate methods`, such as "
    "chunkkv(chunk_length=10), or the class of any press of kvpress.",
)
@reader_options
@click.option(
    "--share-beginnings",
    is_flag=True,
    help="Read once what the prompts of several questions about one context share (transformers readers).",
)
@click.option("--role", type=click.Choice(ROLES), help="What the run is for (default: main; kv with --kv).")
@click.option("--shard", help="Answer only share i/n of the batches (0/3, 1/3, 2/3); see `tpbench-generate merge`.")
@click.option("--retry-errors", is_flag=True, help="Answer anew what ended in an error, and nothing else.")
@click.option("--dry-run", is_flag=True, help="Only count prompts and tokens and estimate the time; write nothing.")
@click.option("--no-probe", is_flag=True, help="With --dry-run: load no model and estimate no time.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(
    out: Path | None,
    shard: str | None,
    retry_errors: bool,
    dry_run: bool,
    no_probe: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Answer the inputs of a release and save the answers.

    Filters may be repeated or given as comma lists. An interrupted run goes on when the same command is given again,
    and ends with the same files. Inputs that fail are saved with their error; if not one is answered, the exit is 1.

    \b
    Examples:
      tpbench-generate run --release R --reader smollm2-135m --probe current_value --ratio 0.3 --limit 40 --out runs/a
      tpbench-generate run --release R --reader smollm2-135m --kv snapkv --ratio 0.3 --out runs/b
      tpbench-generate run --release R --reader openai:MODEL@http://localhost:8000/v1 --out runs/c
      tpbench-generate run --release R --reader hf:MODEL --shard 0/3 --out runs/d-0
      tpbench-generate run --release R --reader hf:MODEL --dry-run
    """
    from tpbench_generate import engine
    from tpbench_generate.preparing import Request, prepare
    from tpbench_generate.shards import parse_shard

    _check_options(out, shard, retry_errors, dry_run, no_probe)
    share = None if shard is None else parse_shard(shard)
    show, done = progress("tpbench-generate"), line_ender()
    prepared = prepare(Request(**split_options(asked)), show)
    if dry_run:
        from tpbench_generate.dry_run import estimate

        if not no_probe:
            show("loading the model and timing one batch")
        found = estimate(prepared.plan, prepared.reader, probe=not no_probe)
        done()
        click.echo(json.dumps(asdict(found)) if as_json else _estimated(found))
        return
    assert out is not None  # `_check_options` has seen to it
    show("loading the model")
    plan, reader, row = prepared.plan, prepared.reader, prepared.row
    with resumable(out, done):
        if retry_errors:
            summary = engine.retry_errors(plan, reader, row, out, on_progress=shown(show), warn=note)
        else:
            summary = engine.run_plan(plan, reader, row, out, shard=share, on_progress=shown(show), warn=note)
    click.echo(json.dumps(asdict(summary)) if as_json else _told(summary, prepared.release))
    if summary.planned and summary.errors == summary.planned:
        raise click.exceptions.Exit(CHECK_FAILED)


def _check_options(out: Path | None, shard: str | None, retry_errors: bool, dry_run: bool, no_probe: bool) -> None:
    if out is None and not dry_run:
        raise click.UsageError("Missing option '--out'.")
    if no_probe and not dry_run:
        raise BadInput("goes with --dry-run only", field="--no-probe")
    if retry_errors and (shard or dry_run):
        raise BadInput(
            f"does not go with {'--shard' if shard else '--dry-run'}",
            field="--retry-errors",
            remedy="Merge the shares first, then retry in the merged folder" if shard else None,
        )


def _estimated(found: Estimate) -> str:
    if found.prompt_tokens is None or found.longest is None:
        tokens = "tokens are counted by the server"
    else:
        tokens = (
            f"{found.prompt_tokens:,} prompt tokens (longest {found.longest:,}; {found.padded_tokens:,} with padding)"
        )
    lines = [
        f"{found.inputs:,} inputs, {found.prompts:,} distinct prompts in {found.batches:,} batches",
        f"{tokens}, at most {found.new_tokens:,} new tokens",
        f"{found.truncated:,} prompts cut to the input limit, {found.unusable:,} that cannot be encoded",
    ]
    if found.seconds is not None:
        lines.append(f"about {duration(found.seconds)}, judged by one batch of {found.probed} prompts")
    return "\n".join(lines)


def _told(summary: RunSummary, release: Path) -> str:
    what = "was finished already; nothing was changed" if summary.was_finished else "finished"
    share = f" share {summary.shard} of" if summary.shard else ""
    lines = [
        f"{share.strip() + ' ' if share else ''}run {summary.run_id} in {summary.folder} {what}",
        f"{summary.planned} inputs ({summary.prompts} distinct prompts): {summary.planned - summary.errors} answered,"
        f" {summary.errors} errors, {summary.truncated} prompts cut to the input limit",
    ]
    if summary.passed_whole:
        lines.append(f"{summary.passed_whole} contexts were too short to be compressed and passed whole")
    if summary.errors:
        again = "" if summary.shard else "; --retry-errors tries those inputs again"
        lines.append(f"errors are in the outputs (column error) and in {summary.folder}/log.txt{again}")
    if summary.shard:
        lines.append("next: tpbench-generate merge FOLDER_OF_EVERY_SHARE... --out RUN")
    else:
        lines.append(f"next: tpbench-score tables {release} --outputs {summary.folder}")
    return "\n".join(lines)
