"""``tpbench-generate check``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from tpbench_data.console import CHECK_FAILED, progress
from tpbench_data.errors import BadInput
from tpbench_generate.cli.options import input_options, reader_options, split_options
from tpbench_generate.cli.showing import line_ender

if TYPE_CHECKING:
    from tpbench_generate.comparison import Compared

DEFAULT_SAMPLE = 24
ALLOWED = 300
"""In float32 one answer in so many may differ."""


@click.command("check")
@input_options
@reader_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(as_json: bool, **asked: Any) -> None:
    """Compare serial, batched, eager and SDPA answers on a sample.

    A sample of inputs (--limit, default 24) is answered prompt by prompt, in batches, in batches that read common
    beginnings once, and likewise with eager attention. Answers that differ from the first way are listed with the gap
    between the two logits. In float32 more than one difference in 300 makes the exit 1; in other formats they are
    counted and nothing more.

    \b
    Example:
      tpbench-generate check --release R --reader smollm2-135m --limit 24
    """
    from tpbench_generate.comparison import compare
    from tpbench_generate.preparing import Request, prepare
    from tpbench_generate.sampling import settings_for

    values = split_options(asked)
    attention = values["options"].pop("attention", None)
    values["limit"] = values["limit"] or DEFAULT_SAMPLE
    show, done = progress("tpbench-generate"), line_ender()
    first = attention or "sdpa"
    request = Request(**values)
    prepared = prepare(_with(request, first, share=True), show)
    sample = settings_for(prepared, first)

    def open_reader(setting: Any) -> Any:
        return prepare(_with(request, setting.attention, share=setting.share), show).reader

    compared = compare(sample.prompts, sample.settings, open_reader, show)
    done()
    dtype = str(prepared.row["dtype"])
    report = [_as_json(one, sample.input_ids) for one in compared]
    worst = max(len(one.differences) for one in compared)
    bad = dtype == "float32" and worst > max(1, len(sample.prompts) // ALLOWED)
    if as_json:
        click.echo(json.dumps({"dtype": dtype, "prompts": len(sample.prompts), "settings": report}))
    else:
        click.echo(f"{len(sample.prompts)} distinct prompts, {dtype}, {prepared.row['device']}")
        click.echo(_table(compared, sample.input_ids))
    if bad:
        raise click.exceptions.Exit(CHECK_FAILED)


def _with(request: Any, attention: str, *, share: bool) -> Any:
    from dataclasses import replace

    if request.kv is not None:
        raise BadInput("cannot be checked", field="--kv")
    return replace(request, options={**request.options, "attention": attention}, share_beginnings=share)


def _as_json(one: Compared, input_ids: tuple[str, ...]) -> dict[str, Any]:
    return {
        "setting": one.setting.name,
        "seconds": round(one.seconds, 3),
        "different": [{"input_id": input_ids[d.prompt], "token": d.token, "logit_gap": d.gap} for d in one.differences],
    }


def _table(compared: list[Compared], input_ids: tuple[str, ...]) -> str:
    width = max(len(one.setting.name) for one in compared)
    lines = [f"{'setting':<{width}}  {'seconds':>8}  {'different':>9}"]
    lines += [f"{one.setting.name:<{width}}  {one.seconds:>8.1f}  {len(one.differences):>9}" for one in compared]
    for one in compared:
        lines += [
            f"{one.setting.name}: {input_ids[d.prompt]} from new token {d.token} on, logit gap {d.gap:.2e}"
            for d in one.differences
        ]
    return "\n".join(lines)
