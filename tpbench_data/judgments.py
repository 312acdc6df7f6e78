"""Pairs of reference and answer that a judge compares, and how its verdicts are written (scoring spec 4.10)."""

from __future__ import annotations

import json
from typing import Literal

from tpbench_data.canonical import sha256_hex

Label = Literal["equivalent", "not_equivalent", "uncertain"]

GOAL_QUESTION = "What did the user initially want?"
"""The question under which a P1 answer is judged; fixed, whatever the reader was asked."""

_PAIR_PREFIX = "TPBench semantic audit|"
_PAIR_DIGITS = 20


def pair_id(reference: str, answer: str) -> str:
    """The id of a judged pair: 20 hex digits over both texts, so that equal pairs are judged once.

    The generator that asks and the scorer that joins share it; it is the published one, so that published judgments
    can be joined as well.
    """
    return sha256_hex(_PAIR_PREFIX + json.dumps([reference, answer], ensure_ascii=False))[:_PAIR_DIGITS]


def label_of(equivalent: bool | None) -> Label:
    """The label of a verdict as judges give it: true, false, or null where the pair is ambiguous."""
    if equivalent is None:
        return "uncertain"
    return "equivalent" if equivalent else "not_equivalent"


def is_right(label: Label) -> bool:
    """Whether a judged answer scores: only "equivalent" does, "uncertain" stays in the denominator as wrong."""
    return label == "equivalent"
