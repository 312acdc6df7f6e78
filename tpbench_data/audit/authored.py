"""Sets of our own: is every answer confined to its support turns, and how varied are the dialogues?"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from tpbench_data.audit.finding import Audit
from tpbench_data.audit.material import ReleaseMaterial, by_corpus
from tpbench_data.context_facts import lexical_retention
from tpbench_data.dialogue import Dialogue
from tpbench_data.han import has_han, value_stated
from tpbench_data.overlap import TurnIndex, turn_key

CONFINED = ("tpbench_en", "tpbench_zh")
"""Corpora whose answers must not survive without their support turns, and whose dialogues must differ."""
MAX_SHARE = Fraction(1, 3)

_COLUMNS = ("corpus", "dialogue_id", "example_id", "transition_type", "reference_answer", "support_turns")


def audit_release(material: ReleaseMaterial) -> Audit:
    """Leaks, turn overlap and vocabulary of the free-form dialogues of a release."""
    audit = Audit("authored", "answers outside their support turns, turn overlap and vocabulary of free-form dialogues")
    table = material.release.table("free_form").select(list(_COLUMNS))
    examples: dict[tuple[str, str], dict[str, Any]] = {}
    for row in table.to_pylist():
        examples.setdefault((row["corpus"], row["example_id"]), row)
    leaks, overlap, words = [], [], []
    for corpus, rows in by_corpus(examples.values()):
        leaking = [row for row in rows if is_leaking(material.dialogue_of(row), row)]
        kinds = Counter(row["transition_type"] for row in rows)
        shown = ", ".join(f"{kind} {n}" for kind, n in sorted(kinds.items()))
        leaks.append((corpus, len(rows), len(leaking), shown))
        dialogues = list({row["dialogue_id"]: material.dialogue_of(row) for row in rows}.values())
        share, pair = highest_share(dialogues)
        overlap.append((corpus, len(dialogues), round(float(share), 3), " and ".join(pair)))
        words.append((corpus, *vocabulary(dialogues)))
        if corpus in CONFINED:
            audit.problems += [f"{row['example_id']} is answered outside its support turns" for row in leaking]
            if share > MAX_SHARE:
                audit.problems.append(f"{' and '.join(pair)} share more than a third of their turns")
    audit.add("answers retained without the support turns", ("corpus", "questions", "retained", "types"), leaks)
    audit.add(
        "largest share of turns that two dialogues have in common", ("corpus", "dialogues", "share", "pair"), overlap
    )
    audit.add("turns and vocabulary", ("corpus", "turns", "distinct turns", "words or characters", "distinct"), words)
    if any(corpus not in CONFINED for corpus, *_ in leaks):
        audit.notes.append("derived questions may be answered from other turns too: their support is not confined")
    return audit


def is_leaking(dialogue: Dialogue, row: dict[str, Any]) -> bool:
    """Whether the context without the support turns still holds the answer: as a phrase, or by lexical retention."""
    left = [text for turn, text in enumerate(dialogue.texts) if turn not in row["support_turns"]]
    answer = row["reference_answer"]
    return any(value_stated(answer, text, dialogue.corpus) for text in left) or lexical_retention(
        answer, " ".join(left)
    )


def highest_share(dialogues: list[Dialogue]) -> tuple[Fraction, tuple[str, ...]]:
    """The largest share of common turns over all pairs, with the ids of that pair."""
    index = TurnIndex()
    best: tuple[Fraction, tuple[str, ...]] = (Fraction(0), ())
    for dialogue in dialogues:
        share, other = index.highest_share(dialogue.texts)
        if other is not None and share > best[0]:
            best = share, (dialogues[other].dialogue_id, dialogue.dialogue_id)
        index.add(dialogue.texts)
    return best


def vocabulary(dialogues: list[Dialogue]) -> tuple[int, int, int, int]:
    """Turns, distinct turns, words (Chinese: characters), distinct words."""
    keys = [turn_key(text) for dialogue in dialogues for text in dialogue.texts]
    words = [word for key in keys for word in (list(key.replace(" ", "")) if has_han(key) else key.split())]
    return len(keys), len(set(keys)), len(words), len(set(words))
