"""Update mapping: how many turns could be the update turn of a question, and where recorded order had to decide."""

from __future__ import annotations

from collections import Counter

from tpbench_data.audit.finding import Audit
from tpbench_data.audit.material import PoolMaterial, ReleaseMaterial, by_corpus

_EXAMPLES = 3


def audit_release(material: ReleaseMaterial) -> Audit:
    """Candidate turns of the P2 and P3 examples of a release, replayed from the stored states."""
    audit = Audit("mapping", "turns at which exactly the asked change happens")
    for probe in ("current_value", "joint_recovery"):
        rows = []
        for corpus, examples in by_corpus(material.examples(probe)):
            if material.pool_of(corpus) == "authored":
                continue  # the corpus names the turns itself
            found = [material.update_of(row) for row in examples]
            sizes = Counter(len(update.candidate_turns) for update in found if update is not None)
            ties = [
                row["example_id"]
                for row, update in zip(examples, found, strict=True)
                if update is not None and len(update.candidate_turns) > 1
            ]
            lost = sum(update is None for update in found)
            rows.append((corpus, len(examples), sizes[1], len(ties), lost, ", ".join(ties[:_EXAMPLES])))
            if lost:
                audit.problems.append(f"{lost} {probe} examples of {corpus} are not shown by the stored states")
        audit.add(probe, ("corpus", "examples", "one candidate", "several", "not shown", "such as"), rows)
    return audit


def audit_pool(material: PoolMaterial) -> Audit:
    """Candidate turns of every question of a pool."""
    audit = Audit("mapping", f"turns at which exactly the asked change happens, pool of {material.corpus}")
    replayed = [question for question in material.pool.questions if question.update is not None]
    sizes = Counter(len(question.update.candidate_turns) for question in replayed if question.update is not None)
    rows = [(size, sizes[size]) for size in sorted(sizes)]
    audit.add("questions by number of candidate turns", ("candidates", "questions"), rows)
    absent = len(material.pool.questions) - len(replayed)
    if absent:
        audit.notes.append(f"{absent} questions could not be replayed: their dialogue is missing or differs")
    return audit
