"""``croissant.json``: Croissant 1.1 metadata whose every record set can be read through mlcroissant.

Fields come from the Arrow schemas, so they cannot drift from the files; texts come from ``croissant/``. Every
file of the release but the manifest, which hashes this file, stands here with its SHA-256 and size. Behaviour:
croissant spec 3 (a field of a Parquet file is extracted by column, ids are texts, lists are arrays, and the
list of messages is an array of sub-fields read by JSON path).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from tpbench_data.canonical import pretty_json
from tpbench_data.names import PROBE_LABELS, corpus_label, method_label, method_rank
from tpbench_data.release.licences import licence_link
from tpbench_data.release.responsible import responsible_ai
from tpbench_data.release.schema import CONFIGS, INPUT_CONFIGS
from tpbench_data.release.vocabulary import column_text, config_key, config_summary, one_line, template_json

CROISSANT = "croissant.json"

Facts = Mapping[str, Any]
Tables = Mapping[str, pa.Table]
Json = dict[str, Any]

_FORMATS = {
    ".parquet": "application/x-parquet",
    ".json": "application/json",
    ".md": "text/markdown",
    ".txt": "text/plain",
}
_SHARED = (
    "input_id",
    "example_id",
    "corpus",
    "language",
    "dialogue_id",
    "method",
    "method_config",
    "ratio",
    "protocol",
)
"""Columns of the record set `inputs`, which every probe config has."""


def croissant_text(facts: Facts, tables: Tables, files: Sequence[Mapping[str, Any]]) -> str:
    """The text of ``croissant.json``.

    Args:
        facts: The facts of the manifest.
        tables: Config name -> table, for the configs that the release holds.
        files: The manifest entries of the other files (path, sha256, bytes, rows).
    """
    words = template_json("dataset.json")
    links = sorted({licence_link(str(corpus["licence"])) for corpus in facts["corpora"].values()})
    sources = [_source(name, corpus) for name, corpus in sorted(facts["corpora"].items())]
    published = str(facts.get("date_published") or words["metadata_date"])
    return pretty_json(
        {
            "@context": template_json("context.json"),
            "@type": "sc:Dataset",
            "conformsTo": [
                "http://mlcommons.org/croissant/1.1",
                "http://mlcommons.org/croissant/RAI/1.0",
            ],
            "name": words["name"],
            "description": f"{words['summary']} Sources and licences: {licence_sentence(facts)}",
            "url": facts.get("homepage") or words["url"],
            "version": facts["release"],
            "cr:sdVersion": words["metadata_version"],
            "license": links,
            "citeAs": words["citation"],
            "creator": words["creator"],
            "publisher": words["publisher"],
            "keywords": words["keywords"],
            "inLanguage": languages(tables),
            "dateCreated": published,
            "dateModified": published,
            "datePublished": published,
            "isLiveDataset": False,
            **responsible_ai(facts, tables, published),
            "rai:hasSyntheticData": any(str(name).startswith("tpbench_") for name in facts["corpora"]),
            "prov:wasDerivedFrom": sources,
            "distribution": [_file(entry) for entry in sorted(files, key=lambda e: str(e["path"]))]
            + list(_file_sets(tables, files)),
            "recordSet": list(_record_sets(facts, tables, files)),
        }
    )


def licence_sentence(facts: Facts) -> str:
    """Which licence the rows of each corpus have, as a sentence."""
    parts = [
        f"{one_line(corpus['title'])} ({one_line(corpus['licence'])})" for _, corpus in sorted(facts["corpora"].items())
    ]
    return f"{'; '.join(parts)}. Rows keep the licence of their source corpus."


def languages(tables: Tables) -> list[str]:
    """The languages of the dialogues or, where a release holds none, of the inputs."""
    found: set[str] = set()
    for config in ("dialogues", *INPUT_CONFIGS):
        if config in tables and not found:
            found |= {tag for tag in tables[config]["language"].unique().to_pylist() if tag}
    return sorted(found) or ["und"]


def shards(config: str, files: Sequence[Mapping[str, Any]]) -> list[str]:
    """The paths of a config's Parquet files."""
    return sorted(str(entry["path"]) for entry in files if str(entry["path"]).startswith(f"data/{config}/"))


