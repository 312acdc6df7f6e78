"""Correction cues: do users of the P2 set announce their revision more often than those left out of it?

A set whose users say "actually" could be answered by looking for that word. Source: construction spec 11; the Chinese
list is our own.
"""

from __future__ import annotations

import re

from tpbench_data.audit.finding import Audit, percent
from tpbench_data.audit.material import PoolMaterial, ReleaseMaterial, by_corpus
from tpbench_data.dialogue import USER, Dialogue
from tpbench_data.slots import slot_label

_ENGLISH = re.compile(
    r"\b(?:actually|instead|rather|on second thought|scrap that|wait,? (?:let me|i)|let me change|let's change"
    r"|change (?:it|that|the)|no,? (?:make it|change it|i (?:want|need|meant))|not (?:that|this)|i meant|i'd rather"
    r"|i would rather|i changed my mind|never mind)\b"
)
_CHINESE = re.compile(r"其实|改主意|改成|换成|改为|换一个|还是.{0,12}吧|算了|不对|更正|改一下|不是.{0,12}是|改回|换回")
_LETTERS = re.compile(r"[a-z]{3,}")


def has_cue(dialogue: Dialogue) -> bool:
    """Whether a user turn holds a correction cue of the dialogue's language."""
    cue = _CHINESE if dialogue.language.split("-")[0] == "zh" else _ENGLISH
    return any(
        cue.search(text.lower()) is not None
        for speaker, text in zip(dialogue.speakers, dialogue.texts, strict=True)
        if speaker == USER
    )


def names_slot(dialogue: Dialogue, slot: str) -> bool:
    """Whether a word of three or more letters of the slot's name is a substring of the dialogue."""
    text = "\n".join(dialogue.texts).lower()
    return any(word in text for word in _LETTERS.findall(slot_label(slot)))


def audit_release(material: ReleaseMaterial) -> Audit:
    """Cue rate of the P2 examples of a release."""
    audit = Audit("cues", "correction cues in user turns")
    rows = []
    for corpus, examples in by_corpus(material.examples("current_value")):
        fired = sum(has_cue(material.dialogue_of(row)) for row in examples)
        named = sum(names_slot(material.dialogue_of(row), row["slot"]) for row in examples)
        rows.append((corpus, len(examples), fired, percent(fired, len(examples)), percent(named, len(examples))))
    audit.add("P2 examples", ("corpus", "examples", "with a cue", "%", "% that name the slot"), rows)
    if rows:
        audit.notes.append("give --corpus NAME=PATH to compare with the final updates that are not in the P2 set")
    return audit


def audit_pool(material: PoolMaterial) -> Audit:
    """Cue rates of the final updates inside and outside the P2 set of the first seed."""
    audit = Audit("cues", f"correction cues in user turns, final updates of {material.corpus}")
    included = {
        (question.dialogue_id, question.slot)
        for question in material.pool.questions
        if question.example_id in material.included
    }
    rates: dict[bool, list[int]] = {True: [0, 0, 0], False: [0, 0, 0]}
    for question in material.pool.questions:
        if question.is_final and question.dialogue is not None:
            counts = rates[(question.dialogue_id, question.slot) in included]
            counts[0] += 1
            counts[1] += has_cue(question.dialogue)
            counts[2] += names_slot(question.dialogue, question.slot)
    rows = [
        ("included" if inside else "excluded", n, fired, round(fired / n, 6) if n else None, percent(named, n))
        for inside, (n, fired, named) in rates.items()
    ]
    columns = ("P2 set", "final updates", "with a cue", "rate", "% that name the slot")
    audit.add(f"P2 set of seed {material.seed}", columns, rows)
    if all(n for n, _, _ in rates.values()):
        inside, outside = rates[True], rates[False]
        gap = 100 * (inside[1] / inside[0] - outside[1] / outside[0])
        audit.notes.append(f"gap {gap:.3f} points")
    return audit
