"""The frame of the browser of single answers; `items.js` fills it from the data block."""

from __future__ import annotations

from tpbench_score.report.items import MAX_BYTES
from tpbench_score.report.markup import Markup, join, json_block, tag
from tpbench_score.report.records import Record
from tpbench_score.report.sample import RULE, Shown

_VIEWS = (
    ("all", "all questions"),
    ("mixed", "methods differ"),
    ("right", "some method right"),
    ("wrong", "every method wrong"),
    ("flips", "scorers disagree"),
    ("failed", "reader errors or missing"),
)
_VERDICTS = (
    ("strict", "right"),
    ("loose", "right by the loose rule only"),
    ("wrong", "wrong"),
    ("failed", "no answer"),
)


def browser(data: Record, shown: Shown, limit: int) -> Markup:
    """The section, without its heading.

    Args:
        data: see `items.gather`.
        shown: how much of everything it is.
        limit: the most answers that were asked for.
    """
    how_much = tag(
        "p",
        f"{shown.answers:,} of {shown.of_answers:,} answers are on this page, from {shown.dialogues:,} of "
        f"{shown.of_dialogues:,} dialogues. ",
        None if shown.complete else RULE.format(limit=limit, megabytes=MAX_BYTES / 1e6),
    )
    if not shown.answers:
        return how_much
    return join(
        how_much,
        tag("noscript", tag("p", "This part needs JavaScript. The tables above do not.", class_="notice")),
        tag(
            "form",
            _select("run", "Run", ()),
            _select("probe", "Probe", ()),
            _select("corpus", "Corpus", ()),
            _select("ratio", "Ratio", ()),
            _select("view", "Show", _VIEWS),
            tag(
                "div",
                tag("label", "Text", for_="items-text"),
                tag("input", type="search", id="items-text", autocomplete="off", placeholder="in dialogue or answer"),
            ),
            id="items-form",
            class_="filters",
            hidden=True,
            role="search",
            aria_label="Questions",
        ),
        tag("p", id="items-count", role="status"),
        tag(
            "p",
            *(
                tag("span", tag("span", class_=f"verdict {name}", aria_hidden="true"), f" {meaning} ", class_="key")
                for name, meaning in _VERDICTS
            ),
            tag("span", tag("span", class_="verdict wrong"), class_="flip", aria_hidden="true"),
            " underlined: the scorers disagree",
            id="items-legend",
            class_="legend",
            hidden=True,
        ),
        tag("div", id="items-list"),
        tag("div", id="items-pages", class_="pages"),
        tag("article", id="items-detail", aria_live="off"),
        json_block("items-data", data),
    )


def _select(name: str, label: str, options: tuple[tuple[str, str], ...]) -> Markup:
    choices = (tag("option", text, value=value) for value, text in options)
    return tag("div", tag("label", label, for_=f"items-{name}"), tag("select", *choices, id=f"items-{name}"))
