"""``tpbench-data sources``: where the corpora come from, getting them, and recognising them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tpbench_data.console import CHECK_FAILED

if TYPE_CHECKING:
    from tpbench_data.sources.catalogue import Source

_SHOWN = 5


@click.group("sources", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON, with every file.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the source corpora: licence, homepage, revision, files and what to cite.

    \b
    Example:
      tpbench-data sources
      tpbench-data sources get risawoz --out corpora/risawoz
      tpbench-data sources check corpora/risawoz
    """
    if context.invoked_subcommand is not None:
        return
    from tpbench_data.sources.catalogue import sources

    listed = list(sources().values())
    if as_json:
        click.echo(json.dumps([_record(source) for source in listed], ensure_ascii=False))
        return
    for source in listed:
        known = sum(file.sha256 is not None for file in source.files)
        click.echo(f"{source.name}: {source.corpus.title}, version {source.version}")
        click.echo(f"  build as   --corpus {source.corpus.name}=DIR")
        click.echo(f"  licence    {source.corpus.licence}")
        click.echo(f"  homepage   {source.corpus.homepage}")
        click.echo(f"  revision   {source.revision or 'not pinned: the address follows a branch'}")
        click.echo(f"  files      {len(source.files)}, of which {known} have a known SHA-256")
        for file in source.files[:_SHOWN]:
            click.echo(f"    {file.path}  {file.sha256 or 'hash not known'}")
        if len(source.files) > _SHOWN:
            click.echo(f"    and {len(source.files) - _SHOWN} more (see --json)")
        click.echo(f"  cite       {source.corpus.citation}")


@command.command("get")
@click.argument("name")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder to download to.")
@click.option("--mirror", default=None, metavar="URL", help="Fetch the files from below this address instead.")
@click.option("--json", "as_json", is_flag=True, help="Print what was fetched as JSON.")
def get(name: str, out: Path, mirror: str | None, as_json: bool) -> None:
    """Download a source. An interrupted download goes on where it stopped; known hashes are checked.

    \b
    Example:
      tpbench-data sources get lme_ku --out corpora/lme_ku
    """
    from tpbench_data.console import progress
    from tpbench_data.sources.catalogue import source_named
    from tpbench_data.sources.download import fetch

    source = source_named(name)
    show = progress("get")
    made: list[dict[str, Any]] = []
    for file in source.files:
        url = file.url if mirror is None else f"{mirror.rstrip('/')}/{file.path}"
        done = fetch(url, out / file.path, file.sha256, progress=show)
        checked = file.sha256 is not None
        made.append({"path": str(done.path), "sha256": done.sha256, "fetched": done.fetched, "checked": checked})
    if as_json:
        click.echo(json.dumps(made))
        return
    unchecked = [entry for entry in made if not entry["checked"]]
    click.echo(f"{out}: {len(made)} files, {sum(entry['fetched'] for entry in made)} bytes fetched")
    if unchecked:
        click.echo(f"{len(unchecked)} of them have no known hash and were taken as they came:")
        for entry in unchecked:
            click.echo(f"  {entry['sha256']}  {entry['path']}")
    click.echo(f"Licence {source.corpus.licence}. Please cite: {source.corpus.citation}")
    click.echo(f"Build with: tpbench-data build --corpus {source.corpus.name}={out} --out RELEASE")


@command.command("check")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the finding as JSON.")
def check(path: Path, as_json: bool) -> None:
    """Say which corpus and version a folder, archive or file holds. Exit 1 if a file differs from its known hash.

    \b
    Example:
      tpbench-data sources check corpora/multiwoz
    """
    from tpbench_data.sources.identify import find

    found = find(path)
    if as_json:
        record = {
            "corpus": found.shape.corpus or None,
            "format": found.shape.format,
            "version": found.version,
            "source": found.source.name if found.source else None,
            "verified": found.verified,
            "unknown": found.unknown,
            "changed": found.changed,
            "missing": found.missing,
        }
        click.echo(json.dumps(record, ensure_ascii=False))
    else:
        click.echo(f"{path}: {found.shape.title}, version {found.version}")
        if found.shape.corpus:
            click.echo(f"  compared with the source  {found.source.name if found.source else 'none'}")
            for label, names in (
                ("with the known hash", found.verified),
                ("hash not known", found.unknown),
                ("CHANGED", found.changed),
                ("missing", found.missing),
            ):
                click.echo(f"  {label:<24}  {len(names)}{_listed(names, label)}")
        click.echo(f"  build with                {found.shape.option}")
    if found.changed:
        raise click.exceptions.Exit(CHECK_FAILED)


def _listed(names: tuple[str, ...], label: str) -> str:
    if not names or label == "with the known hash":
        return ""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f" ({', '.join(names[:_SHOWN])}{more})"


def _record(source: Source) -> dict[str, Any]:
    return {
        "name": source.name,
        "corpus": source.corpus.name,
        "title": source.corpus.title,
        "version": source.version,
        "revision": source.revision,
        "licence": source.corpus.licence,
        "homepage": source.corpus.homepage,
        "citation": source.corpus.citation,
        "files": [{"path": file.path, "url": file.url, "sha256": file.sha256} for file in source.files],
    }
