"""``tpbench-score score``: one row of scores per planned input."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tpbench_data.errors import BadInput
from tpbench_score.rules import DEFAULT_RULE, RULES


@click.command("score")
@click.argument("release", type=click.Path(path_type=Path))
@click.option(
    "--outputs",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A run folder; may be repeated. Default: the runs stored in the release.",
)
@click.option("--allow-missing", is_flag=True, help="Count planned inputs without output as wrong.")
@click.option("--scorer", type=click.Choice(list(RULES)), default=DEFAULT_RULE, show_default=True, help="Scorer.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the rows to a .parquet, .csv or .jsonl file.")
@click.option(
    "--verdicts",
    type=click.Path(path_type=Path),
    help="Write the verdicts, one bit per answer, to this new .json file, as `tpbench-data freeze --tables` stores "
    "them and `verify` compares them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def command(
    release: Path,
    folders: tuple[Path, ...],
    allow_missing: bool,
    scorer: str,
    out: Path | None,
    verdicts: Path | None,
    as_json: bool,
) -> None:
    """Score the outputs of readers on RELEASE, one row per planned input.

    Prints how many inputs were planned and what became of them. A duplicate or unknown id is an error, and so is
    an input without output, unless --allow-missing is given.

    \b
    Example:
      tpbench-score score tpbench --outputs runs/x --out scores.parquet
    """
    from tpbench_data.canonical import pretty_json
    from tpbench_data.files import write_text
    from tpbench_score.score_files import check_target, write_scores
    from tpbench_score.scoring import count_rows, score
    from tpbench_score.signature import signature_of
    from tpbench_score.verdicts import verdict_table

    if out is not None:
        check_target(out)
    if verdicts is not None and (verdicts.exists() or verdicts.suffix != ".json"):
        problem = "already exists" if verdicts.exists() else "no such format"
        raise BadInput(problem, file=verdicts, remedy="Choose a new name that ends in .json")
    table = score(release, list(folders) or None, allow_missing=allow_missing, rule=scorer)
    if not folders and not table.num_rows:
        raise BadInput("holds no runs", file=release, remedy="Give a run folder with --outputs")
    if out is not None:
        write_scores(out, table)
    if verdicts is not None:
        verdicts.parent.mkdir(parents=True, exist_ok=True)
        write_text(verdicts, pretty_json(verdict_table(table)))
    counts, signature = count_rows(table), str(signature_of(table))
    if as_json:
        runs = [{**key, **found} for key, found in counts]
        click.echo(json.dumps({"runs": runs, "out": None if out is None else str(out), "signature": signature}))
        return
    for key, found in counts:
        click.echo(
            f"{key['run_id']} ({key['role']}) {key['probe']}: {found['planned']} planned = {found['ok']} ok + "
            f"{found['error']} error + {found['missing']} missing; "
            f"{found['strict']} strict, {found['loose']} loose, {found['abstained']} abstained"
        )
    click.echo(signature)
