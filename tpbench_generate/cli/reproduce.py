"""``tpbench-generate reproduce``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tpbench_data.console import CHECK_FAILED, progress
from tpbench_generate.cli.options import release_option
from tpbench_generate.cli.showing import line_ender

if TYPE_CHECKING:
    from tpbench_generate.reproduce import Changed

_SHOWN = 200
"""Characters of an answer that are shown."""


@click.command("reproduce")
@release_option
@click.option(
    "--outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A run folder; may be repeated. Default: the runs stored in the release.",
)
@click.option("--reader", help="How to open the reader (default: by the name that the run states).")
@click.option("--device", default="auto", show_default=True, help="Where the model runs: auto, cpu, cuda:0.")
@click.option("--sample", type=click.IntRange(min=1), default=100, show_default=True, help="Outputs to answer again.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which outputs are drawn.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    release: Path | None,
    outputs: tuple[Path, ...],
    reader: str | None,
    device: str,
    sample: int,
    seed: int,
    as_json: bool,
) -> None:
    """Answer a sample of saved outputs again, with the settings of their run.

    The reader, its revision and every setting must be those that the run recorded. Answers that come out differently
    are shown with the gap between the two logits where they part. More than one in a hundred makes the exit 1. Runs
    with compressed caches are left out.

    \b
    Example:
      tpbench-generate reproduce --release R --sample 100
    """
    from tpbench_data.embedded import embedded_release
    from tpbench_data.release.reader import Release
    from tpbench_data.release.stored_runs import stored_runs
    from tpbench_data.run_folder import read_run
    from tpbench_generate.reproduce import draw, reproduce

    opened = Release.open(release or embedded_release())
    runs = [read_run(folder) for folder in outputs] or stored_runs(opened)
    saved = draw(opened, runs, sample, seed)
    show, done = progress("tpbench-generate"), line_ender()
    changed = reproduce(saved, reader, device, show)
    done()
    if as_json:
        click.echo(json.dumps({"outputs": len(saved), "different": [asdict(one) for one in changed]}))
    else:
        click.echo(f"{len(saved)} outputs answered again: {len(saved) - len(changed)} equal, {len(changed)} different")
        for one in changed:
            click.echo(_told(one))
    if len(changed) > max(1, len(saved) // 100):
        raise click.exceptions.Exit(CHECK_FAILED)


def _told(one: Changed) -> str:
    gap = "" if one.gap is None else f" from token {one.token} on, logit gap {one.gap:.2e}"
    before, now = (json.dumps(text, ensure_ascii=False)[:_SHOWN] for text in (one.before, one.now))
    return f"{one.run_id} {one.input_id}{gap}\n  saved {before}\n  now   {now}"
