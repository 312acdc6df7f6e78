"""From probe examples to frozen reader inputs: one row per example, ratio and method.

Source: design page "a probe config, one row = one frozen reader input".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from tpbench_data.budget import format_ratio
from tpbench_data.names import Probe
from tpbench_data.probes import Example
from tpbench_data.protocols import Protocol
from tpbench_data.release.schema import DIALOGUES, PROBE
from tpbench_data.rendering import count_words, render
from tpbench_data.selectors import SelectionInput, Selector
from tpbench_data.slots import slot_label


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


def input_rows(
    examples: Iterable[Example], selectors: Sequence[Selector], ratios: Sequence[float], protocol: Protocol
) -> Iterator[dict[str, Any]]:
    """The rows of one probe config: ratio by ratio, example by example, methods in the order given.

    Adaptive methods, which have no ratio, come once, after all ratios.
    """
    examples = list(examples)
    cells: list[tuple[float | None, list[Selector]]] = [
        (ratio, [selector for selector in selectors if selector.size != "adaptive"]) for ratio in ratios
    ]
    cells.append((None, [selector for selector in selectors if selector.size == "adaptive"]))
    for ratio, group in cells:
        for example in examples if group else ():
            shared = _example_columns(example)
            for selector in group:
                yield shared | _method_columns(example, selector, ratio, protocol)


def probe_table(rows: Iterable[dict[str, Any]]) -> pa.Table:
    """The rows as an Arrow table with the probe schema."""
    return pa.Table.from_pylist(list(rows), schema=PROBE)


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


def _example_columns(example: Example) -> dict[str, Any]:
    question, dialogue = example.question, example.dialogue
    row: dict[str, Any] = {
        "example_id": question.example_id,
        "corpus": question.corpus,
        "language": dialogue.language,
        "dialogue_id": dialogue.dialogue_id,
        "sample_seeds": list(example.sample_seeds),
        "reference_goal": example.reference_goal,
        "reference_value": example.reference_value,
        "answer_turns": list(example.answer_turns),
        "n_turns": len(dialogue),
        "full_context_words": count_words(render(range(len(dialogue)), dialogue.speakers, dialogue.texts, "marked")),
    }
    if example.probe != "initial_goal" and question.update is not None:
        row |= {
            "slot": question.slot,
            "slot_label": slot_label(question.slot),
            "old_value": question.old_value,
            "value_alternatives": list(question.update.new_alternatives),
            "update_turn": question.turn,
            "transition_type": "replace_value",  # both values are annotated, by the change rule
            "alias_equivalent": example.alias_equivalent,
        }
    return row


def _method_columns(example: Example, selector: Selector, ratio: float | None, protocol: Protocol) -> dict[str, Any]:
    dialogue = example.dialogue
    probe: Probe = example.probe
    template = protocol.templates[probe]
    label = slot_label(example.question.slot) if probe != "initial_goal" else None
    item = SelectionInput(
        example_id=example.question.example_id,
        speakers=dialogue.speakers,
        texts=dialogue.texts,
        question=template.ask(label),
        evidence=example.evidence,
    )
    selection = selector.select(item, ratio, rule=protocol.budget, rendering=protocol.rendering)
    context = selection.context
    return {
        "input_id": input_id(
            corpus=dialogue.corpus,
            example_id=item.example_id,
            probe=probe,
            method_config=str(selector),
            ratio=ratio,
            selector_seed=selector.selector_seed,
            protocol=protocol.name,
        ),
        "method": selector.name,
        "method_config": str(selector),
        "selector_seed": selector.selector_seed,
        "ratio": ratio,
        "k_turns": len(selection.kept),
        "kept_turns": list(selection.kept),
        "context": context,
        "context_words": count_words(context),
        "prompt": template.messages(context, label),
        "template": template.name,
        "protocol": protocol.name,
    }
