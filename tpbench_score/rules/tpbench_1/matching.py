"""When two values are the same under `tpbench-1`, and when a text states one.

Equality compares `value_form`, so it is symmetric and transitive, whatever aliases there are. Stating compares whole
words of `text_form`; since a number with colons is one word, 12 is not stated by 12:30. A text never states an empty
form, and a value states itself, also inside a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from tpbench_data.normalize import ALIAS_CORPUS
from tpbench_score.records import Reference
from tpbench_score.rules.tpbench_1.chinese_times import whole_hour
from tpbench_score.rules.tpbench_1.text_form import BREAK, CJK, text_form
from tpbench_score.rules.tpbench_1.times import number_in_day_part

SHORTEST_FREE_CJK = 2
"""Chinese values shorter than this are stated only where no Chinese character touches them: 大 is not in 大学."""

ALIASES: tuple[tuple[str, str], ...] = (
    ("centre", "center"),
    ("colour", "color"),
    ("guesthouse", "guest house"),
    ("moderate price", "moderate"),
    ("moderately priced", "moderate"),
    ("expensive price", "expensive"),
    ("expensive priced", "expensive"),
    ("cheap price", "cheap"),
    ("cheap priced", "cheap"),
    ("asian oriental", "asian"),
    ("north american", "american"),
    ("panasian", "asian"),
    ("pan asian", "asian"),
)
"""Other names of MultiWOZ values, as whole words anywhere in a value; no result holds another entry."""

_WHOLE_VALUES = {
    "one": "1",
    "true": "yes",
    "false": "no",
    "dont care": "dontcare",
    "do not care": "dontcare",
    "doesnt matter": "dontcare",
    "does not matter": "dontcare",
}
_ALIAS = re.compile(rf"\b(?:{'|'.join(re.escape(name) for name, _ in ALIASES)})\b")
_ALIAS_VALUE = dict(ALIASES)
_ARTICLE = re.compile(r"(?:the|an?) (?=.)")
_PARTY = re.compile(r"([0-9]+|one) (?:people|persons?)")
_ALSO_SAID = re.compile(r"\(\s*or\s+([^()]*)\)", re.IGNORECASE)
_BAR = re.compile(r"(?<=\S)\|(?=\S)")
_CJK_CHARACTER = re.compile(f"[{CJK}]")
_ROUNDS = 20


def looks_like_multiwoz(corpus: str) -> bool:
    """Whether MultiWOZ's names for values apply: whatever looks like MultiWOZ is."""
    name = corpus.lower()
    return ALIAS_CORPUS in name or name.startswith("mw")


@lru_cache(maxsize=65_536)
def value_form(value: str, corpus: str) -> str:
    """The form under which whole values are equal; "" for a value without a word, which equals nothing.

    On top of `text_form`: no leading article, no punctuation inside Chinese, "evening 4:30" as a time, "4 people"
    as 4, true as yes, and the aliases of MultiWOZ.
    """
    multiwoz = looks_like_multiwoz(corpus)
    form = text_form(value)
    for _ in range(_ROUNDS):
        last, form = form, text_form(_once(form, multiwoz))
        if form == last:
            break
    return form


def _once(form: str, multiwoz: bool) -> str:
    form = form.replace(BREAK, "")
    form = _ARTICLE.sub("", form, count=1) if _ARTICLE.match(form) else form
    if multiwoz:
        form = _ALIAS.sub(lambda match: _ALIAS_VALUE[match[0]], form)
    party = _PARTY.fullmatch(form)
    form = party[1] if party else form
    form = _WHOLE_VALUES.get(form, form)
    return number_in_day_part(form.split(" ")) or whole_hour(form) or form


def same_value(a: str, b: str, corpus: str) -> bool:
    """Whether two values are one."""
    form = value_form(a, corpus)
    return bool(form) and form == value_form(b, corpus)


def states(text: str, value: str, corpus: str) -> bool:
    """Whether a text states a value, under its words as given or under its form as a whole value."""
    return _says(text_form(text), value, corpus)


def _says(said: str, value: str, corpus: str) -> bool:
    return occurs(text_form(value), said) or occurs(value_form(value, corpus), said)


def occurs(needle: str, haystack: str) -> bool:
    """Whether the words of one form stand in another one, in a row.

    A single Chinese character must not touch another one (`SHORTEST_FREE_CJK`); longer Chinese values may stand
    anywhere, also across punctuation.
    """
    if not needle:
        return False
    guarded = len(needle) < SHORTEST_FREE_CJK and _CJK_CHARACTER.match(needle) is not None
    if not guarded:
        needle, haystack = needle.replace(BREAK, ""), haystack.replace(BREAK, "")
    start = haystack.find(needle)
    while start >= 0:
        before, after = haystack[start - 1 : start], haystack[start + len(needle) : start + len(needle) + 1]
        if _apart(before, needle[0], guarded) and _apart(after, needle[-1], guarded):
            return True
        start = haystack.find(needle, start + 1)
    return False


def _apart(neighbour: str, edge: str, guarded: bool) -> bool:
    """Whether a value may end here: words are parted by a blank, Chinese characters need nothing between them."""
    if neighbour in ("", " ", BREAK):
        return True
    return not guarded and _CJK_CHARACTER.match(edge) is not None


@lru_cache(maxsize=65_536)
def accepted(reference: Reference) -> tuple[str, ...]:
    """Every value that counts as the reference, without repeats and without empty forms.

    The value itself, its listed alternatives, the parts of "cheap|moderate" (a bar between blanks is part of a name),
    and "X (or Y)" as X and as Y.
    """
    found: dict[str, str] = {}
    for value in _variants(dict.fromkeys((reference.value, *reference.alternatives))):
        form = value_form(value, reference.corpus)
        if form:
            found.setdefault(form, value)
    return tuple(found.values())


def _variants(values: Iterable[str]) -> Iterator[str]:
    for value in values:
        yield value
        also = _ALSO_SAID.findall(value)
        if also:
            yield _ALSO_SAID.sub(" ", value).strip()
            yield from also
        parts = _BAR.split(value)
        if len(parts) > 1:
            yield from parts


def matching_value(given: str, reference: Reference) -> str | None:
    """The first accepted value that is the same as ``given``; ``None`` where none is."""
    return next((value for value in accepted(reference) if same_value(given, value, reference.corpus)), None)


def stated_value(text: str, reference: Reference) -> str | None:
    """The first accepted value that a text states; ``None`` where it states none."""
    said = text_form(text)
    return next((value for value in accepted(reference) if _says(said, value, reference.corpus)), None)
