"""From a release and run folders to a ``Study``: everything that reads files on the way to the tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tpbench_data.release.reader import Release
from tpbench_data.release.schema import CONFIGS
from tpbench_data.release.stored_runs import stored_runs
from tpbench_data.run_folder import RunFolder, read_run
from tpbench_score.frozen_inputs import FrozenInputs
from tpbench_score.outputs import PlannedInputs, load_outputs
from tpbench_score.rules import DEFAULT_RULE
from tpbench_score.scoring import score_runs
from tpbench_score.signature import signature_of
from tpbench_score.tables.scores import Scores
from tpbench_score.tables.study import GOAL_PROBES, Study, open_study
from tpbench_score.tables.universe import INPUT_COLUMNS, Universe

_FREE_FORM = "free_form"


def load_study(
    release: Release,
    outputs: Sequence[Path] = (),
    *,
    stored: bool = False,
    reader: str | None = None,
    runs: Sequence[str] = (),
    allow_missing: bool = False,
    rule: str = DEFAULT_RULE,
    with_intervals: bool = False,
) -> Study:
    """Scores outputs and gathers what the tables read besides.

    Args:
        outputs: run folders; without any, the runs stored in the release.
        stored: take the runs stored in the release besides the folders.
        reader: the reader to show, see ``open_study``.
        runs: run ids to choose, see ``open_study``.
        allow_missing: count planned inputs without output as wrong instead of refusing them.
        rule: scorer version.
        with_intervals: add bootstrap intervals.

    Raises:
        BadInput: anything in the release, the run folders or the choices that cannot be used.
    """
    inputs = FrozenInputs(release)
    loaded = load_outputs(inputs, run_folders(release, outputs, stored=stored), allow_missing=allow_missing)
    scores = score_runs(inputs, loaded, rule)
    return study_of(inputs, loaded, scores, reader=reader, runs=runs, with_intervals=with_intervals)


def run_folders(release: Release, outputs: Sequence[Path], *, stored: bool) -> list[RunFolder] | None:
    """The run folders given, with those stored in the release on request; ``None`` for the stored ones alone."""
    return [*(stored_runs(release) if stored else ()), *(read_run(folder) for folder in outputs)] or None


def study_of(
    inputs: FrozenInputs,
    loaded: Sequence[PlannedInputs],
    scores: pa.Table,
    *,
    reader: str | None = None,
    runs: Sequence[str] = (),
    with_intervals: bool = False,
) -> Study:
    """Gathers what the tables read besides scores that are there already; otherwise as ``load_study``.

    Args:
        inputs: the inputs of the release.
        loaded: the outputs.
        scores: their scores by one scorer.
    """
    release = inputs.release
    judgments = release.table("judgments").to_pylist()
    shown = without_unreadable(scores)
    study = open_study(
        Study(
            Scores.from_arrow(shown),
            universe=Universe.from_inputs(_inputs(release)),
            kv_settings=_kv_settings([run.run for run in loaded]),
            judgments={(row["reference"], row["answer"]): row["label"] for row in judgments},
            references=_references(release),
            free_form=_free_form(release),
            with_intervals=with_intervals,
            chinese_left_out=shown is not scores,
        ),
        reader=reader,
        runs=runs,
    )
    chosen = pa.array(study.scores.present("run_id"), pa.string())
    used = scores.filter(pc.is_in(scores["run_id"], value_set=chosen))
    return replace(study, signature=signature_of(used))


def without_unreadable(scores: pa.Table) -> pa.Table:
    """The scores that tables show; the same object where nothing is left out.

    The published scorer splits Chinese goals into characters and finds no value inside a Chinese sentence: under
    `paper-1` Chinese P1 and P3 are left out, and retention is unknown.
    """
    chinese = pc.starts_with(pc.fill_null(scores["language"], ""), "zh")
    affected = pc.and_(chinese, pc.equal(scores["scorer"], DEFAULT_RULE))
    if not pc.any(affected).as_py():
        return scores
    place = scores.schema.get_field_index("retained")
    blank = pc.if_else(affected, pa.scalar(None, pa.bool_()), scores["retained"])
    goals = pc.is_in(scores["probe"], value_set=pa.array(GOAL_PROBES))
    kept = pc.invert(pc.and_(affected, goals))
    return scores.set_column(place, scores.schema.field(place), blank).filter(kept)


def _columns(release: Release, config: str, columns: Sequence[str]) -> pa.Table:
    """Some columns of a config. The scorer has checked the files; contexts and prompts need not be read again."""
    schema = pa.schema([CONFIGS[config].field(name) for name in columns])
    parts = [pq.read_table(release.path / entry["path"], columns=list(columns)) for entry in release.files(config)]
    return pa.concat_tables([part.cast(schema) for part in parts]) if parts else schema.empty_table()


def _inputs(release: Release) -> dict[str, pa.Table]:
    configs = [name for name, schema in CONFIGS.items() if "protocol" in schema.names]
    return {probe: _columns(release, probe, INPUT_COLUMNS) for probe in configs}


def _kv_settings(runs: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, object]]:
    """Run id -> cache settings; a text that is no JSON object gives none, for it only names a run's kind."""
    out: dict[str, Mapping[str, object]] = {}
    for run in runs:
        try:
            settings = json.loads(run["kv_settings"] or "null")
        except (ValueError, RecursionError):
            continue
        if isinstance(settings, dict):
            out[run["run_id"]] = settings
    return out


def _references(release: Release) -> Callable[[], Mapping[str, str]]:
    def read() -> dict[str, str]:
        table = _columns(release, "initial_goal", ("input_id", "reference_goal"))
        return dict(zip(table["input_id"].to_pylist(), table["reference_goal"].to_pylist(), strict=True))

    return read


def _free_form(release: Release) -> Callable[[], pa.Table | None]:
    return lambda: release.table(_FREE_FORM) if _FREE_FORM in CONFIGS else None
