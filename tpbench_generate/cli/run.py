"""``tpbench-generate run``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from tpbench_data.console import CHECK_FAILED, progress
from tpbench_data.errors import BadInput
from tpbench_data.names import INPUT_PROBES, PROBES, ROLES
from tpbench_generate.demonstrations import DEMONSTRATIONS
from tpbench_generate.readers.base import DEFAULT_MAX_NEW_TOKENS, DTYPES

if TYPE_CHECKING:
    from tpbench_generate.engine import Progress, RunSummary

INTERRUPTED = 130

Number = TypeVar("Number", int, float)


@click.command("run")
@click.option(
    "--release",
    type=click.Path(path_type=Path),
    help="Release folder (default: the release that ships with tpbench).",
)
@click.option("--reader", required=True, help="Who answers; see `tpbench-generate readers`.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Run folder to write, or to go on with.")
@click.option(
    "--probe", "probes", multiple=True, help=f"Only these of {', '.join(INPUT_PROBES)} (default: the first three)."
)
@click.option("--method", "methods", multiple=True, help="Only inputs of these methods.")
@click.option("--ratio", "ratios", multiple=True, help="Only inputs of these retained fractions.")
@click.option("--seed", "seeds", multiple=True, help="Only inputs in these sample seeds.")
@click.option("--corpus", "corpora", multiple=True, help="Only inputs of these corpora.")
@click.option(
    "--limit", type=click.IntRange(min=1), help="At most N inputs: the first examples, each with all its methods."
)
@click.option("--batch-size", type=click.IntRange(min=1), default=8, show_default=True, help="Prompts of one batch.")
@click.option(
    "--max-new-tokens",
    type=click.IntRange(min=1),
    default=DEFAULT_MAX_NEW_TOKENS,
    show_default=True,
    help="Most tokens of an answer.",
)
@click.option(
    "--max-input-tokens",
    type=click.IntRange(min=2),
    help="Cut longer prompts to this many tokens (default: the model's limit less the new tokens).",
)
@click.option(
    "--truncation-side",
    type=click.Choice(["left", "right"]),
    default="left",
    show_default=True,
    help="Which end of a too long prompt is cut.",
)
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    default="auto",
    show_default=True,
    help="Number format; auto: float32 on a CPU, bfloat16 on a GPU.",
)
@click.option("--attention", default="sdpa", show_default=True, help="Attention: sdpa, eager, flash_attention_2.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, or a GPU such as cuda:0.")
@click.option("--role", type=click.Choice(ROLES), default="main", show_default=True, help="What the run is for.")
@click.option(
    "--demonstration",
    type=click.Choice(list(DEMONSTRATIONS)),
    default=None,
    help="Put a worked example before every prompt, for readers that do not follow the instruction alone.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(
    release: Path | None,
    reader: str,
    out: Path,
    probes: tuple[str, ...],
    methods: tuple[str, ...],
    ratios: tuple[str, ...],
    seeds: tuple[str, ...],
    corpora: tuple[str, ...],
    limit: int | None,
    batch_size: int,
    max_new_tokens: int,
    max_input_tokens: int | None,
    truncation_side: str,
    dtype: str,
    attention: str,
    device: str,
    role: str,
    demonstration: str | None,
    as_json: bool,
) -> None:
    """Answer the inputs of a release and save the answers.

    Filters may be repeated or given as comma lists. An interrupted run goes on when the same command is given again,
    and ends with the same files. Inputs that fail are saved with their error; if not one is answered, the exit is 1.

    \b
    Example:
      tpbench-generate run --release R --reader smollm2-135m --probe current_value --ratio 0.3 --limit 40 --out runs/a
    """
    from tpbench_data.embedded import embedded_release
    from tpbench_data.release.reader import Release
    from tpbench_generate.engine import count_tokens, run_plan, run_row
    from tpbench_generate.plan import Selection, make_plan, select_inputs
    from tpbench_generate.readers import open_reader

    asked = _listed(probes)
    if unknown := [name for name in asked if name not in INPUT_PROBES]:
        known = ", ".join(INPUT_PROBES)
        raise BadInput(f"there is no probe '{unknown[0]}'", field="--probe", remedy=f"Probes: {known}")
    opened = Release.open(release or embedded_release())
    present = [probe for probe in INPUT_PROBES if probe in opened.configs]
    selection = Selection(
        probes=asked or tuple(probe for probe in PROBES if probe in present),
        methods=_listed(methods),
        ratios=tuple(_number(text, float, "--ratio") for text in _listed(ratios)),
        seeds=tuple(_number(text, int, "--seed") for text in _listed(seeds)),
        corpora=_listed(corpora),
        limit=limit,
    )
    inputs = select_inputs({probe: opened.table(probe) for probe in present}, selection, release=str(opened.path))
    show = progress("tpbench-generate")
    done = _line_ender()
    model = open_reader(
        reader,
        say=show,
        max_new_tokens=max_new_tokens,
        max_input_tokens=max_input_tokens,
        truncation_side=truncation_side,
        dtype=dtype,
        attention=attention,
        device=device,
    )
    show(f"counting the tokens of {len(inputs)} inputs")
    plan = make_plan(inputs, count_tokens(model), batch_size, DEMONSTRATIONS.get(demonstration or ""))
    row = run_row(
        plan,
        model,
        role=role,
        demonstration=demonstration,
        batch_plan=f"length-sorted, batch_size={batch_size}",
        release_digest=opened.digest,
    )
    show("loading the model")
    try:
        summary = run_plan(plan, model, row, out, on_progress=_shown(show), warn=_note)
    except KeyboardInterrupt:
        done()
        _note(f"interrupted; run the same command again to go on: finished batches are kept in {out}")
        raise click.exceptions.Exit(INTERRUPTED) from None
    done()
    click.echo(json.dumps(asdict(summary)) if as_json else _told(summary, opened.path))
    if summary.errors == summary.planned:
        raise click.exceptions.Exit(CHECK_FAILED)


def _line_ender() -> Callable[[], None]:
    """Ends the line of progress, where there is one."""
    return (lambda: click.echo(err=True)) if sys.stderr.isatty() else (lambda: None)


def _told(summary: RunSummary, release: Path) -> str:
    what = "was finished already; nothing was changed" if summary.was_finished else "finished"
    lines = [
        f"run {summary.run_id} in {summary.folder} {what}",
        f"{summary.planned} inputs ({summary.prompts} distinct prompts): {summary.planned - summary.errors} answered,"
        f" {summary.errors} errors, {summary.truncated} prompts cut to the input limit",
    ]
    if summary.errors:
        lines.append(f"errors are in the outputs (column error) and in {summary.folder}/log.txt")
    lines.append(f"next: tpbench-score tables {release} --outputs {summary.folder}")
    return "\n".join(lines)


def _shown(show: Callable[[str], None]) -> Callable[[Progress], None]:
    def on_progress(now: Progress) -> None:
        text = f"{now.done}/{now.total} prompts"
        if now.per_second is not None and now.seconds_left is not None:
            minutes, seconds = divmod(round(now.seconds_left), 60)
            text += f", {now.per_second:.2f}/s, {minutes // 60}:{minutes % 60:02}:{seconds:02} left"
        show(text)

    return on_progress


def _note(text: str) -> None:
    clear = "\r\x1b[K" if sys.stderr.isatty() else ""  # the line of progress makes way
    click.echo(f"{clear}tpbench-generate: {text}", err=True)


def _listed(values: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of repeated options and comma lists, each once, in the order given."""
    parts = [part.strip() for value in values for part in value.split(",")]
    return tuple(dict.fromkeys(part for part in parts if part))


def _number(text: str, kind: type[Number], option: str) -> Number:
    try:
        return kind(text)
    except ValueError:
        raise BadInput(f"'{text}' is not a number", field=option) from None
