"""Free-form questions: those that came with a dialogue, or one derived from its annotated states.

Source: construction spec 10. The published generator was not released; the rule here is our own and is stated in
``docs/construction.md``. It differs from the published sets in three ways: the value must not change again (so that
"current" has one answer), the value must occur in a turn, and the question names the service.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from tpbench_data.changes import VALUE_RULES, Alternatives, updates, user_states
from tpbench_data.dialogue import AuthoredQuestion, Dialogue
from tpbench_data.evidence import Turns, answer_turns
from tpbench_data.pool import DONTCARE, new_value_occurs
from tpbench_data.slots import slot_label

_REPLACE = "replace_value"
_ADD = "add_constraint"
_RULE = VALUE_RULES["disjoint"]

_WORDING = {
    ("en", _REPLACE): "In the part of the conversation about {service}, what is the user's current choice for {slot}?",
    ("en", _ADD): "In the part of the conversation about {service}, what did the user ask for as the {slot}?",
    ("zh", _REPLACE): "在关于{service}的对话中，用户目前选定的{slot}是什么？",
    ("zh", _ADD): "在关于{service}的对话中，用户要求的{slot}是什么？",
}

_SERVICE_NUMBER = re.compile(r"_\d+$")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class _Transition:
    """A value that the user replaced or added in the middle of a dialogue, and did not change again."""

    kind: str
    turn: int
    slot: str
    old: Alternatives
    new: Alternatives


@dataclass
class FreeFormCollector:
    """Collects free-form questions while dialogues stream by, each dialogue with its questions.

    Attributes:
        derive: Whether to derive a question from dialogues that came with none.
        limit: At most this many derived questions, ``None`` = no limit. Questions that came along are all taken.
        found: The dialogues and their questions, in corpus order.
        counts: Step -> number.
    """

    derive: bool
    limit: int | None = None
    found: list[tuple[Dialogue, int, AuthoredQuestion]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def watch(self, dialogues: Iterable[Dialogue]) -> Iterator[Dialogue]:
        """Passes the dialogues on and collects on the way."""
        for dialogue in dialogues:
            self.add(dialogue)
            yield dialogue

    def add(self, dialogue: Dialogue) -> None:
        """Takes the questions of one dialogue."""
        for number, question in enumerate(dialogue.questions):
            self.found.append((dialogue, number, question))
            self.counts[f"authored: {question.transition_type}"] += 1
        if dialogue.questions or not self.derive:
            return
        if self.limit is not None and self.counts["derived"] >= self.limit:
            return
        derived = derived_question(dialogue)
        if derived is None:
            self.counts["dropped: no lasting change in the middle"] += 1
            return
        self.found.append((dialogue, 0, derived))
        self.counts["derived"] += 1
        self.counts[f"derived: {derived.transition_type}"] += 1


def derived_question(dialogue: Dialogue) -> AuthoredQuestion | None:
    """The question derived from one dialogue, ``None`` if it has no fitting change or its language no wording.

    Candidates are user turns between one fifth and four fifths of the way that replace a value by a disjoint one or
    set a slot for the first time, where the value is not ``dontcare``, occurs in a turn and is not changed later.
    Replacements come before additions; of these, the nearest to the middle, then the earlier, then by slot.
    """
    language = dialogue.language.split("-")[0]
    span = len(dialogue) - 1
    found = [
        change
        for change in _transitions(dialogue)
        if span <= 5 * change.turn <= 4 * span
        and DONTCARE not in (change.new[0], *change.old[:1])
        and new_value_occurs(change.new[0], dialogue)
    ]
    if not found or (language, _ADD) not in _WORDING:
        return None
    chosen = min(found, key=lambda c: (c.kind != _REPLACE, abs(2 * c.turn - span), c.turn, c.slot))
    service, name = _service_of(dialogue, chosen.turn, chosen.slot)
    return AuthoredQuestion(
        question=_WORDING[language, chosen.kind].format(service=service, slot=name),
        answer=chosen.new[0],
        old_answer=chosen.old[0] if chosen.old else "",
        slot=chosen.slot,
        transition_type=chosen.kind,
        update_turn=chosen.turn,
        boundary_turns=(chosen.turn,),
        support_turns=_support(dialogue, chosen),
    )


def _transitions(dialogue: Dialogue) -> Iterator[_Transition]:
    for update in updates(dialogue, _RULE):
        if update.is_final:
            yield _Transition(_REPLACE, update.turn, update.slot, update.old_alternatives, update.new_alternatives)
    states = user_states(dialogue)
    seen: set[str] = set()
    for place, ((_, before), (turn, now)) in enumerate(pairwise(states)):
        seen |= before.keys()
        for slot in now.keys() - seen:
            later = [state[slot] for _, state in states[place + 2 :] if slot in state]
            if not any(_RULE.is_change(now[slot], value, dialogue.corpus) for value in later):
                yield _Transition(_ADD, turn, slot, (), now[slot])


def _support(dialogue: Dialogue, change: _Transition) -> Turns:
    """The last turn that states the old value and the boundary, or the turn before the boundary and the boundary."""
    if change.kind == _ADD:
        return (change.turn - 1, change.turn)
    stating = answer_turns(dialogue.texts[: change.turn], change.old[0], dialogue.corpus)
    return (*stating[-1:], change.turn)


def _service_of(dialogue: Dialogue, turn: int, slot: str) -> tuple[str, str]:
    """The service of a slot in words, and the slot's name without it ("hotel-area" -> "hotel", "area")."""
    state = dialogue.states[turn] or {}
    service = next((name for name in reversed(list(state)) if slot in state[name]), "")
    words = _CAPITAL.sub(" ", _SERVICE_NUMBER.sub("", service)).replace("_", " ").strip().lower()
    return words, slot_label(slot.removeprefix(f"{service}-"))
