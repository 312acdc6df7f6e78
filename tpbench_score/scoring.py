"""Scoring whole runs: one row per planned input, as an Arrow table that every table and figure is made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tpbench_data.matching import phrase_occurs
from tpbench_data.normalize import normalize_value
from tpbench_data.release.reader import Release
from tpbench_data.run_folder import RunFolder
from tpbench_score.frozen_inputs import FrozenInputs, codes_of
from tpbench_score.json_lines import json_text
from tpbench_score.outputs import PlannedInputs, load_outputs
from tpbench_score.parsing import Extracted
from tpbench_score.records import ANSWER_FIELDS, AnswerScore, Reference, Rule
from tpbench_score.rules import DEFAULT_RULE, READS_ALTERNATIVES, TEXT_IN_ROLE, find_rule

SCORES = pa.schema(
    [
        ("run_id", pa.string()),
        ("reader", pa.string()),
        ("role", pa.string()),
        ("input_id", pa.string()),
        ("example_id", pa.string()),
        ("probe", pa.string()),
        ("corpus", pa.string()),
        ("language", pa.string()),
        ("dialogue_id", pa.string()),
        ("slot", pa.string()),
        ("method", pa.string()),  # the KV-cache method where the run compressed the cache
        ("ratio", pa.float64()),
        ("selector_seed", pa.int64()),
        ("protocol", pa.string()),
        ("sample_seeds", pa.list_(pa.int64())),
        ("alias_equivalent", pa.bool_()),
        ("scorer", pa.string()),
        ("strict", pa.bool_()),
        ("loose", pa.bool_()),
        ("token_f1", pa.float64()),  # P1, else null
        ("parsed", pa.bool_()),  # P3, else null; so are the next five
        ("goal_ok", pa.bool_()),
        ("value_strict", pa.bool_()),
        ("value_loose", pa.bool_()),
        ("whole_strict", pa.bool_()),
        ("whole_loose", pa.bool_()),
        ("abstained", pa.bool_()),
        ("superseded", pa.bool_()),  # P2 with an old value: the prediction is that value; else null
        ("retained", pa.bool_()),  # the reference value occurs in the context; null where either is absent
        ("answer", pa.string()),  # the scored value; JSON text where it is no string
        ("goal_segment", pa.string()),
        ("value_segment", pa.string()),
        ("parse_level", pa.string()),  # a key of `tpbench_score.parse_levels.PARSE_LEVELS`; null under paper-1
        ("reason", pa.string()),  # a key of `tpbench_score.records.REASONS`
        ("status", pa.string()),  # "ok", "error" (the reader failed) or "missing" (no output)
        ("error", pa.string()),
    ]
)
"""The columns of a score table."""

RELEASE_KEY = b"tpbench.release"
"""Schema metadata of a score table: the digest of the release that was scored."""

_FROM_INPUT = (
    "input_id",
    "example_id",
    "probe",
    "corpus",
    "language",
    "dialogue_id",
    "slot",
    "selector_seed",
    "protocol",
    "sample_seeds",
    "alias_equivalent",
)
_FROM_RUN = ("run_id", "reader", "role")


def score(
    release: Release | str | Path,
    outputs: Sequence[str | Path | RunFolder] | None = None,
    *,
    allow_missing: bool = False,
    rule: str = DEFAULT_RULE,
) -> pa.Table:
    """Scores saved outputs.

    Args:
        release: A release or its folder.
        outputs: Run folders, or ``None`` for the runs stored in the release.
        allow_missing: Count planned inputs without output as wrong (status ``"missing"``) instead of raising.
        rule: Scorer version.

    Returns:
        A table of schema `SCORES`, one row per planned input of a run: runs in the order given, inputs in release
        order. Its metadata holds the digest of the release.

    Raises:
        BadInput: The release or a run folder cannot be used, ids are duplicate, unknown or missing, or the rule
            is unknown.
    """
    if not isinstance(release, Release):
        release = Release.open(release)
    inputs = FrozenInputs(release)
    return score_runs(inputs, load_outputs(inputs, outputs, allow_missing=allow_missing), rule)


def score_runs(
    inputs: FrozenInputs, runs: Sequence[PlannedInputs], rule: str, *, with_retention: bool = True
) -> pa.Table:
    """Scores loaded runs, so that several scorers can judge the same outputs; otherwise as `score`.

    ``with_retention``: look into the contexts too; else the column ``retained`` is null.
    """
    scorer = _Scorer(rule)
    numbers = [_score_run(inputs, run, scorer) for run in runs]
    scores = scorer.columns()
    parts = [
        _rows(inputs, run, scorer, scores.take(taken), with_retention) for run, taken in zip(runs, numbers, strict=True)
    ]
    table = pa.concat_tables(parts) if parts else SCORES.empty_table()
    return table.replace_schema_metadata({RELEASE_KEY: inputs.release.digest.encode()})


def _score_run(inputs: FrozenInputs, run: PlannedInputs, scorer: _Scorer) -> pa.Array:
    """The number of the score of each planned input; each distinct answer to a question is looked at once."""
    questions = inputs.questions(with_alternatives=scorer.rule in READS_ALTERNATIVES)
    asked = questions.codes[run.positions]
    code = asked
    for column in (codes_of(run.text), codes_of(run.error), run.answered.astype(np.int64)):
        _, code = np.unique(code * (column.max(initial=0) + 1) + column, return_inverse=True)
    _, first, places = np.unique(code, return_index=True, return_inverse=True)
    rows = pa.array(first)
    answers = zip(
        run.text.take(rows).to_pylist(), run.error.take(rows).to_pylist(), run.answered[first].tolist(), strict=True
    )
    role = run.run["role"]
    numbers = [
        scorer.number(role, *questions.texts[question], *answer)
        for question, answer in zip(asked[first].tolist(), answers, strict=True)
    ]
    return pa.array(np.array(numbers, np.int64)[places])


def _rows(
    inputs: FrozenInputs, run: PlannedInputs, scorer: _Scorer, scores: pa.Table, with_retention: bool
) -> pa.Table:
    """The rows of one run, given the scores of its inputs."""
    rows = scores.num_rows
    frozen = inputs.rows((*_FROM_INPUT, "method", "shown_method"), run.positions)
    # A run with a compressed cache answers inputs of another method, the full context.
    method = pc.if_else(pc.equal(run.method, frozen["method"]), frozen["shown_method"], run.method)
    failed = np.asarray(run.error.is_valid())
    retained = pa.nulls(rows, pa.bool_())
    if with_retention:
        listed = scorer.rule in READS_ALTERNATIVES
        retained = inputs.retained(run.positions, scorer.rule, scorer.retained, with_alternatives=listed)
    columns = {name: frozen[name] for name in _FROM_INPUT}
    columns |= {name: pa.array([run.run[name]] * rows, pa.string()) for name in _FROM_RUN}
    columns |= {name: scores[name] for name in (*ANSWER_FIELDS, "superseded")}
    columns |= {
        "method": method,
        "ratio": run.ratio,
        "scorer": pa.array([scorer.rule] * rows, pa.string()),
        "retained": retained,
        "status": pa.array(np.where(run.answered, np.where(failed, "error", "ok"), "missing"), pa.string()),
        "error": run.error,
    }
    return pa.table([columns[name] for name in SCORES.names], schema=SCORES)


# Questions about one context are asked in a row.
_normal_context = lru_cache(maxsize=64)(normalize_value)


class _Scorer:
    """Scores each distinct answer to each distinct question once; a row then only holds the number of its score."""

    def __init__(self, rule: str) -> None:
        self.rule = rule
        self._rules: dict[tuple[str, str], Rule] = {}
        self._extracted: dict[tuple[Callable[..., Any], Callable[..., Any], str], Extracted] = {}
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._scores: list[tuple[AnswerScore, bool | None]] = []

    def number(self, *key: Any) -> int:
        """The number of a score.

        The key is (role, probe, corpus, reference goal, reference value, old value, alternatives, text, error,
        answered).
        """
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._scores)
            self._scores.append(self._score(*key))
        return found

    def retained(self, probe: str, context: str, reference: Reference) -> bool:
        """Whether a context states the reference value, by the test of this scorer."""
        own = self._rule(probe, reference.corpus).retained
        if own:
            return own(context, reference)
        value = normalize_value(reference.value, reference.corpus)
        return phrase_occurs(value, _normal_context(context, reference.corpus))

    def columns(self) -> pa.Table:
        """All scores so far, in the order of their numbers."""
        columns: dict[str, pa.Array] = {}
        for name in ANSWER_FIELDS:
            values = [getattr(score, name) for score, _ in self._scores]
            if name in ("answer", "goal_segment", "value_segment"):
                values = [_storable(value) for value in values]
            columns[name] = pa.array(values, SCORES.field(name).type)
        columns["superseded"] = pa.array([superseded for _, superseded in self._scores], pa.bool_())
        return pa.table(columns)

    def _score(
        self,
        role: str,
        probe: str,
        corpus: str,
        goal: str | None,
        value: str | None,
        old_value: str | None,
        alternatives: tuple[str, ...],
        text: str | None,
        error: str | None,
        answered: bool,
    ) -> tuple[AnswerScore, bool | None]:
        rule = self._rule(probe, corpus)
        reference = Reference(corpus, goal or "", value or "", old_value or "", alternatives)
        prepare = TEXT_IN_ROLE.get(self.rule, {}).get(role)
        extracted = self._extract(rule, prepare(text or "") if prepare else text or "")
        if not answered:
            result = replace(
                rule.score(extracted, reference),
                strict=False,
                loose=False,
                abstained=False,
                answer=None,
                reason="missing",
            )
        elif error is not None and rule.score_failed:
            result = rule.score_failed(extracted)
        else:
            result = rule.judge(extracted, reference)
        if rule.superseded is None or old_value is None:
            return result, None
        return result, isinstance(result.answer, str) and rule.superseded(result.answer, old_value, corpus)

    def _rule(self, probe: str, corpus: str) -> Rule:
        key = (probe, corpus)
        if key not in self._rules:
            self._rules[key] = find_rule(self.rule, probe, corpus)
        return self._rules[key]

    def _extract(self, rule: Rule, text: str) -> Extracted:
        key = (rule.parse, rule.read, text)
        if key not in self._extracted:
            self._extracted[key] = rule.extract(text)
        return self._extracted[key]


def _storable(value: Any) -> str | None:
    """A scored value as the text of a column: other JSON values as JSON text, lone surrogates replaced."""
    if value is None:
        return None
    text = value if isinstance(value, str) else json_text(value)
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def count_rows(scores: pa.Table) -> list[tuple[dict[str, str], dict[str, int]]]:
    """Per run, role and probe: how many inputs were planned, and what became of them.

    ``planned`` = ``ok`` + ``error`` + ``missing``; ``strict``, ``loose`` and ``abstained`` are counts among them.
    """
    status = {name: pc.equal(scores["status"], name) for name in ("ok", "error", "missing")}
    verdicts = {name: scores[name] for name in ("strict", "loose", "abstained")}
    keys = ("run_id", "role", "probe")
    table = pa.table({**{key: scores[key] for key in keys}, **status, **verdicts})
    sums = [(name, "sum") for name in (*status, *verdicts)]
    # One thread keeps the groups in the order in which they first appear.
    groups = table.group_by(list(keys), use_threads=False).aggregate([([], "count_all"), *sums]).to_pylist()
    return [
        (
            {key: group[key] for key in keys},
            {"planned": group["count_all"], **{name: group[f"{name}_sum"] for name, _ in sums}},
        )
        for group in groups
    ]
