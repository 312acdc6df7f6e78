"""What the audits look at: the examples of a release, or the whole pool of a corpus."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tpbench_data.changes import VALUE_RULES, Update, updates
from tpbench_data.dialogue import Dialogue, State
from tpbench_data.eligible import latest_update_pool
from tpbench_data.names import ValueRuleName
from tpbench_data.pool import Pool
from tpbench_data.release.reader import Release

Row = dict[str, Any]

_EXAMPLE_COLUMNS = (
    "input_id",
    "example_id",
    "corpus",
    "language",
    "dialogue_id",
    "sample_seeds",
    "slot",
    "slot_label",
    "old_value",
    "reference_value",
    "update_turn",
    "template",
)


@dataclass
class ReleaseMaterial:
    """A release, with its dialogues as objects and its examples counted once.

    Attributes:
        release: The opened release.
    """

    release: Release
    _examples: dict[str, list[Row]] = field(default_factory=dict)

    @cached_property
    def dialogues(self) -> dict[tuple[str, str], Dialogue]:
        """(corpus, dialogue id) -> dialogue."""
        return {
            (row["corpus"], row["dialogue_id"]): Dialogue(
                row["dialogue_id"],
                row["corpus"],
                row["language"],
                tuple(row["speakers"]),
                tuple(row["texts"]),
                tuple(_state(text) for text in row["states"]),
            )
            for row in self.release.table("dialogues").to_pylist()
        }

    @property
    def corpora(self) -> list[str]:
        """The corpora, in manifest order."""
        return list(self.release.manifest["corpora"])

    @property
    def value_rule(self) -> ValueRuleName:
        """The value rule of the release."""
        rule: ValueRuleName = self.release.manifest["value_rule"]
        return rule

    def examples(self, probe: str) -> list[Row]:
        """The distinct examples of a probe config, in row order."""
        if probe not in self._examples:
            table = self.release.table(probe)
            columns = [name for name in _EXAMPLE_COLUMNS if name in table.column_names]
            rows: dict[tuple[str, str], Row] = {}
            for row in table.select(columns).to_pylist():
                rows.setdefault((row["corpus"], row["example_id"]), row)
            self._examples[probe] = list(rows.values())
        return self._examples[probe]

    def dialogue_of(self, row: Row) -> Dialogue:
        """The dialogue that a row is about."""
        return self.dialogues[row["corpus"], row["dialogue_id"]]

    def update_of(self, row: Row) -> Update | None:
        """The update that a value row asks for, replayed from the stored states; ``None`` where they show none."""
        dialogue = self.dialogue_of(row)
        if self.pool_of(row["corpus"]) == "latest_update":
            pool = latest_update_pool([dialogue], dialogue.corpus, VALUE_RULES[self.value_rule])
            return next(
                (q.update for q in pool.questions if (q.slot, q.turn) == (row["slot"], row["update_turn"])), None
            )
        return replayed(dialogue, row["slot"], row["update_turn"], self.value_rule)

    def pool_of(self, corpus: str) -> str:
        """What the questions of a corpus are (`tpbench_data.corpora.PoolKind`)."""
        return str(self.release.manifest["corpora"][corpus].get("pool", "updates"))


@dataclass(frozen=True)
class PoolMaterial:
    """The pool of one corpus, read from its source.

    Attributes:
        corpus: Corpus name.
        pool: The pool under the value rule ``first``.
        disjoint: The pool under the value rule ``disjoint``.
        included: Example ids of the P2 set of the first sample seed.
        seed: That seed.
    """

    corpus: str
    pool: Pool
    disjoint: Pool
    included: frozenset[str]
    seed: int


def replayed(dialogue: Dialogue, slot: str, turn: int, rule: ValueRuleName) -> Update | None:
    """The update of a slot at a turn under a value rule."""
    return next((u for u in updates(dialogue, VALUE_RULES[rule]) if (u.slot, u.turn) == (slot, turn)), None)


def by_corpus(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each corpus, corpora by first appearance."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["corpus"], []).append(row)
    yield from groups.items()


def _state(text: str) -> State | None:
    record = json.loads(text)
    if record is None:
        return None
    return {service: {slot: tuple(forms) for slot, forms in slots.items()} for service, slots in record.items()}
