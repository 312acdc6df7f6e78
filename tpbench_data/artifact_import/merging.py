"""From inputs and answers of single samples to the inputs of a release.

The artifact repeats an example in every sample that drew it. Where inputs, answers and runs are the same, the samples
share one input, as in a release of ours; where anything differs, each sample keeps an input of its own, so that no
published answer is lost or counted for another sample. The example id of such a copy ends in ``@s43``; an input that
differs from the main one in its prompt only (another experiment on the same example) ends in ``@deletion`` or the like.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tpbench_data.artifact_import.findings import Findings
from tpbench_data.artifact_import.records import Asked, RunKey, SourceAnswer, SourceInput

MAIN = ""
"""Tag of the probe files."""


@dataclass
class Group:
    """Everything about one example in one sample: method settings -> input, (run, method settings) -> answer."""

    asked: Asked
    tag: str
    inputs: dict[str, SourceInput] = field(default_factory=dict)
    answers: dict[tuple[RunKey, str], SourceAnswer] = field(default_factory=dict)

    @property
    def content(self) -> tuple[Any, ...]:
        """What two samples must have in common to share their inputs."""
        inputs = sorted((config, one.content) for config, one in self.inputs.items())
        answers = sorted(
            ((repr(run), config), (one.text, one.text_source, one.error)) for (run, config), one in self.answers.items()
        )
        return repr(inputs), repr(answers)


@dataclass(frozen=True)
class MergedInput:
    """An input of the release.

    Attributes:
        source: Where its content comes from.
        example_id: Published id, with a suffix where it could not be shared.
        seeds: Samples that hold it.
    """

    source: SourceInput
    example_id: str
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class MergedAnswer:
    """An answer with the number of its input among the merged inputs."""

    source: SourceAnswer
    input: int


class Collection:
    """Collects inputs and answers, then merges them."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self._groups: dict[tuple[Asked, str], Group] = {}

    def add_inputs(self, inputs: Iterable[SourceInput], tag: str = MAIN) -> None:
        """Adds inputs; those of another experiment join the main ones where every common prompt is the same."""
        new: dict[Asked, list[SourceInput]] = defaultdict(list)
        for one in inputs:
            new[one.asked].append(one)
        for asked, found in new.items():
            main = self._groups.get((asked, MAIN))
            joins = tag == MAIN or (main is not None and _agree(main, found))
            group = self._group(asked, MAIN if joins else tag)
            for one in found:
                if one.method_config not in group.inputs:
                    group.inputs[one.method_config] = one

    def add_answers(self, answers: Iterable[SourceAnswer], tags: Sequence[str] = (MAIN,)) -> None:
        """Adds answers to the inputs of the first tag that has them; one without input is a problem."""
        for answer in answers:
            file, row = answer.place
            found = [self._groups.get((answer.asked, tag)) for tag in tags]
            group = next((g for g in found if g is not None and answer.method_config in g.inputs), None)
            if group is None:
                asked = answer.asked
                self.findings.problem(
                    file,
                    row,
                    f"answers {asked.example_id}, {answer.method_config} ({asked.probe}, sample {asked.seed}, ratio "
                    f"{asked.ratio:g}), which is not among the inputs",
                )
                continue
            key = (answer.run, answer.method_config)
            if key in group.answers:
                before = group.answers[key].place
                self.findings.problem(file, row, f"answers what {before[0]}, row {before[1]} answers already")
            else:
                group.answers[key] = answer

    def label_of(self, asked: Asked) -> Mapping[str, Any]:
        """The facts of an example as any of its inputs states them; empty where there is none."""
        group = self._groups.get((asked, MAIN))
        return next(iter(group.inputs.values())).facts if group and group.inputs else {}

    def has_inputs(self, asked: Asked) -> bool:
        """Whether the probe files hold this question."""
        return (asked, MAIN) in self._groups

    def check_complete(self) -> None:
        """Reports every input that a run left out, among the methods, sample and ratio that it answered."""
        answered: dict[tuple[Any, ...], set[str]] = defaultdict(set)
        for group in self._groups.values():
            for run, config in group.answers:
                answered[_cell(group), run, config].add(group.asked.example_id)
        inputs: dict[tuple[Any, ...], dict[str, SourceInput]] = defaultdict(dict)
        for group in self._groups.values():
            for config, one in group.inputs.items():
                inputs[_cell(group), config][group.asked.example_id] = one
        for (cell, run, config), have in answered.items():
            if cell[-1] != MAIN:
                continue
            for example_id, one in inputs[cell, config].items():
                if example_id not in have:
                    self.findings.problem(*one.place, f"has no answer in the {run.role} run of {run.reader}")

    def merged(self) -> tuple[list[MergedInput], list[MergedAnswer]]:
        """The inputs of the release and the answers to them.

        An input stands where it was first read, so the order inside a sample that shares nothing is the published
        one, which the published intervals depend on.
        """
        alike: dict[tuple[Any, ...], list[Group]] = {}
        copies: dict[tuple[Any, ...], int] = defaultdict(int)
        for group in self._groups.values():
            base = (replace(group.asked, seed=0), group.tag)
            alike.setdefault((base, group.content), []).append(group)
        inputs: list[MergedInput] = []
        answers: list[MergedAnswer] = []
        for (base, _), groups in alike.items():
            first = groups[0]
            suffix = (f"@{first.tag}" if first.tag else "") + (f"@s{first.asked.seed}" if copies[base] else "")
            copies[base] += 1
            if suffix:
                self.findings.notes["examples kept apart from the same example of another sample or experiment"] += 1
            seeds = tuple(group.asked.seed for group in groups)
            places = {}
            for config, one in first.inputs.items():
                places[config] = len(inputs)
                inputs.append(MergedInput(one, first.asked.example_id + suffix, seeds))
            answers += [MergedAnswer(one, places[config]) for (_, config), one in first.answers.items()]
        return inputs, answers

    def _group(self, asked: Asked, tag: str) -> Group:
        return self._groups.setdefault((asked, tag), Group(asked, tag))


def _agree(main: Group, found: Iterable[SourceInput]) -> bool:
    return all(
        one.method_config not in main.inputs or main.inputs[one.method_config].prompt == one.prompt for one in found
    )


def _cell(group: Group) -> tuple[Any, ...]:
    asked = group.asked
    return asked.corpus, asked.probe, asked.seed, asked.ratio, group.tag
