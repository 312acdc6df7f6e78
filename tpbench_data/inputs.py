"""From probe examples to frozen reader inputs: one row per example, ratio and method.

Source: design page "a probe config, one row = one frozen reader input".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import pyarrow as pa

from tpbench_data.budget import BudgetRule, format_ratio
from tpbench_data.deletions import Deletions, plan_deletions
from tpbench_data.names import Probe
from tpbench_data.probes import Example
from tpbench_data.protocols import Protocol
from tpbench_data.release.schema import CONFIGS, DIALOGUES
from tpbench_data.rendering import Rendering, count_words, render
from tpbench_data.selectors import SelectionInput, Selector
from tpbench_data.selectors.full_context import FullContext
from tpbench_data.slots import shown_slot
from tpbench_data.templates import FREE_FORM, OWN_QUESTION, Messages, Template, in_language
from tpbench_data.turn_cap import cut_turns

FREE_FORM_BUDGET: BudgetRule = "floor"
FREE_FORM_RENDERING: Rendering = "plain"
"""Protocol ``paper`` gives every method of the free-form set the same budget rule and rendering (construction 10)."""


@dataclass(frozen=True)
class Making:
    """How the inputs of one corpus and probe are made.

    Attributes:
        selectors: The methods, in row order.
        deletions: The deletion conditions, after them.
        ratios: Nominal retained fractions.
        protocol: ``paper`` or ``matched``.
        turn_characters: Length to which turns are cut, ``None`` = not.
    """

    selectors: Sequence[Selector]
    deletions: Sequence[str]
    ratios: Sequence[float]
    protocol: Protocol
    turn_characters: int | None = None

    def budget(self, probe: Probe) -> BudgetRule | None:
        """The budget rule of every selector, ``None`` = each one's own."""
        return self.protocol.budget or (FREE_FORM_BUDGET if probe == "free_form" else None)

    def rendering(self, probe: Probe) -> Rendering | None:
        """The rendering of every selector, ``None`` = each one's own."""
        return self.protocol.rendering or (FREE_FORM_RENDERING if probe == "free_form" else None)

    def deletion_rendering(self, probe: Probe) -> Rendering:
        """The rendering of the full context, which the deletion conditions share: they differ in turns alone."""
        return self.rendering(probe) or FullContext.published_rendering


def input_id(
    *,
    corpus: str,
    example_id: str,
    probe: str,
    method_config: str,
    ratio: float | None,
    selector_seed: int | None,
    protocol: str,
) -> str:
    """The key that joins an input, its outputs and its scores: seven parts joined by ``|``.

    ``%`` and ``|`` inside a part are percent-encoded; a null part is empty.
    """
    parts = (
        corpus,
        example_id,
        probe,
        method_config,
        "" if ratio is None else format_ratio(ratio),
        "" if selector_seed is None else str(selector_seed),
        protocol,
    )
    return "|".join(part.replace("%", "%25").replace("|", "%7C") for part in parts)


def input_rows(examples: Iterable[Example], making: Making) -> Iterator[dict[str, Any]]:
    """The rows of one probe config: ratio by ratio, example by example, methods in the order given.

    Adaptive methods, which have no ratio, come once, after all ratios.
    """
    prepared = [_Prepared(example, making) for example in examples]
    fixed = [selector for selector in making.selectors if selector.size != "adaptive"]
    adaptive = [selector for selector in making.selectors if selector.size == "adaptive"]
    for ratio in making.ratios:
        for item in prepared:
            yield from (item.selected(selector, ratio) for selector in fixed)
            yield from item.deleted(ratio)
    if adaptive:
        for item in prepared:
            yield from (item.selected(selector, None) for selector in adaptive)


def probe_table(probe: str, rows: Iterable[dict[str, Any]]) -> pa.Table:
    """The rows as an Arrow table with the schema of the config ``probe``; a column that a row lacks is null there."""
    rows = list(rows)
    return pa.Table.from_arrays(
        [
            _prompts([row[field.name] for row in rows], field.type)
            if field.name == "prompt"
            else pa.array([row.get(field.name) for row in rows], field.type)
            for field in CONFIGS[probe]
        ],
        schema=CONFIGS[probe],
    )


def _prompts(prompts: list[Messages], kind: pa.DataType) -> pa.Array:
    """The prompts as a list column, from two flat columns: Arrow turns objects into structs ten times as slowly."""
    offsets = [0, *accumulate(map(len, prompts))]
    messages = [message for prompt in prompts for message in prompt]
    names = [field.name for field in kind.value_type]
    flat = [pa.array([message[name] for message in messages], pa.string()) for name in names]
    struct = pa.StructArray.from_arrays(flat, fields=list(kind.value_type))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), struct, type=kind)


def dialogue_table(examples: Iterable[Example]) -> pa.Table:
    """The source dialogues of the examples, each once, ordered by corpus and id."""
    dialogues = {(e.dialogue.corpus, e.dialogue.dialogue_id): e.dialogue for e in examples}
    return pa.Table.from_pylist(
        [
            {
                "dialogue_id": d.dialogue_id,
                "corpus": d.corpus,
                "language": d.language,
                "n_turns": len(d),
                "speakers": list(d.speakers),
                "texts": list(d.texts),
                "states": d.state_texts(),
            }
            for _, d in sorted(dialogues.items())
        ],
        schema=DIALOGUES,
    )