def _source(name: str, corpus: Mapping[str, Any]) -> Json:
    source = {
        "@type": "prov:Entity",
        "prov:label": one_line(corpus["title"]),
        "prov:identifier": name,
        "license": licence_link(str(corpus["licence"])),
        "sha256": corpus["sha256"],
    }
    for name_there, name_here in (("homepage", "url"), ("version", "version"), ("revision", "prov:value")):
        if corpus.get(name_there):
            source[name_here] = one_line(corpus[name_there])
    return source


def _file(entry: Mapping[str, Any]) -> Json:
    path = str(entry["path"])
    suffix = path[path.rindex(".") :] if "." in path else ""
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path.replace("/", "-"),
        "contentUrl": path,
        "contentSize": f"{entry['bytes']} B",
        "encodingFormat": _FORMATS.get(suffix, "application/octet-stream"),
        "sha256": entry["sha256"],
    }


def _file_sets(tables: Tables, files: Sequence[Mapping[str, Any]]) -> Iterator[Json]:
    """One set over all probe files, and one for each config in several files."""
    probes = [config for config in INPUT_CONFIGS if config in tables]
    if probes:
        yield _file_set("inputs-files", "The Parquet files of all probe configs.", probes)
    for config in tables:
        if len(shards(config, files)) > 1:
            yield _file_set(f"{config}-files", f"The Parquet files of the config {config}.", [config])


def _file_set(uid: str, text: str, configs: Sequence[str]) -> Json:
    return {
        "@type": "cr:FileSet",
        "@id": uid,
        "name": uid,
        "description": text,
        "encodingFormat": "application/x-parquet",
        "includes": [f"data/{config}/*.parquet" for config in configs],
    }


def _record_sets(facts: Facts, tables: Tables, files: Sequence[Mapping[str, Any]]) -> Iterator[Json]:
    yield from _enumerations(facts, tables)
    probes = [config for config in INPUT_CONFIGS if config in tables]
    for config in tables:
        paths = shards(config, files)
        # A single file is named itself: mlcroissant then checks its hash before it reads a row.
        origin = {"fileObject": {"@id": paths[0]}} if len(paths) == 1 else {"fileSet": {"@id": f"{config}-files"}}
        targets = _targets(config, tables)
        yield {
            "@type": "cr:RecordSet",
            "@id": config,
            "name": config,
            "description": f"One row is {config_summary(config)}.",
            "key": [{"@id": f"{config}/{column}"} for column in config_key(config)],
            "field": [_field(config, field, origin, targets.get(field.name)) for field in CONFIGS[config]],
        }
    if probes:
        yield _inputs(probes)


def _inputs(probes: Sequence[str]) -> Json:
    origin = {"fileSet": {"@id": "inputs-files"}}
    fields = [_field("inputs", CONFIGS[probes[0]].field(name), origin, None, probes[0]) for name in _SHARED]
    probe = {
        "@type": "cr:Field",
        "@id": "inputs/probe",
        "name": "probe",
        "description": "The config that the input stands in.",
        "dataType": "sc:Text",
        "source": {
            **origin,
            "extract": {"fileProperty": "fullpath"},
            "transform": {"regex": "^data/([a-z_]+)/.*$"},
        },
    }
    return {
        "@type": "cr:RecordSet",
        "@id": "inputs",
        "name": "inputs",
        "description": "The inputs of all probe configs in one list, without their texts: what outputs refer to.",
        "key": [{"@id": "inputs/input_id"}],
        "field": [*fields, probe],
    }


