"""``tpbench-score``: from saved answers to scores and tables."""

from __future__ import annotations

import os

from tpbench_data.console import LazyGroup, run

cli = LazyGroup(
    name="tpbench-score",
    help="Score saved answers and make every table, on a CPU, without a model or a network.",
    commands_in={
        "answers": "tpbench_score.cli.answers",
        "score": "tpbench_score.cli.score",
        "tables": "tpbench_score.tables_cli",
        "report": "tpbench_score.cli.report",
        "flips": "tpbench_score.cli.flips",
        "reachability": "tpbench_score.cli.reachability",
        "verify": "tpbench_score.cli.verify",
        "compare": "tpbench_score.cli.compare",
        "explain": "tpbench_score.cli.explain",
    },
)


def main() -> None:
    """Entry point of the console script."""
    # Arrow's own allocators keep what was freed: 800 MB instead of 500 for a release of the published size.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # The matrix products of resampling are small: more threads spend more processor time waiting than multiplying.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    run(cli, "tpbench-score")
