"""Near-duplicate dialogues, within a corpus and between corpora, and how far the seeded samples overlap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from tpbench_data.audit.finding import Audit
from tpbench_data.audit.material import ReleaseMaterial, by_corpus
from tpbench_data.han import has_han
from tpbench_data.overlap import turn_key

NEAR = 85
"""Similarity in percent (normalised indel similarity of the whole texts) from which two dialogues are listed."""

LONG = 20_000
"""Characters from which a dialogue is compared turn by turn."""

_LISTED = 5
_COMMON_SHINGLE = 30
"""A word triple in more dialogues than this tells nothing."""
_LEAST_SHARED = 3


def audit_release(material: ReleaseMaterial) -> Audit:
    """Near-duplicates among the dialogues of a release, and the examples that several samples share."""
    audit = Audit("duplicates", "near-duplicate dialogues, and examples in several samples")
    keys = sorted(material.dialogues)
    pairs = near_duplicates([material.dialogues[key].texts for key in keys])
    counts: Counter[tuple[str, str]] = Counter()
    for a, b, _ in pairs:
        counts[keys[a][0], keys[b][0]] += 1
    sizes = Counter(corpus for corpus, _ in keys)
    rows = [(a, b, counts[a, b] + (counts[b, a] if a != b else 0)) for a, b in _corpus_pairs(sizes)]
    audit.add(f"pairs of dialogues that are {NEAR}% alike or more", ("corpus", "and corpus", "pairs"), rows)
    closest = sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1]))[:_LISTED]
    listed = [("/".join(keys[a]), "/".join(keys[b]), round(score, 1)) for a, b, score in closest]
    audit.add("the closest pairs", ("dialogue", "and dialogue", "% alike"), listed)
    samples = []
    for probe in material.release.probes:
        for corpus, examples in by_corpus(material.examples(probe)):
            several = sum(len(row["sample_seeds"]) > 1 for row in examples)
            dialogues = len({row["dialogue_id"] for row in examples})
            samples.append((probe, corpus, len(examples), several, dialogues))
    columns = ("probe", "corpus", "examples", "in several samples", "source dialogues")
    audit.add("examples over all sample seeds", columns, samples)
    return audit


def near_duplicates(dialogues: Sequence[Sequence[str]], threshold: float = NEAR) -> list[tuple[int, int, float]]:
    """Pairs (i, j, similarity in percent) with i < j that are at least so alike, in order.

    Dialogues are compared character by character, those of more than `LONG` characters turn by turn: characters would
    take seconds per pair there. Only pairs that share a tenth of their less common word triples (Chinese: six
    characters; long dialogues: turns) are compared, because texts that are 85% alike share most of them.

    Args:
        dialogues: The turns of each dialogue.
        threshold: Percent from which a pair is listed.
    """
    from rapidfuzz.distance import Indel

    compared = [_units(turns) for turns in dialogues]
    found = []
    for a, b in _candidates([_shingles(units) for units in compared], compared):
        score = 100 * Indel.normalized_similarity(compared[a], compared[b], score_cutoff=threshold / 100)
        if score:
            found.append((a, b, float(score)))
    return found


def _units(turns: Sequence[str]) -> str | tuple[str, ...]:
    """What is compared: the text of a dialogue, or its turns where it is long."""
    keys = tuple(map(turn_key, turns))
    return keys if sum(map(len, keys)) > LONG else "\n".join(keys)


def _candidates(shingles: Sequence[set[str]], compared: Sequence[str | tuple[str, ...]]) -> list[tuple[int, int]]:
    holders: dict[str, list[int]] = {}
    same: dict[str | tuple[str, ...], list[int]] = {}
    for number, units in enumerate(compared):
        same.setdefault(units, []).append(number)
        for shingle in shingles[number]:
            holders.setdefault(shingle, []).append(number)
    common: Counter[tuple[int, int]] = Counter()
    for numbers in holders.values():
        if len(numbers) <= _COMMON_SHINGLE:
            common.update(combinations(numbers, 2))
    pairs = {
        (a, b)
        for (a, b), n in common.items()
        if n >= max(_LEAST_SHARED, min(len(shingles[a]), len(shingles[b])) / 10)
        and type(compared[a]) is type(compared[b])
    }
    for numbers in same.values():
        pairs |= set(combinations(numbers, 2))
    return sorted(pairs)


def _shingles(units: str | tuple[str, ...]) -> set[str]:
    if isinstance(units, tuple):
        return set(units)
    if has_han(units):
        letters = units.replace(" ", "").replace("\n", "")
        return {letters[place : place + 6] for place in range(len(letters) - 5)}
    words = units.split()
    return {" ".join(words[place : place + 3]) for place in range(len(words) - 2)}


def _corpus_pairs(sizes: Counter[str]) -> list[tuple[str, str]]:
    names = sorted(sizes)
    return [(name, name) for name in names] + list(combinations(names, 2))
