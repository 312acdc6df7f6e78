"""Carries out a plan: batch after batch, each on the disk before the next, then the outputs in plan order.

The folder of a run that was killed and started again ends with the same bytes as that of an undisturbed one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tpbench_data.canonical import sha256_hex
from tpbench_data.errors import BadInput
from tpbench_data.run_folder import (
    OUTPUTS_FILE,
    RUN_FILE,
    read_cache,
    read_run,
    write_cache,
    write_outputs,
    write_plan,
    write_run_row,
)
from tpbench_generate.answering import encode
from tpbench_generate.assembling import cache_table, outputs_table, saved_answers
from tpbench_generate.batch_loop import Report, answer_batches
from tpbench_generate.identity import environment_columns, joined_environment, settings_columns
from tpbench_generate.journal import JOURNAL_FILE, Journal, SavedAnswer
from tpbench_generate.plan import Plan
from tpbench_generate.readers.base import Encoded, Reader
from tpbench_generate.run_state import RunLog, check_same_run, foreign_names, is_done, temporary_names, working_on
from tpbench_generate.run_summary import RunSummary, finished_before, summarize
from tpbench_generate.shards import Shard, write_shard

__all__ = ["retry_errors", "run_plan", "run_row"]


Warn = Callable[[str], None]


def run_row(
    plan: Plan,
    reader: Reader,
    *,
    role: str,
    batch_plan: str,
    release_digest: str,
    demonstration: str | None = None,
) -> dict[str, Any]:
    """The `runs` row of a plan carried out with a reader."""
    first = plan.prompts[plan.table["prompt_hash"][0].as_py()]
    encoded = encode(reader, first)
    ids = encoded.ids if isinstance(encoded, Encoded) else None
    return {
        **settings_columns(reader.settings, role, demonstration),
        **environment_columns(reader.environment),
        "first_token_ids": list(ids[:8]) if ids else None,
        "last_token_ids": list(ids[-8:]) if ids else None,
        "batch_plan": batch_plan,
        "release_digest": release_digest,
        "n_planned": plan.table.num_rows,
    }


def run_plan(
    plan: Plan,
    reader: Reader,
    row: Mapping[str, Any],
    out: Path,
    *,
    shard: Shard | None = None,
    on_progress: Report = lambda progress: None,
    warn: Warn = lambda text: None,
) -> RunSummary:
    """Answers every planned input and leaves a finished run folder, going on where an earlier call stopped.

    Args:
        plan: What to answer.
        reader: Who answers.
        row: `run_row` of the two.
        out: The run folder; new, empty, or holding this very run.
        shard: Answer only the batches of this share and leave them to `tpbench-generate merge`.
        on_progress: Called after every batch.
        warn: Is told what a user should know, such as a torn record or another environment.

    Raises:
        BadInput: The folder holds something else or another run, cannot be written, is in use by another process, or
            the reader cannot be loaded.
    """
    _check_folder(plan, row, out, shard)
    if is_done(out):
        return finished_before(plan, out)
    with working_on(out):
        return _run_locked(plan, reader, row, out, shard, on_progress, warn)


def retry_errors(
    plan: Plan,
    reader: Reader,
    row: Mapping[str, Any],
    out: Path,
    *,
    on_progress: Report = lambda progress: None,
    warn: Warn = lambda text: None,
) -> RunSummary:
    """Answers anew what ended in an error in a finished run, and nothing else; attempts add up.

    The outputs are replaced in one step at the end; a retry that was killed goes on where it stopped.

    Args, raises: As `run_plan`.
    """
    check_same_run(plan.table, row, out)
    with working_on(out):
        run = read_run(out)
        answers = saved_answers(run.plan, run.outputs, read_cache(out))
        batches = [tuple(key for key in batch if answers[key].error is not None) for batch in plan.batches]
        batches = [batch for batch in batches if batch]
        # The name holds the outputs it starts from: a journal that has served its purpose fits no later retry.
        journal_path = out / f"retry-{sha256_hex((out / OUTPUTS_FILE).read_bytes())[:12]}.jsonl"
        for path in out.glob("retry-*.jsonl"):
            if path != journal_path:
                path.unlink()
        if not batches:
            return finished_before(plan, out)
        log = RunLog(out)
        _note_environment(run.run, row, out, log, warn)
        with Journal(journal_path, batches) as journal:
            log.write(f"retry: {sum(map(len, batches))} prompts with errors, on {row['device']}")
            resumed = len(journal.done)
            reader.load()
            answer_batches(plan, batches, reader, journal, on_progress, log, before=answers)
            answers |= journal.answers
        _write_results(plan, answers, row["run_id"], out)
        journal_path.unlink()
        return summarize(plan, out, row["run_id"], answers, resumed=resumed, was_finished=False)


def _check_folder(plan: Plan, row: Mapping[str, Any], out: Path, shard: Shard | None) -> None:
    if out.exists() and not out.is_dir():
        raise BadInput("is not a folder", file=out, remedy="Choose another --out")
    if (out / RUN_FILE).is_file():
        check_same_run(plan.table, row, out, shard)
    elif out.is_dir() and (foreign := foreign_names(out)):
        raise BadInput(f"holds '{foreign[0]}' but no run", file=out, remedy="Choose another --out")


def _run_locked(
    plan: Plan,
    reader: Reader,
    row: Mapping[str, Any],
    out: Path,
    shard: Shard | None,
    on_progress: Report,
    warn: Warn,
) -> RunSummary:
    log = RunLog(out)
    for name in temporary_names(out):
        (out / name).unlink()
    if (out / RUN_FILE).is_file():
        kept = check_same_run(plan.table, row, out, shard)
        if is_done(out):  # by another process, between the first look and the lock
            return finished_before(plan, out)
        _note_environment(kept, row, out, log, warn)
    else:
        write_plan(out, plan.table)
        if shard is not None:
            write_shard(out, shard)
        write_run_row(out, row)  # last: a folder with run.json has its plan
    own = [number for number in range(len(plan.batches)) if shard is None or shard.takes(number)]
    with Journal(out / JOURNAL_FILE, plan.batches) as journal:
        if journal.cut:
            _tell(f"cut {journal.cut} bytes of a torn last record off {JOURNAL_FILE}", log, warn)
        resumed = len(journal.done)
        to_do = [number for number in own if number not in journal.done]
        log.write(f"start: {len(own)} batches, {resumed} of them done, on {row['device']}")
        if to_do:
            reader.load()
        answer_batches(plan, plan.batches, reader, journal, on_progress, log, only=own)
        answers = journal.answers
    if shard is None:
        _write_results(plan, answers, row["run_id"], out)
        (out / JOURNAL_FILE).unlink()
    summary = summarize(
        plan, out, row["run_id"], answers, resumed=resumed, was_finished=bool(shard and not to_do), shard=shard
    )
    log.write(f"finished: {summary.planned} inputs, {summary.errors} errors, {summary.truncated} truncated")
    return summary


def _write_results(plan: Plan, answers: Mapping[str, SavedAnswer], run_id: str, out: Path) -> None:
    cache = cache_table(plan.table, answers)
    if cache.num_rows:
        write_cache(out, cache)
    write_outputs(out, outputs_table(plan.table, answers, run_id))  # last: it finishes the run


def _note_environment(kept: Mapping[str, Any], row: Mapping[str, Any], out: Path, log: RunLog, warn: Warn) -> None:
    environment = joined_environment(kept, row)
    if any(kept[name] != value for name, value in environment.items()):
        _tell("this run was begun in another environment; run.json now names both", log, warn)
        write_run_row(out, {**kept, **environment})


def _tell(text: str, log: RunLog, warn: Warn) -> None:
    log.write(text)
    warn(text)
