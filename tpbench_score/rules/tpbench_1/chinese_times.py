"""Chinese times of day: 十二点半 is 12:30, 晚上8点 is 20:00; 三点 by itself may also be three points."""

from __future__ import annotations

import re

from tpbench_score.rules.tpbench_1.times import in_day_part, written

_DIGITS = {character: number for number, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_PARTS = {
    "凌晨": "night",
    "早上": "morning",
    "早晨": "morning",
    "上午": "morning",
    "中午": "noon",
    "下午": "afternoon",
    "傍晚": "evening",
    "晚上": "evening",
    "夜里": "night",
}
_NUMBER = "[0-9]{1,2}|[零〇一二两三四五六七八九十]{1,3}"
_TIME = re.compile(
    rf"(?P<part>{'|'.join(_PARTS)})?\s*(?<![0-9:])(?P<hour>{_NUMBER})\s*(?:"
    rf"点\s*(?:(?P<half>半)|(?P<full>整|钟)|(?P<quarter>[一三])\s*刻|(?P<minute>{_NUMBER})\s*分|(?P<bare>[0-9]{{2}})(?![0-9]))?"
    r"|:(?P<clock>[0-9]{2})(?![0-9:]))"
)
_WHOLE = re.compile(rf"({_NUMBER})\s*点")


def with_chinese_times(text: str) -> str:
    """A text with each time of day as ``HH:MM`` between blanks.

    An hour with 点 alone is a time only behind a part of the day: 三点 in a sentence stays.
    """
    return _TIME.sub(_replaced, text) if "点" in text or ":" in text else text


def whole_hour(text: str) -> str | None:
    """``HH:00`` for a whole value such as 三点, ``None`` for any other."""
    match = _WHOLE.fullmatch(text)
    hour = _number(match[1]) if match else None
    return written((hour, 0)) if hour is not None and hour < 24 else None


def _replaced(match: re.Match[str]) -> str:
    hour, minute = _number(match["hour"]), _minute(match)
    if hour is None or minute is None or hour > 23 or minute > 59:
        return match[0]
    time = hour, minute
    if match["part"]:
        part = _PARTS[match["part"]]
        time = in_day_part(time, "afternoon" if part == "noon" and hour <= 2 else part)
    elif match["clock"]:
        return match[0]
    return f" {written(time)} "


def _minute(match: re.Match[str]) -> int | None:
    if match["half"]:
        return 30
    if match["quarter"]:
        return 15 if match["quarter"] == "一" else 45
    for name in ("minute", "bare", "clock"):
        if match[name]:
            return _number(match[name])
    return 0 if match["full"] or match["part"] else None


def _number(text: str) -> int | None:
    """A number below 100 in digits of either script: 12, 十二, 二十, 三十五, 零五."""
    if text.isascii():
        return int(text)
    tens, ten, units = text.partition("十")
    if not ten:
        digits = [_DIGITS[character] for character in text]
        return digits[0] if len(digits) == 1 else digits[1] if len(digits) == 2 and digits[0] == 0 else None
    if len(tens) > 1 or len(units) > 1 or "十" in units:
        return None
    return (_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[units] if units else 0)
