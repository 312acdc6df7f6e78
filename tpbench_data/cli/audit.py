"""``tpbench-data audit``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tpbench_data.cli.options import choices, named_paths
from tpbench_data.console import CHECK_FAILED


@click.command("audit")
@click.argument("release", type=click.Path(path_type=Path), required=False)
@click.option(
    "--corpus",
    "corpora",
    multiple=True,
    metavar="NAME=PATH",
    help="Also audit the whole pool of this source corpus, from its files. May be repeated.",
)
@click.option("--candidates", multiple=True, metavar="NAME=FILE", help="The given ordered pool of such a corpus.")
@click.option("--p3-pool", "p3_pools", multiple=True, metavar="NAME=FILE", help="Its given P3 pool.")
@click.option("--seed", type=int, default=42, show_default=True, help="Sample seed whose P2 set is compared.")
@click.option("--n", type=click.IntRange(min=1), default=200, show_default=True, help="Questions drawn.")
@click.option(
    "--only",
    default=None,
    help="Some of: cues, mapping, aliases, value_rules, duplicates, matched, authored. Default: all.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the audits as JSON.")
def command(
    release: Path | None,
    corpora: tuple[str, ...],
    candidates: tuple[str, ...],
    p3_pools: tuple[str, ...],
    seed: int,
    n: int,
    only: str | None,
    as_json: bool,
) -> None:
    """Show what a release rests on: cues, ties, aliases, value rules, duplicates, budgets, leaks. Exit 1 on a problem.

    \b
    Example:
      tpbench-data audit path/to/release
      tpbench-data audit --corpus sgd=path/to/sgd/train --only value_rules
    """
    from tpbench_data.audit.run import POOL_AUDITS, RELEASE_AUDITS, audit_pool, audit_release, pool_material
    from tpbench_data.embedded import embedded_release
    from tpbench_data.errors import BadInput
    from tpbench_data.release.reader import Release

    names = choices(only, "--only", tuple(RELEASE_AUDITS)) if only is not None else ()
    paths, given = named_paths(corpora, "--corpus"), named_paths(candidates, "--candidates")
    p3 = named_paths(p3_pools, "--p3-pool")
    for option, files, known, needed in (
        ("--candidates", given, paths, "--corpus"),
        ("--p3-pool", p3, given, "--candidates"),
    ):
        for name in files:
            if name not in known:
                raise BadInput(f"{option} names {name!r}, but {needed} does not", remedy=f"Add {needed} {name}=PATH")
    if paths and names and not set(names) & set(POOL_AUDITS):
        raise BadInput(f"--only {only} leaves nothing to audit of --corpus", remedy=f"Known: {', '.join(POOL_AUDITS)}")
    audits = []
    if release is not None or not paths:
        audits += audit_release(Release.open(release or embedded_release()), names)
    for name, path in paths.items():
        audits += audit_pool(pool_material(name, path, given.get(name), p3.get(name), seed, n), names)
    if as_json:
        click.echo(json.dumps([audit.as_dict() for audit in audits], ensure_ascii=False))
    else:
        click.echo("\n\n".join("\n".join(audit.lines()) for audit in audits))
    if any(audit.problems for audit in audits):
        raise click.exceptions.Exit(CHECK_FAILED)
