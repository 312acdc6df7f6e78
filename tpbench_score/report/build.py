"""From a release and saved outputs to the text of the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tpbench_data.release.reader import Release
from tpbench_score.frozen_inputs import FrozenInputs
from tpbench_score.outputs import load_outputs
from tpbench_score.report.deletion_figure import deletion_figure
from tpbench_score.report.differences import differences
from tpbench_score.report.facts import release_facts
from tpbench_score.report.figures import facts_line
from tpbench_score.report.items import gather
from tpbench_score.report.items_html import browser
from tpbench_score.report.loading import Answers
from tpbench_score.report.markup import Markup, join, json_block, tag
from tpbench_score.report.mix import CAPTION as MIX_CAPTION
from tpbench_score.report.mix import mix_panels, slider
from tpbench_score.report.page import Section, nested, page
from tpbench_score.report.rank_figure import rank_figure
from tpbench_score.report.retention_figure import retention_figure
from tpbench_score.report.summary import summary
from tpbench_score.report.table_html import counts_element, notes_of, table_element
from tpbench_score.rules import DEFAULT_RULE, RULES
from tpbench_score.scoring import score_runs
from tpbench_score.tables.loading import run_folders, study_of
from tpbench_score.tables.model import TableResult, Unavailable
from tpbench_score.tables.registry import make_tables

DEFAULT_ITEMS = 2_000


def build_report(
    release: Release,
    outputs: Sequence[Path] = (),
    *,
    stored: bool = False,
    reader: str | None = None,
    runs: Sequence[str] = (),
    allow_missing: bool = False,
    scorer: str = DEFAULT_RULE,
    items: int = DEFAULT_ITEMS,
) -> str:
    """The report as one HTML document, the same bytes for the same inputs.

    Args:
        release: what was asked.
        outputs: run folders; without any, the runs stored in the release.
        stored: take the runs stored in the release besides the folders.
        reader: the reader that tables of one reader show; see `open_study`.
        runs: run ids to choose; see `open_study`.
        allow_missing: count planned inputs without output as wrong instead of refusing them.
        scorer: scorer version that tables and figures are made with; the others stand beside it.
        items: most answers that are shown one by one.

    Raises:
        BadInput: anything in the release, the run folders or the choices that cannot be used.
    """
    inputs = FrozenInputs(release)
    loaded = load_outputs(inputs, run_folders(release, outputs, stored=stored), allow_missing=allow_missing)
    # The other scorers only judge answers here; whether contexts hold the value is told by the first.
    others = (name for name in RULES if name != scorer)
    scores = {scorer: score_runs(inputs, loaded, scorer)}
    scores |= {name: score_runs(inputs, loaded, name, with_retention=False) for name in others}
    study = study_of(inputs, loaded, scores[scorer], reader=reader, runs=runs, with_intervals=True)
    made = make_tables(study)
    results = [result for result in made if isinstance(result, TableResult)]
    absent = [result for result in made if isinstance(result, Unavailable)]
    answers = Answers(inputs, loaded, scores, chosen=np.unique(study.scores["input"]).astype(np.int64))
    chosen_runs = set(study.scores.present("run_id"))
    sections = [
        Section("summary", "Summary", summary(study, results)),
        _figures(results, absent),
        _mix(results),
        _tables(results, absent),
        _scorers(answers),
        Section("items", "Answers one by one", browser(*gather(answers, items), items)),
        Section(
            "facts",
            "Release and signature",
            release_facts(
                release,
                [run.run for run in answers.runs if run.run["run_id"] in chosen_runs],
                str(study.signature or ""),
            ),
        ),
    ]
    version = release.manifest.get("release") or release.digest[:8]
    title = f"{study.reader} on TPBench {version}" if study.reader else f"TPBench {version}"
    subtitle = f"Release {release.digest[:8]}. P1 asks for the initial goal, P2 for the current value, P3 for both."
    return page(title, subtitle, [section for section in sections if section is not None])


# --- sections ------------------------------------------------------------------------------------------------


def _of(results: Sequence[TableResult], kind: str, number: int) -> list[TableResult]:
    return [result for result in results if (result.kind, result.number) == (kind, number)]


def _figures(results: Sequence[TableResult], absent: Sequence[Unavailable]) -> Section:
    figures = (
        ("figure-2", "Figure 2. Ranks change between the probes", rank_figure(_of(results, "figure", 2))),
        ("figure-3", "Figure 3. Deleting the update turn", deletion_figure(_of(results, "figure", 3))),
        ("figure-retention", "Kept and read", retention_figure(_of(results, "table", 6))),
    )
    drawn = [(key, title, picture) for key, title, picture in figures if picture is not None]
    missing = _absent([result for result in absent if result.kind == "figure"])
    entries = tuple((key, title.split(".")[0]) for key, title, _ in drawn)
    return Section("figures", "Figures", join(*(nested(*parts) for parts in drawn), missing), entries)


def _mix(results: Sequence[TableResult]) -> Section | None:
    body: list[Markup] = []
    data: dict[str, list[list[Any]]] = {}
    ranks = [result for result in _of(results, "figure", 2) if not result.part]
    for number, result in enumerate(ranks):
        panels, points = mix_panels(result, f"mix-{number}")
        if panels:
            body += [facts_line(result.facts), tag("div", *panels, class_="panels")]
            data |= points
    if not data:
        return None
    content = join(tag("p", MIX_CAPTION, class_="lead"), slider(), *body, json_block("mix-data", data))
    return Section("mix", "One score for both probes", content)


def _tables(results: Sequence[TableResult], absent: Sequence[Unavailable]) -> Section:
    body, entries = [], []
    tables = [result for result in results if result.kind == "table"]
    for number in dict.fromkeys(result.number for result in tables):
        mine = _of(tables, "table", number)
        parts: list[Markup | None] = []
        for place, result in enumerate(mine):
            same = result.title == mine[0].title
            parts += [
                None if same else tag("h4", result.title),
                facts_line(result.facts) if not place or result.facts != mine[place - 1].facts or same else None,
                table_element(result),
                notes_of(result),
                counts_element(result),
            ]
        key = f"table-{number}"
        body.append(nested(key, f"{mine[0].name}. {mine[0].title}", *parts))
        entries.append((key, str(number)))
    missing = _absent([result for result in absent if result.kind == "table"])
    return Section("tables", "Tables", join(*body, missing), tuple(entries))


def _absent(absent: Sequence[Unavailable]) -> Markup | None:
    """What these outputs cannot give, and what it would need."""
    if not absent:
        return None
    terms = (
        tag("div", tag("dt", f"{result.name}. {result.title}"), tag("dd", f"needs {result.missing}"))
        for result in absent
    )
    return join(tag("h3", "Not available from these outputs"), tag("dl", *terms, class_="absent"))


def _scorers(answers: Answers) -> Section | None:
    body = differences(answers)
    return None if body is None else Section("scorers", "Where the scorers differ", body)
