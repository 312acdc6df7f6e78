"""Which annotated state changes count as a user revising a value: the two value rules.

Source: FINDINGS part B (rule ``first``, reproduces the published index) and design page "value rules".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from tpbench_data.dialogue import USER, Dialogue, FlatState, flat_state
from tpbench_data.han import value_form
from tpbench_data.names import ValueRuleName

Alternatives = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Update:
    """One revision of one slot, with what happens to the slot afterwards.

    Attributes:
        slot: Slot name, without its service.
        old_alternatives: Surface forms of the value at the user turn before.
        new_alternatives: Surface forms of the value at ``turn``; the first is the reference value.
        turn: Turn id of the update turn.
        candidate_turns: Every user turn with exactly this change of this slot (``turn`` is one of them).
        later_turns: Later user turns at which the slot counts as updated again.
        final_turn: The last such turn, or ``turn``.
        final_value: Reference value after ``final_turn``.
    """

    slot: str
    old_alternatives: Alternatives
    new_alternatives: Alternatives
    turn: int
    candidate_turns: tuple[int, ...]
    later_turns: tuple[int, ...]
    final_turn: int
    final_value: str

    @property
    def old_value(self) -> str:
        """The value before the update: the first listed surface form."""
        return self.old_alternatives[0]

    @property
    def new_value(self) -> str:
        """The value after the update: the first listed surface form."""
        return self.new_alternatives[0]

    @property
    def is_final(self) -> bool:
        """Whether the slot is not updated again."""
        return not self.later_turns


class ValueRule(Protocol):
    """When two annotations of one slot are different values."""

    def is_change(self, old: Alternatives, new: Alternatives, corpus: str) -> bool:
        """Whether the user turn that turns ``old`` into ``new`` is an update turn."""

    def is_later_update(
        self, previous: Alternatives | None, last_seen: Alternatives, now: Alternatives, corpus: str
    ) -> bool:
        """Whether a later user turn updates the slot again.

        Args:
            previous: The slot at the user turn just before, ``None`` where absent.
            last_seen: The slot the last time it was present.
            now: The slot at this turn.
            corpus: Decides the aliases of normalisation.
        """


class FirstListed:
    """The published rule: the value is the first listed form, compared as an exact string.

    A mere re-ordering of equivalent forms is an update, and a slot that was absent for a while counts as
    updated when it returns, even with the same value (FINDINGS part B, rules 2, 3 and 5).
    """

    def is_change(self, old: Alternatives, new: Alternatives, corpus: str) -> bool:
        """See `ValueRule`."""
        return old[0] != new[0]

    def is_later_update(
        self, previous: Alternatives | None, last_seen: Alternatives, now: Alternatives, corpus: str
    ) -> bool:
        """See `ValueRule`."""
        return previous is None or previous[0] != now[0]


class Disjoint:
    """The sound rule: a change only where old and new forms share nothing after normalisation."""

    def is_change(self, old: Alternatives, new: Alternatives, corpus: str) -> bool:
        """See `ValueRule`."""
        if old == new:
            return False
        return not (_normal_forms(old, corpus) & _normal_forms(new, corpus))

    def is_later_update(
        self, previous: Alternatives | None, last_seen: Alternatives, now: Alternatives, corpus: str
    ) -> bool:
        """See `ValueRule`."""
        return self.is_change(last_seen, now, corpus)


VALUE_RULES: dict[ValueRuleName, ValueRule] = {"first": FirstListed(), "disjoint": Disjoint()}


def _normal_forms(values: Alternatives, corpus: str) -> set[str]:
    return {value_form(value, corpus) for value in values} - {""}


def user_states(dialogue: Dialogue) -> list[tuple[int, FlatState]]:
    """(turn id, merged state) of every annotated user turn, in order."""
    return [
        (turn, flat_state(state))
        for turn, (speaker, state) in enumerate(zip(dialogue.speakers, dialogue.states, strict=True))
        if speaker == USER and state is not None
    ]


def updates(dialogue: Dialogue, rule: ValueRule) -> list[Update]:
    """All updates of a dialogue, ordered by turn, then slot name.

    A slot must be present at this user turn and at the one just before; nothing is carried over turns in
    which it is absent, and a first assignment is not an update.
    """
    states = user_states(dialogue)
    found: list[tuple[int, str, Alternatives, Alternatives]] = []
    for (_, before), (turn, now) in pairwise(states):
        for slot in sorted(before.keys() & now.keys()):
            if rule.is_change(before[slot], now[slot], dialogue.corpus):
                found.append((turn, slot, before[slot], now[slot]))
    return [_with_future(change, found, states, rule, dialogue.corpus) for change in found]


def _with_future(
    change: tuple[int, str, Alternatives, Alternatives],
    changes: Iterable[tuple[int, str, Alternatives, Alternatives]],
    states: list[tuple[int, FlatState]],
    rule: ValueRule,
    corpus: str,
) -> Update:
    turn, slot, old, new = change
    same = tuple(t for t, s, o, n in changes if s == slot and o[0] == old[0] and n[0] == new[0])
    later: list[int] = []
    final_turn, final_value = turn, new[0]
    previous: Alternatives | None = new
    last_seen = new
    for later_turn, state in states:
        if later_turn <= turn:
            continue
        now = state.get(slot)
        if now is not None:
            if rule.is_later_update(previous, last_seen, now, corpus):
                later.append(later_turn)
                final_turn, final_value = later_turn, now[0]
            last_seen = now
        previous = now
    return Update(slot, old, new, turn, same, tuple(later), final_turn, final_value)
