"""``tpbench-generate select``."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tpbench_data.console import progress
from tpbench_generate.cli.options import listed, release_option

_HASH = re.compile(r"([0-9a-f]{8})[0-9a-f]{24,}")

if TYPE_CHECKING:
    from tpbench_generate.select import Added


@click.command("select")
@release_option
@click.option(
    "--method",
    "methods",
    multiple=True,
    required=True,
    help="A method: name, name(setting=value) or my_file.py:MyMethod; see `tpbench-generate methods`. With --contexts: "
    "the name that the contexts get. May be repeated or be a comma list.",
)
@click.option("--ratio", "ratios", multiple=True, help="Nominal retained fraction in (0, 1]. May be repeated.")
@click.option(
    "--contexts",
    type=click.Path(path_type=Path),
    help='Take contexts made elsewhere: a JSONL file with {"example_id", "probe", "context"} a line.',
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder of the new release.")
@click.option("--release-version", help="Version of the new release (default: the next minor version).")
@click.option("--probe", "probes", multiple=True, help="Only these probes.")
@click.option("--protocol", "protocols", multiple=True, help="Only this protocol: paper or matched.")
@click.option("--corpus", "corpora", multiple=True, help="Only these corpora.")
@click.option(
    "--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes; changes speed, no byte."
)
@click.option(
    "--device", default="cpu", show_default=True, help="Where models run: cpu, cuda:0, or auto (a GPU, else cpu)."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was added as JSON.")
def command(
    release: Path | None,
    methods: tuple[str, ...],
    ratios: tuple[str, ...],
    contexts: Path | None,
    out: Path,
    release_version: str | None,
    probes: tuple[str, ...],
    protocols: tuple[str, ...],
    corpora: tuple[str, ...],
    workers: int,
    device: str,
    as_json: bool,
) -> None:
    """Add a method's contexts to a release, as a new version in a new folder. The old folder is not touched.

    \b
    Examples:
      tpbench-generate select --release R --method my_file.py:MyMethod --ratio 0.3 --out R2
      tpbench-generate select --release R --method my_summaries --contexts summaries.jsonl --out R2
    """
    from tpbench_data.budget import parse_ratio
    from tpbench_data.embedded import embedded_release
    from tpbench_data.release.reader import Release
    from tpbench_data.selectors.settings import split_methods
    from tpbench_generate.select import Wanted, select

    show = progress("tpbench-generate")
    added = select(
        Release.open(release or embedded_release()),
        Wanted(
            methods=tuple(split_methods(",".join(methods), "--method")),
            ratios=tuple(parse_ratio(text) for text in listed(ratios)),
            contexts=contexts,
            probes=listed(probes),
            protocols=listed(protocols),
            corpora=listed(corpora),
        ),
        out,
        version=release_version,
        workers=workers,
        device=device,
        progress=show,
    )
    show("")
    for note in added.notes:
        print(f"tpbench-generate: {note}", file=sys.stderr)
    click.echo(json.dumps(asdict(added), ensure_ascii=False) if as_json else _told(added, out))


def _told(added: Added, out: Path) -> str:
    lines = [f"release {out}, version {added.version}, digest {added.digest}"]
    for cell in added.cells:
        where = [cell.probe, cell.corpus, cell.protocol, _HASH.sub(r"\1...", cell.method)]
        where += [] if cell.ratio is None else [f"ratio {cell.ratio:g}"]
        kept = f"{cell.words:.1%} of the words" + ("" if cell.turns is None else f", {cell.turns:.1%} of the turns")
        lines.append(f"  {', '.join(where)}: {cell.rows} inputs, {kept} kept")
    method = added.cells[0].method.partition("(")[0]
    lines.append(f"next: tpbench-generate run --release {out} --method {method} --reader NAME --out runs/x")
    return "\n".join(lines)
