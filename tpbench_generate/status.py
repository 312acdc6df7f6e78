"""How far a run folder is; reading it changes nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tpbench_data.run_folder import LOG_FILE, is_finished, read_cache, read_plan, read_run, read_run_row
from tpbench_generate.assembling import saved_answers
from tpbench_generate.identity import differences
from tpbench_generate.journal import JOURNAL_FILE, Recorded, read_journal
from tpbench_generate.locks import Locked, exclusive
from tpbench_generate.shards import batches_of, read_shard


@dataclass(frozen=True)
class Status:
    """A run folder in numbers.

    Attributes:
        state: "finished", "running" (a process holds the folder) or "stopped".
        shard: ``i/n`` for a share of a run, else None. A share counts its own inputs only.
        inputs: Planned inputs.
        prompts: Distinct prompts among them; ``prompts_done`` = those answered or ended in an error.
        batches: Batches; ``batches_done`` likewise.
        answered: Inputs with an answer.
        errors: Kind of error -> inputs that ended in it, most frequent first.
        truncated: Inputs whose prompt was cut, as far as answered.
        torn_bytes: Bytes of a last record that a kill tore.
    """

    folder: str
    run_id: str
    state: str
    shard: str | None
    inputs: int
    prompts: int
    prompts_done: int
    batches: int
    batches_done: int
    answered: int
    errors: dict[str, int]
    truncated: int
    torn_bytes: int


def read_status(folder: Path) -> Status:
    """The status of a run folder; raises BadInput where it is none or is damaged."""
    row, plan, shard = read_run_row(folder), read_plan(folder), read_shard(folder)
    batches = batches_of(plan)
    own = [number for number in range(len(batches)) if shard is None or shard.takes(number)]
    if shard is None and is_finished(folder):
        run = read_run(folder)
        found = Recorded(saved_answers(run.plan, run.outputs, read_cache(folder)), set(own), 0, 0)
    else:
        found = read_journal(folder / JOURNAL_FILE, batches)
    mine = {key for number in own for key in batches[number]}
    planned = [key for key in plan["prompt_hash"].to_pylist() if key in mine]
    saved = [found.answers[key] for key in planned if key in found.answers]
    errors = Counter(answer.error.partition(":")[0] for answer in saved if answer.error is not None)
    state = "finished" if found.done >= set(own) else "running" if _is_held(folder) else "stopped"
    return Status(
        folder=str(folder),
        run_id=row["run_id"],
        state=state,
        shard=None if shard is None else str(shard),
        inputs=len(planned),
        prompts=len(mine),
        prompts_done=len(mine & set(found.answers)),
        batches=len(own),
        batches_done=len(found.done),
        answered=sum(answer.error is None for answer in saved),
        errors=dict(sorted(errors.items(), key=lambda pair: (-pair[1], pair[0]))),
        truncated=sum(answer.input_truncated is True for answer in saved),
        torn_bytes=found.torn,
    )


def setting_differences(first: Path, second: Path) -> list[str]:
    """The settings in which two run folders are not parts of one run, each as "NAME is X there and Y here"."""
    return differences(read_run_row(first), read_run_row(second))


def _is_held(folder: Path) -> bool:
    if not (folder / LOG_FILE).is_file():
        return False
    try:
        with exclusive(folder / LOG_FILE, wait=False):
            return False
    except Locked:
        return True
    except OSError:  # a folder that may only be read: nothing can be working on it from here
        return False
