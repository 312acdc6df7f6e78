"""The form of `tpbench-1` in which texts are compared: a row of words, a number or a time being one of them.

Nothing here depends on what stands around a value, so a value has the same words alone and inside a sentence. Two
Chinese characters stand together, whatever blanks were between them; punctuation between them stays as a comma,
for the guard of short values. Applying the form twice changes nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tpbench_data.normalize import compatibility_form
from tpbench_score.rules.tpbench_1.chinese_times import with_chinese_times
from tpbench_score.rules.tpbench_1.number_words import NUMBER_WORDS, digits_for_words
from tpbench_score.rules.tpbench_1.times import with_times

CJK = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Characters that are written without blanks between words: Chinese and Japanese. A class for ``re``.

It belongs to this scorer, which must not change when the builder finds evidence in more scripts.
"""
BREAK = ","
"""Stands in a form for punctuation between two Chinese characters."""

_LETTER = rf"(?:[^\W_{CJK}]|[\u0300-\u036f])"
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_OCLOCK = re.compile(r"\bo\s?[\"'’`´]?\s?clock\b")
_APOSTROPHE = re.compile(rf"(?<={_LETTER})['’ʼ`´](?={_LETTER})")
_INITIALS = re.compile(r"(?<![^\W\d])(?<!\.)[a-z](?:\.[a-z])+(?!\w)\.?")
_THOUSANDS = re.compile(r"(?<![0-9])(?<![0-9][.,])[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?!,[0-9])")
_RANGE = re.compile(r"(?<=[0-9])(?:\s*~\s*|[–—−‐‑])(?=[0-9])")
_COMPARED = re.compile(r"([<>≤≥])\s*(=?)\s*(?=[0-9])")
_WORD = re.compile(
    rf"[0-9]{{1,2}}(?:[:.][0-9]{{2}})?(?=[ap]m(?!{_LETTER}))"  # 5pm is a number and a word
    rf"|(?:[<>≤≥]=?)?(?>[0-9]+(?:[:./-][0-9]+)*)(?!{_LETTER})"
    rf"|[{CJK}]+|{_LETTER}+"  # a run of Chinese characters stands together in any case
)
_MAY_HOLD_TIME = re.compile(
    r"[0-9]|noon|midday|midnight|past|quarter|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
)
_CJK_CHARACTER = re.compile(f"[{CJK}]")
_BLANK_OR_NOTHING = re.compile(r"\s*")
_MONEY = frozenset({"dollar", "dollars", "buck", "bucks", "usd"})

_ROUNDS = 20
"""Rounds after which a form counts as final; ordinary texts need two."""
_REMEMBERED = 65_536
_SHORT = 80


def text_form(text: str) -> str:
    """The words of a text, joined by single blanks; Chinese characters without."""
    return _short_form(text) if len(text) <= _SHORT else _long_form(text)


def _form(text: str) -> str:
    for _ in range(_ROUNDS):
        last, text = text, _once(text)
        if text == last:
            break
    return text


# The same few thousand values come back in every row; a context comes back for each probe that asks about it.
_short_form = lru_cache(maxsize=_REMEMBERED)(_form)
_long_form = lru_cache(maxsize=_REMEMBERED // 16)(_form)


def _once(text: str) -> str:
    text = _cleaned(text)
    words = _WORD.findall(text) if text.isascii() else _words_and_breaks(text)
    if not NUMBER_WORDS.isdisjoint(words):
        words = digits_for_words(words)
    if _MAY_HOLD_TIME.search(text):
        words = with_times(_without_money(words))
    return " ".join(words) if text.isascii() else _joined(words)


def _words_and_breaks(text: str) -> list[str]:
    """The words, with a `BREAK` between two Chinese characters that more than blanks part."""
    words: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        word = match[0]
        if words and _is_cjk(word) and _is_cjk(words[-1]) and not _BLANK_OR_NOTHING.fullmatch(text, end, match.start()):
            words.append(BREAK)
        words.append(word)
        end = match.end()
    return words


def _cleaned(text: str) -> str:
    if text.isascii():
        text = text.lower()
    else:
        text = compatibility_form(compatibility_form(_INVISIBLE.sub("", text)).casefold())
        text = _INVISIBLE.sub("", text)
        text = with_chinese_times(text)
    text = _OCLOCK.sub("oclock", text) if "clock" in text else text
    text = _APOSTROPHE.sub("", text)
    text = _INITIALS.sub(lambda match: match[0].replace(".", ""), text) if "." in text else text
    text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text) if "," in text else text
    text = _RANGE.sub("-", text)
    text = _COMPARED.sub(r"\1\2", text)
    return text.replace("&", " and ")


def _without_money(words: list[str]) -> list[str]:
    """Drops "dollars" behind an amount, as the sign before it is dropped with all punctuation."""
    return [
        word
        for place, word in enumerate(words)
        if not (word in _MONEY and place and words[place - 1][-1:].isdigit() and words[place - 1].isascii())
    ]


def _joined(words: list[str]) -> str:
    parts: list[str] = []
    for word in words:
        if parts and not (_glued(parts[-1]) and _glued(word)):
            parts.append(" ")
        parts.append(word)
    return "".join(parts)


def _glued(word: str) -> bool:
    return word == BREAK or _is_cjk(word)


def _is_cjk(word: str) -> bool:
    return not word.isascii() and _CJK_CHARACTER.match(word) is not None
