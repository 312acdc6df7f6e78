"""What compressed contexts still say, by kind of change: free-form questions of a release, no reader involved.

    python benchmarks/strata.py [RELEASE] [--protocol paper] [--out benchmarks]

An answer counts as kept where the context states it (in Chinese without spaces, elsewhere as a phrase). For a removed
requirement that says little, since its first mention may be what is left; there the update turn tells more, so its
share is shown too. Cells are percent with the 95% Wilson interval; n stands in the head of each column.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from table import markdown, save

from tpbench_data.embedded import embedded_release
from tpbench_data.han import value_stated
from tpbench_data.names import TRANSITION_TYPES, method_label, method_rank
from tpbench_data.release.reader import Release
from tpbench_score.statistics.wilson import wilson_interval

Row = Mapping[str, Any]


def by_type(row: Row) -> str:
    """The kind of change."""
    return str(row["transition_type"]).replace("_", " ")


def by_distance(row: Row) -> str:
    """How many turns follow the update."""
    after = row["n_turns"] - 1 - row["update_turn"]
    return "0 to 6 turns after it" if after <= 6 else "7 to 12 after it" if after <= 12 else "13 or more after it"


def by_support(row: Row) -> str:
    """How many turns bear the answer."""
    return f"{len(row['support_turns'])} answer-bearing turns"


def by_distractors(row: Row) -> str:
    """How many turns invite a wrong answer."""
    return f"{len(row['distractor_turns'])} distractors"


GROUPINGS: dict[str, Callable[[Row], str]] = {
    "Kind of change": by_type,
    "Distance of the update from the end": by_distance,
    "Answer-bearing turns": by_support,
    "Distractors": by_distractors,
}


def rows_of(release: Release, protocol: str) -> list[Row]:
    """The free-form inputs of one protocol, without prompts."""
    columns = [
        "corpus", "language", "example_id", "method", "ratio", "transition_type", "update_turn", "n_turns",
        "kept_turns", "reference_answer", "support_turns", "distractor_turns", "context", "protocol",
    ]  # fmt: skip
    table = release.table("free_form").select(columns)
    return [row for row in table.to_pylist() if row["protocol"] == protocol]


def kept(row: Row) -> bool:
    """Whether the context states the answer."""
    return value_stated(row["reference_answer"], row["context"], row["corpus"])


def updated(row: Row) -> bool:
    """Whether the turn of the change is in the context."""
    return row["update_turn"] in (row["kept_turns"] or ())


def table(
    rows: Sequence[Row], grouping: Callable[[Row], str], test: Callable[[Row], bool]
) -> tuple[str, list[dict[str, Any]]]:
    """Methods by groups, each cell a share with its interval."""
    known = [kind.replace("_", " ") for kind in TRANSITION_TYPES]
    groups = sorted(
        {grouping(row) for row in rows},
        key=lambda group: known.index(group) if group in known else int(group.split()[0]),
    )
    methods = sorted({row["method"] for row in rows}, key=method_rank)
    sizes = {group: len({row["example_id"] for row in rows if grouping(row) == group}) for group in groups}
    lines, numbers = [], []
    for method in methods:
        cells = []
        for group in groups:
            found = [test(row) for row in rows if row["method"] == method and grouping(row) == group]
            interval = wilson_interval(sum(found), len(found))
            assert interval is not None
            low, high = interval
            cells.append(f"{100 * sum(found) / len(found):.0f} [{100 * low:.0f}, {100 * high:.0f}]")
            numbers.append({"method": method, "group": group, "kept": sum(found), "n": len(found)})
        lines.append([method_label(method), *cells])
    head = ["Method", *(f"{group} (n = {sizes[group]})" for group in groups)]
    return markdown(head, lines), numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", type=Path, nargs="?", default=embedded_release())
    parser.add_argument("--protocol", choices=["paper", "matched"], default="paper")
    parser.add_argument("--ratio", type=float, default=0.3)
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    release = Release.open(chosen.release)
    rows = [row for row in rows_of(release, chosen.protocol) if row["ratio"] in (None, chosen.ratio)]
    parts = [f"# What is kept, by kind of change\n\nRelease {release.digest[:8]}, protocol `{chosen.protocol}`, ratio "]
    parts[0] += f"{chosen.ratio}; percent of free-form questions with 95% Wilson intervals.\n"
    numbers: dict[str, Any] = {}
    for corpus in sorted({row["corpus"] for row in rows}):
        mine = [row for row in rows if row["corpus"] == corpus]
        for title, grouping in GROUPINGS.items():
            text, numbers[f"{corpus}: {title}"] = table(mine, grouping, kept)
            parts.append(f"## {corpus}: {title}, answer stated\n\n{text}")
        text, numbers[f"{corpus}: update turn"] = table(mine, by_type, updated)
        parts.append(f"## {corpus}: Kind of change, update turn kept\n\n{text}")
    text = "\n".join(parts)
    print(text)
    if chosen.out is not None:
        save(chosen.out, "strata", text, numbers)


if __name__ == "__main__":
    main()
