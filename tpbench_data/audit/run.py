"""Running the audits over a release, and over the pools of source corpora."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tpbench_data.audit import aliases, authored, cues, duplicates, mapping, matched, value_rules
from tpbench_data.audit.finding import Audit
from tpbench_data.audit.material import PoolMaterial, ReleaseMaterial
from tpbench_data.candidates import read_candidates, read_p3_pool
from tpbench_data.changes import VALUE_RULES
from tpbench_data.corpora import corpus_named
from tpbench_data.errors import BadInput
from tpbench_data.names import ValueRuleName
from tpbench_data.pool import Pool, given_pool, native_pool
from tpbench_data.probes import draw
from tpbench_data.release.reader import Release

RELEASE_AUDITS: dict[str, Callable[[ReleaseMaterial], Audit]] = {
    "cues": cues.audit_release,
    "mapping": mapping.audit_release,
    "aliases": aliases.audit_release,
    "value_rules": value_rules.audit_release,
    "duplicates": duplicates.audit_release,
    "matched": matched.audit_release,
    "authored": authored.audit_release,
}
POOL_AUDITS: dict[str, Callable[[PoolMaterial], Audit]] = {
    "cues": cues.audit_pool,
    "mapping": mapping.audit_pool,
    "aliases": aliases.audit_pool,
    "value_rules": value_rules.audit_pool,
}


def audit_release(release: Release, only: Sequence[str] = ()) -> list[Audit]:
    """The audits of a release, in a fixed order; ``only`` names some of `RELEASE_AUDITS`."""
    material = ReleaseMaterial(release)
    return [run(material) for name, run in RELEASE_AUDITS.items() if not only or name in only]


def audit_pool(material: PoolMaterial, only: Sequence[str] = ()) -> list[Audit]:
    """The audits of a corpus's pool, in a fixed order; ``only`` names some of `POOL_AUDITS`."""
    return [run(material) for name, run in POOL_AUDITS.items() if not only or name in only]


def pool_material(
    name: str, path: Path, candidates: Path | None, p3_pool: Path | None, seed: int, n: int
) -> PoolMaterial:
    """Reads the pool of a corpus under both value rules.

    Args:
        name: Corpus name; its questions must be updates, of which a sample is drawn.
        path: Folder, archive or file.
        candidates: File with a given ordered pool, if one is used.
        p3_pool: File with the ids of a given P3 pool.
        seed: Sample seed whose P2 set is compared with the rest.
        n: Questions drawn.

    Raises:
        BadInput: A file that cannot be used, or a corpus that has no such pool.
    """
    corpus = corpus_named(name)
    if corpus.pool != "updates":
        raise BadInput(f"{name} has no pool to draw from: all its questions are used", remedy="Audit the release alone")
    rows = read_candidates(candidates) if candidates else None
    p3_ids = read_p3_pool(p3_pool, {row["dialogue_id"] for row in rows}) if p3_pool and rows else None

    def pool(rule: ValueRuleName) -> Pool:
        dialogues = corpus.dialogues(corpus.files(path))
        if rows is None:
            return native_pool(dialogues, name, VALUE_RULES[rule])
        return given_pool(dialogues, name, VALUE_RULES[rule], rows, p3_ids)

    first = pool("first")
    examples, _ = draw(first, "current_value", [seed], n)
    included = frozenset(example.question.example_id for example in examples)
    return PoolMaterial(name, first, pool("disjoint"), included, seed)
