"""Batch after batch: each is answered, on the disk before the next begins, and reported with the time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tpbench_generate.answering import answer_batch
from tpbench_generate.journal import Journal, SavedAnswer
from tpbench_generate.plan import Plan
from tpbench_generate.readers.base import Reader
from tpbench_generate.run_state import RunLog


@dataclass(frozen=True)
class Progress:
    """How far a run is: distinct prompts answered, of all, and seconds left (None until something was timed)."""

    done: int
    total: int
    per_second: float | None
    seconds_left: float | None


Report = Callable[[Progress], None]


def answer_batches(
    plan: Plan,
    batches: Sequence[Sequence[str]],
    reader: Reader,
    journal: Journal,
    on_progress: Report,
    log: RunLog,
    *,
    only: Sequence[int] | None = None,
    before: Mapping[str, SavedAnswer] | None = None,
) -> None:
    """Answers the batches that the journal lacks.

    Args:
        batches: Prompt hashes; the journal's batches.
        only: The numbers of those to answer, None = all.
        before: Earlier answers, whose attempts are added.
    """
    # Remaining time goes by tokens, since batches get longer as the run goes on.
    tokens = dict(zip(plan.table["prompt_hash"].to_pylist(), plan.table["prompt_tokens"].to_pylist(), strict=True))
    extra = reader.settings.max_new_tokens
    own = range(len(batches)) if only is None else only
    work = {number: sum((tokens[key] or 0) + extra for key in batches[number]) for number in own}
    total = sum(len(batches[number]) for number in own)
    left = sum(amount for number, amount in work.items() if number not in journal.done)
    answered, finished_work, begin = 0, 0, time.monotonic()
    on_progress(Progress(len(journal.answers), total, None, None))
    for number in own:
        if number in journal.done:
            continue
        batch = batches[number]
        answers = dict(zip(batch, answer_batch(reader, [plan.prompts[key] for key in batch]), strict=True))
        if before is not None:
            answers = {key: replace(a, attempts=a.attempts + before[key].attempts) for key, a in answers.items()}
        journal.append(number, answers)
        for key, answer in answers.items():
            if answer.error is not None:
                log.write(f"batch {number}, prompt {key}: {answer.error}")
        answered, finished_work, left = answered + len(batch), finished_work + work[number], left - work[number]
        seconds = max(time.monotonic() - begin, 1e-9)
        on_progress(Progress(len(journal.answers), total, answered / seconds, seconds * left / finished_work))
