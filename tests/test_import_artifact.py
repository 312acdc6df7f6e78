"""Importing a folder in the published layout: nothing lost, nothing guessed, every damage reported."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from artifact_folder import METHODS, is_published, probe_row, write_artifact, write_hashes, write_judgments, write_lines
from conftest import run_command, shared_file, write_sgd_folder
from small_release import write_small_run

from tpbench_data.artifact_import.answer_rows import cell_key, rebuilt_answer
from tpbench_data.artifact_import.importing import import_artifact
from tpbench_data.release.reader import Release
from tpbench_data.release.validate import validate
from tpbench_data.release.writer import write_release
from tpbench_score import score
from tpbench_score.parsing import extract_json, parse_reader_text
from tpbench_score.render import table_object
from tpbench_score.tables.loading import load_study
from tpbench_score.tables.model import TableResult
from tpbench_score.tables.registry import make_tables

READERS = {"llama": "llama-3.1-8b-instruct", "mistral": "mistral-7b-instruct"}
TEXTS = (
    '{"value": "8:30 pm", "abstain": false}',
    '{"value": "a \\u007b brace", "support": "x\u2028y"}',
    '{"value": null}',
    '{"value": "find a quiet table in Harrow; time: 6:30 pm"}',
    '{"value": "unknown"}',
    '{"value": "", "abstain": true}',
    '{"value": "quiet table"}',
)


def answer(reader: str, row: dict[str, Any]) -> str:
    """An answer that depends on reader, example and method, not on the sample."""
    if (sum(map(ord, f"{reader}{row['input_id']}"))) % 3 == 0 and row["reference_value"]:
        value = row["reference_value"] if row["reference_goal"] is None else f"book; time: {row['reference_value']}"
        return json.dumps({"value": value, "support": "", "abstain": False})
    return TEXTS[sum(map(ord, f"{reader}{row['example_id']}{row['method']}")) % len(TEXTS)]


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of ours over two corpora with three overlapping samples."""
    place = tmp_path_factory.mktemp("native")
    corpus = write_sgd_folder(place / "corpus" / "train")
    options = ["--corpus", f"sgd={corpus}", "--n", 5, "--seeds", "42,43,44", "--ratios", "0.1,0.3"]
    methods = "full_context,recency,random,first_turns,uniform_stride"
    result = run_command("tpbench-data", "build", *options, "--methods", methods, "--out", place / "tpbench")
    assert result.returncode == 0, result.stderr
    return place / "tpbench"


