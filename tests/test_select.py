"""`select`: new contexts in a new version, the old one untouched, the same bytes whoever computes them."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Command, run_command, sgd_dialogue
from method_cases import TinyModels, make_tiny_models

from tpbench_data.release.reader import Release
from tpbench_generate.cases import cases_of
from tpbench_generate.select import Wanted, select

PROBES = ("initial_goal", "current_value", "joint_recovery")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("select")


@pytest.fixture(scope="module")
def tiny(place: Path) -> TinyModels:
    return make_tiny_models(place / "models")


def corpus(folder: Path, order: list[int]) -> Path:
    folder.mkdir(parents=True)
    dialogues = [sgd_dialogue(number) for number in order]
    (folder / "dialogues_001.json").write_text(json.dumps(dialogues), encoding="utf-8")
    return folder


def build(folder: Path, methods: str, *options: str, order: list[int] | None = None) -> Path:
    source = corpus(folder / "corpus" / "train", order or list(range(12)))
    result = run_command(
        "tpbench-data", "build", f"--corpus=sgd={source}", "--n=6", f"--methods={methods}", *options,
        "--out", folder / "R",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return folder / "R"


@pytest.fixture(scope="module")
def base(place: Path) -> Path:
    return build(place / "base", "full_context", "--protocol=paper,matched")


def rows(release: Path, probe: str, **wanted: Any) -> list[dict[str, Any]]:
    found = Release.open(release).table(probe).to_pylist()
    return [row for row in found if all(row[column] == value for column, value in wanted.items())]


def fingerprint(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_added_rows_equal_the_rows_that_build_makes(place: Path, base: Path, command: Command, tmp_path: Path) -> None:
    names = "full_context,no_context,oracle_evidence,recency,random(seed=43),first_turns,uniform_stride,bm25"
    built = build(place / "all", names, "--protocol=paper,matched")
    added = command(
        "tpbench-generate", "select", "--release", base, "--method", names.replace("full_context,", ""),
        "--ratio", "0.3", "--out", tmp_path / "R2",
    )  # fmt: skip
    assert added.returncode == 0, added.stderr
    for probe in PROBES:
        expected = {row["input_id"]: row for row in rows(built, probe)}
        assert {row["input_id"]: row for row in rows(tmp_path / "R2", probe)} == expected


def test_the_old_release_is_untouched_and_the_new_one_is_valid_and_holds_it(
    base: Path, command: Command, tmp_path: Path
) -> None:
    before = fingerprint(base)
    result = command("tpbench-generate", "select", "--release", base, "--method", "recency", "--ratio", "0.5",
                     "--out", tmp_path / "R2", "--json")  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert fingerprint(base) == before
    assert command("tpbench-data", "validate", tmp_path / "R2").returncode == 0
    old, new = Release.open(base), Release.open(tmp_path / "R2")
    for probe in PROBES:
        kept = new.table(probe).slice(0, old.table(probe).num_rows)
        assert kept.equals(old.table(probe))
    assert new.manifest["release"] == "0.2.0"
    assert new.manifest["ratios"] == [0.3, 0.5]
    assert new.manifest["selected"][-1]["from_digest"] == old.digest
    told = json.loads(result.stdout)
    assert told["digest"] == new.digest
    assert {cell["turns"] for cell in told["cells"]} == {0.5}
    assert "no full_context at ratio 0.5" in result.stderr


def test_a_third_party_method_and_its_hash_are_recorded(base: Path, command: Command, tmp_path: Path) -> None:
    from test_method_loading import GOOD

    mine = tmp_path / "mine.py"
    mine.write_text(GOOD, encoding="utf-8")
    options = ["--release", base, "--method", f"{mine}:Longest(sign=-1)", "--ratio", "0.3"]
    for workers in ("1", "2"):
        result = command("tpbench-generate", "select", *options, "--workers", workers, "--out", tmp_path / workers)
        assert result.returncode == 0, result.stderr
    assert fingerprint(tmp_path / "1") == fingerprint(tmp_path / "2")
    facts = Release.open(tmp_path / "1").manifest["selected"][-1]["methods"]["longest(sign=-1)"]
    assert facts == {"file": "mine.py", "class": "Longest", "sha256": hashlib.sha256(mine.read_bytes()).hexdigest()}
    assert command("tpbench-data", "validate", tmp_path / "1").returncode == 0


def test_model_based_contexts_are_the_same_bytes_twice_with_one_or_two_workers(
    base: Path, tiny: TinyModels, command: Command, tmp_path: Path
) -> None:
    methods = [
        f"h2o_proxy(model={tiny.language_model}, max_tokens=256)",
        f"embedding_mmr(model={tiny.encoder})",
        f"dense_topk(model={tiny.encoder})",
        f"dycp(model={tiny.encoder})",
        f"dycp_budget(model={tiny.encoder})",
        f"llmlingua2(model={tiny.labeller}, token_counts=words)",
        f"llmlingua2(model={tiny.labeller}, token_counts=words, mode=per_dialogue)",
    ]
    options = ["--release", base, *[f"--method={method}" for method in methods], "--ratio=0.3", "--protocol=paper"]
    for name, workers in (("a", 1), ("b", 1), ("c", 2)):
        result = command("tpbench-generate", "select", *options, "--workers", workers, "--out", tmp_path / name)
        assert result.returncode == 0, result.stderr
    assert fingerprint(tmp_path / "a") == fingerprint(tmp_path / "b") == fingerprint(tmp_path / "c")
    assert command("tpbench-data", "validate", tmp_path / "a").returncode == 0
    manifest = Release.open(tmp_path / "a").manifest
    assert sum("@files-sha256:" in config for config in manifest["methods"]) == len(methods)
    assert manifest["selected"][-1]["library_versions"]["torch"]
    adaptive = rows(tmp_path / "a", "current_value", method="dycp")
    assert adaptive
    assert all(row["ratio"] is None and row["k_turns"] == len(row["kept_turns"]) for row in adaptive)


def test_contexts_do_not_depend_on_the_order_of_the_dialogues(place: Path, tiny: TinyModels, tmp_path: Path) -> None:
    order = list(range(12))
    contexts = []
    for shuffle in (False, True):
        if shuffle:
            random.Random(1).shuffle(order)
        release = build(tmp_path / f"shuffled-{shuffle}", "full_context", order=order)
        methods = (f"embedding_mmr(model={tiny.encoder})", f"h2o_proxy(model={tiny.language_model}, max_tokens=256)")
        wanted = Wanted((*methods, "random", "bm25"), (0.3,))
        select(Release.open(release), wanted, tmp_path / f"out-{shuffle}")
        found = [row for probe in PROBES for row in rows(tmp_path / f"out-{shuffle}", probe)]
        contexts.append({row["input_id"]: row["context"] for row in found})
    shared = set(contexts[0]) & set(contexts[1])
    assert len(shared) > 40
    assert all(contexts[0][key] == contexts[1][key] for key in shared)


def given(release: Path, probe: str = "current_value") -> list[dict[str, str]]:
    ids = dict.fromkeys(row["example_id"] for row in rows(release, probe))
    return [{"example_id": name, "probe": probe, "context": f"Summary\u2028of {name} "} for name in ids]


def write(path: Path, lines: list[Any], end: str = "\n") -> Path:
    path.write_bytes("".join(json.dumps(line, ensure_ascii=False) + end for line in lines).encode())
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_contexts_made_elsewhere_are_taken_as_they_are(base: Path, command: Command, tmp_path: Path, end: str) -> None:
    lines = given(base)
    file = write(tmp_path / "c.jsonl", lines, end)
    result = command("tpbench-generate", "select", "--release", base, "--method", "my_summary", "--contexts", file,
                     "--ratio", "0.3", "--out", tmp_path / "R2")  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert command("tpbench-data", "validate", tmp_path / "R2").returncode == 0
    for protocol in ("paper", "matched"):
        added = rows(tmp_path / "R2", "current_value", method="my_summary", protocol=protocol)
        assert [row["context"] for row in added] == [line["context"] for line in lines]
        assert all(row["kept_turns"] is None and row["k_turns"] is None and row["ratio"] == 0.3 for row in added)
        assert all(row["context"] in row["prompt"][1]["content"] for row in added)
    assert not rows(tmp_path / "R2", "initial_goal", method="my_summary")


Change = Callable[[list[Any]], list[Any]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[1:], "1 questions have no context"),
        (lambda lines: [*lines, lines[0]], "has a context in row 1 already"),
        (lambda lines: [{**lines[0], "example_id": "x"}, *lines[1:]], "there is no question 'x'"),
        (lambda lines: [{**lines[0], "probe": "p2"}, *lines[1:]], "no probe 'p2'"),
        (lambda lines: [{**lines[0], "context": None}, *lines[1:]], "field 'context'"),
        (lambda lines: [{**lines[0], "extra": 1}, *lines[1:]], "unknown field"),
        (lambda lines: [{**lines[0], "corpus": "multiwoz"}, *lines[1:]], "there is no question"),
        (lambda lines: [[1], *lines], "not a JSON object"),
        (lambda lines: [{**lines[0], "context": "\ud800"}, *lines[1:]], None),
        (lambda lines: [], "holds no contexts"),
    ],
)
def test_contexts_that_do_not_fit_are_one_error_with_the_line(
    base: Path, command: Command, tmp_path: Path, change: Change, message: str | None
) -> None:
    file = tmp_path / "c.jsonl"
    text = "".join(json.dumps(line) + "\n" for line in change(given(base)))
    file.write_text(text, encoding="utf-8")
    result = command("tpbench-generate", "select", "--release", base, "--method", "mine", "--contexts", file,
                     "--out", tmp_path / "R2")  # fmt: skip
    assert result.returncode == 2
    assert (message or "surrogate") in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "R2").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method=magic", "--ratio=0.3"], "unknown method 'magic'"),
        (["--method=recency"], "needs a ratio"),
        (["--method=recency", "--ratio=2"], "outside (0, 1]"),
        (["--method=dycp", "--ratio=0.3"], "chooses its own share"),
        (["--method=full_context", "--ratio=0.3"], "has method full_context at ratio 0.3 in initial_goal already"),
        (["--method=recency", "--ratio=0.3", "--probe=p2"], "no probe 'p2'"),
        (["--method=recency", "--ratio=0.3", "--corpus=lme_ku"], "no corpus 'lme_ku'"),
        (["--method=recency", "--ratio=0.3", "--protocol=mine"], "no protocol 'mine'"),
        (["--method=recency", "--ratio=0.3", "--release-version=0.1.0"], "is the old one"),
        (["--method=recency", "--ratio=0.3", "--workers=0"], "--workers"),
        (["--method=recency", "--contexts=x.jsonl"], "is a method of tpbench"),
        (["--method=mine", "--contexts=x.jsonl"], "no such file"),
        (["--method=a,b", "--contexts=x.jsonl"], "one method name"),
        (["--method=dense_topk(model=hf:./nowhere)", "--ratio=0.3"], "no such model folder"),
        (["--method=dense_topk", "--ratio=0.3", "--device=cuda:77"], "cannot be used here"),
    ],
)
def test_a_bad_option_is_one_error_and_leaves_nothing(
    base: Path, command: Command, tmp_path: Path, options: list[str], message: str
) -> None:
    result = command("tpbench-generate", "select", "--release", base, *options, "--out", tmp_path / "new" / "R2")
    assert result.returncode == 2, result.stdout
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "new").exists()


def test_a_cell_at_a_known_ratio_has_the_questions_of_that_cell(base: Path, tmp_path: Path) -> None:
    release = Release.open(base)
    select(release, Wanted(("recency",), (0.3, 0.7), probes=("current_value",)), tmp_path / "R2")
    select(Release.open(tmp_path / "R2"), Wanted(("bm25",), (0.7,)), tmp_path / "R3")
    assert len(rows(tmp_path / "R3", "current_value", method="bm25")) == len(cases_of(release, ["current_value"]))
    assert Release.open(tmp_path / "R3").manifest["release"] == "0.3.0"
    assert [entry["from_release"] for entry in Release.open(tmp_path / "R3").manifest["selected"]] == ["0.1.0", "0.2.0"]
