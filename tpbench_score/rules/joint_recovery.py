"""`paper-1` for P3 `joint_recovery`: goal and value, each in its segment (scoring spec 3.3 and 3.4)."""

from __future__ import annotations

from dataclasses import dataclass

from tpbench_data.matching import phrase_occurs
from tpbench_score.parsing import Extracted, parse_reader_text, read_text_value, without_level
from tpbench_score.records import AnswerScore, Forms, Reference, Rule, outcome
from tpbench_score.rules.tokens import goal_tokens, set_f1


@dataclass(frozen=True, slots=True)
class Segments:
    """The two halves of an answer `task; slot: value`, trimmed and never empty."""

    goal: str
    value: str


@dataclass(frozen=True, slots=True)
class Criteria:
    """Whether a text for the goal and a text for the value hold what the reference asks for."""

    goal: bool
    value_strict: bool
    value_loose: bool

    @property
    def strict(self) -> bool:
        """Goal and strict value."""
        return self.goal and self.value_strict

    @property
    def loose(self) -> bool:
        """Goal and loose value."""
        return self.goal and self.value_loose


NOTHING = Criteria(False, False, False)


def split_answer(answer: str) -> Segments | None:
    """The segments of an answer with exactly one semicolon and a colon behind it; ``None`` for any other.

    The label between semicolon and colon must not be empty, but is not compared with the slot. Later colons
    belong to the value. Full-width punctuation does not separate.
    """
    goal, semicolon, rest = answer.partition(";")
    label, colon, value = rest.partition(":")
    goal, label, value = goal.strip(), label.strip(), value.strip()
    if not (semicolon and colon and goal and label and value) or ";" in rest:
        return None
    return Segments(goal, value)


def plain_form(text: str) -> str:
    """The P3 text form: trimmed, lower-cased, white space collapsed; no NFKC, times or aliases."""
    return " ".join(text.lower().split())


def criteria(goal_text: str, value_text: str, reference: Reference) -> Criteria:
    """Goal: one shared content word. Value strict: phrase; loose: or the floor of half of its words, at least one."""
    strict = phrase_occurs(plain_form(reference.value), plain_form(value_text))
    expected = goal_tokens(reference.value)
    shared = len(expected & goal_tokens(value_text))
    return Criteria(
        goal=bool(goal_tokens(reference.goal) & goal_tokens(goal_text)),
        value_strict=strict,
        value_loose=strict or (bool(expected) and shared >= max(1, len(expected) // 2)),
    )


def whole_field(extracted: Extracted, reference: Reference) -> Criteria:
    """Both criteria on the entire answer, without parsing it (the sensitivity check of table 10)."""
    return NOTHING if extracted.reason else criteria(extracted.value, extracted.value, reference)


def whole_token_f1(extracted: Extracted, reference: Reference) -> float:
    """Set F1 of goal and value words together against the words of the entire answer; no table shows it."""
    expected = goal_tokens(reference.goal) | goal_tokens(reference.value)
    return 0.0 if extracted.reason else set_f1(goal_tokens(extracted.value), expected)


def score(extracted: Extracted, reference: Reference) -> AnswerScore:
    """Segment-local score, the reported one, with the whole-field score beside it."""
    segments = None if extracted.reason else split_answer(extracted.value)
    local = criteria(segments.goal, segments.value, reference) if segments else NOTHING
    whole = whole_field(extracted, reference)
    return AnswerScore(
        strict=local.strict,
        loose=local.loose,
        abstained=extracted.abstained,
        answer=extracted.value,
        reason=extracted.reason or _reason(segments, local, reference),
        parsed=segments is not None,
        goal_ok=local.goal,
        value_strict=local.value_strict,
        value_loose=local.value_loose,
        goal_segment=segments.goal if segments else None,
        value_segment=segments.value if segments else None,
        whole_strict=whole.strict,
        whole_loose=whole.loose,
    )


def _reason(segments: Segments | None, local: Criteria, reference: Reference) -> str:
    if segments is None:
        differs = "unparsed"
    elif local.goal:
        differs = "value_differs"
    else:
        differs = "goal_differs" if local.value_loose else "both_differ"
    has_reference = bool(goal_tokens(reference.goal) and plain_form(reference.value))
    return outcome(local.strict, local.loose, differs, has_reference=has_reference)


def forms(extracted: Extracted, reference: Reference) -> Forms:
    """The words of the goals and the text forms of the values, those of the answer each from its segment."""
    found: Forms = {
        "words of the reference goal": sorted(goal_tokens(reference.goal)),
        "text form of the reference value": plain_form(reference.value),
    }
    segments = split_answer(extracted.value)
    if segments:
        found |= {
            "words of the goal segment": sorted(goal_tokens(segments.goal)),
            "text form of the value segment": plain_form(segments.value),
        }
    return found


RULE = Rule(
    ("goal", "value"),
    without_level(parse_reader_text),
    read_text_value,
    score,
    criterion="The answer reads `task; slot: value`. Goal: a shared content word. Value strict: the reference occurs "
    "in its segment as a phrase. Value loose: or half of its words, rounded down, are there.",
    forms=forms,
)
