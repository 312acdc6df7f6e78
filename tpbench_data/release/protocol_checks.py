"""Checks of protocol purity: a row has the template and, under ``matched``, the budget that its protocol fixes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pyarrow as pa

from tpbench_data.budget import keep_count
from tpbench_data.names import Probe, ProtocolName
from tpbench_data.protocols import PROTOCOLS
from tpbench_data.release.issues import Issue
from tpbench_data.release.manifest import MANIFEST
from tpbench_data.selectors import SELECTORS
from tpbench_data.templates import OWN_QUESTION, TEMPLATES, in_language

_BY_MODEL = {"h2o_proxy", "embedding_mmr", "llmlingua2", "dense_topk", "dycp_budget"}
"""Turn selectors that need a model and keep exactly k turns; a user's own method may keep fewer."""
_COLUMNS = ["method", "ratio", "n_turns", "k_turns", "kept_turns", "template", "protocol", "language"]


def check_protocols(path: str, table: pa.Table, probe: str) -> Iterator[Issue]:
    """Checks the rows of one input file."""
    for number, row in enumerate(table.select(_COLUMNS).to_pylist(), start=1):
        protocol = PROTOCOLS.get(cast(ProtocolName, row["protocol"]))
        if protocol is None:
            continue  # a protocol that is not in the manifest is found with the row
        base = protocol.templates.get(cast(Probe, probe))
        if base is not None and row["language"] is not None:
            allowed = {in_language(base, row["language"]).name}
            if probe == "current_value":
                allowed.add(OWN_QUESTION.name)
            if row["template"] in TEMPLATES and row["template"] not in allowed:
                yield Issue(
                    path, number, "template", f"{row['template']!r} is not the {probe} template of {row['protocol']}"
                )
        if protocol.budget is not None and _has_budget(row):
            budget = keep_count(row["n_turns"], row["ratio"], protocol.budget)
            if row["k_turns"] != budget:
                yield Issue(path, number, "k_turns", f"is {row['k_turns']}, but {row['protocol']} keeps {budget}")


def _has_budget(row: dict[str, Any]) -> bool:
    kind = SELECTORS.get(row["method"])
    keeps_k = kind.size == "k" if kind is not None else row["method"] in _BY_MODEL
    known = row["ratio"] is not None and row["n_turns"] is not None and row["kept_turns"] is not None
    return keeps_k and known and row["n_turns"] >= 1 and 0 < row["ratio"] <= 1


def check_templates(manifest: dict[str, Any]) -> Iterator[Issue]:
    """Whether the template hashes of the manifest are those of the templates this version has."""
    for name, found in sorted(manifest.get("templates", {}).items()):
        if name in TEMPLATES and TEMPLATES[name].sha256 != found:
            yield Issue(MANIFEST, 0, f"templates.{name}", "is not the hash of this template")
