"""Everything a table may read, chosen once: scores of the wanted runs, the release's sizes, saved judgments."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from tpbench_data.errors import BadInput
from tpbench_score.signature import Signature
from tpbench_score.tables.scores import Scores
from tpbench_score.tables.universe import Universe

GOAL_PROBES = ("initial_goal", "joint_recovery")
"""The probes that ask for the user's goal, P1 and P3."""


@dataclass(frozen=True)
class Study:
    """The inputs of all tables.

    Attributes:
        scores: scored rows of the chosen runs.
        universe: input counts of the release.
        reader: the reader that tables of one reader show: the one asked for, else the one with most answers.
        reader_given: whether ``reader`` was asked for.
        kv_settings: run id -> settings of its cache compression, for runs that have them.
        judgments: (reference, answer) -> label of the saved judgments.
        references: input id -> reference goal, for joining judgments.
        free_form: the release's free-form inputs with their contexts, where it has any.
        with_intervals: whether rates get their bootstrap intervals.
        signature: what the scores were made from; each table adds the settings of its statistics.
        chinese_left_out: whether there are Chinese answers scored by `paper-1`, whose P1, P3 and retention no table
            shows.
    """

    scores: Scores
    universe: Universe = field(default_factory=Universe)
    reader: str = ""
    reader_given: bool = False
    kv_settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    judgments: Mapping[tuple[str, str], str] = field(default_factory=dict)
    references: Callable[[], Mapping[str, str]] = dict
    free_form: Callable[[], pa.Table | None] = lambda: None
    with_intervals: bool = False
    signature: Signature | None = None
    chinese_left_out: bool = False

    @property
    def others(self) -> list[str]:
        """Readers besides ``reader``, sorted."""
        return [name for name in self.scores.present("reader") if name != self.reader]

    def rows(self, roles: Sequence[str], *probes: str, reader: str | None = None) -> Scores:
        """Scored rows of a reader in the first of the given roles that holds any of the probes."""
        mine = self.scores.pick(reader=self.reader if reader is None else reader)
        if probes:
            mine = mine.pick(probe=probes)
        for role in roles:
            found = mine.pick(role=role)
            if len(found):
                return found
        return mine.take(np.zeros(len(mine), dtype=np.bool_))


def open_study(study: Study, *, reader: str | None = None, runs: Sequence[str] = ()) -> Study:
    """Chooses reader and runs.

    Args:
        reader: the reader to show; ``None`` for the one with most scored rows (of several, the first by name).
        runs: run ids that settle which run speaks for its reader and role.

    Raises:
        BadInput: an unknown reader or run, or two runs of one reader and role that answer the same inputs.
    """
    scores = _chosen_runs(study.scores, runs)
    if reader is not None:
        if reader not in scores.present("reader"):
            known = ", ".join(scores.present("reader")) or "none"
            raise BadInput(f"no outputs of reader '{reader}'", field="--reader", remedy=f"Readers here: {known}")
        scores = scores.pick(reader=reader)
    _refuse_rivals(scores, study.kv_settings)
    codes, sizes = np.unique(scores["reader"], return_counts=True)
    ranked = sorted(zip(-sizes, (scores.names["reader"][code] for code in codes), strict=True))
    main = ranked[0][1] if ranked else ""
    return replace(study, scores=scores, reader=main, reader_given=reader is not None)


def _chosen_runs(scores: Scores, runs: Sequence[str]) -> Scores:
    if not runs:
        return scores
    known = scores.present("run_id")
    for run in runs:
        if run not in known:
            raise BadInput(f"no run '{run}'", field="--run", remedy=f"Runs here: {', '.join(known) or 'none'}")
    chosen = scores.is_in("run_id", runs)
    cell = scores["reader"].astype(np.int64) * len(scores.names["role"]) + scores["role"]
    settled = np.isin(cell, np.unique(cell[chosen]))
    return scores.take(chosen | ~settled)


def _refuse_rivals(scores: Scores, kv_settings: Mapping[str, Mapping[str, object]]) -> None:
    """Two runs may share reader and role where they answer different inputs (another method, another cache setting)."""
    settings = [json.dumps(kv_settings.get(run, {}), sort_keys=True) for run in scores.names["run_id"]]
    numbered = {text: number for number, text in enumerate(sorted(set(settings)))}
    setting = np.array([numbered[text] for text in settings], dtype=np.int64)
    # Several entries of one row (its seeds) share the input; the run tells rows of different runs apart.
    ratio = np.unique(np.nan_to_num(scores["ratio"], nan=-1.0), return_inverse=True)[1]
    columns = ("reader", "role", "input_id", "method")
    answered = np.stack(
        [*(scores[c] for c in columns), ratio, setting[scores["run_id"]], scores["run_id"]], axis=1
    ).astype(np.int64)
    distinct = np.unique(answered, axis=0)
    same = np.all(distinct[1:, :-1] == distinct[:-1, :-1], axis=1)
    if not same.any():
        return
    first = int(np.flatnonzero(same)[0])
    reader, role = (scores.names[c][code] for c, code in zip(("reader", "role"), distinct[first, :2], strict=True))
    alike = np.all(distinct[:, :2] == distinct[first, :2], axis=1)
    rivals = sorted({scores.names["run_id"][code] for code in distinct[alike, -1]})
    raise BadInput(
        f"{len(rivals)} runs of reader '{reader}' in role '{role}' answer the same inputs: {', '.join(rivals)}",
        field="--run",
        remedy=f"Choose one, for example --run {rivals[0]}",
    )