def deletions_of(example: Example) -> Deletions:
    """What every deletion condition removes from an example that asks for a value."""
    asked, dialogue = example.question.asked, example.dialogue
    return plan_deletions(
        update_turn=example.question.turn,
        evidence_turns=(*example.answer_turns, *(asked.support_turns if asked else ())),
        old_value=example.question.old_value,
        new_value=example.question.new_value,
        speakers=dialogue.speakers,
        texts=dialogue.texts,
        corpus=dialogue.corpus,
    )


class _Prepared:
    """An example with everything that its rows share."""

    def __init__(self, example: Example, making: Making) -> None:
        self.example, self.making = example, making
        self.texts = cut_turns(example.dialogue.texts, making.turn_characters)
        self.template = _template(example, making.protocol)
        self.asked = _asked(example)
        self.columns = self._columns()
        self.removed = deletions_of(example).removed if making.deletions and _has_value(example) else {}

    def selected(self, selector: Selector, ratio: float | None) -> dict[str, Any]:
        """The row of a selector."""
        example = self.example
        item = SelectionInput(
            example_id=example.question.example_id,
            speakers=example.dialogue.speakers,
            texts=self.texts,
            question=self.template.ask(self.asked),
            evidence=example.evidence,
        )
        rule, rendering = self.making.budget(example.probe), self.making.rendering(example.probe)
        selection = selector.select(item, ratio, rule=rule, rendering=rendering)
        return self._row(selector.name, str(selector), selector.selector_seed, ratio, selection.kept, selection.context)

    def deleted(self, ratio: float) -> Iterator[dict[str, Any]]:
        """The rows of the deletion conditions that the example has."""
        for name in self.making.deletions:
            if name in self.removed:
                kept = [turn for turn in range(len(self.texts)) if turn not in self.removed[name]]
                form = self.making.deletion_rendering(self.example.probe)
                context = render(kept, self.example.dialogue.speakers, self.texts, form)
                yield self._row(name, name, None, ratio, kept, context)

    def _row(
        self,
        method: str,
        method_config: str,
        selector_seed: int | None,
        ratio: float | None,
        kept: Sequence[int],
        context: str,
    ) -> dict[str, Any]:
        return self.columns | {
            "input_id": input_id(
                corpus=self.example.dialogue.corpus,
                example_id=self.example.question.example_id,
                probe=self.example.probe,
                method_config=method_config,
                ratio=ratio,
                selector_seed=selector_seed,
                protocol=self.making.protocol.name,
            ),
            "method": method,
            "method_config": method_config,
            "selector_seed": selector_seed,
            "ratio": ratio,
            "k_turns": len(kept),
            "kept_turns": list(kept),
            "context": context,
            "context_words": count_words(context),
            "prompt": self.template.messages(context, self.asked),
            "template": self.template.name,
            "protocol": self.making.protocol.name,
        }

    def _columns(self) -> dict[str, Any]:
        example, question, dialogue = self.example, self.example.question, self.example.dialogue
        full = render(range(len(dialogue)), dialogue.speakers, self.texts, "marked")
        row: dict[str, Any] = {
            "example_id": question.example_id,
            "corpus": question.corpus,
            "language": dialogue.language,
            "dialogue_id": dialogue.dialogue_id,
            "sample_seeds": list(example.sample_seeds),
            "reference_goal": example.reference_goal,
            "answer_turns": list(example.answer_turns),
            "n_turns": len(dialogue),
            "full_context_words": count_words(full),
        }
        if not _has_value(example):
            return row
        row |= {"update_turn": question.turn, "transition_type": _transition_type(example)}
        if example.probe == "free_form" and question.asked is not None:
            return row | {
                "slot": question.slot or None,
                "slot_label": shown_slot(question.slot, dialogue.language) or None,
                "question": question.asked.question,
                "reference_answer": question.asked.answer,
                "old_answer": question.asked.old_answer,
                "boundary_turns": list(question.asked.boundary_turns),
                "support_turns": list(question.asked.support_turns),
                "distractor_turns": list(question.asked.distractor_turns),
            }
        alternatives = question.update.new_alternatives if question.update is not None else (question.new_value,)
        return row | {
            "slot": question.slot,
            "slot_label": self.asked,
            "old_value": question.old_value,
            "reference_value": example.reference_value,
            "value_alternatives": list(alternatives),
            "alias_equivalent": example.alias_equivalent,
        }


def _has_value(example: Example) -> bool:
    return example.probe != "initial_goal"


def _template(example: Example, protocol: Protocol) -> Template:
    if example.probe == "free_form":
        template = FREE_FORM
    elif example.probe == "current_value" and example.question.asked is not None:
        template = OWN_QUESTION
    else:
        template = protocol.templates[example.probe]
    return in_language(template, example.dialogue.language)


def _asked(example: Example) -> str | None:
    """What fills the template: the corpus's own question, else the name of the slot."""
    if not _has_value(example):
        return None
    if example.question.asked is not None:
        return example.question.asked.question
    return shown_slot(example.question.slot, example.dialogue.language)


def _transition_type(example: Example) -> str:
    """The annotated type; without one both values are annotated by the change rule, so it is a replacement."""
    question = example.question
    if question.asked is not None:
        return question.asked.transition_type
    for written in example.dialogue.questions:
        if (written.slot, written.update_turn) == (question.slot, question.turn):
            return written.transition_type
    return "replace_value"
