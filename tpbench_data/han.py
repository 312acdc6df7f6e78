r"""Stating a value in Chinese text, where words have no spaces between them and annotations may.

The phrase matcher of `tpbench_data.matching` needs a word boundary, and between two Chinese characters there is
none: "厦门" would never occur in "我要去厦门玩". This module finds evidence there; published scores do not use it.
"""

from __future__ import annotations

import re

from tpbench_data.matching import value_in_text
from tpbench_data.normalize import compatibility_form, normalize_value

_HAN = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_ANY_HAN = re.compile(f"[{_HAN}]")
_SEAM = re.compile(f"(?<=[0-9A-Za-z])(?=[{_HAN}])|(?<=[{_HAN}])(?=[0-9A-Za-z])")
_SPACE_INSIDE_LATIN = re.compile(r"(?<=[0-9a-z_]) (?=[0-9a-z_])")
_LATIN = re.compile(r"[0-9a-z_]")


def has_han(text: str) -> bool:
    """Whether a text holds Chinese characters or Japanese kana."""
    return not text.isascii() and _ANY_HAN.search(text) is not None


def value_form(value: str, corpus: str) -> str:
    """The form in which two annotated values are compared: `normalize_value`, for Chinese without inner spaces.

    "朋友 出游" and "朋友出游" are one value: the annotation is word-segmented here and there.
    """
    return _compact(value, corpus) if has_han(value) else normalize_value(value, corpus)


def value_stated(value: str | None, text: str, corpus: str) -> bool:
    """Whether a text states a value: phrase matching, and for Chinese text a substring rule with guards.

    A value that starts or ends with a letter or digit must not touch another one there ("15" is not in "150元"). A
    value of a single Chinese character must stand between characters of other scripts ("大" is not in "大学").
    """
    if not value:
        return False
    if not has_han(text):
        return value_in_text(value, text, corpus)
    needle, haystack = _compact(value, corpus), _compact(text, corpus)
    if not needle:
        return False
    single = len(needle) == 1 and has_han(needle)
    start = haystack.find(needle)
    while start >= 0:
        before = haystack[start - 1 : start]
        after = haystack[start + len(needle) : start + len(needle) + 1]
        if single:
            clear = not has_han(before) and not has_han(after)
        else:
            clear = not (_LATIN.match(needle[0]) and _LATIN.match(before)) and not (
                _LATIN.match(needle[-1]) and _LATIN.match(after)
            )
        if clear:
            return True
        start = haystack.find(needle, start + 1)
    return False


def _compact(text: str, corpus: str) -> str:
    """The normal form without the spaces that word segmentation puts in; those between Latin words stay.

    A seam of Latin and Chinese gets a space first, so that "750元" and "750 元" have the same normal form.
    """
    spaced = normalize_value(_SEAM.sub(" ", compatibility_form(text)), corpus)
    marked = _SPACE_INSIDE_LATIN.sub("\0", spaced)
    return marked.replace(" ", "").replace("\0", " ")
