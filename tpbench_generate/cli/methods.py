"""``tpbench-generate methods``."""

from __future__ import annotations

import json

import click


@click.command("methods")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list with every fact of every method.")
def command(as_json: bool) -> None:
    """List the methods: turn selectors for `select`, and cache compressors for `run --kv`.

    \b
    Example:
      tpbench-generate methods
    """
    from tpbench_generate.methods import list_methods, third_party

    methods = list_methods()
    if as_json:
        click.echo(json.dumps(methods, ensure_ascii=False))
        return
    for method in methods:
        needs = [
            *(["compresses the reader's cache: run --kv"] if method["kind"] == "cache method" else []),
            "needs a model" if method["needs_model"] else "no model",
            *(["no ratio: chooses its own share"] if method["adaptive"] else []),
            *([] if method["from"] == "tpbench" else [f"from {method['from']}"]),
        ]
        click.echo(f"{method['name']} ({'; '.join(needs)})")
        click.echo(f"    {method['summary']}")
        if method["paper"]:
            click.echo(f"    {method['paper']}")
        if method["settings"]:
            shown = ", ".join(f"{name}={value}" for name, value in method["settings"].items())
            click.echo(f"    settings: {shown}")
    for name, reason in sorted(third_party().broken.items()):
        click.echo(f"tpbench-generate: entry point {name} cannot be used: {reason}", err=True)
