"""Building a release: corpora -> pools -> seeded probe sets -> frozen inputs -> a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tpbench_data import __version__
from tpbench_data.changes import VALUE_RULES
from tpbench_data.corpora import Corpus, corpus_named
from tpbench_data.errors import BadInput
from tpbench_data.inputs import dialogue_table, input_rows, probe_table
from tpbench_data.names import PROBES, Probe, ProtocolName, ValueRuleName
from tpbench_data.pool import Pool, given_pool, native_pool, read_candidates, read_p3_pool
from tpbench_data.probes import Example, draw, pool_counts
from tpbench_data.protocols import PROTOCOLS
from tpbench_data.release.writer import write_release
from tpbench_data.selectors import SELECTORS, Selector


@dataclass(frozen=True)
class BuildPlan:
    """Everything that decides the bytes of a release.

    Attributes:
        corpora: Corpus name -> folder, archive or file.
        candidates: Corpus name -> file with a given ordered pool, where one is used.
        p3_pools: Corpus name -> file with the ids of a given P3 pool.
        value_rule: ``first`` (published) or ``disjoint`` (sound).
        seeds: Sample seeds.
        n: Questions drawn per seed and probe.
        ratios: Nominal retained fractions.
        selectors: The methods.
        probes: The probes.
        protocols: ``paper``, ``matched`` or both.
        release: Version of the release.
    """

    corpora: dict[str, Path]
    candidates: dict[str, Path] = field(default_factory=dict)
    p3_pools: dict[str, Path] = field(default_factory=dict)
    value_rule: ValueRuleName = "first"
    seeds: tuple[int, ...] = (42, 43, 44)
    n: int = 200
    ratios: tuple[float, ...] = (0.3,)
    selectors: tuple[Selector, ...] = field(default_factory=lambda: tuple(kind() for kind in SELECTORS.values()))
    probes: tuple[Probe, ...] = PROBES
    protocols: tuple[ProtocolName, ...] = ("paper",)
    release: str = "0.1.0"


@dataclass(frozen=True)
class BuildResult:
    """What `build` made: the digest, the counts of every step and the candidates raw data does not show."""

    digest: str
    counts: dict[str, Any]
    unmatched: dict[str, list[str]]


def build(plan: BuildPlan, out: Path, progress: Callable[[str], None] = lambda text: None) -> BuildResult:
    """Builds a release folder; the same plan and corpora give the same bytes.

    Args:
        plan: What to build.
        out: A folder that does not exist yet.
        progress: Called with a line of text now and then.

    Raises:
        BadInput: An unusable corpus, pool or option, or ``out`` exists.
    """
    if out.exists():
        raise BadInput("already exists", file=out, remedy="Choose another --out, or move the old folder away")
    for option, given in (("--candidates", plan.candidates), ("--p3-pool", plan.p3_pools)):
        stray = sorted(set(given) - set(plan.corpora if option == "--candidates" else plan.candidates))
        if stray:
            needed = "--corpus" if option == "--candidates" else "--candidates"
            raise BadInput(
                f"{option} names {stray[0]!r}, but {needed} does not", remedy=f"Add {needed} {stray[0]}=PATH"
            )
    examples: dict[Probe, list[Example]] = {probe: [] for probe in plan.probes}
    facts: dict[str, Any] = {}
    counts: dict[str, Any] = {}
    unmatched: dict[str, list[str]] = {}
    for name, path in plan.corpora.items():
        corpus = corpus_named(name)
        pool, pins = _load_pool(plan, corpus, path, progress)
        counts[name] = {"pool": pool.counts | pool_counts(pool), "probes": {}}
        unmatched[name] = pool.unmatched
        languages = set()
        for probe in plan.probes:
            drawn, per_seed = draw(pool, probe, plan.seeds, plan.n)
            examples[probe] += drawn
            counts[name]["probes"][probe] = {str(seed): steps for seed, steps in per_seed.items()}
            languages |= {example.dialogue.language for example in drawn}
        facts[name] = pins | {"language": "-".join(sorted(languages)) or "und"}
    if not any(examples.values()):
        raise BadInput("no probe question is left after the rules", remedy="See the counts; give more dialogues")
    progress("rendering contexts and prompts")
    tables = {"dialogues": dialogue_table(example for group in examples.values() for example in group)}
    for probe, group in examples.items():
        tables[probe] = probe_table(
            row
            for protocol in plan.protocols
            for row in input_rows(group, plan.selectors, plan.ratios, PROTOCOLS[protocol])
        )
    progress("writing")
    digest = write_release(
        out,
        tables,
        {
            "name": "tpbench",
            "release": plan.release,
            "builder": f"tpbench {__version__}",
            "corpora": facts,
            "value_rule": plan.value_rule,
            "seeds": list(plan.seeds),
            "n": plan.n,
            "ratios": list(plan.ratios),
            "methods": [str(selector) for selector in plan.selectors],
            "probes": list(plan.probes),
            "protocols": list(plan.protocols),
            "templates": {
                template.name: template.sha256
                for protocol in plan.protocols
                for template in PROTOCOLS[protocol].templates.values()
            },
            "counts": counts,
        },
    )
    return BuildResult(digest, counts, unmatched)


def _load_pool(
    plan: BuildPlan, corpus: Corpus, path: Path, progress: Callable[[str], None]
) -> tuple[Pool, dict[str, Any]]:
    rule = VALUE_RULES[plan.value_rule]
    rows = read_candidates(plan.candidates[corpus.name]) if corpus.name in plan.candidates else None
    p3_ids = None
    if corpus.name in plan.p3_pools and rows is not None:
        p3_ids = read_p3_pool(plan.p3_pools[corpus.name], {row["dialogue_id"] for row in rows})
    files = corpus.files(path)
    progress(f"reading {corpus.name}")
    if rows is None:
        pool = native_pool(corpus.load(files), corpus.name, rule)
    else:
        pool = given_pool(corpus.load(files), corpus.name, rule, rows, p3_ids)
    return pool, {
        "title": corpus.title,
        "licence": corpus.licence,
        "homepage": corpus.homepage,
        "citation": corpus.citation,
        "files": files.count,
        "sha256": files.digest,
    }
