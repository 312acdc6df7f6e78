"""`paper-1` for P1 on RiSAWOZ: shared Chinese code points and Latin words (scoring spec 3.6)."""

from __future__ import annotations

import re

from tpbench_data.normalize import compatibility_form
from tpbench_score.parsing import Extracted, parse_reader_text, read_text_value, without_level
from tpbench_score.records import AnswerScore, Forms, Reference, Rule
from tpbench_score.rules.initial_goal import CRITERION, overlap_score, word_forms
from tpbench_score.rules.tokens import MIN_TOKEN_LENGTH, words

STOP_WORDS = words(
    "a an and are at be by for i in is my need of on or please that the they this to want was we were with you your"
)
"""The 29 Latin words that do not count; Chinese has no stop list."""

_TOKEN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[a-z0-9]+")


def tokens(text: str) -> frozenset[str]:
    """Every Chinese code point by itself and the Latin content words, after NFKC and lower-casing, as a set."""
    return frozenset(
        token
        for token in _TOKEN.findall(compatibility_form(text).lower())
        if not token.isascii() or (len(token) >= MIN_TOKEN_LENGTH and token not in STOP_WORDS)
    )


def score(extracted: Extracted, reference: Reference) -> AnswerScore:
    """As P1 elsewhere, with these tokens."""
    if extracted.reason:
        return AnswerScore(False, False, extracted.abstained, extracted.value, extracted.reason, 0.0)
    return overlap_score(extracted.value, tokens(extracted.value), tokens(reference.goal))


def forms(extracted: Extracted, reference: Reference) -> Forms:
    """The code points and words on both sides."""
    return word_forms(tokens(reference.goal), tokens(extracted.value))


RULE = Rule(("goal",), without_level(parse_reader_text), read_text_value, score, criterion=CRITERION, forms=forms)
