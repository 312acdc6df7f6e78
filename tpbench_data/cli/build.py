"""``tpbench-data build``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import click

from tpbench_data.cli.options import choices, integers, named_paths, split_list


@click.command("build")
@click.option(
    "--corpus",
    "corpora",
    multiple=True,
    required=True,
    metavar="NAME=PATH",
    help="A corpus: folder, .tar.xz or .zip. A name that is not a known corpus is your own, in the plain "
    "JSONL format. May be repeated.",
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
    help="Methods, such as recency,random(seed=43). Default: all that need no model.",
)
@click.option("--probes", default="initial_goal,current_value,joint_recovery", show_default=True, help="Probes.")
@click.option("--protocol", default="paper", show_default=True, help="paper, matched or paper,matched.")
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
    probes: str,
    protocol: str,
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
    from tpbench_data.names import PROBES
    from tpbench_data.protocols import PROTOCOLS
    from tpbench_data.selectors import SELECTORS, parse_selector
    from tpbench_data.selectors.settings import split_methods

    plan = BuildPlan(
        corpora=named_paths(corpora, "--corpus"),
        candidates=named_paths(candidates, "--candidates"),
        p3_pools=named_paths(p3_pools, "--p3-pool"),
        value_rule=cast(Any, value_rule),
        seeds=integers(seeds, "--seeds"),
        n=n,
        ratios=tuple(parse_ratio(part) for part in split_list(ratios, "--ratios")),
        selectors=tuple(
            parse_selector(part) for part in (split_methods(methods, "--methods") if methods else SELECTORS)
        ),
        probes=cast(Any, choices(probes, "--probes", PROBES)),
        protocols=cast(Any, choices(protocol, "--protocol", tuple(PROTOCOLS))),
        release=release_version,
    )
    result = build(plan, out, progress("build"))
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
        for example_id in result.unmatched[corpus]:
            click.echo(f"  not reproduced from raw data: {example_id}")
    click.echo(f"release {out}, digest {result.digest}")


def _print_counts(counts: dict[str, Any]) -> None:
    for step, value in counts.items():
        click.echo(f"  {step:<48} {value}")
