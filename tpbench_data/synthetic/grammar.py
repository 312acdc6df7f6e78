"""The grammar: phrase banks and scenarios read from TOML, and templates turned into sentences."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tpbench_data.synthetic.draws import Draws

LANGUAGES = ("en", "zh")

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_BLANK = re.compile(r"\{(\w+)\}")
_LOOSE_MARK = re.compile(r" ([,.!?;:])")
_ARTICLE = re.compile(r"^(?:an?|the) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Slot:
    """Something the user decides on.

    Attributes:
        name: Slot name in states.
        phrase: A noun phrase around ``{value}``.
        values: What the user may choose.
        ask: How the system asks for it.
        tell: How the user first states it.
        question: How a reader is asked for it.
    """

    name: str
    phrase: str
    values: tuple[str, ...]
    ask: tuple[str, ...]
    tell: tuple[str, ...]
    question: tuple[str, ...] = ()

    def with_value(self, value: str) -> str:
        """The noun phrase with a value in it."""
        return self.phrase.replace("{value}", value)


@dataclass(frozen=True, slots=True)
class Fact:
    """Side questions of the user, each with what the system answers to it, in the same order."""

    q: tuple[str, ...]
    a: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A kind of errand.

    Attributes:
        service: Name of the service in states.
        thing: What is being arranged, as a noun phrase.
        task: The user's first goal, as a verb phrase.
        opening: First user turns.
        requirements: Special requirements, as noun phrases.
        goals: Other goals to switch to, as verb phrases.
        slots: What is decided on.
        facts: Side questions of this errand.
    """

    service: str
    thing: str
    task: str
    opening: tuple[str, ...]
    requirements: tuple[str, ...]
    goals: tuple[str, ...]
    slots: tuple[Slot, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Grammar:
    """Everything one language needs.

    Attributes:
        language: BCP 47 tag.
        joiner: What parts two sentences of a turn: a space, or nothing in Chinese.
        definite: How something mentioned before is referred to.
        banks: Fillers by name.
        turns: Templates by what they do.
        questions: Reader questions by transition type, for types that do not ask for a slot.
        contact: Slots asked in every scenario.
        facts: Side questions that fit everywhere.
        scenarios: The errands.
    """

    language: str
    joiner: str
    definite: str
    banks: Mapping[str, tuple[str, ...]]
    turns: Mapping[str, tuple[str, ...]]
    questions: Mapping[str, tuple[str, ...]]
    contact: tuple[Slot, ...]
    facts: tuple[Fact, ...]
    scenarios: tuple[Scenario, ...]

    def say(self, templates: Sequence[str], draws: Draws, fill: Mapping[str, str]) -> str:
        """One sentence group: a template, one alternative of each choice, every blank filled.

        A blank with a capital first letter gets its filling with a capital first letter.
        """
        text = _CHOICE.sub(lambda match: draws.one_of(match[1].split("|")), draws.one_of(templates))
        text = _BLANK.sub(lambda match: self._filled(match[1], draws, fill), text)
        text = _LOOSE_MARK.sub(r"\1", " ".join(text.split()))  # an empty alternative leaves a space behind
        return text[:1].upper() + text[1:]

    def _filled(self, name: str, draws: Draws, fill: Mapping[str, str]) -> str:
        plain = name[:1].lower() + name[1:]
        found = fill[plain] if plain in fill else draws.one_of(self.banks[plain])
        return found if plain == name else found[:1].upper() + found[1:]


def bare(value: str) -> str:
    """A value without its English article, as a reference answer has it."""
    return _ARTICLE.sub("", value)


@lru_cache(maxsize=len(LANGUAGES))
def grammar_of(language: str) -> Grammar:
    """The grammar of a language, one of `LANGUAGES`."""
    folder = Path(__file__).parent
    with (folder / f"grammar_{language}.toml").open("rb") as handle:
        record = tomllib.load(handle)
    with (folder / f"scenarios_{language}.toml").open("rb") as handle:
        scenarios = tomllib.load(handle)["scenario"]
    return Grammar(
        language=record["language"],
        joiner=record["joiner"],
        definite=record["definite"],
        banks=_texts(record["banks"]),
        turns=_texts(record["turns"]),
        questions=_texts(record["questions"]),
        contact=tuple(_slot(slot) for slot in record["contact"]),
        facts=tuple(_fact(fact) for fact in record["facts"]),
        scenarios=tuple(
            Scenario(
                service=scenario["service"],
                thing=scenario["thing"],
                task=scenario["task"],
                opening=tuple(scenario["opening"]),
                requirements=tuple(scenario["requirements"]),
                goals=tuple(scenario["goals"]),
                slots=tuple(_slot(slot) for slot in scenario["slot"]),
                facts=tuple(_fact(fact) for fact in scenario["facts"]),
            )
            for scenario in scenarios
        ),
    )


def _texts(record: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(texts) for name, texts in record.items()}


def _slot(record: Mapping[str, Any]) -> Slot:
    lists = {key: tuple(record.get(key, ())) for key in ("values", "ask", "tell", "question")}
    return Slot(record["name"], record["phrase"], **lists)


def _fact(record: Mapping[str, Any]) -> Fact:
    return Fact(tuple(record["q"]), tuple(record["a"]))
