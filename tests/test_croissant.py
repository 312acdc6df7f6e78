"""``croissant.json`` is valid, its every record set can be read, and it says what the files say."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, run_command, shared_file
from full_release import TRICKY, full_once, full_release  # noqa: F401  (fixtures)

from tpbench_data.canonical import sha256_hex
from tpbench_data.embedded import embedded_release
from tpbench_data.release.croissant import data_type
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import CONFIGS, INPUT_CONFIGS
from tpbench_data.release.vocabulary import column_text, config_key, template_json

mlcroissant = pytest.importorskip("mlcroissant")

RAI_PROPERTIES = {
    "dataCollection", "dataCollectionType", "dataCollectionMissingData", "dataCollectionRawData",
    "dataCollectionTimeFrame", "dataImputationProtocol", "dataPreprocessingProtocol", "dataManipulationProtocol",
    "dataAnnotationProtocol", "dataAnnotationPlatform", "dataAnnotationAnalysis", "annotationsPerItem",
    "annotatorDemographics", "machineAnnotationTools", "dataBiases", "dataUseCases", "dataLimitations",
    "dataSocialImpact", "personalSensitiveInformation", "dataReleaseMaintenancePlan",
}  # fmt: skip


def check_clean(folder: Path) -> None:
    """The real validator exits 0 and prints no warning, not even about the context."""
    command = [str(Path(sys.executable).with_name("mlcroissant")), "validate", "--jsonld"]
    result = subprocess.run([*command, str(folder / "croissant.json")], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    printed = [line for line in (result.stdout + result.stderr).splitlines() if not line.endswith("Done.")]
    assert printed == []


def plain(value: Any) -> Any:
    """A value as mlcroissant gives it (bytes, numpy numbers, full field names) as plain data."""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, dict):
        return {key.rsplit("/", 1)[-1]: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if value is not None and hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


def records(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Every record of every record set, as mlcroissant reads it."""
    dataset = mlcroissant.Dataset(str(folder / "croissant.json"))
    return {found.uuid: [plain(row) for row in dataset.records(found.uuid)] for found in dataset.metadata.record_sets}


