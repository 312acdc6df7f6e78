"""``tpbench-data freeze``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("freeze")
@click.argument("release", type=click.Path(path_type=Path))
@click.option(
    "--outputs", "folders", multiple=True, required=True, type=click.Path(path_type=Path),
    help="A finished run folder. May be repeated.",
)  # fmt: skip
@click.option("--release-version", required=True, help="Version of the new release.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to make.")
def command(release: Path, folders: tuple[Path, ...], release_version: str, out: Path) -> None:
    """Add finished runs to a release, as a new version in a new folder.

    \b
    Example:
      tpbench-data freeze R --outputs runs/a --release-version 0.2.0 --out R2
    """
    from tpbench_data.freeze import freeze
    from tpbench_data.release.reader import Release

    digest = freeze(Release.open(release), folders, release_version, out)
    click.echo(f"release {out}, version {release_version}, digest {digest}")