def _targets(config: str, tables: Tables) -> dict[str, str]:
    """Column -> the field of another record set that its values are keys of.

    mlcroissant joins on one pair of fields, so a reference is declared only where the target is unique: ids of
    dialogues are unique within a corpus, which in a release of several corpora need not be enough.
    """
    if config in INPUT_CONFIGS and "dialogues" in tables:
        ids = tables["dialogues"]["dialogue_id"]
        return {"dialogue_id": "dialogues/dialogue_id"} if len(ids.unique()) == len(ids) else {}
    targets = {}
    if config == "outputs" and any(probe in tables for probe in INPUT_CONFIGS):
        targets["input_id"] = "inputs/input_id"
    if config in ("outputs", "judgments") and "runs" in tables:
        targets["run_id"] = "runs/run_id"
    return targets


def _field(config: str, field: pa.Field, origin: Json, target: str | None, described_by: str = "") -> Json:
    name, kind = field.name, field.type
    made: Json = {
        "@type": "cr:Field",
        "@id": f"{config}/{name}",
        "name": name,
        "description": column_text(described_by or config, name),
    }
    if pa.types.is_list(kind):
        made |= {"isArray": True, "arrayShape": "-1"}
        kind = kind.value_type
    if pa.types.is_struct(kind):
        made["subField"] = [_member(config, name, member, origin) for member in kind]
        return made
    made |= {"dataType": data_type(kind), "source": {**origin, "extract": {"column": name}}}
    if target:
        made["references"] = {"field": {"@id": target}}
    return made


def _member(config: str, column: str, member: pa.Field, origin: Json) -> Json:
    texts = template_json("vocabulary.json")["members"]
    return {
        "@type": "cr:Field",
        "@id": f"{config}/{column}/{member.name}",
        "name": member.name,
        "description": texts.get(member.name, member.name.replace("_", " ")),
        "dataType": data_type(member.type),
        "source": {
            **origin,
            "extract": {"column": column},
            "transform": {"jsonPath": f"$[*].{member.name}"},
        },
    }


def data_type(kind: pa.DataType) -> str:
    """The Croissant data type of an Arrow type.

    Raises:
        TypeError: A type that no schema of ours has.
    """
    for test, name in (
        (pa.types.is_string, "sc:Text"),
        (pa.types.is_boolean, "sc:Boolean"),
        (pa.types.is_int32, "cr:Int32"),
        (pa.types.is_int64, "cr:Int64"),
        (pa.types.is_float64, "cr:Float64"),
    ):
        if test(kind):
            return name
    raise TypeError(f"no Croissant data type for {kind}")


def _enumerations(facts: Facts, tables: Tables) -> Iterator[Json]:
    probes = [config for config in INPUT_CONFIGS if config in tables]
    methods = {name for config in probes for name in tables[config]["method"].unique().to_pylist() if name}
    rows = {
        "splits": [{"name": "test"}],
        "probes": [{"name": config, "label": PROBE_LABELS.get(config, config)} for config in probes],
        "methods": [{"name": name, "label": method_label(name)} for name in sorted(methods, key=method_rank)],
        "corpora": [{"name": name, "label": corpus_label(name)} for name in sorted(facts["corpora"])],
    }
    texts = template_json("vocabulary.json")["enumerations"]
    for uid, found in rows.items():
        if not found:
            continue
        yield {
            "@type": "cr:RecordSet",
            "@id": uid,
            "name": uid,
            "description": texts[uid],
            "dataType": "cr:Split" if uid == "splits" else "sc:Enumeration",
            "key": [{"@id": f"{uid}/name"}],
            "field": [
                {
                    "@type": "cr:Field",
                    "@id": f"{uid}/{column}",
                    "name": column,
                    "description": "The name used in columns." if column == "name" else "The name shown in tables.",
                    "dataType": "sc:Text",
                }
                for column in found[0]
            ],
            "data": [{f"{uid}/{column}": value for column, value in row.items()} for row in found],
        }
