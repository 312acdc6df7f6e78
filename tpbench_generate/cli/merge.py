"""``tpbench-generate merge``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click


@click.command("merge")
@click.argument("shares", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The run folder to write; must be new.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(shares: tuple[Path, ...], out: Path, as_json: bool) -> None:
    """Join the shares of a run that were made with --shard.

    The result has the bytes of a run that was never divided. The shares are left as they are.

    \b
    Example:
      tpbench-generate merge runs/a-0 runs/a-1 runs/a-2 --out runs/a
    """
    from tpbench_generate.merging import merge_shards

    summary = merge_shards(shares, out)
    if as_json:
        click.echo(json.dumps(asdict(summary)))
        return
    click.echo(
        f"run {summary.run_id} in {summary.folder}: {summary.shards} shares, {summary.planned} inputs,"
        f" {summary.errors} errors"
    )
