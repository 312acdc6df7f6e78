"""``tpbench-data diff``."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

import click

from tpbench_data.console import CHECK_FAILED


@click.command("diff")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Lines shown per part.")
@click.option("--json", "as_json", is_flag=True, help="Print every difference as JSON.")
def command(old: Path, new: Path, limit: int, as_json: bool) -> None:
    """Say what differs between two releases. Exit 1 if anything does.

    Facts, files, rows added, removed and changed in every config, changed labels with both values, and the change
    of every cell of the stored tables.

    \b
    Example:
      tpbench-data diff tpbench-0.1.0 tpbench-0.2.0
    """
    from tpbench_data.release.diff import diff
    from tpbench_data.release.reader import Release

    found = diff(Release.open(old), Release.open(new))
    if as_json:
        click.echo(json.dumps({"same": not found, "differences": [d.as_dict() for d in found]}, ensure_ascii=False))
    else:
        for part, group in groupby(sorted(found, key=lambda d: d.part), key=lambda d: d.part):
            listed = list(group)
            counts = {kind: sum(d.kind == kind for d in listed) for kind in ("added", "removed", "changed")}
            click.echo(f"{part}: {', '.join(f'{count} {kind}' for kind, count in counts.items() if count)}")
            for difference in listed[:limit]:
                click.echo(f"  {difference}")
            if len(listed) > limit:
                click.echo(f"  and {len(listed) - limit} more (--limit {len(listed)}, or --json for all)")
        if not found:
            click.echo("the same")
    if found:
        raise click.exceptions.Exit(CHECK_FAILED)
