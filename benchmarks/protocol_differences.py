"""What the published pipelines do differently from method to method, counted on real dialogues.

    python benchmarks/protocol_differences.py sgd=PATH --out benchmarks

Under protocol `paper` each method has the budget rule and the rendering it was published with; under `matched` all
have the same. Counted: at how many dialogue lengths, and in how many dialogues, the budgets differ.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from table import markdown, save

from tpbench_data.budget import keep_count
from tpbench_data.corpora import corpus_named
from tpbench_data.protocols import PROTOCOLS
from tpbench_generate.methods import BUILT_IN

RATIOS = (0.1, 0.3, 0.5, 0.7)


def main() -> None:
    """Counts and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", metavar="NAME=PATH")
    parser.add_argument("--out", type=Path, default=Path("benchmarks"))
    given = parser.parse_args()
    name, _, path = given.corpus.partition("=")
    corpus = corpus_named(name)
    lengths = Counter(len(dialogue) for dialogue in corpus.load(corpus.files(Path(path))))
    methods = [kind for kind in BUILT_IN.values() if kind.size == "k"]
    numbers, rows = [], []
    for protocol in PROTOCOLS.values():
        for kind in methods:
            rule = protocol.budget or kind.published_budget
            rendering = protocol.rendering or kind.published_rendering
            cells = []
            for ratio in RATIOS:
                common = PROTOCOLS["matched"].budget
                assert common is not None
                differing = [n for n in lengths if keep_count(n, ratio, rule) != keep_count(n, ratio, common)]
                dialogues = sum(lengths[n] for n in differing)
                cells.append(f"{len(differing)} / {dialogues}")
                numbers.append(
                    {
                        "protocol": protocol.name,
                        "method": kind.name,
                        "rule": rule,
                        "rendering": rendering,
                        "ratio": ratio,
                        "lengths": len(differing),
                        "dialogues": dialogues,
                    }
                )
            rows.append((f"`{protocol.name}`, `{kind.name}`", rule, rendering, *cells))
    total = sum(lengths.values())
    text = (
        f"# Budgets and renderings under the two protocols\n\n{total} dialogues of {corpus.title}, {len(lengths)}"
        f" different lengths ({min(lengths)} to {max(lengths)} turns). Each cell: lengths / dialogues at which the"
        " method's k differs from the matched one, floor(n * ratio + 1/2).\n\n"
        + markdown(("protocol, method", "rule", "rendering", *(f"ratio {ratio:g}" for ratio in RATIOS)), rows)
    )
    save(given.out, "protocol_differences", text, {"dialogues": total, "lengths": len(lengths), "cells": numbers})


if __name__ == "__main__":
    main()
