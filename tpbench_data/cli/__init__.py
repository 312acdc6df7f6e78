"""``tpbench-data``: build, look at and check releases."""

from __future__ import annotations

from tpbench_data.console import LazyGroup, run

cli = LazyGroup(
    name="tpbench-data",
    help="Build, look at and check TPBench releases.",
    commands_in={
        "build": "tpbench_data.cli.build",
        "info": "tpbench_data.cli.info",
        "validate": "tpbench_data.cli.validate",
        "synthesize": "tpbench_data.cli.synthesize",
        "freeze": "tpbench_data.cli.freeze",
    },
)


def main() -> None:
    """Entry point of the console script."""
    run(cli, "tpbench-data")
