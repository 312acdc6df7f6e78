"""``tpbench-generate readers``."""

from __future__ import annotations

import json

import click

from tpbench_generate.readers.specs import listed


@click.command("readers")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object, name to description.")
def command(as_json: bool) -> None:
    """List the names that --reader takes.

    \b
    Example:
      tpbench-generate readers
    """
    readers = listed()
    if as_json:
        click.echo(json.dumps(readers, ensure_ascii=False))
        return
    width = max(map(len, readers))
    for name, description in readers.items():
        click.echo(f"{name:<{width}}  {description}")
