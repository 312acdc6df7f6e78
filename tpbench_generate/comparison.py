"""Whether batches, shared beginnings and another attention change answers, and by how little.

Float sums depend on the order of additions, so two tokens whose logits are almost equal may change places. The gap
says how almost: the logit of the token chosen by the first setting minus that of the other, in the first setting.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tpbench_generate.readers.transformers_reader import TransformersReader

Prompt = Sequence[int]


@dataclass(frozen=True)
class Setting:
    """A way to answer.

    Attributes:
        name: What the table calls it.
        batches: Places of the prompts, batch by batch.
        attention: Attention implementation.
        share: Whether common beginnings are read once.
    """

    name: str
    batches: tuple[tuple[int, ...], ...]
    attention: str
    share: bool = False


@dataclass(frozen=True)
class Difference:
    """An answer that differs from the first setting's.

    Attributes:
        prompt: Place of the prompt.
        token: Place of the first new token that differs, from 0.
        gap: Logit gap there.
    """

    prompt: int
    token: int
    gap: float


@dataclass(frozen=True)
class Compared:
    """What a setting came to: seconds for all prompts, and the answers that differ from the first setting's."""

    setting: Setting
    seconds: float
    differences: tuple[Difference, ...]


def compare(
    prompts: Sequence[Prompt],
    settings: Sequence[Setting],
    open_reader: Callable[[Setting], TransformersReader],
    say: Callable[[str], None] = lambda text: None,
) -> list[Compared]:
    """Answers all prompts in every setting; the first is what the others are compared with.

    Args:
        prompts: Token ids.
        settings: At least one.
        open_reader: Opens the reader for a setting; asked again only where attention or sharing changes.
        say: Is told what is being done.
    """
    found: list[tuple[Setting, float, dict[int, list[int]]]] = []
    reader: TransformersReader | None = None
    kind: tuple[str, bool] | None = None
    for setting in settings:
        if kind != (setting.attention, setting.share):
            reader = None  # its memory goes before the next one comes
            reader, kind = open_reader(setting), (setting.attention, setting.share)
            reader.load()
        assert reader is not None
        say(setting.name)
        begin = time.perf_counter()
        answers = answer_all(reader, prompts, setting.batches)
        found.append((setting, time.perf_counter() - begin, answers))
    first, _, reference = found[0]
    if kind != (first.attention, first.share):
        reader = open_reader(first)
    assert reader is not None
    return [
        Compared(setting, seconds, differences(reader, prompts, reference, answers))
        for setting, seconds, answers in found
    ]


def answer_all(
    reader: TransformersReader, prompts: Sequence[Prompt], batches: Sequence[Sequence[int]]
) -> dict[int, list[int]]:
    """Place of a prompt -> its new tokens, the stop token included."""
    answers: dict[int, list[int]] = {}
    for batch in batches:
        rows = reader.new_tokens([prompts[place] for place in batch])
        answers |= {place: reader.until_stop(row) for place, row in zip(batch, rows, strict=True)}
    return answers


def differences(
    reader: TransformersReader,
    prompts: Sequence[Prompt],
    reference: dict[int, list[int]],
    answers: dict[int, list[int]],
) -> tuple[Difference, ...]:
    """The answers that differ, each with its logit gap under ``reader``."""
    found = []
    for place in sorted(reference):
        ours, theirs = reference[place], answers[place]
        if ours == theirs:
            continue
        token, gap = parting(reader, prompts[place], ours, theirs)
        found.append(Difference(place, token, gap))
    return tuple(found)


def parting(
    reader: TransformersReader, prompt: Prompt, ours: Sequence[int], theirs: Sequence[int]
) -> tuple[int, float]:
    """Where two answers to a prompt part, in tokens from 0, and the logit of our token there minus that of theirs.

    Neither is a beginning of the other: both end with a stop token or at the same limit. Answers that are equal as
    tokens part at their end.
    """
    token = next(
        (place for place, (one, two) in enumerate(zip(ours, theirs, strict=False)) if one != two),
        min(len(ours), len(theirs)) - 1,
    )
    logits = reader.next_logits([*prompt, *ours[:token]])
    return token, logits[ours[token]] - logits[theirs[token]]
