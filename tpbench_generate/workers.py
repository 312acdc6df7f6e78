"""Applying methods to many dialogues in one or several processes; how many changes speed and nothing else."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

from tpbench_data.budget import BudgetRule
from tpbench_data.errors import TPBenchError
from tpbench_data.rendering import Rendering
from tpbench_data.selectors import Selection, SelectionInput
from tpbench_generate.methods import load_method
from tpbench_generate.selectors import runtime

_JOBS_PER_TASK = 32


@dataclass(frozen=True, slots=True)
class Job:
    """One application of a method: the method's text on the command line, and the arguments of ``select``."""

    method: str
    item: SelectionInput
    ratio: float | None
    rule: BudgetRule | None
    rendering: Rendering | None


def apply_all(
    jobs: Sequence[Job], *, workers: int, device: str, on_progress: Callable[[int], None] = lambda done: None
) -> list[Selection]:
    """The selection of every job, in order.

    Args:
        jobs: What to do; jobs of one dialogue side by side are quickest, because features are remembered.
        workers: Processes, at least 1; with 1 everything happens in this one.
        device: Torch device of model-based methods.
        on_progress: Is told how many jobs are done.

    Raises:
        BadInput: What the methods raise.
        TPBenchError: A worker process died.
    """
    tasks = [jobs[start : start + _JOBS_PER_TASK] for start in range(0, len(jobs), _JOBS_PER_TASK)]
    if workers == 1 or len(tasks) < 2:
        _prepare(device)
        done: list[Selection] = []
        for task in tasks:
            done += _apply(task)
            on_progress(len(done))
        return done
    results: list[list[Selection]] = [[] for _ in tasks]
    finished = 0
    # Fresh interpreters: a forked copy of a process that has run torch may hang.
    pool = ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=_prepare, initargs=(device,)
    )
    try:
        places = {pool.submit(_apply, task): place for place, task in enumerate(tasks)}
        for future in as_completed(places):
            results[places[future]] = future.result()
            finished += len(tasks[places[future]])
            on_progress(finished)
    except BrokenProcessPool as problem:
        raise TPBenchError("a worker process ended; it may have run out of memory. Use fewer --workers.") from problem
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return [selection for task in results for selection in task]


def _prepare(device: str) -> None:
    runtime.set_device(device)


def _apply(task: Sequence[Job]) -> list[Selection]:
    return [
        load_method(job.method).selector.select(job.item, job.ratio, rule=job.rule, rendering=job.rendering)
        for job in task
    ]
