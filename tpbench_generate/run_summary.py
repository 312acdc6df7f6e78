"""What a run, or a share of one, came to: the counts that a command prints at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tpbench_data.run_folder import is_finished, read_cache, read_run
from tpbench_generate.assembling import saved_answers
from tpbench_generate.journal import SavedAnswer
from tpbench_generate.plan import Plan
from tpbench_generate.shards import Shard


@dataclass(frozen=True)
class RunSummary:
    """What a run, or a share of one, came to.

    Attributes:
        planned: Its inputs in the plan; every one is answered or has an error.
        prompts: Distinct prompts among them.
        batches: Its batches.
        resumed_batches: Batches that an earlier, interrupted call had finished.
        errors: Planned inputs that ended in an error.
        truncated: Planned inputs whose prompt was cut.
        passed_whole: Planned inputs whose context was too short for the run's cache method.
        was_finished: The folder held this finished run already, and nothing was done.
        shard: ``i/n`` for a share, None for a whole run.
    """

    run_id: str
    folder: str
    planned: int
    prompts: int
    batches: int
    resumed_batches: int
    errors: int
    truncated: int
    passed_whole: int
    was_finished: bool
    shard: str | None = None


def summarize(
    plan: Plan,
    out: Path,
    run_id: str,
    answers: Mapping[str, SavedAnswer],
    *,
    resumed: int,
    was_finished: bool,
    shard: Shard | None = None,
) -> RunSummary:
    saved = [answers[key] for key in plan.table["prompt_hash"].to_pylist() if key in answers]
    return RunSummary(
        run_id=run_id,
        folder=str(out),
        planned=len(saved),
        prompts=len(answers),
        batches=len([number for number in range(len(plan.batches)) if shard is None or shard.takes(number)]),
        resumed_batches=resumed,
        errors=sum(answer.error is not None for answer in saved),
        truncated=sum(answer.input_truncated is True for answer in saved),
        passed_whole=sum((answer.cache or {}).get("passed_whole") is True for answer in saved),
        was_finished=was_finished,
        shard=None if shard is None else str(shard),
    )


def finished_before(plan: Plan, out: Path) -> RunSummary:
    run = read_run(out)
    answers = saved_answers(run.plan, run.outputs, read_cache(out))
    return summarize(plan, out, run.run["run_id"], answers, resumed=len(plan.batches), was_finished=is_finished(out))
