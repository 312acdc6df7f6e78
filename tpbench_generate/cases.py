"""The questions of a release, as selectors see them: one case per example, probe and protocol.

A case is rebuilt from the release alone, so a method can be added to a release that somebody else built.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tpbench_data.budget import BudgetRule
from tpbench_data.errors import BadInput
from tpbench_data.inputs import Making, input_id
from tpbench_data.protocols import PROTOCOLS
from tpbench_data.release.reader import Release
from tpbench_data.rendering import Rendering, count_words
from tpbench_data.selectors import SelectionInput
from tpbench_data.templates import OWN_QUESTION, TEMPLATES, Messages, prompt_of
from tpbench_data.turn_cap import cut_turns

Row = dict[str, Any]

_OF_A_METHOD = ("input_id", "method", "method_config", "selector_seed", "ratio", "k_turns", "kept_turns", "context")


@dataclass(frozen=True)
class Case:
    """One question under one protocol.

    Attributes:
        probe: The config it stands in.
        row: A row of the question with a prompt, which gives every column that no method decides.
        ratios: The nominal ratios at which the release has the question.
        item: What a selector may look at.
        rule: The budget rule of every method, None = each one's own.
        rendering: The rendering of every method, None likewise.
    """

    probe: str
    row: Row
    ratios: frozenset[float]
    item: SelectionInput
    rule: BudgetRule | None
    rendering: Rendering | None

    @property
    def protocol(self) -> str:
        """``paper`` or ``matched``."""
        return str(self.row["protocol"])

    def input_row(
        self,
        *,
        method: str,
        method_config: str,
        selector_seed: int | None,
        ratio: float | None,
        kept: Sequence[int] | None,
        context: str,
    ) -> Row:
        """The frozen input of a method: the question's columns, the context, and the prompt around it.

        Args:
            method: Name.
            method_config: Printed settings.
            selector_seed: Seed that drew turns, if any.
            ratio: Nominal ratio of the cell, None where there is none.
            kept: Turn ids kept; None for a context that is no selection of turns.
            context: What the reader sees.
        """
        return self.row | {
            "input_id": input_id(
                corpus=self.row["corpus"],
                example_id=self.row["example_id"],
                probe=self.probe,
                method_config=method_config,
                ratio=ratio,
                selector_seed=selector_seed,
                protocol=self.protocol,
            ),
            "method": method,
            "method_config": method_config,
            "selector_seed": selector_seed,
            "ratio": ratio,
            "k_turns": None if kept is None else len(kept),
            "kept_turns": None if kept is None else list(kept),
            "context": context,
            "context_words": count_words(context),
            "prompt": self._prompt(context),
        }

    def _prompt(self, context: str) -> Messages:
        if self.row["template"] in TEMPLATES:
            return prompt_of(self.row, context)
        # An import has prompts in words that are not ours: everything but the context is kept, byte for byte.
        return [
            {"role": m["role"], "content": m["content"].replace(self.row["context"], context, 1)}
            if m is self.row["prompt"][-1]
            else dict(m)
            for m in self.row["prompt"]
        ]


def cases_of(
    release: Release, probes: Iterable[str], *, protocols: Sequence[str] = (), corpora: Sequence[str] = ()
) -> list[Case]:
    """The cases of some probes in table order; empty filters mean all.

    Raises:
        BadInput: A question has no dialogue in the release, or no prompt that could be made anew.
    """
    dialogues = {(row["corpus"], row["dialogue_id"]): row for row in release.table("dialogues").to_pylist()}
    cases = []
    for probe in probes:
        found: dict[tuple[str, str, str], Row] = {}
        ratios: dict[tuple[str, str, str], set[float]] = {}
        for row in release.table(probe).to_pylist():
            key = (row["protocol"], row["corpus"], row["example_id"])
            if (protocols and row["protocol"] not in protocols) or (corpora and row["corpus"] not in corpora):
                continue
            if key not in found or (not _can_prompt(found[key]) and _can_prompt(row)):
                found[key] = row
            at = ratios.setdefault(key, set())
            if row["ratio"] is not None:
                at.add(row["ratio"])
        for key, row in found.items():
            dialogue = dialogues.get((row["corpus"], row["dialogue_id"]))
            if dialogue is None:
                raise BadInput(
                    f"dialogue {row['dialogue_id']!r} of {row['example_id']!r} is not in it",
                    file=release.path,
                    remedy="Contexts can only be made where the release holds the dialogues",
                )
            cases.append(_case(release, probe, row, frozenset(ratios[key]), dialogue))
    return cases


def _case(release: Release, probe: str, row: Row, ratios: frozenset[float], dialogue: Row) -> Case:
    if not _can_prompt(row):
        raise BadInput(
            f"{row['example_id']!r} has no row with a context and a prompt that holds it",
            file=release.path,
            remedy="Prompts can only be made anew where the release holds one",
        )
    facts = release.manifest["corpora"].get(row["corpus"], {})
    making = Making((), (), (), PROTOCOLS[row["protocol"]])
    item = SelectionInput(
        example_id=row["example_id"],
        speakers=dialogue["speakers"],
        texts=cut_turns(dialogue["texts"], facts.get("turn_characters") if row["protocol"] == "paper" else None),
        question=_question(row),
        evidence=_evidence(probe, row, dialogue),
    )
    name: Any = probe
    return Case(probe, row, ratios, item, making.budget(name), making.rendering(name))


def _can_prompt(row: Row) -> bool:
    if row["template"] in TEMPLATES:
        return True
    return bool(row["prompt"] and row["context"] and row["context"] in row["prompt"][-1]["content"])


def _question(row: Row) -> str:
    """The question in full, as the reader is asked it."""
    asked: str | None = row.get("question") or row["slot_label"]
    if row["template"] in TEMPLATES:
        return TEMPLATES[row["template"]].ask(asked)
    behind = row["prompt"][-1]["content"].partition(row["context"])[2].strip()
    return str(behind.split("\n\n")[0].removeprefix("Question:").strip() or asked or "")


def _evidence(probe: str, row: Row, dialogue: Row) -> tuple[int, ...]:
    """Turn ids of the evidence, most important first, in the order that the builder gives oracles."""
    speakers, update = dialogue["speakers"], row["update_turn"]
    first = speakers.index("user") if "user" in speakers else 0
    answers = row["answer_turns"][::-1]
    order: list[int | None]
    if probe == "initial_goal":
        order = [first]
    elif probe == "free_form":
        order = [update, *row["support_turns"][::-1]]
    elif row["template"] == OWN_QUESTION.name:
        order = [update, *answers]
    elif probe == "current_value":
        order = [*answers[:1], update, *answers[1:]]
    else:
        order = [*answers[:1], first, update, *answers[1:]]
    return tuple(dict.fromkeys(turn for turn in order if turn is not None))
