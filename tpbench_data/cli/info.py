"""``tpbench-data info``."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("info")
@click.argument("release", type=click.Path(path_type=Path), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the manifest as JSON.")
def command(release: Path | None, as_json: bool) -> None:
    """Say what a release holds (default: the embedded one).

    \b
    Example:
      tpbench-data info path/to/release
    """
    from tpbench_data.embedded import embedded_release
    from tpbench_data.names import corpus_label
    from tpbench_data.release.reader import Release

    opened = Release.open(release or embedded_release())
    facts = opened.manifest
    if as_json:
        click.echo(json.dumps(facts, ensure_ascii=False, sort_keys=True))
        return
    click.echo(f"TPBench release {facts['release']}, schema {facts['schema_version']}, built by {facts['builder']}")
    click.echo(f"digest {opened.digest}")
    for name, corpus in facts["corpora"].items():
        click.echo(f"corpus {corpus_label(name)}: {corpus['title']} ({corpus['licence']}, {corpus['files']} files)")
    for key in ("value_rule", "protocols", "seeds", "n", "ratios", "methods"):
        value = facts[key]
        click.echo(f"{key}: {', '.join(map(str, value)) if isinstance(value, list) else value}")
    for config in opened.configs:
        rows = sum(entry["rows"] for entry in opened.files(config))
        click.echo(f"  {config:<16} {rows:>8} rows")
