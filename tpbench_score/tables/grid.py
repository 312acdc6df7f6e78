"""The common shape of the accuracy tables: methods down, columns across, means over sample seeds in the cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tpbench_data.names import method_label, method_rank
from tpbench_score.sample_seeds import NO_SEED
from tpbench_score.statistics.bootstrap import OWN, Recipe, Sample, intervals
from tpbench_score.statistics.ranks import best
from tpbench_score.statistics.seeds import sample_sd, seed_mean
from tpbench_score.tables.model import Cell, Column, Counts, Number, Row, SeedValue
from tpbench_score.tables.scores import UNKNOWN, Mask, Scores
from tpbench_score.tables.universe import Universe

REFERENCE_METHODS = ("full_context", "no_context", "oracle_evidence")
"""Points of reference, not competitors: italic, never best. The paper has the first alone; the other two mark what
can be guessed without the dialogue and what the right turns would give."""

DELETIONS = ("drop_update", "drop_update_control", "drop_evidence", "drop_evidence_control")
KV_METHODS = ("chunkkv", "snapkv", "pyramidkv", "streamingllm")

Values = npt.NDArray[np.float64]


def truth(column: str) -> Callable[[Scores], Values]:
    """The values of a truth column: 1 where true, 0 where false or unknown."""
    return lambda rows: (rows[column] == 1).astype(np.float64)


def number(column: str) -> Callable[[Scores], Values]:
    """The values of a numeric column."""
    return lambda rows: rows[column].astype(np.float64)


@dataclass(frozen=True)
class Measure:
    """One number of a cell.

    Attributes:
        name: for programs: "strict".
        values: the value of each entry.
        among: the entries that count; ``None`` for all. Such a share is no ranking: each method has its own subset.
        bold: whether the best compressed entry is marked.
        needs: a column that may be unknown (no context stored, no old value); a dash where it is unknown throughout.
    """

    name: str
    values: Callable[[Scores], Values]
    among: Callable[[Scores], Values] | None = None
    bold: bool = True
    needs: str = ""


STRICT = Measure("strict", truth("strict"))
LOOSE = Measure("loose", truth("loose"))
TOKEN_F1 = Measure("token_f1", number("token_f1"))
PARSED = Measure("parsed", truth("parsed"), bold=False)
RETAINED = Measure("retained", truth("retained"), needs="retained")
READ_GIVEN_KEPT = Measure("strict_given_retained", truth("strict"), among=truth("retained"), needs="retained")
WHOLE_STRICT = Measure("whole_strict", truth("whole_strict"))


@dataclass(frozen=True)
class Plan:
    """A column before it is computed: which rows, which numbers; ``seed`` where it shows one sample only."""

    column: Column
    rows: Scores
    measures: tuple[Measure, ...]
    seed: int | None = None


def seed_label(seed: int) -> int | None:
    """The sample seed, or ``None`` for inputs that belong to no sample."""
    return None if seed == NO_SEED else seed


def over_seeds(rows: Scores, measure: Measure) -> Number:
    """The mean over sample seeds of a measure on rows of one method (scoring spec 4.1)."""
    if measure.needs and not (rows[measure.needs] != UNKNOWN).any():
        return Number(None, why=f"{measure.needs} is not known for these inputs")
    values = measure.values(rows)
    counted = np.ones(len(rows), dtype=bool) if measure.among is None else measure.among(rows) == 1
    per_seed = []
    for seed in rows.seeds():
        chosen = counted & (rows["seed"] == seed)
        n = int(chosen.sum())
        # fsum: the exact sum, so token-F1 does not depend on the order of the rows.
        value = math.fsum(values[chosen]) / n if n else None
        per_seed.append(SeedValue(seed_label(seed), value, n))
    known = [entry.value for entry in per_seed if entry.value is not None]
    return Number(
        seed_mean(known),
        sd=sample_sd(known),
        per_seed=tuple(per_seed),
        why="" if known else "no item to count",
    )


NOT_READABLE = ("no_json", "unparsed", "error", "missing")
"""Reason codes of answers from which the scorer could read nothing."""


def readable(rows: Scores) -> Mask:
    """Which answers the scorer could read: a JSON object, and for P3 the form "task; slot: value" in it."""
    return np.where(rows["parsed"] == UNKNOWN, ~rows.is_in("reason", NOT_READABLE), rows["parsed"] == 1)


def counts_of(rows: Scores, universe: Universe, seed: int | None = None) -> Counts:
    """The inputs behind rows of one method, probe, corpus and protocol, each once; ``seed``: of one sample only."""
    once = rows.take(np.unique(rows["input"], return_index=True)[1])
    status = once["status"]
    named = {name: code for code, name in enumerate(once.names["status"])}
    cells = cell_sizes(once)
    turns, words = universe.kept_in([cell for cell, _ in cells])
    return Counts(
        planned=len(once),
        total=sum(universe.size(*cell, planned, seed) for cell, planned in cells),
        parsed=int(readable(once).sum()),
        abstained=int((once["abstained"] == 1).sum()),
        errors=int((status == named.get("error", UNKNOWN)).sum()),
        missing=int((status == named.get("missing", UNKNOWN)).sum()),
        turns_kept=turns,
        words_kept=words,
    )


def cell_sizes(rows: Scores) -> list[tuple[tuple[str, str, str, str, float | None], int]]:
    """The (probe, corpus, protocol, method, ratio) cells that rows belong to, with the number of rows."""
    code = np.unique(np.nan_to_num(rows["ratio"], nan=-1.0), return_inverse=True)[1]
    columns = ("probe", "corpus", "protocol", "method")
    for name in columns:
        code = code.astype(np.int64) * len(rows.names[name]) + rows[name]
    out = []
    for first, size in zip(*np.unique(code, return_index=True, return_counts=True)[1:], strict=True):
        probe, corpus, protocol, method = (rows.names[name][rows[name][first]] for name in columns)
        ratio = float(rows["ratio"][first])
        out.append(((probe, corpus, protocol, method, None if math.isnan(ratio) else ratio), int(size)))
    return out


def ordered_methods(plans: Iterable[Plan]) -> list[str]:
    """The methods that occur in any column, in display order."""
    found = {name for plan in plans for name in plan.rows.present("method")}
    return sorted(found - set(DELETIONS), key=method_rank)


def sample_of(rows: Scores, measure: Measure) -> Sample:
    """The rows of a measure as a bootstrap sample over source dialogues, in input order."""
    rows = rows.input_order()
    counted = None if measure.among is None else measure.among(rows) == 1
    return Sample(measure.values(rows), rows["seed"], rows.coded("dialogue_id"), counted)


def method_rows(
    plans: Sequence[Plan],
    universe: Universe,
    *,
    methods: Sequence[str] | None = None,
    unranked: Sequence[str] = KV_METHODS,
    recipe: Recipe | None = None,
) -> tuple[Row, ...]:
    """Computes every cell, marks the best compressed entries, and adds intervals on request.

    Args:
        methods: the rows; by default the methods that occur.
        unranked: methods that are shown and never marked as best, besides the reference methods.
        recipe: how intervals are drawn; ``None`` for no intervals.
    """
    chosen = ordered_methods(plans) if methods is None else list(methods)
    table: list[dict[str, Cell]] = []
    for plan in plans:
        cells: dict[str, Cell] = {}
        for method in chosen:
            rows = plan.rows.pick(method=method)
            if len(rows):
                counts = counts_of(rows, universe, plan.seed)
                numbers = [replace(over_seeds(rows, measure), counts=counts) for measure in plan.measures]
                cells[method] = Cell(tuple(numbers))
            else:
                cells[method] = Cell(tuple(Number(None, why="not run") for _ in plan.measures))
        ranked = [m for m in chosen if m not in REFERENCE_METHODS and m not in unranked]
        table.append(_marked(cells, plan.measures, ranked))
    if recipe is not None:
        _add_intervals(table, plans, recipe)
    return tuple(
        Row(method, method_label(method), tuple(c[method] for c in table), method in REFERENCE_METHODS)
        for method in chosen
    )


def _marked(cells: Mapping[str, Cell], measures: Sequence[Measure], ranked: Sequence[str]) -> dict[str, Cell]:
    marked = dict(cells)
    for place, measure in enumerate(measures):
        if not measure.bold or measure.among is not None:
            continue
        marks = best([cells[method].numbers[place].value for method in ranked])
        for method, is_best in zip(ranked, marks, strict=True):
            if is_best:
                numbers = list(marked[method].numbers)
                numbers[place] = replace(numbers[place], best=True)
                marked[method] = replace(marked[method], numbers=tuple(numbers))
    return marked


def _add_intervals(table: list[dict[str, Cell]], plans: Sequence[Plan], recipe: Recipe) -> None:
    places: list[tuple[int, str, int]] = []
    samples: list[Sample] = []
    for index, plan in enumerate(plans):
        for method, cell in table[index].items():
            rows = plan.rows.pick(method=method)
            for place, measure in enumerate(plan.measures):
                if cell.numbers[place].value is not None:
                    places.append((index, method, place))
                    samples.append(sample_of(rows, measure))
    for (index, method, place), interval in zip(places, intervals(samples, recipe or OWN), strict=True):
        cell = table[index][method]
        numbers = list(cell.numbers)
        numbers[place] = replace(numbers[place], interval=interval)
        table[index][method] = replace(cell, numbers=tuple(numbers))


def ratio_text(ratio: float | None) -> str:
    """A nominal ratio with two decimals, or as many as it has."""
    if ratio is None:
        return "adaptive"
    return f"{ratio:.2f}" if abs(ratio - round(ratio, 2)) < 1e-9 else f"{ratio:g}"


def ratio_key(ratio: float | None) -> str:
    """A ratio in a column key: "r030"; "r0125" for 0.125; "adaptive" where there is none."""
    return ratio_text(ratio) if ratio is None else "r" + ratio_text(ratio).replace(".", "")


def input_notes(plans: Sequence[Plan], rows: Sequence[Row]) -> list[str]:
    """Sentences on inputs outside the plan, reader errors and missing answers behind the cells of a table."""
    notes = []
    if any(cell.counts is not None and not cell.counts.complete for row in rows for cell in row.cells):
        notes.append("(n of N): n of the N inputs of this cell in the release were answered.")
    for what, status in (("Reader errors", "error"), ("Missing answers", "missing")):
        found = {}
        for row in rows:
            inputs: set[int] = set()
            for plan in plans:
                chosen = plan.rows.is_in("method", [row.key]) & plan.rows.is_in("status", [status])
                inputs.update(plan.rows["input"][chosen].tolist())
            if inputs:
                found[row.label] = len(inputs)
        if found:
            listed = ", ".join(f"{label} {count}" for label, count in found.items())
            notes.append(f"{what}, counted as wrong: {listed}.")
    return notes


def marks_note(rows: Sequence[Row]) -> list[str]:
    """Says what italic and bold mean, once more than the full context is a point of reference."""
    references = [row.label for row in rows if row.reference]
    if len(references) > 1:
        return [f"Italic: points of reference ({', '.join(references)}), never ranked. Bold: best compressed method."]
    return []
