"""The dataset card (``README.md`` of a release): ``croissant/card.md`` with the facts of the release.

Facts may come from anyone, so none can add an element to the card: each is put on one line, with the characters
that start Markdown or HTML escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from tpbench_data.names import PROBE_LABELS, corpus_label
from tpbench_data.release.card_tables import reachability_text, stored_tables_text
from tpbench_data.release.croissant import languages
from tpbench_data.release.schema import CONFIGS, INPUT_CONFIGS
from tpbench_data.release.stored_tables import StoredTable
from tpbench_data.release.vocabulary import config_summary, fill, one_line, template_json, template_text

_VALUE_RULES = {
    "first": "a slot changes where the first listed form of its value changes (as published).",
    "disjoint": "a slot changes only where old and new forms share nothing after normalisation.",
}
_LICENCE_TAG = re.compile(r"cc-[a-z0-9.-]+|mit|apache-2\.0")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&])")


def card(
    facts: Mapping[str, Any],
    tables: Mapping[str, pa.Table],
    stored: Mapping[str, Sequence[StoredTable]],
    sizes: Mapping[str, int],
) -> str:
    """The card text.

    Args:
        facts: The facts of the manifest.
        tables: Config name -> table, for the configs the release holds.
        stored: File name -> tables stored with the release.
        sizes: Config name -> bytes of its files.
    """
    held = [config for config in CONFIGS if config in tables]
    words = template_json("dataset.json")
    default = _default_config(held)
    values = {
        "release": _plain(facts["release"]),
        "summary": words["summary"],
        "config_rows": "\n".join(
            f"| `{config}` | {tables[config].num_rows} | {_size(sizes[config])} | {config_summary(config)} |"
            for config in held
        ),
        "example_config": default or "dialogues",
        "run_count": str(tables["runs"].num_rows if "runs" in tables else 0),
        "run_rows": "\n".join(_run_lines(tables.get("runs"))),
        "builder": _plain(facts["builder"]),
        "value_rule": _plain(facts["value_rule"]),
        "value_rule_text": _VALUE_RULES.get(str(facts["value_rule"]), "a rule of the builder's own."),
        "seeds": _code(facts["seeds"]),
        "n": _plain(facts["n"]),
        "ratios": _code(facts["ratios"]),
        "methods": _code(facts["methods"]),
        "protocols": _code(facts["protocols"]),
        "corpus_sections": "\n\n".join(_corpus_section(facts, name) for name in sorted(facts["corpora"])),
        "reachability": reachability_text(stored),
        "stored_tables": stored_tables_text(stored),
        "licence_rows": "\n".join(
            f"| {_plain(corpus_label(name))} | {_source(corpus)} | {_plain(corpus['licence'])} |"
            for name, corpus in sorted(facts["corpora"].items())
        ),
        "citation": words["citation"],
        "corpus_citations": "\n".join(
            f"- {_plain(corpus_label(name))}: {_plain(corpus['citation'] or corpus['title'])}"
            for name, corpus in sorted(facts["corpora"].items())
        ),
    }
    return _front_matter(facts, tables, held, default) + fill(template_text("card.md"), values)


def _front_matter(facts: Mapping[str, Any], tables: Mapping[str, pa.Table], held: list[str], default: str) -> str:
    licences = sorted({str(corpus["licence"]) for corpus in facts["corpora"].values()})
    tag = licences[0].lower() if len(licences) == 1 else ""
    lines = ["---", "pretty_name: TPBench"]
    if _LICENCE_TAG.fullmatch(tag):
        lines.append(f"license: {tag}")
    else:
        # A derived set must not be labelled more permissively than its sources.
        lines += ["license: other", "license_name: per-source-corpus", "license_link: LICENSES"]
    lines += ["language:", *(f"- {_yaml(tongue)}" for tongue in languages(tables))]
    lines += ["task_categories:", "- question-answering", "size_categories:", f"- {_size_category(tables)}"]
    lines += ["tags:", "- dialogue", "- context-compression", "- dialogue-state-tracking", "- benchmark", "- croissant"]
    lines.append("configs:")
    for config in held:
        lines += [f"- config_name: {config}", "  data_files:", "  - split: test", f"    path: data/{config}/*.parquet"]
        if config == default:
            lines.append("  default: true")
    return "\n".join([*lines, "---", "", ""])


def _default_config(held: list[str]) -> str:
    probes = [config for config in INPUT_CONFIGS if config in held]
    if "current_value" in probes:
        return "current_value"
    return probes[0] if probes else ""


def _size_category(tables: Mapping[str, pa.Table]) -> str:
    rows = sum(table.num_rows for config, table in tables.items() if config in INPUT_CONFIGS)
    for most, tag in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")):
        if rows < most:
            return tag
    return "100K<n<1M"


def _corpus_section(facts: Mapping[str, Any], name: str) -> str:
    corpus = facts["corpora"][name]
    lines = [
        f"### {_plain(corpus_label(name))}",
        "",
        f"{_source(corpus)}; licence {_plain(corpus['licence'])}; {corpus['files']} files, "
        f"SHA-256 over them {_code([corpus['sha256']])}.{_pins(corpus)}",
    ]
    counts = facts["counts"].get(name)
    if isinstance(counts, dict):
        lines += ["", *_count_lines(counts)]
    return "\n".join(lines)


def _pins(corpus: Mapping[str, Any]) -> str:
    """Version, revision and turn cap of a corpus, where the manifest states them."""
    found = [f"{name} {_plain(corpus[name])}" for name in ("version", "revision") if corpus.get(name)]
    if corpus.get("turn_characters"):
        found.append(f"turns cut at {corpus['turn_characters']} characters under the protocol `paper`")
    return f" Source {', '.join(found)}." if found else ""


def _count_lines(counts: Mapping[str, Any]) -> list[str]:
    lines = [f"- pool: {_steps(counts['pool'])}"] if isinstance(counts.get("pool"), dict) else []
    probes = counts.get("probes")
    for probe, per_seed in (probes if isinstance(probes, dict) else {}).items():
        for seed, steps in (per_seed if isinstance(per_seed, dict) else {}).items():
            if isinstance(steps, dict):
                lines.append(f"- {PROBE_LABELS.get(probe, _plain(probe))}, seed {_plain(seed)}: {_steps(steps)}")
    return lines


def _steps(counts: Mapping[str, Any]) -> str:
    return "; ".join(f"{_plain(key)} {_plain(value)}" for key, value in counts.items())


def _run_lines(runs: pa.Table | None) -> list[str]:
    if runs is None:
        return ["- none: the inputs are not answered yet."]
    rows = runs.select(["run_id", "role", "reader", "model_revision", "n_planned"]).to_pylist()
    return [
        f"- {_code([row['run_id']])}: {_plain(row['reader'])}"
        f"{' at ' + _plain(row['model_revision']) if row['model_revision'] else ''}, role {_plain(row['role'])}, "
        f"{row['n_planned']} inputs"
        for row in rows
    ]


def _source(corpus: Mapping[str, Any]) -> str:
    title = _plain(corpus["title"])
    home = str(corpus.get("homepage") or "")
    return f"[{title}]({home})" if re.fullmatch(r"https://[A-Za-z0-9._~/%#?=&+-]+", home) else title


def _size(count: int) -> str:
    return f"{count / 2**20:.1f} MiB" if count >= 2**20 else f"{count / 2**10:.0f} KiB"


def _plain(value: object) -> str:
    return _MARKUP.sub(r"\\\1", one_line(value))


def _code(values: Sequence[Any]) -> str:
    return ", ".join(f"`{one_line(value).replace('`', '')}`" for value in values) or "none"


def _yaml(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", text) and text != "no" else json.dumps(text)
