"""``tpbench-score reachability``: the ceiling of every cell, and the references that no answer can match."""

from __future__ import annotations

import json
from pathlib import Path

import click

_SHOWN = 50


@click.command("reachability")
@click.argument("release", type=click.Path(path_type=Path), required=False)
@click.option("--limit", type=click.IntRange(min=0), default=_SHOWN, show_default=True, help="References to print.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Write the table to this new .json file (or into this folder as reachability.json), as `tpbench-data "
    "freeze --tables` stores it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the table and every reference out of reach as JSON.")
def command(release: Path | None, limit: int, out: Path | None, as_json: bool) -> None:
    """Score every reference of RELEASE as its own answer, under every scorer.

    Prints the highest strict and loose value that a perfect reader could have in each cell, and the references that
    their own scorer calls wrong, with the reason. RELEASE defaults to the one that comes with TPBench.

    \b
    Example:
      tpbench-score reachability tpbench
      tpbench-score reachability tpbench --out tables/reachability.json
      tpbench-data freeze tpbench --tables tables --release-version 0.2.0 --out tpbench2
    """
    from tpbench_data.canonical import pretty_json
    from tpbench_data.embedded import embedded_release
    from tpbench_data.errors import BadInput
    from tpbench_data.files import write_text
    from tpbench_data.release.reader import Release
    from tpbench_score.json_lines import json_text
    from tpbench_score.reachability import FILE_NAME, as_records, as_stored_table, reachability

    if out is not None:
        out = out / FILE_NAME if out.is_dir() else out
        if out.suffix != ".json" or out.exists():
            problem = "already exists" if out.exists() else "no such format"
            raise BadInput(problem, file=out, remedy="Choose a new name that ends in .json")
        out.parent.mkdir(parents=True, exist_ok=True)
    found = reachability(Release.open(release or embedded_release()))
    table, records = as_stored_table(found), as_records(found)
    if out is not None:
        write_text(out, pretty_json(table))
    if as_json:
        click.echo(json.dumps({**table, "unreachable": json.loads(json_text(records))}))
        return
    for cell in found.cells:
        for scorer in cell.reached:
            click.echo(
                f"{cell.probe} {cell.corpus} {cell.protocol} {scorer}: strict {cell.ceiling(scorer, 'strict'):.3f}, "
                f"loose {cell.ceiling(scorer, 'loose'):.3f} of {cell.questions} questions"
            )
    for record in records[:limit]:
        reach = "strict" if record["loose"] else "strict or loose"
        click.echo(
            f"not {reach} under {record['scorer']}: {record['probe']} {record['example_id']} "
            f"{json_text(record['reference'])}: {record['reason']}, {record['meaning']}"
        )
    if len(records) > limit:
        click.echo(f"and {len(records) - limit} more; --limit or --json gives them all")
