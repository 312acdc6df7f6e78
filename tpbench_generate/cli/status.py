"""``tpbench-generate status``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from tpbench_generate.status import Status


@click.command("status")
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line, one per folder.")
def command(folders: tuple[Path, ...], as_json: bool) -> None:
    """Say how far runs are, what ended in which error, and in what several runs differ.

    \b
    Examples:
      tpbench-generate status runs/a
      tpbench-generate status runs/a-0 runs/a-1 runs/a-2
    """
    from tpbench_generate.status import read_status, setting_differences

    found = [read_status(folder) for folder in folders]
    if as_json:
        for status in found:
            click.echo(json.dumps(asdict(status), ensure_ascii=False))
        return
    for status in found:
        click.echo(_told(status))
    for folder in folders[1:]:
        if different := setting_differences(folders[0], folder):
            click.echo(f"{folder} and {folders[0]} are different runs: {'; '.join(different)}")


def _told(status: Status) -> str:
    share = f" share {status.shard}" if status.shard else ""
    lines = [
        f"{status.folder}:{share} run {status.run_id}, {status.state}",
        f"  {status.batches_done}/{status.batches} batches, {status.prompts_done}/{status.prompts} distinct prompts,"
        f" {status.inputs} inputs",
        f"  {status.answered} inputs answered, {sum(status.errors.values())} errors, {status.truncated} truncated",
    ]
    lines += [f"  error {kind}: {count}" for kind, count in status.errors.items()]
    if status.torn_bytes:
        lines.append(f"  {status.torn_bytes} bytes of a torn last record, which the next start cuts off")
    return "\n".join(lines)
