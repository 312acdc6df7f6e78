"""`paper-1` for P2 `current_value`: equal normal forms (scoring spec 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

from tpbench_data.matching import phrase_occurs, values_match
from tpbench_data.normalize import ALIAS_CORPUS, normalize_value
from tpbench_score.parsing import Extracted, extract_json, read_string_value, without_level
from tpbench_score.records import AnswerScore, Forms, Reference, Rule, outcome
from tpbench_score.rules.tokens import value_tokens


def alias_corpus(corpus: str) -> str:
    """The corpus name under which P2 normalises: whatever looks like MultiWOZ is, and no name means SGD."""
    name = corpus.lower()
    if "multi" in name or name.startswith("mw"):
        return ALIAS_CORPUS
    return name or "sgd"


def score(extracted: Extracted, reference: Reference) -> AnswerScore:
    """Strict: equal normal forms; loose: the reference occurs in the prediction as a phrase."""
    if extracted.reason:
        return AnswerScore(False, False, extracted.abstained, extracted.value, extracted.reason)
    corpus = alias_corpus(reference.corpus)
    expected, given = normalize_value(reference.value, corpus), normalize_value(extracted.value, corpus)
    strict = bool(expected) and given == expected
    loose = strict or phrase_occurs(expected, given)
    reason = outcome(strict, loose, "value_differs", has_reference=bool(expected))
    return AnswerScore(strict, loose, False, extracted.value, reason)


def score_failed(extracted: Extracted) -> AnswerScore:
    """An output whose reader failed: wrong, no abstention, and no prediction."""
    return AnswerScore(False, False, False, None, "error")


def superseded(prediction: str, old_value: str, corpus: str) -> bool:
    """Whether the prediction is the old value, also where the reader abstained (scoring spec 4.5)."""
    return values_match(prediction, old_value, alias_corpus(corpus))


@dataclass(frozen=True, slots=True)
class Overlap:
    """The overlap diagnostics of P2, which no table shows: two shared content words, or one."""

    strict: bool
    loose: bool


def overlap(extracted: Extracted, reference: Reference) -> Overlap:
    """Shared content words of prediction and reference; never where the reader abstained."""
    if extracted.reason:
        return Overlap(False, False)
    expected = value_tokens(reference.value)
    shared = len(expected & value_tokens(extracted.value))
    return Overlap(shared >= 2 and len(expected) >= 2, shared >= 1)


def forms(extracted: Extracted, reference: Reference) -> Forms:
    """The normal forms on both sides."""
    corpus = alias_corpus(reference.corpus)
    return {
        "normal form of the reference": normalize_value(reference.value, corpus),
        "normal form of the answer": normalize_value(extracted.value, corpus),
    }


RULE = Rule(
    ("value",),
    without_level(extract_json),
    read_string_value,
    score,
    score_failed,
    superseded,
    criterion="Strict: equal normal forms. Loose: that of the reference occurs in that of the answer as a phrase.",
    forms=forms,
)
