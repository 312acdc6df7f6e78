"""The value rules: which updates of rule ``first`` are none under ``disjoint``, and what hangs on them.

Under ``first`` a mere re-ordering of equivalent forms is an update: the user says yes to the system's wording, which
then stands first in the list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from tpbench_data.audit.finding import Audit, percent
from tpbench_data.audit.material import PoolMaterial, ReleaseMaterial
from tpbench_data.changes import VALUE_RULES, Update
from tpbench_data.dialogue import Dialogue
from tpbench_data.han import value_form
from tpbench_data.names import method_rank
from tpbench_data.pool import Pool, Question
from tpbench_data.probes import draw, pool_counts
from tpbench_data.slots import SLOT_GROUPS, slot_group

OLD_LISTED = "the old form is still listed"
NEW_LISTED = "the new form was listed before"
OTHER_SHARED = "another listed form is shared"
SAME_NORMAL = "equal only after normalisation"
KINDS = (OLD_LISTED, NEW_LISTED, OTHER_SHARED, SAME_NORMAL)

_ALL = 10**9


def kind_of(update: Update, corpus: str) -> str | None:
    """Why an update is none under ``disjoint``; ``None`` where it is one under both rules."""
    old, new = update.old_alternatives, update.new_alternatives
    if VALUE_RULES["disjoint"].is_change(old, new, corpus):
        return None
    if old[0] in new:
        return OLD_LISTED
    if new[0] in old:
        return NEW_LISTED
    if set(old) & set(new):
        return OTHER_SHARED
    shared = {value_form(value, corpus) for value in old} & {value_form(value, corpus) for value in new}
    return SAME_NORMAL if shared else None


def old_form_in_any_frame(dialogue: Dialogue, update: Update) -> bool:
    """Whether some service of the update turn still lists the old form of the slot."""
    state = dialogue.states[update.turn] or {}
    return any(update.old_value in slots.get(update.slot, ()) for slots in state.values())


def audit_pool(material: PoolMaterial) -> Audit:
    """Both rules over the pool of a corpus: kinds, slot groups, pool and probe sizes."""
    audit = Audit("value_rules", f"updates of rule first that are none under disjoint, {material.corpus}")
    found = [(q, q.update, q.dialogue) for q in material.pool.questions if q.update and q.dialogue]
    subsets: dict[str, Callable[[Question], bool]] = {
        "all": lambda q: True,
        "final": lambda q: q.is_final,
        "in the P2 set": lambda q: q.example_id in material.included,
    }
    kinds: dict[str, Counter[str | None]] = {
        name: Counter(kind_of(update, material.corpus) for q, update, _ in found if chosen(q))
        for name, chosen in subsets.items()
    }
    totals = [counts.total() for counts in kinds.values()]
    rows: list[tuple[Any, ...]] = [("replayed updates", *totals)]
    rows += [(kind, *(counts[kind] for counts in kinds.values())) for kind in KINDS]
    rows.append(("an update under both rules", *(counts[None] for counts in kinds.values())))
    anywhere = [
        sum(old_form_in_any_frame(dialogue, update) for q, update, dialogue in found if chosen(q))
        for chosen in subsets.values()
    ]
    rows.append(("the old form is listed in some frame", *anywhere))
    audit.add("kinds of updates", ("updates of rule first", *subsets), rows)
    groups = []
    for group in SLOT_GROUPS:
        mine = [update for _, update, _ in found if slot_group(update.slot) == group]
        only_first = sum(kind_of(update, material.corpus) is not None for update in mine)
        groups.append((group, len(mine), only_first, percent(only_first, len(mine))))
    audit.add("by slot group", ("slots", "updates", "not under disjoint", "%"), groups)
    audit.add("sizes", ("step", "first", "disjoint"), _sizes(material))
    return audit


def _sizes(material: PoolMaterial) -> list[tuple[Any, ...]]:
    """Steps of the pool under both rules; a question that raw data does not show under a rule is none under it."""
    pools = [Pool([q for q in pool.questions if q.update], {}) for pool in (material.pool, material.disjoint)]
    counted = [pool_counts(pool) for pool in pools]
    rows: list[tuple[Any, ...]] = [("questions", *(len(pool.questions) for pool in pools))]
    rows += [(step, counted[0][step], counted[1][step]) for step in counted[0]]
    drawn = [len(draw(pool, "current_value", [material.seed], _ALL)[0]) for pool in pools]
    rows.append(("P2-eligible in the whole pool", *drawn))
    return rows


def audit_release(material: ReleaseMaterial) -> Audit:
    """Retention per method, split by whether ``disjoint`` calls the update one too (P2 rows of the release)."""
    audit = Audit("value_rules", "retention of the current value, by value rule")
    if material.value_rule != "first":
        audit.notes.append("the release was built under disjoint: every update is one under both rules")
        return audit
    verdicts: dict[tuple[str, str], bool] = {}
    for row in material.examples("current_value"):
        update = material.update_of(row) if material.pool_of(row["corpus"]) != "authored" else None
        if update is not None:
            verdicts[row["corpus"], row["example_id"]] = kind_of(update, row["corpus"]) is None
    columns = ["corpus", "example_id", "method", "ratio", "protocol", "answer_turns", "kept_turns"]
    kept: dict[tuple[Any, ...], list[list[int]]] = {}
    for row in material.release.table("current_value").select(columns).to_pylist():
        both = verdicts.get((row["corpus"], row["example_id"]))
        if both is None or row["kept_turns"] is None:
            continue
        cell = (row["protocol"], row["corpus"], row["ratio"], row["method"])
        counts = kept.setdefault(cell, [[0, 0], [0, 0]])[both]
        counts[0] += not set(row["answer_turns"]).isdisjoint(row["kept_turns"])
        counts[1] += 1
    rows = [
        (*cell, percent(*both), both[1], percent(*only_first), only_first[1])
        for cell, (only_first, both) in sorted(kept.items(), key=_cell_order)
    ]
    audit.add(
        "share of inputs that keep a turn in which the current value is stated",
        ("protocol", "corpus", "ratio", "method", "% (both rules)", "rows", "% (first only)", "rows"),
        rows,
    )
    _by_corpus(audit, verdicts)
    return audit


def _by_corpus(audit: Audit, verdicts: dict[tuple[str, str], bool]) -> None:
    corpora = list(dict.fromkeys(corpus for corpus, _ in verdicts))
    rows = []
    for corpus in corpora:
        mine: Iterable[bool] = [both for (name, _), both in verdicts.items() if name == corpus]
        counts = Counter(mine)
        rows.append((corpus, counts.total(), counts[False], percent(counts[False], counts.total())))
    audit.add("P2 examples", ("corpus", "examples", "not under disjoint", "%"), rows)


def _cell_order(item: tuple[tuple[Any, ...], Any]) -> tuple[Any, ...]:
    protocol, corpus, ratio, method = item[0]
    return (protocol, corpus, ratio is None, ratio or 0, method_rank(method))
