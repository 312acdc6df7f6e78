"""The records of scoring: what an answer is compared with and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from tpbench_score.parsing import Extracted, Parsed

REASONS: dict[str, str] = {
    "match": "right under the strict rule",
    "loose_match": "right under the loose rule only",
    "goal_differs": "the goal shares too few words with the reference",
    "value_differs": "the value, or the free-form answer, is not the reference",
    "both_differ": "P3: neither goal nor value is right",
    "unparsed": "P3: the answer does not have the form `task; slot: value`",
    "reference_empty": "the reference has nothing that an answer could match",
    "abstained": "the reader set the abstain flag",
    "no_answer": "the value is missing, null, empty, or a word that stands for no value",
    "no_json": "the text holds no JSON object",
    "not_text": "the value is JSON, but not one that the scorer takes: under paper-1 P2 only strings count",
    "old_answer": "free form: the answer misses what distinguishes the reference from the old answer",
    "error": "the reader failed on this input",
    "missing": "the input was planned, but the run has no output for it",
}
"""Every reason code, with what it means."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What an answer is compared with.

    Attributes:
        corpus: Corpus name; it decides which aliases apply and, for some corpora, which scorer.
        goal: Reference goal of P1 and P3, "" where there is none.
        value: Reference value of P2 and P3, reference answer of a free-form question, "" where there is none.
        old_value: The value or answer before the update, "" where there is none.
        alternatives: Every value that counts as the reference, as the release lists them; `paper-1` ignores them.
    """

    corpus: str
    goal: str = ""
    value: str = ""
    old_value: str = ""
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The score of one answer. Fields that a probe does not have are ``None``.

    Attributes:
        strict: Right under the strict rule of the probe (P3: goal and strict value, each in its segment).
        loose: Right under the loose rule; true whenever ``strict`` is.
        abstained: The scorer counts the answer as an abstention; such an answer is never right.
        answer: The scored value: text for P1 and P3, for P2 the JSON value as given, ``None`` where there is none.
        reason: Stable code, one of `REASONS`.
        token_f1: P1: set F1 of content words, 0 to 1.
        parsed: P3: the answer has the form `task; slot: value`.
        goal_ok: P3: the goal segment shares a content word with the reference goal.
        value_strict: P3: the reference value occurs in the value segment.
        value_loose: P3: ``value_strict``, or half of the content words of the reference value are there.
        goal_segment: P3: text before the semicolon, ``None`` where unparsed.
        value_segment: P3: text after the first colon behind the semicolon, ``None`` where unparsed.
        whole_strict: P3: both criteria of ``strict`` hold somewhere in the answer, without parsing it.
        whole_loose: P3: the same for ``loose``.
        parse_level: `tpbench-1`: at which level the answer was parsed, see `tpbench_score.parse_levels`.
    """

    strict: bool
    loose: bool
    abstained: bool
    answer: Any
    reason: str
    token_f1: float | None = None
    parsed: bool | None = None
    goal_ok: bool | None = None
    value_strict: bool | None = None
    value_loose: bool | None = None
    goal_segment: str | None = None
    value_segment: str | None = None
    whole_strict: bool | None = None
    whole_loose: bool | None = None
    parse_level: str | None = None


ANSWER_FIELDS = tuple(field.name for field in fields(AnswerScore))
"""The fields of `AnswerScore`, in order."""


Forms = dict[str, str | list[str]]
"""Name -> a form that was compared, or the words of one, sorted."""


def no_forms(extracted: Extracted, reference: Reference) -> Forms:
    """For an answer with nothing to compare."""
    return {}


@dataclass(frozen=True, slots=True)
class Rule:
    """How one scorer version scores one probe: text -> record -> extracted value -> score.

    Attributes:
        needs: The parts of the reference it compares with.
        parse: Takes the JSON object out of an answer text.
        read: Takes the scored value and the abstention out of that object.
        score: Compares the value with the reference.
        score_failed: The score of an output whose reader failed; ``None`` where its text is scored all the same.
        superseded: Whether a prediction is the old value, given (prediction, old value, corpus); ``None`` where
            the probe has no old value.
        retained: Whether a context states the reference value, given (context, reference); ``None`` for the
            published test.
        criterion: What makes an answer right, in one or two sentences.
        forms: What is compared in fact: the forms of reference and answer by name.
    """

    needs: tuple[Literal["goal", "value"], ...]
    parse: Callable[[str], Parsed]
    read: Callable[[dict[str, Any] | None], Extracted]
    score: Callable[[Extracted, Reference], AnswerScore]
    score_failed: Callable[[Extracted], AnswerScore] | None = None
    superseded: Callable[[str, str, str], bool] | None = None
    retained: Callable[[str, Reference], bool] | None = None
    criterion: str = ""
    forms: Callable[[Extracted, Reference], Forms] = no_forms

    def extract(self, text: str) -> Extracted:
        """The scored value of an answer text, with the level at which it was parsed."""
        parsed = self.parse(text)
        extracted = self.read(parsed.record)
        return extracted if parsed.level is None else replace(extracted, level=parsed.level)

    def judge(self, extracted: Extracted, reference: Reference) -> AnswerScore:
        """The score of an extracted value, with its level."""
        result = self.score(extracted, reference)
        return result if extracted.level is None else replace(result, parse_level=extracted.level)


def outcome(strict: bool, loose: bool, differs: str, *, has_reference: bool) -> str:
    """The reason code of a compared answer; ``differs`` is the one for an answer that is wrong."""
    if not has_reference:
        return "reference_empty"
    if strict:
        return "match"
    return "loose_match" if loose else differs
