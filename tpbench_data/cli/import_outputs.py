"""``tpbench-data import-outputs``."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("import-outputs")
@click.argument("release", type=click.Path(path_type=Path))
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--reader", required=True, help="Name of the reader, as tables show it.")
@click.option("--role", default="main", show_default=True, help="Role of the run; a table reads the role it needs.")
@click.option("--model-id", help="The model, if known.")
@click.option("--model-revision", help="Its revision, if known.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "inspect", "lm-eval"]),
    help="Default: inspect for .eval and .json, lm-eval for samples_*.jsonl, else jsonl.",
)
@click.option("--partial", is_flag=True, help="Plan only the inputs that are answered; cells then show n of N.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Run folder to make.")
@click.option("--json", "as_json", is_flag=True, help="Print the description of the run as JSON.")
def command(
    release: Path,
    files: tuple[Path, ...],
    reader: str,
    role: str,
    model_id: str | None,
    model_revision: str | None,
    form: str | None,
    partial: bool,
    out: Path,
    as_json: bool,
) -> None:
    """Turn answers that you have to inputs of RELEASE into a run folder.

    jsonl: one object a line with input_id, text (as generated) and, where the reader failed, error. inspect: an .eval
    or .json log whose sample ids, or input_id in their metadata, are input ids. lm-eval: a sample log whose documents
    carry input_id. Every input of an answered cell (probe, corpus, method, ratio) needs an answer, unless --partial
    is given.

    \b
    Example:
      tpbench-data import-outputs tpbench answers.jsonl --reader my-model --out runs/mine
      tpbench-score tables tpbench --outputs runs/mine
    """
    from tpbench_data.output_import.run import About, import_outputs
    from tpbench_data.release.reader import Release

    about = About(reader, role, model_id, model_revision)
    run = import_outputs(Release.open(release), files, about, out, form=form, partial=partial)
    if as_json:
        click.echo(json.dumps(run, ensure_ascii=False))
    else:
        click.echo(f"run {run['run_id']} ({run['role']}): {run['n_planned']} answers in {out}")
