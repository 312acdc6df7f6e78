"""Drawing the three probes from a pool: references, eligibility rules and seeded samples.

Source: construction spec 4.3 and 6; FINDINGS parts C and D. Draws use CPython's ``random.Random`` exactly as
published; the order of a set is part of the contract, because published bootstraps follow it.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tpbench_data.dialogue import AuthoredQuestion, Dialogue
from tpbench_data.evidence import answer_turns
from tpbench_data.matching import alias_equivalent
from tpbench_data.names import Probe
from tpbench_data.pool import Pool, Question, new_value_occurs

P3_MIN_TURNS = 10
P3_MIN_UPDATE_TURN = 6

_SENTENCE_END = re.compile(r"[.?!]")
_SENTENCE_END_ZH = re.compile(r"[.?!。？！]")
_OPENINGS = (
    "can you ",
    "could you ",
    "please ",
    "i'd like to ",
    "id like to ",
    "i want to ",
    "i need to ",
    "i'm looking to ",
    "im looking to ",
)

Counts = dict[str, int]


@dataclass(frozen=True, slots=True)
class Example:
    """One probe question about one dialogue, before any method is applied.

    Attributes:
        probe: Which probe.
        question: The update question it comes from.
        dialogue: The source dialogue.
        sample_seeds: Seeds whose draw contains it, in the order given.
        reference_goal: What P1 (first sentence) or P3 (task text) must recover; ``None`` elsewhere.
        reference_value: What P2, P3 or a free-form answer must recover; ``None`` for P1.
        answer_turns: Turn ids that state the reference: the first user turn for P1, the turns that the corpus
            annotates where its own question is asked, else every turn that states the value (may be empty).
        evidence: Turn ids an oracle keeps, most important first.
    """

    probe: Probe
    question: Question
    dialogue: Dialogue
    sample_seeds: tuple[int, ...]
    reference_goal: str | None
    reference_value: str | None
    answer_turns: tuple[int, ...]
    evidence: tuple[int, ...]

    @property
    def alias_equivalent(self) -> bool:
        """Whether the alias heuristic takes the old and the new value for the same (P3 keeps such pairs)."""
        return _is_alias(self.question)


def first_sentence(text: str, language: str = "en") -> str:
    """The text up to the first full stop, question or exclamation mark, wherever it stands, without the mark.

    A decimal point counts ("a 4.0 rated house" is cut after the 4); a text without a mark is kept whole. In
    Chinese the full-width marks count too. Source: FINDINGS part D.
    """
    end = _SENTENCE_END_ZH if language.split("-")[0] == "zh" else _SENTENCE_END
    return end.split(text, maxsplit=1)[0].strip()


def task_text(first_user_turn: str, language: str = "en") -> str:
    """The goal reference of P3: the first sentence without one polite opening, lower-cased.

    Source: construction spec 6, "Task text for P3".
    """
    text = first_sentence(first_user_turn, language) or first_user_turn
    text = text.strip()
    for opening in _OPENINGS:
        if text.lower().startswith(opening):
            text = text[len(opening) :]
            break
    return text.strip().rstrip("?.!").strip().lower()


def pool_counts(pool: Pool) -> Counts:
    """How many questions of the whole pool pass the final-update rule, then the alias rule, and P3's rules."""
    final = [q for q in pool.questions if q.is_final]
    return {
        "final updates": len(final),
        "final updates after the alias rule": sum(not _is_alias(q) for q in final),
        "P3-eligible": len(_p3_ids(pool)),
    }


def draw(pool: Pool, probe: Probe, seeds: Sequence[int], n: int) -> tuple[list[Example], dict[int, Counts]]:
    """Draws one probe for every sample seed and merges the sets: one example per question, with its seeds.

    Draws are made from the whole pool; questions without a dialogue are dropped afterwards and counted. Of a
    complete pool every question is in the set of every seed.

    Args:
        pool: The ordered pool.
        probe: Which probe.
        seeds: Sample seeds.
        n: Number of questions to draw per seed (all, where the pool is smaller).

    Returns:
        The examples in order of first appearance over the seeds, and per seed the counts of each step.
    """
    rule = _draw_all if pool.is_complete else _RULES[probe]
    merged: dict[str, tuple[Question, list[int]]] = {}
    counts: dict[int, Counts] = {}
    for seed in seeds:
        kept, counts[seed] = rule(pool, seed, n)
        for question in kept:
            merged.setdefault(question.example_id, (question, []))[1].append(seed)
    return [_example(probe, question, tuple(found)) for question, found in merged.values()], counts


def _shuffled(pool: Pool, seed: int, n: int) -> list[Question]:
    order = list(pool.questions)
    random.Random(seed).shuffle(order)
    return order[:n]


def _draw_all(pool: Pool, seed: int, n: int) -> tuple[list[Question], Counts]:
    return pool.questions, {"eligible": len(pool.questions), "left": len(pool.questions)}


