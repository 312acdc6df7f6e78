"""``tpbench-data import-artifact``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tpbench_data.console import CHECK_FAILED


@click.command("import-artifact")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--release-version", default="1.0.0", show_default=True, help="Version of the release.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Release folder to make.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as JSON: imported, skipped, problems.")
def command(path: Path, release_version: str, out: Path, as_json: bool) -> None:
    """Convert a clone of the published artifact at PATH into a release: inputs, saved outputs, runs and judgments.

    Prompts keep every byte, answers the text that was stored; what was not published is null. Hash lists in PATH are
    checked. If anything is damaged (a missing file, a bad hash, a duplicate answer, an unknown method), every problem
    is listed, nothing is written, and the exit code is 1.

    \b
    Example:
      tpbench-data import-artifact path/to/clone --out published
      tpbench-score tables published
    """
    from tpbench_data.artifact_import.importing import import_artifact

    found = import_artifact(path, out, release_version)
    report = found.findings.as_dict()
    if as_json:
        head = {"digest": found.digest, "hashes_checked": found.hashes, "inputs": found.inputs, "runs": found.runs}
        click.echo(json.dumps({**head, **report}, ensure_ascii=False))
    else:
        for problem in report["problems"]:
            place = f", row {problem['row']}" if problem["row"] else ""
            click.echo(f"{problem['file']}{place}: {problem['problem']}")
        for probe, rows in found.inputs.items():
            click.echo(f"{probe}: {rows} inputs")
        for run_id, answers in found.runs.items():
            click.echo(f"run {run_id}: {answers} answers")
        for note, times in report["notes"].items():
            click.echo(f"{note}: {times}")
        click.echo(f"{len(report['imported'])} files imported, {len(report['skipped'])} skipped, {found.hashes} hashed")
        reasons: dict[str, int] = {}
        for reason in report["skipped"].values():
            reasons[reason] = reasons.get(reason, 0) + 1
        for reason, files in sorted(reasons.items()):
            click.echo(f"  skipped {files}: {reason}")
        end = (
            f"release {out}, digest {found.digest}"
            if found.digest
            else f"{len(report['problems'])} problems, no release"
        )
        click.echo(end)
    if found.digest is None:
        raise click.exceptions.Exit(CHECK_FAILED)
