"""The dataset card (``README.md`` of a release), written from the manifest facts alone."""

from __future__ import annotations

from typing import Any

from tpbench_data.names import PROBE_LABELS, corpus_label

_CONFIG_TEXT = {
    "dialogues": "the source dialogues with their annotated states",
    "initial_goal": "P1, what the user asked for first",
    "current_value": "P2, the current value of a slot the user revised",
    "joint_recovery": "P3, both after a late update",
    "runs": "one reader with its settings",
    "outputs": "one saved answer",
    "judgments": "one judged pair of reference and answer",
}


def card(facts: dict[str, Any], rows: dict[str, int]) -> str:
    """The card text.

    Args:
        facts: The facts of the manifest.
        rows: Config name -> number of rows, for the configs the release holds.
    """
    corpora = facts["corpora"]
    licences = sorted({corpus["licence"] for corpus in corpora.values()})
    licence = licences[0].lower() if len(licences) == 1 and licences[0].startswith("CC-") else "other"
    lines = ["---", "pretty_name: TPBench", f"license: {licence}"]
    if licence == "other":
        lines.append("license_name: see-the-LICENSES-folder")
    lines += ["language:", *(f"- {tag}" for tag in sorted({c["language"] for c in corpora.values()}))]
    lines += ["task_categories:", "- question-answering"]
    lines += ["tags:", "- dialogue", "- context-compression", "- dialogue-state-tracking", "configs:"]
    for config in rows:
        lines += [
            f"- config_name: {config}",
            "  data_files:",
            "  - split: test",
            f"    path: data/{config}/*.parquet",
        ]
        if config == "current_value":
            lines.append("  default: true")
    lines += ["---", "", f"# TPBench {facts['release']}", ""]
    lines += [
        "What a dialogue compressor loses when a user changes their mind. Every row of a probe config is one",
        "frozen input for a reader: a compressed dialogue, a question and the reference.",
        "",
        "| config | rows | one row is |",
        "|---|---:|---|",
        *(f"| `{config}` | {count} | {_CONFIG_TEXT[config]} |" for config, count in rows.items()),
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        'inputs = load_dataset("path/to/this/folder", "current_value", split="test")',
        "```",
        "",
        "## How it was built",
        "",
        f"- Builder: {facts['builder']}, value rule `{facts['value_rule']}`, "
        f"protocols {_code(facts['protocols'])}, sample seeds {_code(facts['seeds'])}, "
        f"{facts['n']} questions drawn per seed, ratios {_code(facts['ratios'])}.",
        f"- Methods: {_code(facts['methods'])}.",
        "",
    ]
    for name, corpus in sorted(corpora.items()):
        lines += [
            f"### {corpus_label(name)}",
            "",
            f"{corpus['title']}; licence {corpus['licence']}; {corpus['files']} files, "
            f"SHA-256 over them `{corpus['sha256']}`.",
            "",
            *_count_lines(facts["counts"].get(name, {})),
            "",
        ]
    lines += [
        "## Known limits",
        "",
        "- P1 and P3 references are the first sentence of the first user turn, cut at the first full stop",
        '  wherever it stands: "Hi" or a text cut at a decimal point can be a reference.',
        "- Under the value rule `first` a re-ordering of equivalent surface forms counts as an update; the rule",
        "  `disjoint` does not.",
        "- Scores of small readers measure the reader as much as the method; compare methods within one reader.",
        "- For evaluation only: do not train or tune on it.",
        "",
        "## Licences",
        "",
        "Rows keep the licence of their source corpus; see the folder `LICENSES`.",
        "",
    ]
    return "\n".join(lines)


def _code(values: list[Any]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _count_lines(counts: dict[str, Any]) -> list[str]:
    lines = [f"- pool: {_steps(counts['pool'])}"] if "pool" in counts else []
    for probe, per_seed in counts.get("probes", {}).items():
        lines += [f"- {PROBE_LABELS[probe]}, seed {seed}: {_steps(steps)}" for seed, steps in per_seed.items()]
    return lines


def _steps(counts: dict[str, int]) -> str:
    return "; ".join(f"{key} {value}" for key, value in counts.items())
