"""The normal form: published behaviour with its quirks, and a slow, plain version of the same rule."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tpbench_data.normalize import ALIASES, compatibility_form, normalize_value

VALUE_LIKE = st.text(st.sampled_from("0123456789:apm.,-/ $'_xé中İ\u0301\u3000１２"), max_size=25)
ALIAS_LIKE = st.lists(
    st.sampled_from([old for old, _ in ALIASES] + ["1", "2", "people", "Centre", "s", ".", "-", "8 pm"]), max_size=6
).map(" ".join)


def plain_normalize(value: str, corpus: str) -> str:
    """Every step as one obvious substitution, whatever it costs."""
    text = unicodedata.normalize("NFKC", value).lower().strip()
    if corpus == "multiwoz":
        for old, new in ALIASES:
            text = re.sub(rf"\b{old}\b", new, text)

    def half_day(found: re.Match[str]) -> str:
        hour = int(found[1])
        if found[3].startswith("p") and hour != 12:
            hour += 12
        if found[3].startswith("a") and hour == 12:
            hour = 0
        return f"{hour:02d}:{int(found[2] or 0):02d}"

    def bare(found: re.Match[str]) -> str:
        hour, minute = int(found[0][:-2]), int(found[0][-2:])
        return f"{hour:02d}:{minute:02d}" if hour < 24 and minute < 60 else found[0]

    text = re.sub(r"\b(\d{1,2})(?::(\d{2}))?\s*(am|pm|a\.m\.|p\.m\.)\b", half_day, text, flags=re.IGNORECASE)
    text = re.sub(r"\b(\d{1,2}):(\d{2})\b", lambda found: f"{int(found[1]):02d}:{int(found[2]):02d}", text)
    text = re.sub(r"\b\d{3,4}\b", bare, text)
    text = re.sub(r"[^\w\s:/-]+", " ", text)
    return re.sub(r"\s+", " ", text).strip()


@pytest.mark.parametrize(
    ("value", "normal"),
    [
        ("12 pm", "12:00"),
        ("12 am", "00:00"),
        ("12:30 PM", "12:30"),
        ("7:15", "07:15"),
        ("07:15 pm", "19:15"),
        ("9am", "09:00"),
        ("see you at 9 am then", "see you at 09:00 then"),
        ("23 pm", "35:00"),  # no range check
        ("99:99", "99:99"),
        ("750", "07:50"),
        ("2019", "20:19"),
        ("100", "01:00"),
        ("2400", "2400"),
        ("12345", "12345"),
        ("$1,200", "1 02:00"),
        ("2,000", "2 00:00"),
        ("3.5", "3 5"),
        ("St. John's", "st john s"),
        ("a_b", "a_b"),
        ("north-east", "north-east"),
        ("Dara Thai/Lao Cuisine", "dara thai/lao cuisine"),
        ("\u2212 5", "5"),  # the Unicode minus is punctuation
        ("１２：３０", "12:30"),
        ("Cafe\u0301", "café"),
        ("a\u00a0 b\tc\r\nd", "a b c d"),
        ("zero\u200bwidth", "zero width"),
        ("soft\u00adhyphen", "soft hyphen"),
        ("\u0130zmir", "i zmir"),  # lower-casing a dotted capital I leaves a mark, which is punctuation
        ("厦门", "厦门"),
        ("None", "none"),
        ("  ", ""),
        ("?!", ""),
        (None, ""),
    ],
)
def test_published_normal_forms(value: str | None, normal: str) -> None:
    assert normalize_value(value, "sgd") == normal


@pytest.mark.parametrize(
    ("value", "normal"),
    [
        ("centre", "center"),
        ("city centre", "city center"),
        ("color", "colour"),  # towards the British form, unlike centre
        ("guesthouse", "guest house"),
        ("guesthouses", "guesthouses"),  # whole words only
        ("panasian", "asian"),
        ("asian oriental", "asian"),
        ("north american", "american"),
        ("moderately priced", "moderate"),
        ("one person", "1"),
        ("5 people", "5"),
        ("five people", "5"),
        ("four people", "four people"),  # missing from the table
        ("6 people", "6 people"),
        ("11 people", "11 people"),
    ],
)
def test_aliases_of_multiwoz(value: str, normal: str) -> None:
    assert normalize_value(value, "multiwoz") == normal
    assert normalize_value(value, "sgd") == value


@pytest.mark.parametrize("corpus", ["MultiWOZ", "multiwoz22", "mw", "sgd", ""])
def test_aliases_need_the_exact_corpus_name(corpus: str) -> None:
    assert normalize_value("guesthouse", corpus) == "guesthouse"


def test_dotted_half_day_at_the_end_of_a_value_is_no_time() -> None:
    assert normalize_value("12 p.m.", "sgd") == "12 p m"
    assert normalize_value("5 p.m. today", "sgd") == "5 p m today"
    assert normalize_value("5 p.m.x", "sgd") == "17:00x"


@pytest.mark.parametrize(
    ("value", "corpus", "once", "twice"),
    [("9 (am)", "sgd", "9 am", "09:00"), ("2 'people'", "multiwoz", "2 people", "2")],
)
def test_normal_form_is_not_idempotent_under_the_published_rule(value: str, corpus: str, once: str, twice: str) -> None:
    assert normalize_value(value, corpus) == once
    assert normalize_value(once, corpus) == twice


@given(st.text(max_size=80) | VALUE_LIKE | ALIAS_LIKE, st.sampled_from(["sgd", "multiwoz"]))
def test_fast_rule_equals_plain_rule(value: str, corpus: str) -> None:
    assert normalize_value(value, corpus) == plain_normalize(value, corpus)


@given(st.text() | VALUE_LIKE, st.sampled_from(["sgd", "multiwoz", "risawoz"]))
def test_normal_form_has_single_spaces_and_no_ascii_punctuation(value: str, corpus: str) -> None:
    normal = normalize_value(value, corpus)
    assert normal == " ".join(normal.split())
    assert not set(normal) & set("!\"#$%&'()*+,.;<=>?@[\\]^`{|}~")


@settings(deadline=None)
@given(st.text(alphabet="é가\u0301\u0327\u0323\u0f73\u0344ﬁ①aİ", max_size=40))
def test_compatibility_form_is_nfkc_whatever_the_length(text: str) -> None:
    long_text = text * 400
    assert compatibility_form(text) == unicodedata.normalize("NFKC", text)
    assert compatibility_form(long_text) == unicodedata.normalize("NFKC", long_text)


@pytest.mark.parametrize("piece", ["\u0301\u0327", "\u0f73", "1 ", "12 pm", "9:9", "a.", "\ufdfa"])
def test_a_megabyte_takes_linear_time(piece: str) -> None:
    # Sorting these marks pairwise, as the standard library does, would take minutes; the limit of the test run
    # is the assertion.
    normalize_value("a" + piece * (1_000_000 // len(piece) // 4), "multiwoz")
