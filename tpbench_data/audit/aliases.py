"""The alias rule: which clause takes an old and a new value for the same, and which pairs it lets pass.

The rule drops an update from P2. It is published with three clauses, one of which never fires.
"""

from __future__ import annotations

from collections.abc import Iterable

from tpbench_data.audit.finding import Audit, percent
from tpbench_data.audit.material import PoolMaterial, ReleaseMaterial, by_corpus
from tpbench_data.matching import MIN_CONTAINED_ALIAS, phrase_occurs
from tpbench_data.normalize import normalize_value

EQUAL = "equal normal forms"
WHOLE_WORDS = "one contains the other, whole words"
INSIDE_WORD = "one contains the other, inside a word"
TOO_SHORT = f"contained, but shorter than {MIN_CONTAINED_ALIAS} characters"
COMMA = "same text before the first comma (clause never fires)"
OTHER = "no clause"
CLAUSES = {EQUAL: True, WHOLE_WORDS: True, INSIDE_WORD: True, TOO_SHORT: False, COMMA: False, OTHER: False}
"""Clause -> whether the rule drops the pair."""

_EXAMPLES = 2


def clause_of(old: str, new: str, corpus: str) -> str:
    """The clause that decides a pair of values."""
    a, b = normalize_value(old, corpus), normalize_value(new, corpus)
    if a and a == b:
        return EQUAL
    shorter, longer = sorted((a, b), key=len)
    if shorter and shorter in longer:
        if len(shorter) < MIN_CONTAINED_ALIAS:
            return TOO_SHORT
        return WHOLE_WORDS if phrase_occurs(shorter, longer) else INSIDE_WORD
    before = [normalize_value(value.split(",", 1)[0], corpus) for value in (old, new)]
    return COMMA if before[0] and before[0] == before[1] else OTHER


def audit_release(material: ReleaseMaterial) -> Audit:
    """Clauses over the P3 examples (which keep aliases) and the P2 examples (which do not) of a release."""
    audit = Audit("aliases", "what each clause of the alias rule does")
    for probe in ("current_value", "joint_recovery"):
        for corpus, examples in by_corpus(material.examples(probe)):
            pairs = [(row["old_value"], row["reference_value"]) for row in examples if row["old_value"]]
            _add(audit, f"{probe}, {corpus}", pairs, corpus)
    return audit


def audit_pool(material: PoolMaterial) -> Audit:
    """Clauses over all final updates of a pool."""
    audit = Audit("aliases", f"what each clause of the alias rule does, final updates of {material.corpus}")
    pairs = [(q.old_value, q.new_value) for q in material.pool.questions if q.is_final]
    _add(audit, "final updates", pairs, material.corpus)
    return audit


def _add(audit: Audit, title: str, pairs: Iterable[tuple[str, str]], corpus: str) -> None:
    found: dict[str, list[tuple[str, str]]] = {clause: [] for clause in CLAUSES}
    for old, new in pairs:
        found[clause_of(old, new, corpus)].append((old, new))
    total = sum(map(len, found.values()))
    rows = []
    for clause, dropped in CLAUSES.items():
        examples = "; ".join(f"{old} -> {new}" for old, new in dict.fromkeys(found[clause][:_EXAMPLES]))
        rows.append(
            (clause, "alias" if dropped else "kept", len(found[clause]), percent(len(found[clause]), total), examples)
        )
    if total:
        audit.add(title, ("clause", "verdict", "pairs", "%", "such as"), rows)
