"""``tpbench-data freeze``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("freeze")
@click.argument("release", type=click.Path(path_type=Path))
@click.option(
    "--outputs", multiple=True, type=click.Path(path_type=Path), help="A finished run folder. May be repeated."
)
@click.option(
    "--judgments",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A judge's folder, or a file with judgments. May be repeated.",
)
@click.option(
    "--tables",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A folder with tables as JSON, or one such file. May be repeated.",
)
@click.option("--release-version", required=True, help="Version of the new release, MAJOR.MINOR.PATCH.")
@click.option("--date-published", metavar="YYYY-MM-DD", help="Date of publication, for the metadata.")
@click.option("--homepage", metavar="URL", help="Where the release is published, for the metadata.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to make.")
def command(
    release: Path,
    outputs: tuple[Path, ...],
    judgments: tuple[Path, ...],
    tables: tuple[Path, ...],
    release_version: str,
    date_published: str | None,
    homepage: str | None,
    out: Path,
) -> None:
    """Add runs, judgments and tables to a release, as a new version in a new folder.

    What the release holds stays in it; a table file of the same name is replaced. The old folder is not touched.

    \b
    Example:
      tpbench-data freeze R --outputs runs/a --release-version 0.2.0 --out R2
      tpbench-score tables R2 --format json --out tables
      tpbench-data freeze R2 --tables tables --release-version 0.3.0 --out R3
    """
    from tpbench_data.freeze import Results, freeze
    from tpbench_data.release.reader import Release

    facts = {"date_published": date_published, "homepage": homepage}
    digest = freeze(
        Release.open(release),
        Results(outputs, judgments, tables),
        release_version,
        out,
        {key: value for key, value in facts.items() if value is not None},
    )
    click.echo(f"release {out}, version {release_version}, digest {digest}")
