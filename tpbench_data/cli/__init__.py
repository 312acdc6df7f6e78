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
        "audit": "tpbench_data.cli.audit",
        "sources": "tpbench_data.cli.sources",
        "synthesize": "tpbench_data.cli.synthesize",
        "import-artifact": "tpbench_data.cli.import_artifact",
        "import-outputs": "tpbench_data.cli.import_outputs",
        "freeze": "tpbench_data.cli.freeze",
        "diff": "tpbench_data.cli.diff",
        "publish": "tpbench_data.cli.publish",
        "pull": "tpbench_data.cli.pull",
    },
)


def main() -> None:
    """Entry point of the console script."""
    run(cli, "tpbench-data")