def check_records(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Compares every record with the Parquet files and returns them."""
    release = Release.open(folder)
    found = records(folder)
    assert set(release.configs) <= set(found)
    for config in release.configs:
        # A reference makes mlcroissant join at reading, so order is compared by key.
        def key(row: dict[str, Any], names: list[str] = config_key(config)) -> list[Any]:  # noqa: B008
            return [row[name] for name in names]

        expected = release.table(config).to_pylist()
        assert len(found[config]) == len(expected)
        assert sorted(found[config], key=key) == sorted(expected, key=key), config
    inputs = {row["input_id"]: config for config in INPUT_CONFIGS for row in release.table(config).to_pylist()}
    assert {row["input_id"]: row["probe"] for row in found["inputs"]} == inputs
    return found


def test_every_record_of_every_record_set_is_what_the_parquet_files_hold(full_once: Path) -> None:
    check_clean(full_once)
    found = check_records(full_once)
    assert found["splits"] == [{"name": "test"}]
    assert {row["name"] for row in found["methods"]} >= {"full_context", "recency"}
    texts = {row["text"] for row in found["outputs"]}
    assert set(TRICKY) <= texts
    assert found["runs"][0]["stop_token_ids"] == [2, 7]


def test_a_release_from_the_real_corpus_is_clean_and_readable(tmp_path: Path) -> None:
    corpus = shared_file("corpora/sgd/sgd_train.tar.xz")
    result = run_command(
        "tpbench-data", "build", "--corpus", f"sgd={corpus}", "--n", 60, "--protocol", "paper,matched",
        "--methods", "full_context,recency,random,first_turns", "--out", tmp_path / "sgd",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    check_clean(tmp_path / "sgd")
    found = check_records(tmp_path / "sgd")
    print({name: len(rows) for name, rows in found.items()})


def test_the_embedded_release_is_clean_and_readable() -> None:
    folder = embedded_release()
    if not (folder / "manifest.json").is_file():
        pytest.skip("this checkout holds no embedded release")
    check_clean(folder)
    check_records(folder)


def _files(folder: Path) -> dict[str, dict[str, Any]]:
    document = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    return {node["contentUrl"]: node for node in document["distribution"] if node["@type"] == "cr:FileObject"}


def test_hash_and_size_of_every_file_are_right_and_every_file_is_covered(full_once: Path) -> None:
    listed = _files(full_once)
    on_disk = {path.relative_to(full_once).as_posix() for path in full_once.rglob("*") if path.is_file()}
    assert set(listed) == on_disk - {"manifest.json", "croissant.json"}
    for path, node in listed.items():
        data = (full_once / path).read_bytes()
        assert node["sha256"] == sha256_hex(data)
        assert node["contentSize"] == f"{len(data)} B"
    manifest = Release.open(full_once).manifest
    assert "croissant.json" in {entry["path"] for entry in manifest["files"]}


def test_a_changed_data_file_stops_mlcroissant_too(full_release: Path) -> None:
    file = full_release / "data/runs/test-00000-of-00001.parquet"
    other = full_release / "data/judgments/test-00000-of-00001.parquet"
    file.write_bytes(other.read_bytes())
    with pytest.raises(Exception, match="runs"):
        list(mlcroissant.Dataset(str(full_release / "croissant.json")).records("runs"))


def test_it_loads_again_after_mlcroissant_wrote_it(full_once: Path, tmp_path: Path) -> None:
    first = mlcroissant.Dataset(str(full_once / "croissant.json")).metadata
    again = tmp_path / "croissant.json"
    again.write_text(json.dumps(first.to_json(), default=str), encoding="utf-8")
    second = mlcroissant.Dataset(str(again)).metadata
    assert [found.uuid for found in first.record_sets] == [found.uuid for found in second.record_sets]
    assert first.conforms_to == second.conforms_to
    assert first.data_biases == second.data_biases
    assert first.data_limitations == second.data_limitations


def test_all_rai_properties_are_filled_with_a_text_that_has_no_open_place(full_once: Path) -> None:
    document = json.loads((full_once / "croissant.json").read_text(encoding="utf-8"))
    assert {name for name in document if name.startswith("rai:")} == {
        f"rai:{name}" for name in (*RAI_PROPERTIES, "hasSyntheticData")
    }
    for name in RAI_PROPERTIES:
        texts = document[f"rai:{name}"]
        for text in texts if isinstance(texts, list) else [texts]:
            assert text.strip()
            assert "{" not in text, text


def test_top_level_facts(full_once: Path) -> None:
    document = json.loads((full_once / "croissant.json").read_text(encoding="utf-8"))
    assert document["conformsTo"] == ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
    assert document["license"] == ["https://spdx.org/licenses/CC-BY-SA-4.0.html"]
    assert document["version"] == "0.3.0"
    assert document["datePublished"] == "2026-12-01"
    assert document["inLanguage"] == ["en"]
    assert "CC-BY-SA-4.0" in document["description"]
    assert document["prov:wasDerivedFrom"][0]["sha256"] == Release.open(full_once).manifest["corpora"]["sgd"]["sha256"]


def _fields(folder: Path) -> Iterator[tuple[str, str, str, bool]]:
    document = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    for record_set in document["recordSet"]:
        if record_set["@id"] in CONFIGS:
            for field in record_set["field"]:
                yield record_set["@id"], field["name"], field.get("dataType", ""), field.get("isArray", False)


def test_fields_follow_the_schemas(full_once: Path) -> None:
    found = list(_fields(full_once))
    release = Release.open(full_once)
    expected = []
    for config in release.configs:
        for field in CONFIGS[config]:
            kind = field.type.value_type if hasattr(field.type, "value_type") else field.type
            is_struct = hasattr(kind, "num_fields") and kind.num_fields > 0
            is_list = hasattr(field.type, "value_type")
            expected.append((config, field.name, "" if is_struct else data_type(kind), is_list))
    assert sorted(found) == sorted(expected)
    ids = [field for field in found if field[1].endswith("_id")]
    assert {kind for _, name, kind, _ in ids if not name.endswith("token_id")} == {"sc:Text"}


@pytest.mark.parametrize("config", CONFIGS)
def test_every_column_is_described_and_no_description_is_left_over(config: str) -> None:
    words = template_json("vocabulary.json")
    listed = words["configs"][config]["columns"]
    texts = words["probe"] if listed == "probe" else listed
    for column in CONFIGS[config].names:
        assert column in texts, column
        assert column_text(config, column).endswith(".")
        # pandas turns columns of such names into times.
        assert not column.endswith("_at")
        assert column not in ("date", "timestamp", "modified")
    if listed != "probe":
        assert set(listed) == set(CONFIGS[config].names)
    assert set(config_key(config)) <= set(CONFIGS[config].names)


def test_two_builds_give_the_same_bytes_in_another_time_zone_and_locale(built_once: Path, tmp_path: Path) -> None:
    import os

    corpus = built_once.parent / "corpus" / "train"
    environment = os.environ | {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    result = run_command(
        "tpbench-data", "build", "--corpus", f"sgd={corpus}", "--n", 6, "--out", tmp_path / "again", env=environment
    )
    assert result.returncode == 0, result.stderr
    for name in ("croissant.json", "README.md", "manifest.json"):
        assert (tmp_path / "again" / name).read_bytes() == (built_once / name).read_bytes()


def test_the_templates_stand_in_one_place() -> None:
    assert {path.name for path in (ROOT / "croissant").iterdir()} >= {
        "card.md", "context.json", "dataset.json", "rai.json", "vocabulary.json",
    }  # fmt: skip
