"""Carries out a plan: batch after batch, each on the disk before the next, then the outputs in plan order.

The folder of a run that was killed and started again ends with the same bytes as that of an undisturbed one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data.errors import BadInput, TPBenchError
from tpbench_data.release.schema import OUTPUTS
from tpbench_data.run_folder import (
    LOG_FILE,
    OUTPUTS_FILE,
    PLAN_FILE,
    RUN_FILE,
    is_finished,
    read_plan,
    read_run,
    read_run_row,
    write_outputs,
    write_plan,
    write_run_row,
)
from tpbench_generate.identity import (
    differences,
    environment_columns,
    joined_environment,
    settings_columns,
)
from tpbench_generate.journal import JOURNAL_FILE, Journal, SavedAnswer
from tpbench_generate.locks import Locked, exclusive
from tpbench_generate.plan import Plan
from tpbench_generate.readers.base import Encoded, Messages, Reader

_TRIES = 2
"""How often a prompt is tried: in its batch, then alone."""


@dataclass(frozen=True)
class Progress:
    """How far a run is: distinct prompts answered, of all, and seconds left (None until something was timed)."""

    done: int
    total: int
    per_second: float | None
    seconds_left: float | None


@dataclass(frozen=True)
class RunSummary:
    """What a run came to.

    Attributes:
        planned: Inputs in the plan; every one has a row in the outputs.
        prompts: Distinct prompts among them.
        resumed_batches: Batches that an earlier, interrupted call had finished.
        errors: Planned inputs that ended in an error.
        truncated: Planned inputs whose prompt was cut.
        was_finished: The folder held this finished run already, and nothing was done.
    """

    run_id: str
    folder: str
    planned: int
    prompts: int
    batches: int
    resumed_batches: int
    errors: int
    truncated: int
    was_finished: bool


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
    encoded = _encode(reader, first)
    ids = encoded.ids if isinstance(encoded, Encoded) else None
    return {
        **settings_columns(reader.settings, role, demonstration),
        **environment_columns(reader.environment),
        "first_token_ids": None if ids is None else list(ids[:8]),
        "last_token_ids": None if ids is None else list(ids[-8:]),
        "batch_plan": batch_plan,
        "release_digest": release_digest,
        "n_planned": plan.table.num_rows,
    }


def count_tokens(reader: Reader) -> Callable[[Messages], int | None]:
    """Prompt -> tokens that reach the reader; None where it cannot be encoded (which the run then records)."""

    def count(messages: Messages) -> int | None:
        encoded = _encode(reader, messages)
        return len(encoded.ids) if isinstance(encoded, Encoded) else None

    return count


def run_plan(
    plan: Plan,
    reader: Reader,
    row: Mapping[str, Any],
    out: Path,
    *,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    warn: Callable[[str], None] = lambda text: None,
) -> RunSummary:
    """Answers every planned input and leaves a finished run folder, going on where an earlier call stopped.

    Args:
        plan: What to answer.
        reader: Who answers.
        row: `run_row` of the two.
        out: The run folder; new, empty, or holding this very run.
        on_progress: Called after every batch.
        warn: Is told what a user should know, such as a torn record or another environment.

    Raises:
        BadInput: The folder holds something else or another run, cannot be written, or the reader cannot be loaded.
        Locked: Another process is working on the folder.
    """
    if out.exists() and not out.is_dir():
        raise BadInput("is not a folder", file=out, remedy="Choose another --out")
    if (out / RUN_FILE).is_file():
        _check_same_run(plan, row, out)
        if _is_done(out):
            return _finished_before(plan, out)
    elif out.is_dir() and (foreign := _foreign_names(out)):
        raise BadInput(f"holds '{foreign[0]}' but no run", file=out, remedy="Choose another --out")
    try:
        out.mkdir(parents=True, exist_ok=True)
        with exclusive(out / LOG_FILE, wait=False):
            return _run_locked(plan, reader, row, out, on_progress, warn)
    except Locked:
        raise BadInput(
            "another process is working on this run", file=out, remedy="Wait for it, or use another --out"
        ) from None
    except OSError as problem:
        raise BadInput(
            f"cannot write: {problem.strerror or problem}",
            file=problem.filename or out,
            remedy="Once that is mended run the same command again: finished batches are kept",
        ) from problem


def _run_locked(
    plan: Plan,
    reader: Reader,
    row: Mapping[str, Any],
    out: Path,
    on_progress: Callable[[Progress], None],
    warn: Callable[[str], None],
) -> RunSummary:
    log = _Log(out / LOG_FILE)

    def tell(text: str) -> None:
        log.write(text)
        warn(text)

    for name in _temporary_names(out):
        (out / name).unlink()
    if (out / RUN_FILE).is_file():
        kept = _check_same_run(plan, row, out)
        if _is_done(out):  # by another process, between the first look and the lock
            return _finished_before(plan, out)
        environment = joined_environment(kept, row)
        if any(kept[name] != value for name, value in environment.items()):
            tell("this run was begun in another environment; run.json now names both")
            write_run_row(out, {**kept, **environment})
    else:
        write_plan(out, plan.table)
        write_run_row(out, row)  # last: a folder with run.json has its plan
    with Journal(out / JOURNAL_FILE, plan.batches) as journal:
        if journal.cut:
            tell(f"cut {journal.cut} bytes of a torn last record off {JOURNAL_FILE}")
        resumed = len(journal.done)
        log.write(f"start: {len(plan.batches)} batches, {resumed} of them done, on {row['device']}")
        if resumed < len(plan.batches):
            reader.load()
        _answer_batches(plan, reader, journal, on_progress, log)
        outputs = _assemble(plan, journal.answers, row["run_id"])
    write_outputs(out, outputs)
    (out / JOURNAL_FILE).unlink()
    summary = _summary(plan, out, outputs, resumed=resumed, was_finished=False)
    log.write(f"finished: {summary.planned} inputs, {summary.errors} errors, {summary.truncated} truncated")
    return summary


def _answer_batches(
    plan: Plan, reader: Reader, journal: Journal, on_progress: Callable[[Progress], None], log: _Log
) -> None:
    # Remaining time goes by tokens, since batches get longer as the run goes on.
    tokens = dict(zip(plan.table["prompt_hash"].to_pylist(), plan.table["prompt_tokens"].to_pylist(), strict=True))
    extra = reader.settings.max_new_tokens
    work = [sum((tokens[key] or 0) + extra for key in batch) for batch in plan.batches]
    left = sum(amount for number, amount in enumerate(work) if number not in journal.done)
    answered, finished_work, begin = 0, 0, time.monotonic()
    on_progress(Progress(len(journal.answers), len(plan.prompts), None, None))
    for number, batch in enumerate(plan.batches):
        if number in journal.done:
            continue
        answers = dict(zip(batch, _answer_batch(reader, [plan.prompts[key] for key in batch]), strict=True))
        journal.append(number, answers)
        for key, answer in answers.items():
            if answer.error is not None:
                log.write(f"batch {number}, prompt {key}: {answer.error}")
        answered, finished_work, left = answered + len(batch), finished_work + work[number], left - work[number]
        seconds = max(time.monotonic() - begin, 1e-9)
        on_progress(
            Progress(len(journal.answers), len(plan.prompts), answered / seconds, seconds * left / finished_work)
        )


def _answer_batch(reader: Reader, prompts: list[Messages]) -> list[SavedAnswer]:
    """One saved answer per prompt. If the batch fails, each prompt is tried alone; what fails again is an error."""
    encoded = [_encode(reader, messages) for messages in prompts]
    good = [prompt for prompt in encoded if isinstance(prompt, Encoded)]
    outcomes = iter(_generate(reader, good))
    return [next(outcomes) if isinstance(prompt, Encoded) else _failure(prompt, None, attempts=1) for prompt in encoded]


def _generate(reader: Reader, prompts: list[Encoded]) -> list[SavedAnswer]:
    if not prompts:
        return []
    try:
        return _try_once(reader, prompts, attempts=1)
    except TPBenchError:
        raise
    except Exception:
        saved = []
        for prompt in prompts:
            try:
                saved += _try_once(reader, [prompt], attempts=_TRIES)
            except TPBenchError:
                raise
            except Exception as problem:
                saved.append(_failure(problem, prompt, attempts=_TRIES))
        return saved


def _try_once(reader: Reader, prompts: list[Encoded], attempts: int) -> list[SavedAnswer]:
    answers = reader.generate(prompts)
    return [
        SavedAnswer(
            text=_storable(answer.text),
            error=None,
            finish_reason=answer.finish_reason,
            input_truncated=prompt.truncated,
            prompt_tokens=len(prompt.ids),
            output_tokens=answer.output_tokens,
            attempts=attempts,
        )
        for prompt, answer in zip(prompts, answers, strict=True)
    ]


def _failure(problem: Exception, prompt: Encoded | None, attempts: int) -> SavedAnswer:
    message = (str(problem).strip().splitlines() or [""])[0][:500]
    return SavedAnswer(
        text="",
        error=_storable(f"{type(problem).__name__}: {message}"),
        finish_reason="error",
        input_truncated=None if prompt is None else prompt.truncated,
        prompt_tokens=None if prompt is None else len(prompt.ids),
        output_tokens=None,
        attempts=attempts,
    )


def _encode(reader: Reader, messages: Messages) -> Encoded | Exception:
    try:
        return reader.encode(messages)
    except TPBenchError:
        raise
    except Exception as problem:
        return problem


def _storable(text: str) -> str:
    """Arrow holds UTF-8 only: a lone surrogate (from a file name in an error message) is spelled out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _assemble(plan: Plan, answers: Mapping[str, SavedAnswer], run_id: str) -> pa.Table:
    saved = [answers[key] for key in plan.table["prompt_hash"].to_pylist()]
    columns: dict[str, Any] = {
        "run_id": [run_id] * len(saved),
        "input_id": plan.table["input_id"],
        "method": plan.table["method"],
        "ratio": plan.table["ratio"],
        "text_source": ["raw"] * len(saved),
    }
    for name in OUTPUTS.names:
        if name not in columns:
            columns[name] = [getattr(answer, name) for answer in saved]
    return pa.table({name: columns[name] for name in OUTPUTS.names}, schema=OUTPUTS)