def _draw_initial_goal(pool: Pool, seed: int, n: int) -> tuple[list[Question], Counts]:
    drawn = _shuffled(pool, seed, n)
    kept = [q for q in drawn if q.dialogue is not None]
    return kept, {"drawn": len(drawn), "dropped: no dialogue": len(drawn) - len(kept), "left": len(kept)}


def _draw_current_value(pool: Pool, seed: int, n: int) -> tuple[list[Question], Counts]:
    drawn = _shuffled(pool, seed, n)
    dropped: Counter[str] = Counter()
    kept = []
    for question in drawn:
        if not question.is_final:
            dropped["dropped: not the final update"] += 1
        elif _is_alias(question):
            dropped["dropped: alias-equivalent values"] += 1
        elif question.dialogue is None:
            dropped["dropped: no dialogue"] += 1
        elif not new_value_occurs(question.new_value, question.dialogue):
            dropped["dropped: new value in no turn"] += 1
        else:
            kept.append(question)
    first, second = "dropped: not the final update", "dropped: alias-equivalent values"
    third, fourth = "dropped: no dialogue", "dropped: new value in no turn"
    return kept, {
        "drawn": len(drawn),
        first: dropped[first],
        second: dropped[second],
        "eligible before missing dialogues": len(drawn) - dropped[first] - dropped[second],
        third: dropped[third],
        fourth: dropped[fourth],
        "left": len(kept),
    }


def _draw_joint_recovery(pool: Pool, seed: int, n: int) -> tuple[list[Question], Counts]:
    by_id = {q.example_id: q for q in pool.questions}
    ids = _p3_ids(pool)
    drawn = sorted(random.Random(seed).sample(ids, min(n, len(ids))))
    kept = [by_id[i] for i in drawn if by_id[i].dialogue is not None]
    return kept, {"drawn": len(drawn), "dropped: no dialogue": len(drawn) - len(kept), "left": len(kept)}


_RULES: dict[Probe, Callable[[Pool, int, int], tuple[list[Question], Counts]]] = {
    "initial_goal": _draw_initial_goal,
    "current_value": _draw_current_value,
    "joint_recovery": _draw_joint_recovery,
}


def _p3_ids(pool: Pool) -> list[str]:
    # Sorted as text ("..._10_..." after "..._109_..."): the seeded sample depends on this order.
    if pool.p3_ids is not None:
        return sorted(pool.p3_ids)
    return sorted(q.example_id for q in pool.questions if _p3_eligible(q))


def _p3_eligible(question: Question) -> bool:
    if question.dialogue is None or not question.is_final:
        return False
    n_turns = len(question.dialogue)
    return (
        n_turns >= P3_MIN_TURNS
        and question.turn >= P3_MIN_UPDATE_TURN
        and 2 * question.turn >= max(1, n_turns - 1)  # second half, without a float
    )


def _is_alias(question: Question) -> bool:
    return alias_equivalent(question.old_value, question.new_value, question.corpus)


def _example(probe: Probe, question: Question, seeds: tuple[int, ...]) -> Example:
    dialogue = question.dialogue
    if dialogue is None:
        raise ValueError(f"{question.example_id} has no dialogue")  # draws drop these
    first = dialogue.first_user_turn
    if probe == "initial_goal":
        goal = first_sentence(dialogue.texts[first], dialogue.language)
        return Example(probe, question, dialogue, seeds, goal, None, (first,), (first,))
    if question.asked is not None:
        answers = question.asked.support_turns
        evidence = _distinct([question.turn, *reversed(answers)])
        return Example(probe, question, dialogue, seeds, None, question.new_value, answers, evidence)
    answers = answer_turns(dialogue.texts, question.new_value, dialogue.corpus)
    newest_first = [*reversed(answers)]
    if probe == "current_value":
        evidence = _distinct([*newest_first[:1], question.turn, *newest_first[1:]])
        return Example(probe, question, dialogue, seeds, None, question.new_value, answers, evidence)
    evidence = _distinct([*newest_first[:1], first, question.turn, *newest_first[1:]])
    goal = task_text(dialogue.texts[first], dialogue.language)
    return Example(probe, question, dialogue, seeds, goal, question.new_value, answers, evidence)


def free_form_examples(
    found: Iterable[tuple[Dialogue, int, AuthoredQuestion]], corpus: str, seeds: Sequence[int]
) -> list[Example]:
    """The free-form examples of collected questions; they belong to every sample seed, because none is drawn."""
    examples = []
    for dialogue, number, asked in found:
        question = Question(
            example_id=f"{corpus}_{dialogue.dialogue_id}__qa_{number:02d}",
            corpus=corpus,
            dialogue_id=dialogue.dialogue_id,
            slot=asked.slot,
            old_value=asked.old_answer,
            new_value=asked.answer,
            turn=asked.update_turn,
            is_final=True,
            update=None,
            dialogue=dialogue,
            asked=asked,
        )
        answers = answer_turns(dialogue.texts, asked.answer, corpus)
        evidence = _distinct([asked.update_turn, *reversed(asked.support_turns)])
        examples.append(Example("free_form", question, dialogue, tuple(seeds), None, asked.answer, answers, evidence))
    return examples


def _distinct(turns: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(turns))
