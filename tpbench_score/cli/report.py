"""``tpbench-score report``: one self-contained HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from tpbench_data.errors import BadInput
from tpbench_score.rules import DEFAULT_RULE, RULES


@click.command("report")
@click.argument("release", type=click.Path(path_type=Path), required=False)
@click.option(
    "--outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A run folder; may be repeated. Default: the runs stored in the release.",
)
@click.option("--stored", is_flag=True, help="Besides --outputs, also the runs stored in the release.")
@click.option("--reader", help="The reader to show. Default: the one with most outputs.")
@click.option("--run", "runs", multiple=True, help="The run to show where a reader has several; may be repeated.")
@click.option("--allow-missing", is_flag=True, help="Count planned inputs without an answer as wrong.")
@click.option(
    "--scorer",
    type=click.Choice(list(RULES)),
    default=DEFAULT_RULE,
    show_default=True,
    help="Scorer of tables and figures; the others are compared with it.",
)
@click.option(
    "--items",
    type=click.IntRange(min=0),
    default=2_000,
    show_default=True,
    help="Most answers to show one by one; whole dialogues are left out beyond that.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The HTML file to write.")
def command(
    release: Path | None,
    outputs: tuple[Path, ...],
    stored: bool,
    reader: str | None,
    runs: tuple[str, ...],
    allow_missing: bool,
    scorer: str,
    items: int,
    out: Path,
) -> None:
    """Write summary, figures, tables and single answers as one HTML page.

    The page needs no network and loads nothing; without JavaScript everything but the single answers is there.
    RELEASE is a release folder (default: the one that comes with TPBench).

    \b
    Example:
      tpbench-score report tpbench --outputs runs/a --out report.html
    """
    from tpbench_data.embedded import embedded_release
    from tpbench_data.files import write_text
    from tpbench_data.release.reader import Release
    from tpbench_score.report import build_report

    if out.exists():
        raise BadInput("already exists", file=out, remedy="Choose another --out, or move the old file away")
    text = build_report(
        Release.open(release or embedded_release()),
        outputs,
        stored=stored,
        reader=reader,
        runs=runs,
        allow_missing=allow_missing,
        scorer=scorer,
        items=items,
    )
    write_text(out, text)
    click.echo(str(out))
