"""The answers that the page shows one by one: chosen by the rule of `sample`, grouped into questions.

Plain data for `items.js`; lists hold every name, dialogue and prompt text once, and records point into them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tpbench_data.names import PROBE_LABELS, corpus_label, method_label, method_rank
from tpbench_score.json_lines import json_text
from tpbench_score.records import REASONS
from tpbench_score.report.loading import Answers, Loaded, Loader
from tpbench_score.report.records import Record, dialogue_record
from tpbench_score.report.sample import Dialogue, Shown, candidates
from tpbench_score.tables.grid import KV_METHODS, ratio_text

MAX_BYTES = 6_000_000
"""Largest amount of data on answers that a page holds."""


def gather(answers: Answers, limit: int) -> tuple[Record, Shown]:
    """The data of the browser, and how much of everything it is.

    Args:
        answers: what there is.
        limit: most answers that are taken.
    """
    loader = Loader(answers)
    chosen: list[tuple[Dialogue, list[Loaded]]] = []
    places_of = dict(candidates(answers.dialogues(), answers.disagreements()))
    wanted: dict[Dialogue, list[int]] = {}
    room = limit
    for dialogue, places in places_of.items():
        if len(places) <= room:
            wanted[dialogue] = places
            room -= len(places)
    # In one go: taking few rows out of a large table costs nearly as much as taking many.
    rows = answers.chosen[[place for places in wanted.values() for place in places]]
    by_row = {answer.row: answer for answer in loader.load(rows)}
    size = 0
    for dialogue, places in wanted.items():
        loaded = [by_row[row] for row in answers.chosen[places].tolist()]
        weight = _bytes([answer.answer for answer in loaded]) + _bytes(_turns(loader, dialogue))
        if size + weight > MAX_BYTES:
            break
        chosen.append((dialogue, loaded))
        size += weight
    shown = Shown(sum(len(loaded) for _, loaded in chosen), len(answers.chosen), len(chosen), len(places_of))
    chosen.sort(key=lambda part: part[1][0].row)
    return _page(answers, loader, chosen), shown


def _bytes(record: Any) -> int:
    return len(json_text(record).encode("utf-8", "backslashreplace"))


def _turns(loader: Loader, dialogue: Dialogue) -> Record:
    row = loader.dialogue(dialogue)
    return {"id": dialogue[1], "language": None, "turns": []} if row is None else dialogue_record(row)


class _Pool:
    """Texts that are held once."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._places = {text: place for place, text in enumerate(texts)}

    def place(self, text: str) -> int:
        return self._places.setdefault(text, len(self._places))

    def texts(self) -> list[str]:
        return list(self._places)


def _page(answers: Answers, loader: Loader, chosen: Sequence[tuple[Dialogue, list[Loaded]]]) -> Record:
    everything = [answer for _, loaded in chosen for answer in loaded]
    methods = _methods(everything)
    prompts = _Pool()
    out: list[Record] = []
    questions: list[Record] = []
    for number, (_, loaded) in enumerate(chosen):
        for group in _questions(loaded).values():
            first = group[0]
            run, corpus, _, probe, protocol = first.question
            ratios: Sequence[float | None] = sorted({answer.ratio for answer in group if answer.ratio is not None})
            places = []
            for answer in group:
                places.append(len(out))
                out.append({"method": methods[answer.method][0], **answer.answer})
            for ratio in ratios or [None]:
                # An adaptive method has no ratio of its own: it stands beside the others at every ratio.
                mine = [p for p, answer in zip(places, group, strict=True) if answer.ratio in (None, ratio)]
                question = {
                    **first.about,
                    "run": run,
                    "corpus": corpus_label(corpus),
                    "probe": PROBE_LABELS.get(probe, probe),
                    "dialogue": number,
                    "ratio": ratio_text(ratio),
                    "protocol": protocol,
                    "answers": mine,
                }
                asked = next((answer.asked for answer in group if answer.asked is not None), None)
                if asked is not None:
                    question["asked"] = prompts.place(asked)
                questions.append(question)
    return {
        "scorers": list(answers.scores),
        "reasons": REASONS,
        "runs": [f"{run.run['reader']} ({run.run['role']}, {run.run['run_id']})" for run in answers.runs],
        "methods": [label for _, label in sorted(methods.values())],
        "cache": [place for (method, _), (place, _) in sorted(methods.items()) if method in KV_METHODS],
        "prompts": prompts.texts(),
        "dialogues": [_turns(loader, dialogue) for dialogue, _ in chosen],
        "questions": questions,
        "outputs": out,
    }


def _questions(loaded: Sequence[Loaded]) -> dict[tuple[Any, ...], list[Loaded]]:
    groups: dict[tuple[Any, ...], list[Loaded]] = {}
    for answer in sorted(loaded, key=lambda answer: answer.row):
        groups.setdefault(answer.question, []).append(answer)
    return groups


def _methods(loaded: Sequence[Loaded]) -> Mapping[tuple[str, str], tuple[int, str]]:
    """Method and settings -> its column and its label; settings are named where a method has several."""
    found = sorted({answer.method for answer in loaded}, key=lambda method: (method_rank(method[0]), method[1]))
    out = {}
    for place, (method, config) in enumerate(found):
        several = sum(other == method for other, _ in found) > 1
        out[method, config] = (place, f"{method_label(method)}, {config}" if several else method_label(method))
    return out
