"""``tpbench-data info``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click


@click.command("info")
@click.argument("release", type=click.Path(path_type=Path), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the manifest as JSON.")
def command(release: Path | None, as_json: bool) -> None:
    """Say what a release holds (default: the embedded one), from its manifest alone.

    \b
    Example:
      tpbench-data info path/to/release
    """
    from tpbench_data.embedded import embedded_release
    from tpbench_data.errors import shown
    from tpbench_data.names import corpus_label
    from tpbench_data.release.reader import Release

    opened = Release.open(release or embedded_release())
    facts = opened.manifest
    if as_json:
        click.echo(json.dumps(facts, ensure_ascii=False, sort_keys=True))
        return

    def say(text: str) -> None:
        click.echo(shown(text))

    say(f"TPBench release {facts['release']}, schema {facts['schema_version']}, built by {facts['builder']}")
    say(f"digest {opened.digest}")
    for name, corpus in facts["corpora"].items():
        say(f"corpus {corpus_label(name)}: {corpus['title']} ({corpus['licence']}, {corpus['files']} files)")
    for key in ("value_rule", "protocols", "seeds", "n", "ratios", "methods"):
        say(f"{key}: {_listed(facts[key])}")
    for config in opened.configs:
        entries = opened.files(config)
        say(f"  {config:<16} {sum(entry['rows'] or 0 for entry in entries):>8} rows")
    stored = [entry["path"] for entry in facts["files"] if entry["path"].startswith("tables/")]
    if stored:
        say(f"stored tables: {len(stored)} ({', '.join(Path(path).stem for path in stored)})")


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
