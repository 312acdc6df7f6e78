"""The texts of cards and metadata: data files in ``croissant/``, so that wording is not code.

context.json     the JSON-LD context of Croissant 1.1
dataset.json     name, summary, citation, creators, keywords, first publication of known corpora
rai.json         the twenty responsible-AI properties, with ``{name}`` where a release's facts go
vocabulary.json  what every config, column and enumeration means
card.md          the dataset card, with ``{name}`` where a release's facts go
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from tpbench_data.embedded import embedded_folder

_PLACE = re.compile(r"\{([a-z_]+)\}")


@cache
def template_json(name: str) -> Any:
    """A JSON file of the folder ``croissant``, parsed once; not to be changed by the caller."""
    return json.loads((embedded_folder("croissant") / name).read_text(encoding="utf-8"))


@cache
def template_text(name: str) -> str:
    """A text file of the folder ``croissant``."""
    return (embedded_folder("croissant") / name).read_text(encoding="utf-8")


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with each ``{name}`` replaced once by its value; a value is never looked at again.

    Raises:
        KeyError: A name without a value, which is a fault of the template and not of a release.
    """
    return _PLACE.sub(lambda match: values[match.group(1)], text)


def config_summary(config: str) -> str:
    """What one row of a config is."""
    return str(template_json("vocabulary.json")["configs"][config]["summary"])


def config_key(config: str) -> list[str]:
    """The columns that together identify a row of a config."""
    return list(template_json("vocabulary.json")["configs"][config]["key"])


def column_text(config: str, column: str) -> str:
    """What a column means; a column without an entry is described by its own words."""
    words = template_json("vocabulary.json")
    columns = words["configs"][config]["columns"]
    texts = words["probe"] if columns == "probe" else columns
    return str(texts.get(column, column.replace("_", " ")))


def one_line(value: object) -> str:
    """A fact as one line of text: a line break in a title must not start a new element of the card."""
    return " ".join(str(value).split())
