"""What one corpus contributes to a release: its pool, its drawn examples and their inputs.

A part depends on the plan and the corpus alone, so parts can be made in any order and in several processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from tpbench_data.build_plan import BuildPlan
from tpbench_data.candidates import read_candidates, read_p3_pool
from tpbench_data.changes import VALUE_RULES
from tpbench_data.corpora import Corpus, corpus_named
from tpbench_data.dialogue import Dialogue
from tpbench_data.eligible import authored_pool, latest_update_pool
from tpbench_data.errors import BadInput
from tpbench_data.free_form import FreeFormCollector
from tpbench_data.inputs import Making, deletions_of, dialogue_table, input_rows, probe_table
from tpbench_data.names import Probe, ProtocolName
from tpbench_data.pool import Pool, given_pool, native_pool
from tpbench_data.probes import Example, draw, free_form_examples, pool_counts
from tpbench_data.protocols import PROTOCOLS
from tpbench_data.selectors import Selector
from tpbench_data.selectors.random_turns import RandomTurns
from tpbench_data.sources.identify import pinned_source


@dataclass(frozen=True)
class CorpusPart:
    """The contribution of one corpus.

    Attributes:
        tables: Config name -> rows.
        facts: What the manifest says of the corpus.
        counts: Counts of every step, for the manifest.
        unmatched: Ids of given candidates that raw data does not show.
        methods: Printed forms of the methods, in row order.
        unpaired: Probe -> example id -> why a deletion of it has no matched control.
    """

    tables: dict[str, pa.Table]
    facts: dict[str, Any]
    counts: dict[str, Any]
    unmatched: list[str]
    methods: list[str]
    unpaired: dict[str, dict[str, dict[str, str]]]


def corpus_part(plan: BuildPlan, name: str) -> CorpusPart:
    """Makes the part of one corpus of the plan.

    Raises:
        BadInput: The corpus, its candidates or its P3 pool cannot be used.
    """
    corpus = corpus_named(name)
    probes = _probes(plan, corpus)
    collector = FreeFormCollector(derive=plan.probes is not None, limit=plan.n)
    files = corpus.files(plan.corpora[name])
    dialogues: Iterable[Dialogue] = corpus.dialogues(files)
    pool = _pool(plan, corpus, collector.watch(dialogues) if "free_form" in probes else dialogues)
    counts: dict[str, Any] = {"pool": pool.counts | ({} if pool.is_complete else pool_counts(pool)), "probes": {}}
    examples: dict[Probe, list[Example]] = {}
    for probe in probes:
        if probe == "free_form":
            examples[probe] = free_form_examples(collector.found, name, plan.seeds)
            counts["free_form"] = dict(sorted(collector.counts.items())) | {"questions": len(collector.found)}
        else:
            examples[probe], per_seed = draw(pool, probe, plan.seeds, plan.n)
            counts["probes"][probe] = {str(seed): steps for seed, steps in per_seed.items()}
    cap = plan.turn_characters.get(name, corpus.turn_characters)
    methods: dict[str, None] = {}
    tables: dict[str, pa.Table] = {}
    unpaired: dict[str, dict[str, dict[str, str]]] = {}
    for probe, group in examples.items():
        rows: list[dict[str, Any]] = []
        for protocol in plan.protocols:
            making = Making(
                selectors=_methods(plan.selectors, corpus, probe, protocol),
                deletions=plan.deletions if probe in ("current_value", "free_form") else (),
                ratios=plan.ratios,
                protocol=PROTOCOLS[protocol],
                turn_characters=cap if protocol == "paper" else None,
            )
            rows += input_rows(group, making)
            methods |= dict.fromkeys(map(str, making.selectors))
        tables[probe] = probe_table(probe, rows)
        if plan.deletions and probe in ("current_value", "free_form"):
            counts.setdefault("deletions", {})[probe], unpaired[probe] = _deletion_status(group)
    drawn = [example for group in examples.values() for example in group]
    tables["dialogues"] = dialogue_table(drawn)
    source = pinned_source(name, files)
    facts = {
        "title": corpus.title,
        "version": source.version if source else files.version,
        "source": source.name if source else None,
        "revision": source.revision if source else None,
        "licence": corpus.licence,
        "homepage": corpus.homepage,
        "citation": corpus.citation,
        "files": files.count,
        "sha256": files.digest,
        "language": "-".join(sorted({example.dialogue.language for example in drawn})) or "und",
        "pool": corpus.pool,
        "turn_characters": cap,
        "evidence": "annotated" if corpus.pool == "authored" else "stated",
    }
    listed = {probe: found for probe, found in unpaired.items() if found}
    return CorpusPart(tables, facts, counts, pool.unmatched, list(methods), listed)


def _probes(plan: BuildPlan, corpus: Corpus) -> tuple[Probe, ...]:
    if plan.probes is None:
        return corpus.probes
    return tuple(probe for probe in plan.probes if probe in corpus.offers)


def _pool(plan: BuildPlan, corpus: Corpus, dialogues: Iterable[Dialogue]) -> Pool:
    rule, name = VALUE_RULES[plan.value_rule], corpus.name
    if corpus.pool != "updates":
        if name in plan.candidates:
            raise BadInput(
                f"the pool of {name} is its whole eligible set, which no candidates file replaces",
                file=plan.candidates[name],
                remedy=f"Leave out --candidates {name}",
            )
        return (
            latest_update_pool(dialogues, name, rule)
            if corpus.pool == "latest_update"
            else authored_pool(dialogues, name)
        )
    if name not in plan.candidates:
        return native_pool(dialogues, name, rule)
    rows = read_candidates(plan.candidates[name])
    p3_ids = None
    if name in plan.p3_pools:
        p3_ids = read_p3_pool(plan.p3_pools[name], {row["dialogue_id"] for row in rows})
    return given_pool(dialogues, name, rule, rows, p3_ids)


def _methods(
    selectors: Sequence[Selector], corpus: Corpus, probe: Probe, protocol: ProtocolName
) -> tuple[Selector, ...]:
    """The selectors of one corpus and probe: random selection once per seed, and as the probe was published."""
    made: dict[Selector, None] = {}
    for selector in selectors:
        if isinstance(selector, RandomTurns):
            plain = selector == RandomTurns()
            keyed = selector.keyed and not (probe == "free_form" and protocol == "paper")
            for seed in corpus.selector_seeds if plain else (selector.seed,):
                made[replace(selector, seed=seed, keyed=keyed)] = None
        else:
            made[selector] = None
    return tuple(made)


def _deletion_status(examples: Iterable[Example]) -> tuple[dict[str, int], dict[str, dict[str, str]]]:
    """How many examples have matched controls, and the reason for every one that has not."""
    counts: Counter[str] = Counter()
    unpaired: dict[str, dict[str, str]] = {}
    for example in examples:
        deletions = deletions_of(example)
        for part, status in (("update turn", deletions.update_status), ("evidence", deletions.evidence_status)):
            counts[f"{part}: {status}"] += 1
            if status != "matched":
                unpaired.setdefault(example.question.example_id, {})[part] = status
    return dict(sorted(counts.items())), unpaired
