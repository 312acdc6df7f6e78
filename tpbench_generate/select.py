"""Adding a method's contexts to a release: a new folder with a new version, the old one untouched.

Source: design page "Who uses it" and "Commands".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data import __version__
from tpbench_data.budget import format_ratio
from tpbench_data.errors import BadInput
from tpbench_data.names import METHOD_LABELS
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import CONFIGS, INPUT_CONFIGS
from tpbench_data.release.writer import write_release
from tpbench_generate.cases import Case, Row, cases_of
from tpbench_generate.contexts_file import GivenContext, read_contexts
from tpbench_generate.methods import LoadedMethod, load_method
from tpbench_generate.workers import Job, apply_all

_NOT_CARRIED_ON = {"digest", "files", "schema_version", "date_published"}
_LIBRARIES = ("llmlingua", "numpy", "sentence-transformers", "tokenizers", "torch", "transformers")
_NAME = re.compile(r"[a-z0-9_]{1,60}")


@dataclass(frozen=True)
class Wanted:
    """Which rows to add; empty filters mean everything that the release has.

    Attributes:
        methods: Methods as typed: ``name``, ``name(setting=value)`` or ``file.py:Class``; one plain name with contexts.
        ratios: Nominal ratios for methods that take one.
        contexts: File with contexts made elsewhere, None = apply the methods.
        probes: Probe configs.
        protocols: ``paper``, ``matched``.
        corpora: Corpora.
    """

    methods: tuple[str, ...]
    ratios: tuple[float, ...] = ()
    contexts: Path | None = None
    probes: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    corpora: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cell:
    """What was added for one probe, corpus, protocol, method and ratio.

    Attributes:
        rows: Inputs added.
        turns: Share of turns kept, None for contexts that are no selection.
        words: Share of white-space words kept, against the marked full context.
    """

    probe: str
    corpus: str
    protocol: str
    method: str
    ratio: float | None
    rows: int
    turns: float | None
    words: float


@dataclass(frozen=True)
class Added:
    """The new release: its digest and version, its new cells, and what its user should know."""

    digest: str
    version: str
    cells: list[Cell]
    notes: list[str]


def select(
    release: Release,
    wanted: Wanted,
    out: Path,
    *,
    version: str | None = None,
    workers: int = 1,
    device: str = "cpu",
    progress: Callable[[str], None] = lambda text: None,
) -> Added:
    """Writes a release that holds everything of the old one and the new rows.

    Args:
        release: The release to start from.
        wanted: What to add.
        out: A folder that does not exist yet.
        version: Version of the new release; None = the next minor one.
        workers: Processes that apply methods.
        device: Torch device of model-based methods.
        progress: Is told what is going on.

    Raises:
        BadInput: An unknown method, a missing ratio, rows that the release has already, or contexts that do not fit.
    """
    if out.exists():
        raise BadInput("already exists", file=out, remedy="Choose another --out, or move the old folder away")
    version = version or _next_version(release)
    if version == release.manifest["release"]:
        raise BadInput(f"version {version} is the old one", remedy="Give a new --release-version")
    for name, asked, present in (
        ("probe", wanted.probes, [config for config in INPUT_CONFIGS if release.files(config)]),
        ("protocol", wanted.protocols, release.manifest["protocols"]),
        ("corpus", wanted.corpora, list(release.manifest["corpora"])),
    ):
        for value in asked:
            if value not in present:
                raise BadInput(
                    f"this release has no {name} {value!r}", field=f"--{name}", remedy=f"It has: {', '.join(present)}"
                )
    if wanted.contexts is not None:
        rows, facts = _given_rows(release, wanted, wanted.contexts)
    else:
        rows, facts = _selected_rows(release, wanted, workers, device, progress)
    if not any(rows.values()):
        raise BadInput("nothing to add: no question matches all the filters together", file=release.path)
    tables = _added_to(release, rows)
    new = [row for group in rows.values() for row in group]
    manifest = {key: value for key, value in release.manifest.items() if key not in _NOT_CARRIED_ON}
    manifest |= {
        "release": version,
        "methods": list(dict.fromkeys([*manifest["methods"], *(row["method_config"] for row in new)])),
        "ratios": _ratios(manifest["ratios"], new),
        "selected": [
            *manifest.get("selected", []),
            facts
            | {"from_release": manifest["release"], "from_digest": release.digest, "by": f"tpbench {__version__}"},
        ],
    }
    progress("writing")
    digest = write_release(out, tables, manifest, release.stored_tables())
    return Added(digest, version, _cells(rows), _notes(tables, rows))


def _selected_rows(
    release: Release, wanted: Wanted, workers: int, device: str, progress: Callable[[str], None]
) -> tuple[dict[str, list[Row]], dict[str, Any]]:
    methods = [(text, load_method(text)) for text in wanted.methods]
    takes_ratio = [method for _, method in methods if method.selector.size != "adaptive"]
    if takes_ratio and not wanted.ratios:
        raise BadInput(
            f"method {takes_ratio[0].selector.name} needs a ratio", field="--ratio", remedy="Give a fraction: 0.3"
        )
    if wanted.ratios and not takes_ratio:
        raise BadInput(
            f"method {methods[0][1].selector.name} chooses its own share", field="--ratio", remedy="Leave it out"
        )
    progress("reading the release")
    cases = cases_of(release, _probes(release, wanted), protocols=wanted.protocols, corpora=wanted.corpora)
    todo = [
        (case, method, text, ratio)
        for text, method in methods
        for ratio in ((None,) if method.selector.size == "adaptive" else wanted.ratios)
        for case in _at_ratio(cases, ratio)
    ]
    _check_new(release, [(case, str(method.selector.pinned()), ratio) for case, method, _, ratio in todo])
    by_dialogue = sorted(range(len(todo)), key=lambda place: (todo[place][0].row["dialogue_id"], place))
    jobs = [
        Job(text, case.item, ratio, case.rule, case.rendering)
        for case, _, text, ratio in (todo[place] for place in by_dialogue)
    ]
    done = apply_all(jobs, workers=workers, device=device, on_progress=lambda n: progress(f"{n}/{len(jobs)} contexts"))
    selections = dict(zip(by_dialogue, done, strict=True))
    rows: dict[str, list[Row]] = {}
    for place, (case, method, _, ratio) in enumerate(todo):
        rows.setdefault(case.probe, []).append(
            case.input_row(
                method=method.selector.name,
                method_config=str(method.selector.pinned()),
                selector_seed=method.selector.selector_seed,
                ratio=ratio,
                kept=selections[place].kept,
                context=selections[place].context,
            )
        )
    return rows, _facts([method for _, method in methods], device)


def _given_rows(release: Release, wanted: Wanted, path: Path) -> tuple[dict[str, list[Row]], dict[str, Any]]:
    if len(wanted.methods) != 1 or not _NAME.fullmatch(wanted.methods[0]):
        raise BadInput(
            "contexts made elsewhere need one method name", field="--method", remedy="Use letters a-z, digits and _"
        )
    if len(wanted.ratios) > 1:
        raise BadInput("contexts made elsewhere have at most one nominal ratio", field="--ratio")
    (method,) = wanted.methods
    if method in METHOD_LABELS:
        raise BadInput(f"{method!r} is a method of tpbench", field="--method", remedy="Give the contexts another name")
    ratio = wanted.ratios[0] if wanted.ratios else None
    given = read_contexts(path)
    asked_probes = _probes(release, wanted)
    for line in given:
        if line.probe not in asked_probes:
            raise BadInput(
                f"this release has no probe {line.probe!r}, or --probe leaves it out", file=path, row=line.row,
                field="probe", remedy=f"Probes: {', '.join(asked_probes)}",
            )  # fmt: skip
    probes = [probe for probe in asked_probes if any(line.probe == probe for line in given)]
    cases = _at_ratio(cases_of(release, probes, protocols=wanted.protocols, corpora=wanted.corpora), ratio)
    contexts = _match(given, cases, path)
    _check_new(release, [(case, method, ratio) for case in cases])
    rows: dict[str, list[Row]] = {}
    for case in cases:
        context = contexts[case.probe, case.row["corpus"], case.row["example_id"]]
        rows.setdefault(case.probe, []).append(
            case.input_row(
                method=method, method_config=method, selector_seed=None, ratio=ratio, kept=None, context=context
            )
        )
    return rows, {"methods": {method: {"contexts": path.name}}}


def _match(given: list[GivenContext], cases: Sequence[Case], path: Path) -> dict[tuple[str, str, str], str]:
    """The context of every question; each must have one, and each line must be for one."""
    corpora: dict[tuple[str, str], set[str]] = {}
    for case in cases:
        corpora.setdefault((case.probe, case.row["example_id"]), set()).add(case.row["corpus"])
    contexts: dict[tuple[str, str, str], str] = {}
    for line in given:
        known = corpora.get((line.probe, line.example_id), set())
        fitting = known if line.corpus is None else known & {line.corpus}
        if not fitting:
            raise BadInput(
                f"there is no question {line.example_id!r} in {line.probe}", file=path, row=line.row, field="example_id"
            )
        if len(fitting) > 1:
            raise BadInput(
                f"{line.example_id!r} stands in several corpora: {', '.join(sorted(fitting))}", file=path, row=line.row,
                field="corpus", remedy="Add a field corpus to the line",
            )  # fmt: skip
        key = (line.probe, next(iter(fitting)), line.example_id)
        if key in contexts:
            raise BadInput(f"{line.example_id!r} has a context already", file=path, row=line.row)
        contexts[key] = line.context
    missing = [
        f"{case.probe} {case.row['example_id']}"
        for case in cases
        if (case.probe, case.row["corpus"], case.row["example_id"]) not in contexts
    ]
    if missing:
        raise BadInput(
            f"{len(dict.fromkeys(missing))} questions have no context, such as {missing[0]}",
            file=path,
            remedy="Give every question of the probe a context, or choose with --probe and --corpus",
        )
    return contexts


def _probes(release: Release, wanted: Wanted) -> list[str]:
    return [
        config for config in INPUT_CONFIGS if release.files(config) and (not wanted.probes or config in wanted.probes)
    ]


def _at_ratio(cases: Sequence[Case], ratio: float | None) -> list[Case]:
    """The cases of the cells at a ratio; where a probe of a corpus has no such cell, all its cases open a new one."""
    if ratio is None:
        return list(cases)
    present = {(case.probe, case.protocol, case.row["corpus"]) for case in cases if ratio in case.ratios}
    return [
        case for case in cases if ratio in case.ratios or (case.probe, case.protocol, case.row["corpus"]) not in present
    ]


def _check_new(release: Release, keys: Sequence[tuple[Case, str, float | None]]) -> None:
    configs = dict.fromkeys(case.probe for case, _, _ in keys)
    columns = ["corpus", "example_id", "protocol", "method_config", "ratio"]
    known = {(config, *row.values()) for config in configs for row in release.table(config).select(columns).to_pylist()}
    for case, config, ratio in keys:
        if (case.probe, case.row["corpus"], case.row["example_id"], case.protocol, config, ratio) in known:
            at = "" if ratio is None else f" at ratio {format_ratio(ratio)}"
            raise BadInput(
                f"this release has method {config}{at} in {case.probe} already",
                file=release.path,
                remedy="Choose other settings, another ratio or other probes",
            )


def _added_to(release: Release, rows: dict[str, list[Row]]) -> dict[str, pa.Table]:
    tables = {config: release.table(config) for config in CONFIGS}
    for config, group in rows.items():
        tables[config] = pa.concat_tables([tables[config], pa.Table.from_pylist(group, schema=CONFIGS[config])])
    return tables


def _ratios(known: Sequence[float], rows: Sequence[Row]) -> list[float]:
    return list(dict.fromkeys([*known, *(row["ratio"] for row in rows if row["ratio"] is not None)]))


def _facts(methods: Sequence[LoadedMethod], device: str) -> dict[str, Any]:
    facts: dict[str, Any] = {"methods": {str(one.selector.pinned()): dict(one.origin) for one in methods}}
    if any(one.selector.needs_model for one in methods):
        facts |= {"device": device, "library_versions": _library_versions()}
    return facts


def _library_versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _next_version(release: Release) -> str:
    match = re.fullmatch(r"(\d+)\.(\d+)\.\d+.*", str(release.manifest["release"]))
    if match is None:
        raise BadInput("the version of the release is no MAJOR.MINOR.PATCH", remedy="Give --release-version")
    return f"{match[1]}.{int(match[2]) + 1}.0"


def _cells(rows: dict[str, list[Row]]) -> list[Cell]:
    groups: dict[tuple[str, str, str, str, float | None], list[Row]] = {}
    for probe, group in rows.items():
        for row in group:
            key = (probe, row["corpus"], row["protocol"], row["method_config"], row["ratio"])
            groups.setdefault(key, []).append(row)
    return [
        Cell(
            *key,
            rows=len(group),
            turns=None
            if group[0]["kept_turns"] is None
            else sum(row["k_turns"] / row["n_turns"] for row in group) / len(group),
            words=sum(row["context_words"] / max(1, row["full_context_words"]) for row in group) / len(group),
        )
        for key, group in groups.items()
    ]


def _notes(tables: dict[str, pa.Table], rows: dict[str, list[Row]]) -> list[str]:
    """Cells in which nothing can be compared with the full context."""
    notes = []
    for probe, group in rows.items():
        columns = tables[probe].select(["method", "ratio"]).to_pylist()
        compared = {row["ratio"] for row in columns if row["method"] == "full_context"}
        for ratio in dict.fromkeys(row["ratio"] for row in group):
            if ratio is not None and ratio not in compared:
                notes.append(
                    f"{probe} has no full_context at ratio {format_ratio(ratio)} to compare with;"
                    f" add it with --method full_context --ratio {format_ratio(ratio)}"
                )
    return notes
