"""``tpbench-data build``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from tpbench_data.cli.options import choices, integers, limits, named_paths, split_list

if TYPE_CHECKING:
    from tpbench_data.selectors import Selector


@click.command("build")
@click.option(
    "--corpus",
    "corpora",
    multiple=True,
    required=True,
    metavar="NAME=PATH",
    help="A corpus: folder, archive or file. Known: sgd, multiwoz, risawoz, lme_ku; any other name is a corpus of "
    "your own in the plain JSONL format. May be repeated.",
)
@click.option(
    "--candidates",
    multiple=True,
    metavar="NAME=FILE",
    help="Take the ordered pool of a corpus from this tab-separated file instead of building it.",
)
@click.option(
    "--p3-pool",
    "p3_pools",
    multiple=True,
    metavar="NAME=FILE",
    help="Take the P3 pool from this file of ids (needs --candidates).",
)
@click.option(
    "--value-rule",
    type=click.Choice(["first", "disjoint"]),
    default="first",
    show_default=True,
    help="first: the published rule; disjoint: a change only if old and new forms share nothing.",
)
@click.option("--seeds", default="42,43,44", show_default=True, help="Sample seeds.")
@click.option(
    "--n",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Questions drawn per seed and probe.",
)
@click.option("--ratios", default="0.3", show_default=True, help="Nominal retained fractions, in (0, 1].")
@click.option(
    "--methods",
    default=None,
    help="Methods, such as recency,random(seed=43). 'selectors' stands for all that need no model (the default), "
    "'deletions' for drop_update, drop_evidence and their controls.",
)
@click.option(
    "--probes",
    default=None,
    help="initial_goal, current_value, joint_recovery, free_form. Default: those that the paper asks of each corpus.",
)
@click.option("--protocol", default="paper", show_default=True, help="paper, matched or paper,matched.")
@click.option(
    "--turn-cap",
    "turn_caps",
    multiple=True,
    metavar="NAME=N|none",
    help="Cut every turn of a corpus to N characters under protocol paper, or not at all. "
    "Default: 200 for risawoz and lme_ku, as published.",
)
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to use.")
@click.option("--release-version", default="0.1.0", show_default=True, help="Version of the release.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to make.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def command(
    corpora: tuple[str, ...],
    candidates: tuple[str, ...],
    p3_pools: tuple[str, ...],
    value_rule: str,
    seeds: str,
    n: int,
    ratios: str,
    methods: str | None,
    probes: str | None,
    protocol: str,
    turn_caps: tuple[str, ...],
    workers: int,
    release_version: str,
    out: Path,
    as_json: bool,
) -> None:
    """Build a frozen release from raw dialogues.

    \b
    Example:
      tpbench-data build --corpus sgd=path/to/sgd/train --seeds 42,43,44 --ratios 0.3 --out tpbench
    """
    from tpbench_data.budget import parse_ratio
    from tpbench_data.build import BuildPlan, build
    from tpbench_data.console import progress
    from tpbench_data.names import INPUT_PROBES
    from tpbench_data.protocols import PROTOCOLS

    selectors, deletions = _methods(methods)
    plan = BuildPlan(
        corpora=named_paths(corpora, "--corpus"),
        candidates=named_paths(candidates, "--candidates"),
        p3_pools=named_paths(p3_pools, "--p3-pool"),
        value_rule=cast(Any, value_rule),
        seeds=integers(seeds, "--seeds"),
        n=n,
        ratios=tuple(parse_ratio(part) for part in split_list(ratios, "--ratios")),
        selectors=selectors,
        deletions=deletions,
        probes=cast(Any, choices(probes, "--probes", INPUT_PROBES)) if probes is not None else None,
        protocols=cast(Any, choices(protocol, "--protocol", tuple(PROTOCOLS))),
        turn_characters=limits(turn_caps, "--turn-cap"),
        release=release_version,
    )
    result = build(plan, out, progress("build"), workers)
    if as_json:
        click.echo(json.dumps({"digest": result.digest, "counts": result.counts, "unmatched": result.unmatched}))
        return
    for corpus, counts in result.counts.items():
        click.echo(f"{corpus}: the pool")
        _print_counts(counts["pool"])
        for probe, per_seed in counts["probes"].items():
            click.echo(f"{corpus}: {probe}, per sample seed {', '.join(per_seed)}")
            steps = {step: [seed[step] for seed in per_seed.values()] for step in next(iter(per_seed.values()))}
            _print_counts({step: " / ".join(map(str, values)) for step, values in steps.items()})
        if "free_form" in counts:
            click.echo(f"{corpus}: free_form")
            _print_counts(counts["free_form"])
        for probe, steps in counts.get("deletions", {}).items():
            click.echo(f"{corpus}: {probe}, controls of the deletions")
            _print_counts(steps)
        for example_id in result.unmatched[corpus]:
            click.echo(f"  not reproduced from raw data: {example_id}")
    click.echo(f"release {out}, digest {result.digest}")


def _methods(text: str | None) -> tuple[tuple[Selector, ...], tuple[str, ...]]:
    """The selectors and the deletion conditions that ``--methods`` names."""
    from tpbench_data.deletions import DELETIONS
    from tpbench_data.selectors import SELECTORS, parse_selector
    from tpbench_data.selectors.settings import split_methods

    selectors: dict[Selector, None] = {}
    deletions: set[str] = set()
    for part in split_methods(text, "--methods") if text else ["selectors"]:
        if part == "selectors":
            selectors |= dict.fromkeys(kind() for kind in SELECTORS.values())
        elif part == "deletions":
            deletions |= set(DELETIONS)
        elif part in DELETIONS:
            deletions.add(part)
        else:
            selectors[parse_selector(part)] = None
    return tuple(selectors), tuple(name for name in DELETIONS if name in deletions)


def _print_counts(counts: dict[str, Any]) -> None:
    for step, value in counts.items():
        click.echo(f"  {step:<48} {value}")
