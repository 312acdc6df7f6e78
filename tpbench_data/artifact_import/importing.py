"""The import from end to end: check hashes, read every known file, merge, write a release, report the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data import __version__
from tpbench_data.artifact_import import answer_rows, fmts, judgments, matched, probe_rows, scored_only, tables
from tpbench_data.artifact_import.checksums import check_hashes
from tpbench_data.artifact_import.findings import Findings
from tpbench_data.artifact_import.merging import Collection
from tpbench_data.corpora import corpus_named
from tpbench_data.errors import BadInput
from tpbench_data.release.schema import DIALOGUES, FREE_FORM, JUDGMENTS, OUTPUTS, RUNS
from tpbench_data.release.writer import write_release

DELETION_TAG = "deletion"
_TAGS = ("", DELETION_TAG)

SKIPPED = (
    ("data/construction/", "the candidate pool holds no reader inputs"),
    ("data/llmlingua_correction/", "its corrected rows stand in the probe files already"),
    ("results/llmlingua_correction/", "its corrected scores stand in the result files already"),
    ("results/p3_segment_sensitivity/", "scores that `tpbench-score` computes again"),
    ("data/semantic_evaluation/ae_", "Answer Equivalence is not part of a release"),
    ("results/semantic_evaluation/", "what the judge was sent, or judgments of other pairs"),
    ("data/semantic_evaluation/", "scores and scope that follow from inputs and judgments"),
    ("batches/", "references that the items of data/fmts/ state as well"),
    ("results/fmts", "scores and diagnostics that `tpbench-score` computes again, or how the answers were run"),
    ("results/", "a summary, or scores that `tpbench-score` computes again"),
    ("data/", "not a kind of file that holds inputs"),
)
"""Beginning of a path -> why such files stay out; the first that fits says it."""


@dataclass(frozen=True)
class Imported:
    """The result of an import.

    Attributes:
        digest: Digest of the release; ``None`` where problems kept it from being written.
        findings: What was taken, left and found wrong.
        hashes: Files whose hash was checked.
        inputs: Config -> rows.
        runs: Run id -> outputs.
    """

    digest: str | None
    findings: Findings
    hashes: int
    inputs: Mapping[str, int]
    runs: Mapping[str, int]


def import_artifact(folder: Path, out: Path, release: str = "1.0.0") -> Imported:
    """Imports a clone of the published artifact.

    Args:
        folder: Its root.
        out: The release to make; nothing is written where the artifact has a problem.
        release: Version of the release.

    Raises:
        BadInput: The folder is missing or holds nothing of the artifact, or ``out`` exists.
    """
    if not folder.is_dir():
        raise BadInput("no such folder", file=folder, remedy="Give the root of a clone of the artifact")
    if out.exists():
        raise BadInput("already exists", file=out, remedy="Choose another --out, or move the old folder away")
    findings = Findings()
    files = _files(folder)
    hashes = check_hashes(folder, findings)
    collection = Collection(findings)
    _read_probes(folder, files, collection, findings)
    judged, judge = _read_results(folder, files, collection, findings)
    collection.check_complete()
    inputs, answers = collection.merged()
    made, ids = tables.probe_tables(inputs)
    runs, outputs = tables.run_tables(inputs, ids, answers)
    free = fmts.read(folder, files, findings)
    made["free_form"] = pa.Table.from_pylist(free.inputs, schema=FREE_FORM)
    if free.run is not None:
        runs = pa.concat_tables([runs, pa.Table.from_pylist([free.run], schema=RUNS)])
        outputs = pa.concat_tables([outputs, pa.Table.from_pylist(free.outputs, schema=OUTPUTS)])
    if judge is not None:
        runs = pa.concat_tables([runs, pa.Table.from_pylist([judge], schema=RUNS)])
    if not findings.imported and not findings.problems:
        raise BadInput("holds no file of the artifact that could be imported", file=folder, remedy="Give its root")
    _name_skipped(files, findings)
    digest = None
    if not findings.problems:
        facts = _facts(made, release, findings)
        dialogues = pa.Table.from_pylist(free.dialogues, schema=DIALOGUES)
        results = {"runs": runs, "outputs": outputs, "judgments": judged}
        digest = write_release(out, {"dialogues": dialogues, **made, **results}, facts)
    counts = dict.fromkeys(runs["run_id"].to_pylist(), 0)
    for name in outputs["run_id"].to_pylist():
        counts[name] += 1
    return Imported(digest, findings, hashes, {probe: t.num_rows for probe, t in made.items() if t.num_rows}, counts)


def _files(folder: Path) -> list[str]:
    """Every file below the root, sorted; version control and symbolic links are not followed."""
    found = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not path.is_symlink() and not name.startswith(".git/"):
            found.append(name)
    return sorted(found)


def _read_probes(folder: Path, files: list[str], collection: Collection, findings: Findings) -> None:
    for file in files:
        if probe_rows.cell_of(file) is None:
            continue
        deletion = probe_rows.DELETION_FILE.fullmatch(file) is not None
        if not deletion:
            collection.add_inputs(probe_rows.inputs_of(folder, file, findings))
    for file in files:
        if probe_rows.DELETION_FILE.fullmatch(file):
            collection.add_inputs(probe_rows.inputs_of(folder, file, findings), DELETION_TAG)
        elif scored_only.SCORED_FILE.fullmatch(file):
            unknown = (
                one for one in scored_only.inputs_of(folder, file, findings) if not collection.has_inputs(one.asked)
            )
            collection.add_inputs(list(unknown))


def _read_results(
    folder: Path, files: list[str], collection: Collection, findings: Findings
) -> tuple[pa.Table, dict[str, Any] | None]:
    best: dict[Any, str] = {}
    for file in files:
        key = answer_rows.cell_key(file)
        if key is not None and (key not in best or answer_rows.is_raw(file)):
            best[key] = file
    for file in files:
        key = answer_rows.cell_key(file)
        if key is None:
            continue
        if best[key] != file:
            findings.skipped[file] = f"the raw answers of the same cell are in {best[key]}"
            continue
        deletion = "update_evidence/p2_" in file
        tags = (DELETION_TAG, "") if deletion else ("",)
        collection.add_answers(answer_rows.answers_of(folder, file, findings), tags)
    if all(name in files for name in matched.FILES):
        found = matched.read(folder, collection, findings)
        collection.add_inputs(found.inputs, matched.TAG)
        collection.add_answers(found.answers, (matched.TAG, ""))
    else:
        _part_missing(matched.FILES, files, findings)
    if all(name in files for name in judgments.FILES):
        return judgments.read(folder, findings)
    _part_missing(judgments.FILES, files, findings)
    return JUDGMENTS.empty_table(), None


def _part_missing(needed: tuple[str, ...], files: list[str], findings: Findings) -> None:
    """Files that only make sense together: some of them without the rest is a problem, none of them is not."""
    there = [name for name in needed if name in files]
    for name in needed:
        if there and name not in files:
            findings.problem(name, 0, f"is missing, but {there[0]} needs it")


def _name_skipped(files: list[str], findings: Findings) -> None:
    for file in files:
        if file in findings.imported or file in findings.skipped:
            continue
        reason = next((why for start, why in SKIPPED if file.startswith(start)), "not data")
        if probe_rows.cell_of(file) or answer_rows.cell_key(file):
            reason = "holds no row that could be imported"
        findings.skipped[file] = reason


def _facts(made: Mapping[str, pa.Table], release: str, findings: Findings) -> dict[str, Any]:
    used = [table for table in made.values() if table.num_rows]

    def values(column: str) -> list[Any]:
        return list(dict.fromkeys(value for table in used for value in table[column].unique().to_pylist()))

    seeds = sorted({seed for table in used for seeds in table["sample_seeds"].to_pylist() for seed in seeds})
    return {
        "name": "tpbench",
        "release": release,
        "builder": f"tpbench {__version__} import-artifact",
        "corpora": {name: _corpus(name) for name in sorted(values("corpus"))},
        "value_rule": "first",
        "seeds": seeds,
        "n": None,
        "ratios": sorted(ratio for ratio in values("ratio") if ratio is not None),
        "methods": values("method_config"),
        "probes": [probe for probe, table in made.items() if table.num_rows],
        "protocols": [tables.PROTOCOL],
        "counts": {},
        "import": findings.as_dict(),
    }


def _corpus(name: str) -> dict[str, Any]:
    """What is known of a corpus; the artifact does not say which files of it were used."""
    known = corpus_named(name)
    return {
        "title": known.title,
        "licence": known.licence,
        "homepage": known.homepage,
        "citation": known.citation,
        "files": 0,
        "sha256": "unknown",
    }
