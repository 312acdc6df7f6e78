"""Checking a release in depth: grammar, bytes, schema, joins, counts, order, protocols and the meaning of every row.

Nothing stops at the first problem: every check adds to one list, which is sorted at the end. Of a file with very
many problems only the first are listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data.errors import BadInput
from tpbench_data.release.croissant import CROISSANT
from tpbench_data.release.folder_checks import check_bytes, check_present, config_of
from tpbench_data.release.import_checks import ImportedInputChecks, is_import
from tpbench_data.release.issues import REBUILD, Issue, merged
from tpbench_data.release.manifest import MANIFEST, read_manifest
from tpbench_data.release.metadata_checks import CARD, check_card, check_croissant
from tpbench_data.release.order_checks import check_counts, check_order, check_questions
from tpbench_data.release.output_checks import check_results
from tpbench_data.release.protocol_checks import check_protocols, check_templates
from tpbench_data.release.reader import holds_link, read_parquet
from tpbench_data.release.row_checks import InputChecks, check_dialogues
from tpbench_data.release.schema import CONFIGS, INPUT_CONFIGS
from tpbench_data.release.stored_tables import StoredTable, read_stored_table
from tpbench_data.release.table_checks import check_stored_tables
from tpbench_data.release.writer import check_date, check_homepage, check_version

MAX_LISTED = 1_000
"""Problems listed per check and file: a hostile table must not make a report of its own size."""

Tables = dict[str, list[tuple[str, pa.Table]]]


def validate(folder: Path) -> list[Issue]:
    """Every problem of a release folder, sorted; an empty list means that it is sound.

    Raises:
        BadInput: The folder is no release at all, or its schema is newer than this program.
    """
    try:
        manifest = read_manifest(folder)
    except BadInput as problem:
        if not (folder / MANIFEST).is_file() or "newer than this tpbench" in str(problem):
            raise
        return [_issue_of(problem, MANIFEST)]
    issues = set(check_present(folder, manifest))
    issues |= set(_check_manifest(manifest))
    tables: Tables = {}
    unread: set[str] = set()
    stored: list[StoredTable] = []
    configs = [c for c in CONFIGS if any(config_of(entry["path"]) == c for entry in manifest["files"])]
    for entry in manifest["files"]:
        path = entry["path"]
        config = config_of(path)
        data = _read(folder, entry, issues)
        if data is None:  # reported already
            unread |= {config} if config else set()
            continue
        try:
            if config is not None:
                tables.setdefault(config, []).append((path, _table(data, config, entry, issues)))
            elif path.startswith("tables/"):
                stored += read_stored_table(path.removeprefix("tables/"), data)
        except BadInput as problem:
            issues.add(_issue_of(problem, path))
            unread |= {config} if config else set()
        if path == CROISSANT:
            issues |= set(check_croissant(data, manifest, configs))
        elif path == CARD:
            issues |= set(check_card(data, configs))
    issues |= set(_check_rows(tables, manifest, unread))
    issues |= set(_check_stored(stored, tables, unread))
    return merged(issues)


def _issue_of(problem: BadInput, file: str) -> Issue:
    return Issue(file, problem.row or 0, problem.field or "", problem.problem, problem.remedy or REBUILD)


def _read(folder: Path, entry: dict[str, Any], issues: set[Issue]) -> bytes | None:
    """The bytes of a listed file; ``None`` where it is not there, is a link, or has another size or hash."""
    path = folder / entry["path"]
    if holds_link(folder, entry["path"]) or not path.is_file():
        return None
    # A file of another size is read only to tell converted line ends from damage, and only where that may be.
    data = path.read_bytes() if path.stat().st_size <= 2 * entry["bytes"] + 1 else b""
    problems = list(check_bytes(entry, data))
    issues |= set(problems)
    return None if problems else data


def _table(data: bytes, config: str, entry: dict[str, Any], issues: set[Issue]) -> pa.Table:
    table = read_parquet(data, CONFIGS[config], Path(entry["path"]))
    if table.num_rows != entry["rows"]:
        problem = f"holds {table.num_rows} rows, the manifest says {entry['rows']}"
        issues.add(Issue(entry["path"], 0, "rows", problem))
    return table


def _check_manifest(manifest: dict[str, Any]) -> Iterator[Issue]:
    for test, value in (
        (check_version, manifest["release"]),
        (check_date, manifest.get("date_published")),
        (check_homepage, manifest.get("homepage")),
    ):
        try:
            test(value)
        except BadInput as problem:
            yield _issue_of(problem, MANIFEST)
    yield from check_templates(manifest)


def _check_rows(tables: Tables, manifest: dict[str, Any], unread: set[str]) -> Iterator[Issue]:
    """Checks what rows say; of what could not be read (``unread``) nothing follows for the rows that refer to it."""
    dialogues: dict[tuple[str, str], dict[str, Any]] = {}
    for path, table in tables.get("dialogues", []):
        yield from _bounded(path, check_dialogues(path, table, dialogues))
    checks = ImportedInputChecks(manifest) if is_import(manifest) else InputChecks(dialogues, manifest)
    cells: dict[str, tuple[str | None, float | None]] = {}
    for config in INPUT_CONFIGS:
        for path, table in tables.get(config, []):
            if "dialogues" not in unread:
                yield from _bounded(path, checks.check(path, table, config))
            yield from _bounded(path, check_protocols(path, table, config))
            columns = (table[name].to_pylist() for name in ("input_id", "method", "ratio"))
            cells |= {name: (method, ratio) for name, method, ratio in zip(*columns, strict=True)}
        yield from _bounded(f"data/{config}", check_questions(config, tables.get(config, [])))
    yield from check_order(tables)
    if not unread.intersection(INPUT_CONFIGS):
        yield from check_counts(tables, manifest)
    runs, outputs, judgments = (tables.get(config, []) for config in ("runs", "outputs", "judgments"))
    known = None if unread.intersection(INPUT_CONFIGS) else cells
    complete = not unread.intersection(("runs", "outputs", "judgments"))
    yield from _bounded("data/outputs", check_results(runs, outputs, judgments, known, complete))


def _check_stored(stored: list[StoredTable], tables: Tables, unread: set[str]) -> Iterator[Issue]:
    inputs: Counter[tuple[str, str, str]] = Counter()
    for config in INPUT_CONFIGS:
        for _, table in tables.get(config, []):
            columns = zip(table["corpus"].to_pylist(), table["method"].to_pylist(), strict=True)
            inputs.update((corpus, config, method) for corpus, method in columns)
    runs = {name for _, table in tables.get("runs", []) for name in table["run_id"].to_pylist()}
    yield from _bounded("tables", check_stored_tables(stored, inputs, None if "runs" in unread else runs))


def _bounded(place: str, issues: Iterable[Issue]) -> Iterator[Issue]:
    found = iter(issues)
    yield from islice(found, MAX_LISTED)
    if next(found, None) is not None:
        yield Issue(place, 0, "", f"has more problems of this kind: the first {MAX_LISTED} are listed")