@pytest.fixture(scope="module")
def written(native: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The artifact folder of that release."""
    folder = tmp_path_factory.mktemp("artifact") / "clone"
    write_artifact(folder, Release.open(native), answer)
    return folder


@pytest.fixture
def artifact(written: Path, tmp_path: Path) -> Path:
    """A copy, free to be broken."""
    return Path(shutil.copytree(written, tmp_path / "clone"))


@pytest.fixture(scope="module")
def imported(written: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("imported") / "tpbench"
    found = import_artifact(written, out)
    assert found.digest is not None, found.findings.problems[:5]
    return out


def rows_by_key(release: Release) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {
        (probe, row["example_id"], row["method_config"], row["ratio"]): row
        for probe in release.probes
        for row in release.table(probe).to_pylist()
        if is_published(probe, row)
    }


def test_every_prompt_keeps_every_byte(native: Path, imported: Path) -> None:
    before, after = rows_by_key(Release.open(native)), rows_by_key(Release.open(imported))
    assert before.keys() == after.keys()
    columns = ("prompt", "context", "input_id", "sample_seeds", "reference_goal", "reference_value", "old_value")
    for key, row in before.items():
        for column in (*columns, "slot", "slot_label", "alias_equivalent", "context_words", "full_context_words"):
            assert after[key][column] == row[column] or (column == "full_context_words"), (key, column)


def test_tables_equal_those_computed_directly(native: Path, imported: Path, tmp_path: Path) -> None:
    release = Release.open(native)
    folders = []
    for reader, name in READERS.items():
        probes = release.probes if reader == "llama" else ["current_value", "joint_recovery"]
        rows = [row for probe in probes for row in release.table(probe).to_pylist() if is_published(probe, row)]
        answers = {row["input_id"]: answer(reader, row) for row in rows}
        run_id = f"{name}-00000000"
        folders.append(write_small_run(tmp_path / reader, rows, answers, run_id=run_id, reader=name))
    direct, turns = cells(make_tables(load_study(release, folders, with_intervals=True)))
    again, turns_again = cells(make_tables(load_study(Release.open(imported), with_intervals=True)))
    assert len(direct) >= 12
    assert again == direct
    # An artifact holds contexts, not the turns they were made of.
    assert turns.keys() == turns_again.keys()
    assert set(turns_again.values()) == {None}


def cells(tables: list[Any]) -> tuple[dict[str, Any], dict[Any, Any]]:
    """The rows of all tables without the shares of turns kept, and those shares."""
    found: dict[str, Any] = {}
    turns: dict[Any, Any] = {}
    for table in tables:
        if isinstance(table, TableResult) and table.name != "Table 2":
            name = f"{table.name} {table.part} {dict(table.facts)}"
            rows = [(row["key"], row["cells"]) for row in table_object(table)["rows"]]
            for key, row in rows:
                for place, cell in enumerate(row):
                    if "kept" in cell:
                        turns[name, key, place] = cell["kept"].pop("turns")
            found[name] = rows
    return found, turns


def test_an_imported_release_is_valid(imported: Path) -> None:
    assert [str(issue) for issue in validate(imported)] == []


def test_an_edited_row_of_an_import_is_found(imported: Path, tmp_path: Path) -> None:
    release = Release.open(imported)
    tables = {config: release.table(config) for config in release.configs}
    rows = tables["current_value"].to_pylist()
    rows[0]["context_words"] += 1
    rows[1]["reference_value"] = "x"
    rows[2]["corpus"] = "other"
    rows[3]["prompt"] = [{"role": "assistant", "content": ""}]
    rows[4]["sample_seeds"] = []
    tables["current_value"] = pa.Table.from_pylist(rows, schema=tables["current_value"].schema)
    facts = {key: value for key, value in release.manifest.items() if key not in ("digest", "files", "schema_version")}
    write_release(tmp_path / "edited", tables, facts)
    found = {(issue.row, issue.field) for issue in validate(tmp_path / "edited") if issue.row <= 5}
    columns = {(1, "context_words"), (2, "value_alternatives"), (3, "corpus"), (3, "input_id"), (4, "prompt")}
    assert columns | {(5, "sample_seeds")} <= found


def test_provenance_and_text_sources(imported: Path) -> None:
    release = Release.open(imported)
    runs = {(row["reader"], row["role"]): row for row in release.table("runs").to_pylist()}
    assert set(runs) == {(name, "main") for name in READERS.values()}
    mistral = runs["mistral-7b-instruct", "main"]
    assert (mistral["model_id"], mistral["model_revision"], mistral["backend"]) == ("org/mistral", "0123", "import")
    sources = set(release.table("outputs")["text_source"].to_pylist())
    assert sources == {"json_span", "rebuilt"}
    assert release.manifest["import"]["problems"] == []


def test_samples_that_differ_keep_inputs_of_their_own(artifact: Path, tmp_path: Path) -> None:
    file = artifact / "results/main/sgd_r30_s43_p3_scored.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    shared = set_of_ids(artifact, 42) & {row["dialogue_id"] for row in rows}
    target = next(row for row in rows if row["dialogue_id"] in shared)
    target |= {"pred_value": "something else", "abstain": 0}
    write_lines(artifact, "results/main/sgd_r30_s43_p3_scored.jsonl", rows)
    write_hashes(artifact)
    found = import_artifact(artifact, tmp_path / "out")
    assert found.digest is not None
    release = Release.open(tmp_path / "out")
    copies = [row for row in release.table("current_value").to_pylist() if "@s43" in row["example_id"]]
    assert {row["example_id"] for row in copies} == {f"{target['dialogue_id']}@s43"}
    assert {tuple(row["sample_seeds"]) for row in copies} == {(43,)}
    assert {row["dialogue_id"] for row in copies} == {target["dialogue_id"].partition("__qa_")[0]}
    scores = score(release)
    seeds = [seed for row in scores.to_pylist() if row["answer"] == "something else" for seed in row["sample_seeds"]]
    assert seeds == [43]


def set_of_ids(folder: Path, seed: int) -> set[str]:
    file = folder / f"data/probes/probes_sgd_s{seed}_r30_p3_n200.jsonl"
    return {json.loads(line)["dialogue_id"] for line in file.read_text().splitlines()}


def test_cache_methods_deletions_and_judgments(native: Path, artifact: Path, tmp_path: Path) -> None:
    release = Release.open(native)
    full = [
        row
        for row in release.table("current_value").to_pylist()
        if (row["method"], row["ratio"]) == ("full_context", 0.3) and 42 in row["sample_seeds"]
    ]
    identity = [{"dialogue_id": row["example_id"], "dataset": "sgd", "probe_type": "P3"} for row in full]
    scored = {"pred_value": "x", "abstain": 0, "err": 0}
    write_lines(
        artifact,
        "results/main/chunkkv_sgd_r30_p3_scored.jsonl",
        [one | scored | {"method": "chunkkv_r03_kvpress"} for one in identity],
    )
    failed = {"err": 1, "abstain": 0}
    write_lines(
        artifact,
        "results/diagnostics/chunkkv_chunklen/sgd_r30_p3_chunkkv_chunklen_r03_scored.jsonl",
        [one | failed | {"method": f"chunkkv_r03_chunk{size}"} for one in identity for size in (10, 20)],
    )
    deleted = []
    for row in full:
        kept = probe_row("current_value", row, 42)
        user = kept["prompt_user"].replace(row["context"], "[T0] USER: short.")
        meta = {"removed_turn_ids": [row["update_turn"]], "ablation": True, "n_turns": row["n_turns"]}
        deleted += [kept, kept | {"method": "cf_origin_minus_origin", "prompt_user": user, "meta": meta}]
    evidence = "results/diagnostics/update_evidence"
    write_lines(artifact, f"{evidence}/p2_reader_input_sgd.jsonl", deleted)
    answers = [
        {name: row[name] for name in ("dialogue_id", "dataset", "method", "probe_type")}
        | {"reader_output_text": '{"value": "8:30 pm"}', "error": None}
        for row in deleted
    ]
    write_lines(artifact, f"{evidence}/p2_all_reader_llama.jsonl", answers)
    write_judgments(artifact, [("a", "b", True), ("a", "c", None), ("a", "d", False)])
    write_hashes(artifact)
    found = import_artifact(artifact, tmp_path / "out")
    assert found.digest is not None, found.findings.problems[:5]
    opened = Release.open(tmp_path / "out")
    runs = opened.table("runs").to_pylist()
    roles = sorted((row["role"], row["kv_settings"]) for row in runs if row["role"] != "main")
    assert roles == [
        ("chunk_sweep", '{"chunk_length":10,"press":"chunkkv"}'),
        ("chunk_sweep", '{"chunk_length":20,"press":"chunkkv"}'),
        ("deletion", None),
        ("judge", None),
        ("kv", '{"press":"chunkkv"}'),
    ]
    rows = opened.table("current_value").to_pylist()
    (one, *_) = [row for row in rows if row["method"] == "drop_update"]
    assert (one["context"], one["k_turns"]) == ("[T0] USER: short.", one["n_turns"] - 1)
    labels = dict(zip(*(opened.table("judgments")[name].to_pylist() for name in ("answer", "label")), strict=True))
    assert labels == {"b": "equivalent", "c": "uncertain", "d": "not_equivalent"}
    scores = score(opened).to_pylist()
    assert {row["status"] for row in scores if row["role"] == "chunk_sweep"} == {"error"}
    assert {(row["method"], row["ratio"]) for row in scores if row["role"] == "kv"} == {("chunkkv", 0.3)}


# --- damage --------------------------------------------------------------------------------------------------

P2 = "results/main/sgd_r30_s42_p3_scored.jsonl"
PROBES = "data/probes/probes_sgd_s42_r30_p3_n200.jsonl"


def edit(file: str, change: Callable[[list[dict[str, Any]]], Any]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        rows = [json.loads(line) for line in (folder / file).read_text(encoding="utf-8").split("\n") if line]
        change(rows)
        write_lines(folder, file, rows)

    return apply


def append_garbage(folder: Path) -> None:
    with (folder / P2).open("ab") as handle:
        handle.write(b'{"cut": \n[1]\n')


DAMAGES: list[tuple[str, Callable[[Path], Any], bool, list[str]]] = [
    ("a missing file", lambda folder: (folder / P2).unlink(), False, [f"{P2}: is missing, but SHA256SUMS lists it"]),
    (
        "a bad hash",
        lambda folder: (folder / P2).write_bytes((folder / P2).read_bytes() + b"\n"),
        False,
        ["has SHA-256"],
    ),
    (
        "CRLF",
        lambda folder: (folder / P2).write_bytes((folder / P2).read_bytes().replace(b"\n", b"\r\n")),
        False,
        ["has CRLF line ends"],
    ),
    ("a duplicate answer", edit(P2, lambda rows: rows.append(rows[0])), True, ["again, as row 1 does"]),
    (
        "an unknown method",
        edit(P2, lambda rows: rows[2].update(method="magic")),
        True,
        ["row 3: is of the unknown method 'magic'"],
    ),
    (
        "a missing answer",
        edit(P2, lambda rows: rows.pop()),
        True,
        ["has no answer in the main run of llama-3.1-8b-instruct"],
    ),
    (
        "no probe",
        edit(P2, lambda rows: rows[0].update(dialogue_id="x__qa_00")),
        True,
        ["which is not among the inputs", "has no answer"],
    ),
    (
        "another data set",
        edit(P2, lambda rows: rows[0].update(dataset="multiwoz")),
        True,
        ["row 1: is of data set 'multiwoz'"],
    ),
    ("a duplicate probe", edit(PROBES, lambda rows: rows.append(rows[0])), True, ["row ", "repeats "]),
    (
        "another ratio",
        edit(PROBES, lambda rows: rows[0]["meta"].update(ratio=0.5)),
        True,
        ["row 1: states ratio 0.5, the file name 0.3"],
    ),
    ("no prompt", edit(PROBES, lambda rows: rows[0].pop("prompt_user")), True, ["row 1: has no text in prompt_user"]),
    ("broken lines", append_garbage, True, ["is not JSON", "is not an object"]),
]


@pytest.mark.parametrize(
    ("damage", "hashed", "messages"), [case[1:] for case in DAMAGES], ids=[case[0] for case in DAMAGES]
)
def test_damage_is_reported_and_nothing_is_written(
    artifact: Path, tmp_path: Path, damage: Callable[[Path], Any], hashed: bool, messages: list[str]
) -> None:
    damage(artifact)
    if hashed:
        write_hashes(artifact)
    found = import_artifact(artifact, tmp_path / "out")
    assert found.digest is None
    assert not (tmp_path / "out").exists()
    report = "\n".join(map(str, sorted(set(found.findings.problems))))
    for message in messages:
        assert message in report, report[:2000]


def test_all_damages_are_reported_at_once(artifact: Path, tmp_path: Path) -> None:
    edit(P2, lambda rows: (rows.append(rows[0]), rows[2].update(method="magic")))(artifact)
    (artifact / PROBES.replace("s42", "s43")).unlink()
    result = run_command("tpbench-data", "import-artifact", artifact, "--out", tmp_path / "out")
    assert (result.returncode, result.stderr) == (1, "")
    for text in (
        "has SHA-256",
        "again, as row 1 does",
        "'magic'",
        "probes_sgd_s43_r30_p3_n200.jsonl: is missing",
        "no release",
    ):
        assert text in result.stdout
    printed = run_command("tpbench-data", "import-artifact", artifact, "--out", tmp_path / "out", "--json")
    assert (printed.returncode, len(json.loads(printed.stdout)["problems"]) >= 4) == (1, True)


def test_the_command_and_its_report(artifact: Path, tmp_path: Path) -> None:
    write_lines(artifact, "data/construction/sgd_compressed_r30.jsonl", [{"methods": {}}])
    (artifact / "README.md").write_text("x")
    result = run_command("tpbench-data", "import-artifact", artifact, "--out", tmp_path / "out", "--json")
    assert result.returncode == 0, result.stdout + result.stderr
    report = json.loads(result.stdout)
    assert report["skipped"]["README.md"] == "not data"
    assert "candidate pool" in report["skipped"]["data/construction/sgd_compressed_r30.jsonl"]
    assert sum(report["runs"].values()) == score(Release.open(tmp_path / "out")).num_rows
    again = run_command("tpbench-data", "import-artifact", artifact, "--out", tmp_path / "out")
    assert (again.returncode, "already exists" in again.stderr) == (2, True)
    empty = run_command(
        "tpbench-data", "import-artifact", tmp_path / "clone" / "results" / "main", "--out", tmp_path / "o2"
    )
    assert (empty.returncode, "could be imported" in empty.stderr) == (2, True)


@pytest.mark.parametrize("value", ["a { b", "}", "{", 'q "x" \\', "\u2028", None, 5, True, ["a"]])
def test_a_rebuilt_answer_parses_to_the_stored_value(value: Any) -> None:
    for abstain in (True, False):
        text = rebuilt_answer(value, abstain)
        for parse in (extract_json, parse_reader_text):
            assert parse(text) == {"value": value, "abstain": abstain}


# --- published rows ------------------------------------------------------------------------------------------


def conformance(name: str) -> list[dict[str, Any]]:
    lines = shared_file(f"conformance/{name}.jsonl").read_bytes().split(b"\n")
    rows = [json.loads(line) for line in lines if line]
    return [row | {"dialogue_id": row.get("dialogue_id") or row["id"].split(":")[2]} for row in rows]


def published_answer(row: dict[str, Any], probe_type: str) -> dict[str, Any]:
    identity = {"dialogue_id": row["dialogue_id"], "dataset": row["dataset"], "method": row["method"]}
    stored = row["stored"] | {name: row[name] for name in ("pred_value", "abstain", "error") if name in row}
    if row.get("reader_error"):
        stored["error"] = "no-json"
    text = "" if row.get("reader_error") else rebuilt_answer(row.get("pred_value"), bool(row.get("abstain")))
    return identity | {"probe_type": probe_type, "reader_output_text": row.get("reader_output_text", text)} | stored


def published_input(row: dict[str, Any], probe_type: str) -> dict[str, Any]:
    """An input for a published answer: its prompt is not among the rows, so it has one of our own."""
    method = row["method"] if row["method"] in METHODS.values() else "full_context"
    return {
        "dialogue_id": row["dialogue_id"],
        "dataset": row["dataset"],
        "method": method,
        "probe_type": probe_type,
        "gold": str(row.get("gold", row.get("gold_value", "x"))),
        "gold_story_label": row.get("gold_story_label"),
        "gold_value": row.get("gold_value"),
        "old_value": "",
        "slot": "time",
        "prompt_system": "s",
        "prompt_user": f"Context:\n{method}\n\nQuestion: ?",
    }


PUBLISHED = [
    ("p1_saved", "p1_n200", "P1", "p1_correct", "", 53),
    ("p2_main", "p3_n200", "P3", "p3_correct", "", 63),
    ("p2_mistral_reader", "p3_n200", "P3", "p3_correct", "_p3_scored>_p3_reader_all", 18),
    ("p3_scored", "n200_late_intent", "P1_LATE", "p3_joint_strict", "_scored_>_reader_", 20),
]


@pytest.mark.parametrize(
    ("name", "tag", "probe_type", "strict", "renamed", "rows_imported"), PUBLISHED, ids=[c[0] for c in PUBLISHED]
)
def test_published_rows_keep_their_scores(
    tmp_path: Path, name: str, tag: str, probe_type: str, strict: str, renamed: str, rows_imported: int
) -> None:
    files: dict[str, list[dict[str, Any]]] = {}
    for row in conformance(name):
        source = row["source"] if isinstance(row["source"], str) else row["source"][0]
        file = source.replace(*renamed.split(">")) if renamed else source
        if cell_key(file) is not None:  # a few rows stand in the correction folder, which is not imported
            files.setdefault(file, []).append(row)
    compared = 0
    for number, (file, rows) in enumerate(files.items()):
        folder, out = tmp_path / f"clone{number}", tmp_path / f"out{number}"
        seed = found[1] if (found := re.search(r"_s(4\d)_", file)) else "42"
        ratio = found[1] if (found := re.search(r"_r(\d\d)_", file)) else "30"
        write_lines(folder, file, [published_answer(row, probe_type) for row in rows])
        made = {(one["dialogue_id"], one["method"]): one for one in (published_input(row, probe_type) for row in rows)}
        write_lines(folder, f"data/probes/probes_{rows[0]['dataset']}_s{seed}_r{ratio}_{tag}.jsonl", made.values())
        result = import_artifact(folder, out)
        assert result.digest is not None, (file, result.findings.problems[:3])
        scored = score(Release.open(out)).to_pylist()
        stored = sorted((row["dialogue_id"], row["stored"][strict]) for row in rows)
        assert sorted((row["example_id"], int(row["strict"])) for row in scored) == stored, file
        compared += len(rows)
    assert compared == rows_imported
