"""``tpbench-score verify``: the tables frozen in a release, computed again."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from tpbench_data.console import CHECK_FAILED


@click.command("verify")
@click.argument("release", type=click.Path(path_type=Path), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one object: verified and the list of mismatches.")
def command(release: Path | None, as_json: bool) -> None:
    """Compute every table frozen in RELEASE again from its saved outputs and compare all cells.

    Exit 0 if every number is the same to the last digit. Else exit 1, with the first cell of each table that differs:
    table, row (the method, in most tables), column, frozen and computed value, and the first answer whose verdict
    changed if verdicts are frozen too. Exit 2 if nothing is frozen. RELEASE: default the one that ships with TPBench.

    \b
    Example:
      tpbench-score tables R --format json --out tables
      tpbench-score score R --verdicts tables/verdicts.json
      tpbench-data freeze R --tables tables --release-version 1.0.1 --out R2
      tpbench-score verify R2
    """
    from tpbench_data.embedded import embedded_release
    from tpbench_data.release.reader import Release
    from tpbench_score.verification import verify

    opened = Release.open(release or embedded_release())
    found = verify(opened)
    if as_json:
        mismatches = [asdict(mismatch) for mismatch in found.mismatches]
        head = {"release": str(opened.path), "verified": not mismatches, "tables": found.tables, "cells": found.cells}
        click.echo(json.dumps({**head, "mismatches": mismatches}, ensure_ascii=False))
    else:
        for mismatch in found.mismatches:
            place = f", {mismatch.row}, {mismatch.column}" if mismatch.row else ""
            click.echo(
                f"tables/{mismatch.file}: {mismatch.table}{place}: {mismatch.part} was frozen as "
                f"{_shown(mismatch.frozen)}, computed {_shown(mismatch.now)} ({mismatch.cells} cells differ)"
            )
        items = dict.fromkeys(mismatch.item for mismatch in found.mismatches if mismatch.item)
        for item in items:
            click.echo(f"first answer whose verdict changed: {item} (see `tpbench-score explain`)")
        if found.mismatches and not items:
            click.echo("which answers changed is not known: no verdicts are frozen that differ")
        state = f"{len(found.mismatches)} of {found.tables} tables differ" if found.mismatches else "verified"
        click.echo(f"{opened.path}: {state}; {found.tables} tables, {found.cells} cells computed again")
    if found.mismatches:
        raise click.exceptions.Exit(CHECK_FAILED)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:97]}..."