def _is_done(out: Path) -> bool:
    """Whether nothing is left to do: a journal beside the outputs means that the last step was cut short."""
    return is_finished(out) and not (out / JOURNAL_FILE).exists()


def _finished_before(plan: Plan, out: Path) -> RunSummary:
    return _summary(plan, out, read_run(out).outputs, resumed=len(plan.batches), was_finished=True)


def _summary(plan: Plan, out: Path, outputs: pa.Table, *, resumed: int, was_finished: bool) -> RunSummary:
    return RunSummary(
        run_id=outputs["run_id"][0].as_py(),
        folder=str(out),
        planned=plan.table.num_rows,
        prompts=len(plan.prompts),
        batches=len(plan.batches),
        resumed_batches=resumed,
        errors=sum(error is not None for error in outputs["error"].to_pylist()),
        truncated=sum(value is True for value in outputs["input_truncated"].to_pylist()),
        was_finished=was_finished,
    )


def _check_same_run(plan: Plan, row: Mapping[str, Any], out: Path) -> dict[str, Any]:
    """The row of the run in the folder; raises BadInput if it is another run than the one asked for."""
    kept, kept_plan = read_run_row(out), read_plan(out)
    different = differences(kept, row)
    if not different and not kept_plan.equals(plan.table):
        here, there = plan.table.num_rows, kept_plan.num_rows
        different = [
            f"the plan has {there} inputs there and {here} here"
            if here != there
            else "the plan has other inputs, prompts or batches there"
        ]
    if different:
        shown = "; ".join(different[:3]) + (f"; and {len(different) - 3} more" if len(different) > 3 else "")
        raise BadInput(
            f"holds another run ({kept['run_id']}): {shown}",
            file=out,
            remedy="Use the same options as before, or another --out",
        )
    return kept


def _foreign_names(out: Path) -> list[str]:
    """What is in a folder without run.json and is not left over from a start that was killed."""
    known = {LOG_FILE, PLAN_FILE, *_temporary_names(out)}
    return sorted(path.name for path in out.iterdir() if path.name not in known)


def _temporary_names(out: Path) -> list[str]:
    """Temporary files of atomic writes that a kill left behind."""
    targets = (RUN_FILE, PLAN_FILE, OUTPUTS_FILE)
    return [path.name for target in targets for path in out.glob(f".{target}.*.tmp")]


class _Log:
    """log.txt: one line per event, with the time in UTC."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, text: str) -> None:
        line = (
            f"{datetime.now(UTC).isoformat(timespec='seconds')} {text.encode('ascii', 'backslashreplace').decode()}\n"
        )
        with self._path.open("ab", buffering=0) as file:
            file.write(line.encode())
