"""HTML from Python values: whatever is not made here is escaped, so no text of a release can become an element.

Text passes through `escape` unless it is `Markup` already, and only `tag` and `json_block` make `Markup` from text.
"""

from __future__ import annotations

import html
import re
from typing import Any

from tpbench_score.json_lines import json_text


class Markup(str):
    """HTML that is safe as it stands."""

    __slots__ = ()


_VOID = frozenset({"meta", "input", "br", "hr", "link", "col"})
_NOT_IN_HTML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""Characters that a page may not hold or UTF-8 cannot write; a replacement character shows where they stood."""

_IN_SCRIPT = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&"})


def escape(text: str) -> Markup:
    """Text as HTML, for element content and for quoted attributes."""
    return text if isinstance(text, Markup) else Markup(html.escape(_NOT_IN_HTML.sub("\ufffd", text), quote=True))


def join(*content: Any) -> Markup:
    """Content in a row: texts are escaped, ``None`` is nothing, lists are joined."""
    parts = []
    for piece in content:
        if isinstance(piece, list | tuple):
            parts.append(join(*piece))
        elif piece is not None:
            parts.append(escape(piece if isinstance(piece, str) else str(piece)))
    return Markup("".join(parts))


def tag(name: str, /, *content: Any, **attributes: Any) -> Markup:
    """An element.

    Args:
        name: element name, from our own code.
        content: what stands in it, see `join`.
        attributes: ``class_`` stands for ``class``, ``aria_label`` for ``aria-label``. ``None`` and ``False`` leave
            an attribute out, ``True`` writes it without a value.
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        parts.append(key if value is True else f'{key}="{escape(str(value))}"')
    opening = f"<{' '.join(parts)}>"
    return Markup(opening if name in _VOID else f"{opening}{join(*content)}</{name}>")


def json_block(block_id: str, value: Any) -> Markup:
    """A JSON value for the page's own scripts, in a block that is data and never runs.

    ``<``, ``>`` and ``&`` are written as escapes, so the text can neither end the block nor open a comment in it.
    """
    text = json_text(value).translate(_IN_SCRIPT).encode("utf-8", "backslashreplace").decode("utf-8")
    return Markup(f'<script type="application/json" id="{escape(block_id)}">{text}</script>')
