"""Which inputs a run answers, in which batches: decided before the first answer, from the release alone.

Equal prompts are answered once. Batches are fixed here, so that an interrupted run makes the same batches again:
with float arithmetic the answers of a batch may depend on its composition.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tpbench_data.canonical import prompt_hash
from tpbench_data.errors import BadInput
from tpbench_data.release.schema import PLAN
from tpbench_generate.demonstrations import Demonstration
from tpbench_generate.prefixes import group_neighbours
from tpbench_generate.readers.base import Encoded

_COLUMNS = [
    "input_id",
    "example_id",
    "corpus",
    "protocol",
    "method",
    "method_config",
    "ratio",
    "sample_seeds",
    "prompt",
    "template",
]

_SHARED = ", shared beginnings"
_RECORDED = re.compile(rf"\bbatch_size=(\d+)(?:, batch_tokens=(\d+))?({_SHARED})?")


@dataclass(frozen=True)
class Selection:
    """Which inputs of a release to answer; an empty tuple means all.

    Attributes:
        probes: Probe config names.
        methods: Method names, each for all its settings, or the printed form of one: ``name(setting=value)``.
        ratios: Nominal retained fractions; rows without one (adaptive methods) match only when this is empty.
        seeds: Sample seeds; a row matches if it belongs to one of them.
        corpora: Corpus names.
        protocols: ``paper``, ``matched``.
        limit: At most this many inputs, example by example: the first example of every probe and corpus with all
            its methods and ratios, then the second, and so on. A limited run thus compares methods on the same
            examples.
    """

    probes: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    ratios: tuple[float, ...] = ()
    seeds: tuple[int, ...] = ()
    corpora: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    limit: int | None = None


@dataclass(frozen=True)
class Batching:
    """How distinct prompts are cut into batches.

    Attributes:
        size: Most prompts of a batch, at least 1.
        tokens: Most tokens of a batch, padding included: prompts times the longest of them. A prompt that is longer
            has a batch of its own. None = no limit.
        share: Put prompts that begin alike side by side, so that the reader reads what they share once.
    """

    size: int = 8
    tokens: int | None = None
    share: bool = False

    def __post_init__(self) -> None:
        if self.size < 1:
            raise BadInput(f"must be at least 1, not {self.size}", field="batch_size")
        if self.tokens is not None and self.tokens < 1:
            raise BadInput(f"must be at least 1, not {self.tokens}", field="batch_tokens")

    def __str__(self) -> str:
        """What the `runs` row records."""
        limits = f"batch_size={self.size}" + (f", batch_tokens={self.tokens}" if self.tokens else "")
        return f"length-sorted, {limits}" + (_SHARED if self.share else "")

    @classmethod
    def from_text(cls, text: str) -> Batching:
        """What a `runs` row records, read back; the first where the parts of a run had several."""
        first = text.split(";")[0]
        found = _RECORDED.search(first)
        if found is None:
            raise BadInput(f"cannot read the batch plan {first!r}", field="batch_plan")
        return cls(int(found[1]), None if found[2] is None else int(found[2]), share=found[3] is not None)

    def cut(self, groups: Sequence[Sequence[str]], tokens: Mapping[str, int | None]) -> tuple[tuple[str, ...], ...]:
        """Fills batches with groups of prompts, in order; a group that is too large for a batch is divided.

        A prompt of unknown length counts as one token.
        """
        batches: list[list[str]] = []
        for group in groups:
            if batches and self._fits([*batches[-1], *group], tokens):
                batches[-1] += group
                continue
            batches.append([])
            for key in group:
                if batches[-1] and not self._fits([*batches[-1], key], tokens):
                    batches.append([])
                batches[-1].append(key)
        return tuple(map(tuple, batches))

    def _fits(self, batch: Sequence[str], tokens: Mapping[str, int | None]) -> bool:
        padded = len(batch) * max(tokens[key] or 1 for key in batch)
        return len(batch) <= self.size and (self.tokens is None or padded <= self.tokens)


@dataclass(frozen=True)
class PlannedInput:
    """One input to be answered."""

    input_id: str
    probe: str
    method: str
    ratio: float | None
    prompt: tuple[Mapping[str, str], ...]
    template: str = ""

    @classmethod
    def from_row(cls, probe: str, row: Mapping[str, Any]) -> PlannedInput:
        """The input that a row of the config ``probe`` holds; the row has a prompt."""
        return cls(row["input_id"], probe, row["method"], row["ratio"], tuple(row["prompt"]), row["template"] or "")


@dataclass(frozen=True)
class Plan:
    """What a run answers.

    Attributes:
        table: Table `PLAN`, in release order: the order of the outputs.
        prompts: Prompt hash -> messages, every distinct prompt once.
        batches: Batch number -> the prompt hashes in it, in the order in which the reader gets them.
    """

    table: pa.Table
    prompts: Mapping[str, Sequence[Mapping[str, str]]]
    batches: tuple[tuple[str, ...], ...]


def select_inputs(tables: Mapping[str, pa.Table], selection: Selection, *, release: str) -> list[PlannedInput]:
    """The selected inputs, in the order of ``tables`` and of the rows in each.

    Args:
        tables: Probe config name -> its table in the release.
        selection: What to take.
        release: The release's path, for messages.

    Raises:
        BadInput: The release lacks a probe, method, ratio, seed, corpus or protocol that was asked for, nothing
            matches, or a selected input has no prompt.
    """
    for probe in selection.probes:
        if probe not in tables or not tables[probe].num_rows:
            present = [name for name, table in tables.items() if table.num_rows]
            raise _lacking("probe", probe, present, release)
    rows: list[dict[str, Any]] = [
        {**row, "probe": probe}
        for probe, table in tables.items()
        if not selection.probes or probe in selection.probes
        for row in table.select(_COLUMNS).to_pylist()
    ]
    for method in selection.methods:
        _check_method(method, rows, release)
    _check_present("ratio", selection.ratios, (row["ratio"] for row in rows), release)
    _check_present("seed", selection.seeds, (seed for row in rows for seed in row["sample_seeds"] or ()), release)
    _check_present("corpus", selection.corpora, (row["corpus"] for row in rows), release)
    _check_present("protocol", selection.protocols, (row["protocol"] for row in rows), release)
    chosen = [
        row
        for row in rows
        if (not selection.methods or {row["method"], row["method_config"]} & set(selection.methods))
        and (not selection.ratios or row["ratio"] in selection.ratios)
        and (not selection.seeds or set(selection.seeds) & set(row["sample_seeds"] or ()))
        and (not selection.corpora or row["corpus"] in selection.corpora)
        and (not selection.protocols or row["protocol"] in selection.protocols)
    ]
    if not chosen:
        raise BadInput("no input matches all the filters together", file=release, remedy="Drop one of them")
    if selection.limit is not None:
        chosen = _first_examples(chosen, selection.limit)
    unusable = [row["input_id"] for row in chosen if not row["prompt"]]
    if unusable:
        raise BadInput(
            f"{len(unusable)} of {len(chosen)} selected inputs have no prompt (first: {unusable[0]})",
            file=release,
            field="prompt",
            remedy="An import may lack prompts; choose other inputs with --probe, --method or --corpus",
        )
    return [PlannedInput.from_row(row["probe"], row) for row in chosen]


def make_plan(
    inputs: Sequence[PlannedInput],
    encode: Callable[[Sequence[Mapping[str, str]]], Encoded | Exception],
    batching: Batching | int,
    demonstration: Demonstration | None = None,
) -> Plan:
    """Joins equal prompts and cuts the distinct ones, shortest first, into batches.

    Args:
        inputs: What to answer, in output order.
        encode: Prompt -> what reaches the reader, or why it cannot be encoded.
        batching: How they are cut; a number stands for a batch size and nothing else.
        demonstration: Worked example put before every prompt; hashes stay those of the prompts without it.
    """
    prompts: dict[str, Sequence[Mapping[str, str]]] = {}
    hashes = []
    for planned in inputs:
        key = prompt_hash(planned.prompt)
        hashes.append(key)
        if key not in prompts:
            prompts[key] = demonstration.apply(planned.prompt, planned.template) if demonstration else planned.prompt
    rule = Batching(batching) if isinstance(batching, int) else batching
    tokens: dict[str, int | None] = {}
    ids: dict[str, tuple[int, ...]] = {}
    for key, messages in prompts.items():
        encoded = encode(messages)
        tokens[key] = encoded.n_tokens if isinstance(encoded, Encoded) else None
        if rule.share:
            ids[key] = encoded.ids if isinstance(encoded, Encoded) else ()
    batches = rule.cut(_ordered(tokens, ids, rule), tokens)
    batch_of = {key: number for number, batch in enumerate(batches) for key in batch}
    table = pa.table(
        {
            "input_id": [planned.input_id for planned in inputs],
            "probe": [planned.probe for planned in inputs],
            "method": [planned.method for planned in inputs],
            "ratio": [planned.ratio for planned in inputs],
            "prompt_hash": hashes,
            "prompt_tokens": [tokens[key] for key in hashes],
            "batch": [batch_of[key] for key in hashes],
        },
        schema=PLAN,
    )
    return Plan(table, prompts, batches)


def _ordered(
    tokens: Mapping[str, int | None], ids: Mapping[str, tuple[int, ...]], rule: Batching
) -> list[tuple[str, ...]]:
    """The prompts in groups that stay together, shortest first; without sharing each is a group of its own."""

    def length(key: str) -> int:
        count = tokens[key]
        return -1 if count is None else count

    if not rule.share:
        return [(key,) for key in sorted(tokens, key=lambda key: (length(key), key))]
    alike = sorted(tokens, key=lambda key: (ids[key], key))  # what begins alike stands together
    groups = [
        tuple(sorted((alike[row] for row in group.rows), key=lambda key: (length(key), key)))
        for group in group_neighbours([ids[key] for key in alike], rule.size)
    ]
    return sorted(groups, key=lambda group: (length(group[-1]), group))


def _first_examples(rows: list[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """The first ``limit`` rows example by example, in their old order."""
    ranks: dict[tuple[object, object], dict[object, int]] = {}
    keys = []
    for place, row in enumerate(rows):
        seen = ranks.setdefault((row["probe"], row["corpus"]), {})
        keys.append((seen.setdefault(row["example_id"], len(seen)), place))
    return [rows[place] for place in sorted(place for _, place in sorted(keys)[:limit])]


def _check_present(field: str, wanted: Sequence[Any], found: Iterable[Any], release: str) -> None:
    if not wanted:
        return
    present = sorted({value for value in found if value is not None})
    for value in wanted:
        if value not in present:
            raise _lacking(field, value, present, release)


def _check_method(wanted: str, rows: Sequence[Mapping[str, Any]], release: str) -> None:
    """Raises BadInput unless there is such a method, or such settings of one."""
    names = {row["method"] for row in rows}
    name = wanted.partition("(")[0]
    settings = {row["method_config"] for row in rows if row["method"] == name} - {None}
    if wanted not in names | settings:
        raise _lacking("method", wanted, sorted(settings if name in names else names), release)


def _lacking(field: str, value: object, present: Sequence[object], release: str) -> BadInput:
    listed = ", ".join(str(one) for one in present) or "none"
    remedy = f"It has: {listed}"
    if field == "method":
        remedy = (
            f"It has: {listed}. Add the method with"
            f" `tpbench-generate select --release {release} --method {shlex.quote(str(value))} --ratio R --out NEW`,"
            " then run on NEW"
        )
    return BadInput(f"this release has no {field} '{value}'", file=release, field=f"--{field}", remedy=remedy)
