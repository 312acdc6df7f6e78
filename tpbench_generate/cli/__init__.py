"""``tpbench-generate``: a release and a reader in, saved outputs out."""

from __future__ import annotations

from tpbench_data.console import LazyGroup, run

cli = LazyGroup(
    name="tpbench-generate",
    help="Answer the inputs of a release with a language model.",
    commands_in={
        "run": "tpbench_generate.cli.run",
        "check": "tpbench_generate.cli.check",
        "reproduce": "tpbench_generate.cli.reproduce",
        "merge": "tpbench_generate.cli.merge",
        "status": "tpbench_generate.cli.status",
        "judge": "tpbench_generate.cli.judge",
        "select": "tpbench_generate.cli.select",
        "methods": "tpbench_generate.cli.methods",
        "readers": "tpbench_generate.cli.readers",
    },
)


def main() -> None:
    """Entry point of the console script."""
    run(cli, "tpbench-generate")
