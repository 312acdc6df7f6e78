"""Telling corpora apart by the shape of one record, so that a wrong file is named for what it is.

Two corpora have nearly the same layout (SGD and MultiWOZ 2.2): taken for each other they would load without an
error and give wrong slots.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tpbench_data.errors import BadInput

MULTIWOZ_DOMAINS = frozenset(
    {"attraction", "bus", "hospital", "hotel", "police", "restaurant", "taxi", "train", "booking", "general"}
)


@dataclass(frozen=True, slots=True)
class Shape:
    """What a record looks like.

    Attributes:
        corpus: Corpus name as used in commands; empty for the plain format, which has any name.
        format: The public layout: ``sgd``, ``multiwoz-2.2``, ``multiwoz-legacy``, ``risawoz``, ``longmemeval``
            or ``plain``.
        title: What to call it in a message.
    """

    corpus: str
    format: str
    title: str

    @property
    def option(self) -> str:
        """How to give it to a build."""
        return f"--corpus {self.corpus or 'NAME'}=PATH"


SGD = Shape("sgd", "sgd", "SGD")
MULTIWOZ_22 = Shape("multiwoz", "multiwoz-2.2", "MultiWOZ 2.2")
MULTIWOZ_LEGACY = Shape("multiwoz", "multiwoz-legacy", "MultiWOZ in the legacy layout (2.1 or 2.4)")
RISAWOZ = Shape("risawoz", "risawoz", "RiSAWOZ")
LONGMEMEVAL = Shape("lme_ku", "longmemeval", "LongMemEval")
PLAIN = Shape("", "plain", "dialogues in the plain format")


def shape_of(record: Any) -> Shape | None:
    """The shape of one record of a list, one entry of an object or one line; ``None`` if it is none we know."""
    if not isinstance(record, dict):
        return None
    if isinstance(record.get("log"), list):
        return MULTIWOZ_LEGACY
    if "haystack_sessions" in record:
        return LONGMEMEVAL
    if isinstance(record.get("dialogue"), list) and "dialogue_id" in record:
        return RISAWOZ
    turns = record.get("turns")
    if not isinstance(turns, list) or "dialogue_id" not in record:
        return None
    if any(isinstance(turn, dict) and "text" in turn for turn in turns):
        return PLAIN
    if "services" in record or any(isinstance(turn, dict) and "frames" in turn for turn in turns):
        services = set(_services(turns)) or set(map(str, record.get("services") or ()))
        return MULTIWOZ_22 if services and services <= MULTIWOZ_DOMAINS else SGD
    return None


def expect(record: Any, shape: Shape, file: str) -> None:
    """Checks that the first record of a file has the shape its loader reads.

    A record of no known shape passes: the loader then names the field that is missing.

    Raises:
        BadInput: It has the shape of another corpus, which the message names.
    """
    found = shape_of(record)
    if found is not None and found != shape:
        raise BadInput(f"this looks like {found.title}, not {shape.title}", file=file, remedy=f"Use {found.option}")


def _services(turns: Iterable[Any]) -> Iterable[str]:
    for turn in turns:
        for frame in (turn.get("frames") or ()) if isinstance(turn, dict) else ():
            if isinstance(frame, dict) and isinstance(frame.get("service"), str):
                yield frame["service"]
