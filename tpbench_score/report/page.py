"""The page: head, landmarks, contents and sections in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tpbench_data import __version__
from tpbench_score.report import assets
from tpbench_score.report.markup import Markup, join, tag


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Attributes:
        key: its anchor.
        title: its heading.
        body: what stands below the heading.
        entries: (anchor, label) of what the contents list below it.
    """

    key: str
    title: str
    body: Markup
    entries: tuple[tuple[str, str], ...] = field(default=())


def page(title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """The whole document."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=assets.policy()),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="generator", content=f"tpbench {__version__}"),
        tag("title", title),
        assets.style(),
    )
    body = tag(
        "body",
        tag("a", "Skip to the content", href="#content", class_="skip"),
        tag(
            "header",
            tag("p", "TPBench report", class_="eyebrow"),
            tag("h1", title),
            tag("p", subtitle, class_="subtitle"),
        ),
        _contents(sections),
        tag("main", *map(_section, sections), id="content", tabindex="-1"),
        assets.scripts(),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _contents(sections: Sequence[Section]) -> Markup:
    items = []
    for section in sections:
        below = None
        if section.entries:
            links = (tag("li", tag("a", label, href=f"#{key}")) for key, label in section.entries)
            below = tag("ul", *links)
        items.append(tag("li", tag("a", section.title, href=f"#{section.key}"), below))
    return tag("nav", tag("ul", *items), aria_label="Contents")


def _section(section: Section) -> Markup:
    heading = f"{section.key}-title"
    return tag("section", tag("h2", section.title, id=heading), section.body, id=section.key, aria_labelledby=heading)


def nested(key: str, title: str, *content: object) -> Markup:
    """A part of a section with a heading and an anchor of its own."""
    return tag("section", tag("h3", title), join(*content), id=key)
