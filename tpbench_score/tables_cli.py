"""``tpbench-score tables``: every table and figure that a release and its outputs can give."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tpbench_data.errors import BadInput
from tpbench_score.rules import DEFAULT_RULE, RULES

if TYPE_CHECKING:
    from tpbench_score.tables.model import TableResult, Unavailable

_FORMATS = ("md", "csv", "latex", "json")


def _numbers(texts: Sequence[str], option: str) -> list[int]:
    """Numbers from repeated options and comma lists.

    Raises:
        BadInput: not a whole number.
    """
    parts = [part.strip() for text in texts for part in text.split(",")]
    for part in parts:
        if not (part.isascii() and part.isdigit()):
            raise BadInput(f"'{part}' is no table number", field=option, remedy="Write --table 3 or --table 3,10,24")
    return [int(part) for part in parts]


@click.command("tables")
@click.argument("release", type=click.Path(path_type=Path), required=False)
@click.option(
    "--outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A run folder; may be repeated. Default: the runs stored in the release.",
)
@click.option("--stored", is_flag=True, help="Besides --outputs, also the runs stored in the release.")
@click.option("--table", "tables", multiple=True, metavar="N", help="Only these tables: 3 or 3,10,24; may be repeated.")
@click.option("--figure", "figures", multiple=True, metavar="N", help="Only these figures (their data): 2 or 3.")
@click.option("--reader", help="The reader to show. Default: the one with most outputs.")
@click.option("--run", "runs", multiple=True, help="The run to show where a reader has several; may be repeated.")
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    help="Default: drawn tables in a terminal, else Markdown.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write one file per table into this new folder.")
@click.option("--ci", is_flag=True, help="Add 95% intervals, clustered by source dialogue.")
@click.option(
    "--counts",
    is_flag=True,
    help="Beside each accuracy: n, parse rate, abstained, errors, missing, shares of turns and words kept.",
)
@click.option("--allow-missing", is_flag=True, help="Count planned inputs without an answer as wrong.")
@click.option("--scorer", type=click.Choice(list(RULES)), default=DEFAULT_RULE, show_default=True, help="Scorer.")
def command(
    release: Path | None,
    outputs: tuple[Path, ...],
    stored: bool,
    tables: tuple[str, ...],
    figures: tuple[str, ...],
    reader: str | None,
    runs: tuple[str, ...],
    form: str | None,
    out: Path | None,
    ci: bool,
    counts: bool,
    allow_missing: bool,
    scorer: str,
) -> None:
    """Make the paper's tables from saved outputs: no model, no network.

    RELEASE is a release folder (default: the one that comes with TPBench). A table whose inputs are not there is
    one line that says what it needs.

    \b
    Example:
      tpbench-score tables
      tpbench-score tables tpbench --outputs runs/a --table 24 --ci --format latex
      tpbench-score tables R2 --outputs runs/new_method --stored
    """
    from tpbench_data.embedded import embedded_release
    from tpbench_data.release.reader import Release
    from tpbench_score.render import with_counts
    from tpbench_score.tables.loading import load_study
    from tpbench_score.tables.model import TableResult
    from tpbench_score.tables.registry import chosen_tables, make_tables

    wanted = chosen_tables(_numbers(tables, "--table"), _numbers(figures, "--figure"))
    if out is not None and out.exists():
        raise BadInput("already exists", file=out, remedy="Choose another --out, or move the old folder away")
    study = load_study(
        Release.open(release or embedded_release()),
        outputs,
        stored=stored,
        reader=reader,
        runs=runs,
        allow_missing=allow_missing,
        rule=scorer,
        with_intervals=ci,
    )
    made = make_tables(study, wanted)
    if counts:
        made = [with_counts(table) if isinstance(table, TableResult) else table for table in made]
    if out is not None:
        _write(out, made, form or "md")
    elif form is None and sys.stdout.isatty():
        from rich.console import Console

        from tpbench_score.render.terminal import print_tables

        print_tables(made, Console())
    else:
        _print(made, form or "md")


def _print(made: Sequence[TableResult | Unavailable], form: str) -> None:
    from tpbench_score.render import FORMATS

    # As bytes: the same on every locale, and a name that the terminal cannot show is no error.
    click.echo(FORMATS[form].render(made).encode("utf-8"), nl=False)


def _write(out: Path, made: Sequence[TableResult | Unavailable], form: str) -> None:
    from tpbench_data.files import new_folder, write_text
    from tpbench_score.render import FORMATS, file_stems
    from tpbench_score.tables.model import TableResult

    there = [table for table in made if isinstance(table, TableResult)]
    names = [f"{stem}{FORMATS[form].suffix}" for stem in file_stems(there)]
    with new_folder(out) as folder:
        for name, table in zip(names, there, strict=True):
            write_text(folder / name, FORMATS[form].render([table]))
    for name in names:
        click.echo(str(out / name))
    for absent in made:
        if not isinstance(absent, TableResult):
            click.echo(f"{absent.name} ({absent.title}): not available, needs {absent.missing}.")
