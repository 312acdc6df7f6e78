"""``tpbench-score compare``: two runs or two methods on the same examples."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tpbench_score.rules import DEFAULT_RULE, RULES

if TYPE_CHECKING:
    from tpbench_score.comparing import CellComparison

_SHOWN = 10


@click.command("compare")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.argument("release", type=click.Path(path_type=Path), required=False)
@click.option(
    "--outputs",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A run folder to look for A and B in; may be repeated. Default: the runs stored in the release.",
)
@click.option("--probe", help="Only this probe, such as current_value.")
@click.option("--scorer", type=click.Choice(list(RULES)), default=DEFAULT_RULE, show_default=True, help="Scorer.")
@click.option("--limit", type=click.IntRange(min=0), default=_SHOWN, show_default=True, help="Flips to print per cell.")
@click.option("--allow-missing", is_flag=True, help="Count planned inputs without output as wrong.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, with every flipped answer.")
def command(
    a: str,
    b: str,
    release: Path | None,
    folders: tuple[Path, ...],
    probe: str | None,
    scorer: str,
    limit: int,
    allow_missing: bool,
    as_json: bool,
) -> None:
    """Compare A with B, each a run (id, reader or folder), a method, or RUN:METHOD, over the same examples of RELEASE.

    Prints, cell by cell, both means over sample seeds, their difference with a 95% interval over source dialogues,
    McNemar's exact test over all paired examples, and the answers whose verdict differs, side by side. RELEASE
    defaults to the one that comes with TPBench.

    \b
    Example:
      tpbench-score compare recency uniform_stride tpbench --probe current_value
      tpbench-score compare runs/a runs/b tpbench
      tpbench-score compare runs/kv:chunkkv runs/main:full_context tpbench
    """
    import pyarrow.compute as pc

    from tpbench_data.embedded import embedded_release
    from tpbench_data.errors import BadInput
    from tpbench_data.release.reader import Release
    from tpbench_score.comparing import compare
    from tpbench_score.scoring import score
    from tpbench_score.sides import read_side, run_folders
    from tpbench_score.signature import signature_of
    from tpbench_score.statistics.bootstrap import OWN

    outputs = list(dict.fromkeys([*folders, *run_folders([a, b])]))
    scores = score(
        Release.open(release or embedded_release()), outputs or None, allow_missing=allow_missing, rule=scorer
    )
    if probe is not None:
        known = sorted(set(scores["probe"].to_pylist()))
        if probe not in known:
            raise BadInput(f"no outputs of probe {probe!r}", field="--probe", remedy=f"Probes here: {', '.join(known)}")
        scores = scores.filter(pc.equal(scores["probe"], probe))
    found = compare(scores, read_side(a, scores), read_side(b, scores))
    signature = str(signature_of(found.rows).extended(mean="seeds", intervals=OWN.signature))
    if as_json:
        cells = [_cell_object(cell) for cell in found.cells]
        head = {"a": a, "b": b, "unpaired": list(found.unpaired), "signature": signature}
        click.echo(json.dumps({**head, "cells": cells}))
        return
    click.echo(f"A = {a}, B = {b}")
    for cell in found.cells:
        _print_cell(cell, limit)
    if any(found.unpaired):
        click.echo(f"\nwithout a partner, so left out: {found.unpaired[0]} rows of A, {found.unpaired[1]} of B")
    click.echo(f"\n{signature}")


def _print_cell(cell: CellComparison, limit: int) -> None:
    from tpbench_score.render.numbers import decimal

    ratio = "" if cell.ratio is None else f" at ratio {cell.ratio:g}"
    click.echo(f"\n{cell.probe} {cell.corpus}, protocol {cell.protocol}{ratio}: {cell.examples} examples")
    for one in cell.contrasts:
        between = "" if one.interval is None else f" [{one.interval[0]:+.3f}, {one.interval[1]:+.3f}]"
        click.echo(
            f"  {one.measure}: A {one.a:.3f}, B {one.b:.3f}, A - B {one.difference:+.3f}{between}; "
            f"only A right {one.only_a}, only B right {one.only_b}, exact McNemar p = {decimal(one.p, 'p')}"
        )
    for x, y in cell.flips[:limit]:
        click.echo(f"  {x['example_id']}")
        for name, row in (("A", x), ("B", y)):
            click.echo(f"    {name} {_verdict(row)}: {json.dumps(row['answer'], ensure_ascii=False)}".encode())
    if len(cell.flips) > limit:
        click.echo(f"  and {len(cell.flips) - limit} more; --json gives them all")


def _verdict(row: Mapping[str, Any]) -> str:
    name = "strict" if row["strict"] else "loose" if row["loose"] else "wrong"
    return f"{name} ({row['reason']})"


def _cell_object(cell: CellComparison) -> dict[str, Any]:
    return {
        "probe": cell.probe,
        "corpus": cell.corpus,
        "protocol": cell.protocol,
        "ratio": cell.ratio,
        "examples": cell.examples,
        "measures": {
            one.measure: {
                "a": one.a,
                "b": one.b,
                "difference": one.difference,
                "interval": None if one.interval is None else list(one.interval),
                "only_a": one.only_a,
                "only_b": one.only_b,
                "mcnemar_p": one.p,
            }
            for one in cell.contrasts
        },
        "flips": [{"example_id": x["example_id"], "a": _answer(x), "b": _answer(y)} for x, y in cell.flips],
    }


def _answer(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("input_id", "strict", "loose", "reason", "answer", "status")}
