"""Checks of the two files that describe a release to others: ``croissant.json`` and the card's YAML block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tpbench_data.errors import BadInput
from tpbench_data.release.croissant import CROISSANT
from tpbench_data.release.issues import REBUILD, Issue
from tpbench_data.release.schema import CONFIGS
from tpbench_data.release.strict_json import parse_strict

CARD = "README.md"
_CONFIG = re.compile(r"^- config_name: (\S+)$", re.MULTILINE)
_DATA_PATH = re.compile(r"^    path: (\S+)$", re.MULTILINE)


def check_croissant(data: bytes, manifest: dict[str, Any], configs: list[str]) -> Iterator[Issue]:
    """Whether ``croissant.json`` lists every other file with its hash and size, and every column of every config."""
    try:
        document = parse_strict(data, CROISSANT)
    except BadInput as problem:
        yield Issue(CROISSANT, 0, "", problem.problem, REBUILD)
        return
    if not isinstance(document, dict):
        yield Issue(CROISSANT, 0, "", "is not an object")
        return
    if document.get("version") != manifest["release"]:
        yield Issue(CROISSANT, 0, "version", f"is {document.get('version')!r}, not {manifest['release']!r}")
    yield from _check_distribution(document.get("distribution"), manifest)
    yield from _check_record_sets(document.get("recordSet"), configs)


def _check_distribution(nodes: Any, manifest: dict[str, Any]) -> Iterator[Issue]:
    listed = {
        node.get("contentUrl"): node for node in _objects(nodes) if str(node.get("@type", "")).endswith("FileObject")
    }
    expected = {entry["path"]: entry for entry in manifest["files"] if entry["path"] != CROISSANT}
    for path, entry in sorted(expected.items()):
        node = listed.get(path)
        if node is None:
            yield Issue(CROISSANT, 0, "distribution", f"does not list {path}")
        elif node.get("sha256") != entry["sha256"] or node.get("contentSize") != f"{entry['bytes']} B":
            yield Issue(CROISSANT, 0, "distribution", f"has another hash or size for {path} than manifest.json")
    for path in sorted(map(str, set(listed) - set(expected))):
        yield Issue(CROISSANT, 0, "distribution", f"lists {path}, which the release does not hold")


def _check_record_sets(nodes: Any, configs: list[str]) -> Iterator[Issue]:
    found = {node.get("@id"): node for node in _objects(nodes)}
    for config in configs:
        if config not in found:
            yield Issue(CROISSANT, 0, "recordSet", f"has no record set {config}")
            continue
        columns = [node.get("name") for node in _objects(found[config].get("field"))]
        if columns != CONFIGS[config].names:
            yield Issue(CROISSANT, 0, "recordSet", f"has other fields for {config} than its columns")


def check_card(data: bytes, configs: list[str]) -> Iterator[Issue]:
    """Whether the YAML block of the card names exactly the configs that the release holds."""
    text = data.decode("utf-8", "replace")
    block = text.split("\n---\n", 1)[0] if text.startswith("---\n") and "\n---\n" in text else ""
    if not block:
        yield Issue(CARD, 0, "", "does not begin with a YAML block")
        return
    named = _CONFIG.findall(block)
    if named != configs:
        yield Issue(CARD, 0, "configs", f"names {', '.join(named) or 'none'}, the release holds {', '.join(configs)}")
    elif _DATA_PATH.findall(block) != [f"data/{config}/*.parquet" for config in configs]:
        yield Issue(CARD, 0, "configs", "has another path for a config than its folder")


def _objects(values: Any) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
