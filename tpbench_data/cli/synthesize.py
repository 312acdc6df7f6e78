"""``tpbench-data synthesize``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tpbench_data.cli.options import choices
from tpbench_data.names import TRANSITION_TYPES


@click.command("synthesize")
@click.option("--language", type=click.Choice(["en", "zh"]), required=True, help="Language of the dialogues.")
@click.option("--seed", type=int, required=True, help="Any whole number; the same seed gives the same bytes.")
@click.option(
    "--per-type", type=click.IntRange(min=1), default=40, show_default=True, help="Dialogues per transition type."
)
@click.option("--types", default=",".join(TRANSITION_TYPES), show_default=True, help="Transition types.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File to make, in the plain format.")
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")
def command(language: str, seed: int, per_type: int, types: str, out: Path, as_json: bool) -> None:
    """Write dialogues of our own, whose answers stand in their support turns and nowhere else.

    \b
    Example:
      tpbench-data synthesize --language en --seed 1 --out tpbench_en.jsonl
      tpbench-data build --corpus tpbench_en=tpbench_en.jsonl --ratios 0.1,0.3 --out tpbench
    """
    from tpbench_data.canonical import sha256_hex
    from tpbench_data.errors import BadInput
    from tpbench_data.files import write_text
    from tpbench_data.synthetic.generate import plain_lines, synthesize

    kinds = choices(types, "--types", TRANSITION_TYPES)
    if out.exists():
        raise BadInput("already exists", file=out, remedy="Choose another --out, or move the old file away")
    if not out.parent.is_dir():
        raise BadInput("no such folder", file=out.parent, remedy="Make it first")
    text = plain_lines(synthesize(language, seed, per_type, kinds))
    write_text(out, text)
    made = {"file": str(out), "dialogues": per_type * len(kinds), "types": list(kinds), "sha256": sha256_hex(text)}
    if as_json:
        click.echo(json.dumps(made))
    else:
        click.echo(f"{out}: {made['dialogues']} dialogues of {len(kinds)} types, SHA-256 {made['sha256']}")
