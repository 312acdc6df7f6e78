"""Reading the answers of a dialogue from release, outputs and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tpbench_score.flips import flipped
from tpbench_score.frozen_inputs import FrozenInputs
from tpbench_score.outputs import PlannedInputs
from tpbench_score.report import records
from tpbench_score.report.records import Record
from tpbench_score.report.sample import Dialogue

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Answers:
    """All scored answers of the chosen runs.

    Attributes:
        inputs: the inputs of the release.
        runs: the runs in the order in which they were scored.
        scores: scorer -> its score table; all have the same rows: the inputs of the runs, in order.
        chosen: rows of these tables that the report is about.
    """

    inputs: FrozenInputs
    runs: Sequence[PlannedInputs]
    scores: Mapping[str, pa.Table]
    chosen: Rows

    @property
    def first(self) -> pa.Table:
        """The table of the scorer that the report is made with."""
        return next(iter(self.scores.values()))

    def dialogues(self) -> list[Dialogue]:
        """The dialogue of every chosen row."""
        rows = self.first.select(["corpus", "dialogue_id"]).take(pa.array(self.chosen))
        return list(zip(rows["corpus"].to_pylist(), rows["dialogue_id"].to_pylist(), strict=True))

    def disagreements(self) -> list[bool]:
        """For every chosen row, whether the scorers differ in strict or loose."""
        out = np.zeros(self.first.num_rows, dtype=np.bool_)
        for table in list(self.scores.values())[1:]:
            out |= flipped(self.first, table)
        return [bool(differs) for differs in out[self.chosen]]


Question = tuple[int, str, str, str, str]
"""(run, corpus, example id, probe, protocol): what the answers of several methods have in common."""


@dataclass(frozen=True)
class Loaded:
    """One answer with everything that is shown of it.

    Attributes:
        row: its row in the score tables.
        question: what it answers.
        ratio: nominal ratio; ``None`` for an adaptive method.
        method: method and its settings, which for a drawn selection are only its seed and left out.
        asked: the prompt after the context.
        about: see `records.question_record`.
        answer: see `records.answer_record`.
    """

    row: int
    question: Question
    ratio: float | None
    method: tuple[str, str]
    asked: str | None
    about: Record
    answer: Record


class Loader:
    """Reads answers by their rows in the score tables."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        sizes = [len(run.positions) for run in answers.runs]
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        stored = answers.inputs.release.table("dialogues")
        wanted = pa.array(sorted({name for _, name in answers.dialogues()}), pa.string())
        stored = stored.filter(pc.is_in(stored["dialogue_id"], value_set=wanted))
        self._dialogues = {(row["corpus"], row["dialogue_id"]): row for row in stored.to_pylist()}

    def dialogue(self, name: Dialogue) -> Mapping[str, Any] | None:
        """A dialogue of the release; ``None`` where an import lacks it."""
        return self._dialogues.get(name)

    def load(self, rows: Rows) -> list[Loaded]:
        """The answers of some rows, in the order given."""
        run_of = np.searchsorted(self._starts, rows, side="right") - 1
        out = []
        for number in dict.fromkeys(run_of.tolist()):
            out += self._of_run(number, rows[run_of == number])
        return out

    def _of_run(self, number: int, rows: Rows) -> list[Loaded]:
        run = self._answers.runs[number]
        inside = rows - self._starts[number]
        frozen = self._answers.inputs.table.take(pa.array(run.positions[inside])).to_pylist()
        texts = run.text.take(pa.array(inside)).to_pylist()
        tables = [table.take(pa.array(rows)).to_pylist() for table in self._answers.scores.values()]
        out = []
        for place, (row, text) in enumerate(zip(frozen, texts, strict=True)):
            scored = tables[0][place]
            verdicts = []
            for scorer, verdicts_of in zip(self._answers.scores, tables, strict=True):
                fields = records.fields_of(scorer, run.run["role"], row["probe"], row["corpus"], text)
                verdicts.append(records.verdict_record(verdicts_of[place]) | {"fields": fields})
            answer = records.answer_record(scored, text, verdicts)
            answer |= records.context_record(row, self.dialogue((row["corpus"], row["dialogue_id"])))
            out.append(
                Loaded(
                    row=int(rows[place]),
                    question=(number, row["corpus"], row["example_id"], row["probe"], row["protocol"]),
                    ratio=scored["ratio"],
                    method=(scored["method"], (row["method_config"] or "") if row["selector_seed"] is None else ""),
                    asked=records.asked_of(row),
                    about=records.question_record(row),
                    answer=answer,
                )
            )
        return out
