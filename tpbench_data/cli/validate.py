"""``tpbench-data validate``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tpbench_data.console import CHECK_FAILED


@click.command("validate")
@click.argument("release", type=click.Path(path_type=Path), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one object: valid, digest and the list of issues.")
def command(release: Path | None, as_json: bool) -> None:
    """Check a release in depth (default: the embedded one). Exit 1 if a problem is found.

    Every problem is one line that names file, row and column and says what to do.

    \b
    Example:
      tpbench-data validate path/to/release
    """
    from tpbench_data.embedded import embedded_release
    from tpbench_data.release.validate import validate

    folder = release or embedded_release()
    issues = validate(folder)
    if as_json:
        found = [issue.as_dict() for issue in issues]
        click.echo(json.dumps({"release": str(folder), "valid": not found, "issues": found}, ensure_ascii=False))
    else:
        for issue in issues:
            click.echo(str(issue))
        click.echo(f"{folder}: {len(issues)} problems found" if issues else f"{folder}: valid")
    if issues:
        raise click.exceptions.Exit(CHECK_FAILED)
