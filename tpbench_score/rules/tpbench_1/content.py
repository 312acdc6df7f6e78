"""Content units of `tpbench-1`: the words of a goal or value that carry its meaning, in English and Chinese.

English: the words of `text_form` without function words and single letters; numbers count whatever their length.
Chinese: what remains between function words, cut into overlapping pairs of characters, because Chinese words mostly
have two; a character that stands alone between function words is a unit itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpbench_score.rules.tokens import GOAL_STOP_WORDS, words
from tpbench_score.rules.tpbench_1.text_form import BREAK, CJK, text_form

STOP_WORDS = GOAL_STOP_WORDS | words(
    "am been being cant did didnt do does doesnt dont hello hey hi hows id ill im isnt its ive lets me ok okay one pm "
    "some thank thanks thats theres us was wasnt wed well were weve whats where which who whos wont yes youd youll "
    "youre"
)
"""The published list of P1 and P3, with greetings and with the short forms that are one word here ("I'd", "don't")."""

CHINESE_FUNCTION_WORDS = words(
    "我需要 我打算 我想 我要 想要 想找 想去 想买 想看 想吃 想查 想问 需要 打算 准备 希望 "
    "请问 请帮 帮我 帮忙 麻烦 谢谢 感谢 您好 你好 能不能 能否 可不可以 可以 可否 有没有 是不是 "
    "什么 哪些 哪个 哪里 怎么 怎样 多少 一个 一家 一下 一些 一部 一款 一辆 "
    "我们 你们 他们 她们 它们 这个 那个 这样 那样 这里 那里 因为 所以 但是 不过 然后 还是 或者 以及 就是 "
    "我 你 您 他 她 它 们 的 了 吗 呢 吧 啊 呀 嘛 哦 么 噢 嗯 "
    "是 在 和 与 及 或 也 都 就 还 很 这 那 请 把 被 让 给 跟 找"
)
"""Removed from Chinese text, longer ones first; single characters that often build content words are not in it."""

_SPOKEN = CHINESE_FUNCTION_WORDS | {f"我{word}" for word in CHINESE_FUNCTION_WORDS if word.startswith("想")}
_FUNCTION = re.compile("|".join(sorted(_SPOKEN, key=lambda word: (-len(word), word))))
_CJK_RUN = re.compile(f"[{CJK}]+")


def content_units(text: str) -> frozenset[str]:
    """The content units of a text, as a set."""
    return frozenset(unit for word in _pieces(text) for unit in _units(word))


def compared_units(reference: str, answer: str) -> tuple[frozenset[str], frozenset[str]]:
    """The units of a reference and of an answer that are compared.

    Their content units; where the reference has none ("Hello"), all its words, so that it is within reach.
    """
    expected = content_units(reference)
    if expected:
        return expected, content_units(answer)
    return frozenset(_pieces(reference)), frozenset(_pieces(answer))


def _pieces(text: str) -> list[str]:
    return [piece for piece in re.split(rf"[ {BREAK}]", text_form(text)) if piece]


def _units(word: str) -> Iterator[str]:
    if _CJK_RUN.fullmatch(word):
        for run in filter(None, _FUNCTION.split(word)):
            yield from (run[place : place + 2] for place in range(max(1, len(run) - 1)))
    elif word not in STOP_WORDS and (len(word) > 1 or word.isdigit()):
        yield word
