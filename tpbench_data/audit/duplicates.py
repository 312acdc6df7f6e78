"""Near-duplicate dialogues, within a corpus and between corpora, and how far the seeded samples overlap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from tpbench_data.audit.finding import Audit
from tpbench_data.audit.material import ReleaseMaterial, by_corpus
from tpbench_data.han import has_han

NEAR = 85
"""Similarity in percent (normalised indel similarity of the whole texts) from which two dialogues are listed."""

_LISTED = 5
_COMMON_SHINGLE = 30
"""A word triple in more dialogues than this tells nothing."""
_LEAST_SHARED = 3


def audit_release(material: ReleaseMaterial) -> Audit:
    """Near-duplicates among the dialogues of a release, and the examples that several samples share."""
    audit = Audit("duplicates", "near-duplicate dialogues, and examples in several samples")
    keys = sorted(material.dialogues)
    texts = ["\n".join(material.dialogues[key].texts).lower() for key in keys]
    pairs = near_duplicates(texts)
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


def near_duplicates(texts: Sequence[str], threshold: float = NEAR) -> list[tuple[int, int, float]]:
    """Pairs (i, j, similarity in percent) with i < j that are at least so alike, in order.

    Only pairs that share a tenth of their less common word triples (Chinese: six characters) are compared: texts that
    are 85% alike share most of them, and comparing all pairs would take hours on a large release.
    """
    from rapidfuzz import fuzz

    found = []
    for a, b in _candidates(texts):
        score = fuzz.ratio(texts[a], texts[b], score_cutoff=threshold)
        if score:
            found.append((a, b, float(score)))
    return found


def _candidates(texts: Sequence[str]) -> list[tuple[int, int]]:
    shingles = [_shingles(text) for text in texts]
    holders: dict[str, list[int]] = {}
    same: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        same.setdefault(text, []).append(number)
        for shingle in shingles[number]:
            holders.setdefault(shingle, []).append(number)
    common: Counter[tuple[int, int]] = Counter()
    for numbers in holders.values():
        if len(numbers) <= _COMMON_SHINGLE:
            common.update(combinations(numbers, 2))
    pairs = {
        (a, b) for (a, b), n in common.items() if n >= max(_LEAST_SHARED, min(len(shingles[a]), len(shingles[b])) / 10)
    }
    for numbers in same.values():
        pairs |= set(combinations(numbers, 2))
    return sorted(pairs)


def _shingles(text: str) -> set[str]:
    if has_han(text):
        letters = text.replace(" ", "").replace("\n", "")
        return {letters[place : place + 6] for place in range(len(letters) - 5)}
    words = text.split()
    return {" ".join(words[place : place + 3]) for place in range(len(words) - 2)}


def _corpus_pairs(sizes: Counter[str]) -> list[tuple[str, str]]:
    names = sorted(sizes)
    return [(name, name) for name in names] + list(combinations(names, 2))
