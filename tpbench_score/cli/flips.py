"""``tpbench-score flips``: what changes from one scorer to another."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tpbench_score.rules import RULES

_SHOWN = 20


@click.command("flips")
@click.argument("release", type=click.Path(path_type=Path), required=False)
@click.option(
    "--outputs",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A run folder; may be repeated. Default: the runs stored in the release.",
)
@click.option("--from", "first", type=click.Choice(list(RULES)), default="paper-1", show_default=True, help="Scorer.")
@click.option("--to", "second", type=click.Choice(list(RULES)), default="tpbench-1", show_default=True, help="Scorer.")
@click.option("--limit", type=click.IntRange(min=0), default=_SHOWN, show_default=True, help="Answers to print.")
@click.option("--allow-missing", is_flag=True, help="Count planned inputs without output as wrong.")
@click.option("--out", type=click.Path(path_type=Path), help="Write every answer that flips to this .jsonl file.")
@click.option("--json", "as_json", is_flag=True, help="Print counts and every answer that flips as JSON.")
def command(
    release: Path | None,
    folders: tuple[Path, ...],
    first: str,
    second: str,
    limit: int,
    allow_missing: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Score the same outputs with two scorers and show what changes.

    RELEASE is a release folder (default: the one that comes with TPBench). Prints counts per probe and corpus, then
    the answers whose verdict changes, both verdicts side by side.

    \b
    Example:
      tpbench-score flips tpbench --outputs runs/x --out flips.jsonl
    """
    from tpbench_data.embedded import embedded_release
    from tpbench_data.errors import BadInput
    from tpbench_data.files import write_bytes
    from tpbench_data.release.reader import Release
    from tpbench_score.flips import find_flips
    from tpbench_score.json_lines import json_line, json_text

    if out is not None and (out.exists() or out.suffix != ".jsonl"):
        problem = "already exists" if out.exists() else "no such format"
        raise BadInput(problem, file=out, remedy="Choose a new name that ends in .jsonl")
    found = find_flips(
        Release.open(release or embedded_release()),
        list(folders) or None,
        scorers=(first, second),
        allow_missing=allow_missing,
    )
    if out is not None:
        write_bytes(out, b"".join(json_line(dict(row)) for row in found.rows))
    if as_json:
        counts = [
            {
                "probe": change.probe,
                "corpus": change.corpus,
                "answers": change.answers,
                "right": {measure: list(pair) for measure, pair in change.right.items()},
                "gained": dict(change.gained),
                "lost": dict(change.lost),
            }
            for change in found.changes
        ]
        click.echo(
            json.dumps({"from": first, "to": second, "changes": counts, "flips": json.loads(json_text(found.rows))})
        )
        return
    for change in found.changes:
        for measure, (before, after) in change.right.items():
            click.echo(
                f"{change.probe} {change.corpus} {measure}: {before} right under {first}, {after} under {second} "
                f"(+{change.gained[measure]} -{change.lost[measure]}) of {change.answers}"
            )
    for row in found.rows[:limit]:
        click.echo(f"\n{row['run_id']} {row['input_id']}")
        known = [row[name] for name in ("reference_goal", "reference_value") if row[name]]
        click.echo(f"  reference  {json_text('; '.join(known))}")
        for scorer, then in ((first, ""), (second, "_then")):
            verdict = "strict" if row[f"strict{then}"] else "loose" if row[f"loose{then}"] else "wrong"
            click.echo(f"  {scorer:<10} {verdict} ({row[f'reason{then}']}): {json_text(row[f'answer{then}'])}")
    if len(found.rows) > limit:
        click.echo(f"\n{len(found.rows) - limit} more answers flip; --out or --json gives them all")
