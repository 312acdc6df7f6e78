"""The last section: the release, its corpora and files, the runs, and the signature of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tpbench_data import __version__
from tpbench_data.names import corpus_label
from tpbench_data.release.reader import Release
from tpbench_score.json_lines import json_text
from tpbench_score.report.markup import Markup, join, tag
from tpbench_score.report.table_html import scrolling

_RELEASE = (
    ("release", "Version"),
    ("digest", "Digest"),
    ("builder", "Built with"),
    ("schema_version", "Schema"),
    ("value_rule", "Value rule"),
    ("protocols", "Protocols"),
    ("seeds", "Sample seeds"),
    ("n", "Questions per seed"),
    ("ratios", "Ratios"),
    ("methods", "Methods"),
    ("date_published", "Published"),
)


def release_facts(release: Release, runs: Sequence[Mapping[str, Any]], signature: str) -> Markup:
    """Everything that tells which data, outputs and program the numbers come from."""
    return join(
        tag("h3", "Signature"),
        tag("p", tag("code", signature or "no scored output")),
        tag("p", f"Page made with tpbench {__version__}. Each table states its own signature."),
        tag("h3", "Release"),
        _terms([(label, _shown(release.manifest[key])) for key, label in _RELEASE if release.manifest.get(key)]),
        tag("h3", "Corpora"),
        _corpora(release.manifest.get("corpora") or {}),
        tag("details", tag("summary", f"Files: {len(release.manifest['files'])}"), _files(release.manifest["files"])),
        tag("h3", "Runs"),
        *(_run(run) for run in runs),
        None if runs else tag("p", "No runs."),
    )


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return json_text(value)


def _terms(terms: Sequence[tuple[str, str]]) -> Markup:
    pairs = (tag("div", tag("dt", name), tag("dd", value, class_="text")) for name, value in terms)
    return tag("dl", *pairs, class_="terms wide-terms")


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[Any]], numbers: Sequence[int] = ()) -> Markup:
    """A plain table; ``numbers``: the columns that hold numbers."""

    def cell(place: int, value: Any) -> Markup:
        if place == 0:
            return tag("th", value, scope="row")
        sortable = float(value) if place in numbers and isinstance(value, int) else None
        return tag(
            "td",
            f"{value:,}" if isinstance(value, int) else value,
            class_=None if place in numbers else "words long text",
            data_value=sortable,
        )

    head = tag(
        "tr",
        *(
            tag("th", name, scope="col", data_column=i, class_=None if i in numbers or not i else "words")
            for i, name in enumerate(heads)
        ),
    )
    body = (tag("tr", *(cell(place, value) for place, value in enumerate(row))) for row in rows)
    table = tag(
        "table",
        tag("caption", caption, class_="unseen"),
        tag("thead", head),
        tag("tbody", *body),
        class_="data sortable",
    )
    return scrolling(table)


def _corpora(corpora: Mapping[str, Any]) -> Markup:
    heads = ("Corpus", "Title", "Version", "Language", "Licence", "SHA-256 of the source")
    rows = [
        [
            corpus_label(name),
            *(_shown(facts.get(key) or "–") for key in ("title", "version", "language", "licence", "sha256")),
        ]
        for name, facts in corpora.items()
        if isinstance(facts, dict)
    ]
    return _table("Corpora of the release", heads, rows)


def _files(files: Sequence[Mapping[str, Any]]) -> Markup:
    rows = [
        [file["path"], "–" if file["rows"] is None else file["rows"], file["bytes"], file["sha256"]] for file in files
    ]
    return _table("Files of the release", ("Path", "Rows", "Bytes", "SHA-256"), rows, numbers=(1, 2))


def _run(run: Mapping[str, Any]) -> Markup:
    known = [(name.replace("_", " "), _shown(value)) for name, value in run.items() if value is not None]
    label = f"{run['reader']}, role {run['role']}, {run['n_planned']:,} planned inputs"
    return tag("details", tag("summary", label), _terms(known))
