"""Score rows that have the counts of the published aggregates, so that our tables can be held against them.

An aggregate says how many answers of a cell are right, not which; so the rows here are right in any order that fits
all counts at once (strict within loose, parsed answers, excluded pairs, paired deletions). Every mean, deviation,
share, test and mark follows from counts; intervals over dialogues do not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from score_rows import row

Row = dict[str, Any]

METHODS = {
    "full_context": "full_context",
    "recency": "recency",
    "random_seed42": "random",
    "first_n": "first_turns",
    "uniform_stride": "uniform_stride",
    "attention_h2o_cache": "h2o_proxy",
    "embedding_mmr_cache": "embedding_mmr",
    "llmlingua2_cache": "llmlingua2",
    "first_user_recent": "first_user_recent",
    "chunkkv_r03_kvpress": "chunkkv",
    "chunkkv_r03_chunk10": "chunkkv",
    "chunkkv_r03_chunk20": "chunkkv",
    "chunkkv_r03_chunk40": "chunkkv",
    "snapkv_r03_kvpress": "snapkv",
    "pyramidkv_r03_kvpress": "pyramidkv",
    "streamingllm_r03_kvpress": "streamingllm",
    "cf_origin_minus_origin": "drop_update",
    "cf_origin_minus_control_origin": "drop_update_control",
    "cf_origin_minus_transition_support": "drop_evidence",
    "cf_origin_minus_control_support": "drop_evidence_control",
}
CORPORA = {
    "SGD": "sgd",
    "MultiWOZ": "multiwoz",
    "LongMemEval-KU": "lme_ku",
    "RiSAWOZ": "risawoz",
    "FMTS synthetic": "fmts",
    "FMTS MultiWOZ-derived": "fmts_multiwoz",
    "FMTS SGD-derived": "fmts_sgd",
}
READERS = {"Llama-3.1-8B-Instruct": "llama", "Mistral-7B-Instruct": "mistral", "GPT-5.4-mini": "gpt"}

Key = tuple[str, str, str, float | None]
"""(corpus, our method, metric, ratio)"""


class Paper:
    """The published aggregates by table."""

    def __init__(self, file: Path) -> None:
        self.all = json.loads(file.read_text("utf-8"))
        self.tables: dict[str, dict[str, Any]] = {t["table"]: t for t in self.all["tables"]}

    def rows(self, table: str, reader: str | None = None) -> list[Row]:
        """The aggregate rows of a table that name a method, of one reader where asked."""
        found = [r for r in self.tables[table]["rows"] if "method_id" in r and not r.get("missing")]
        return [r for r in found if reader is None or READERS.get(r["reader"]) == reader]

    def cells(self, table: str, reader: str | None = None) -> dict[Key, Row]:
        """Aggregate rows by what they measure; for rows of one ratio, ``None`` for the full context."""
        out: dict[Key, Row] = {}
        for r in self.rows(table, reader):
            if r["method_id"] in METHODS:
                ratio = r.get("budget_label") or r["ratio"]
                out[CORPORA[r["dataset"]], METHODS[r["method_id"]], r["metric"], ratio] = r
        return out


def counts(r: Mapping[str, Any]) -> list[int]:
    """Right answers per seed."""
    if "correct" in r:
        return list(r["correct"])
    if "count" in r:
        return [r["count"]]
    return [round(v * n) for v, n in zip(r["per_seed"], r["n"], strict=True)]


def seeds(r: Mapping[str, Any]) -> list[int]:
    """The sample seeds of an aggregate."""
    return list(r.get("seeds") or [42, 43, 44])


def examples(corpus: str, probe: str, seed: int, n: int) -> list[str]:
    """The example ids of a sample; every seed has its own."""
    return [f"{corpus}-{probe}-{seed}-{i:03d}" for i in range(n)]


def p1_rows(paper: Paper) -> Iterator[Row]:
    """Table 23 with the judged answers of Table 4."""
    cells, judged = paper.cells("23"), paper.cells("4")
    for (corpus, method, metric, ratio), r in cells.items():
        if metric != "P1-strict":
            continue
        loose = cells[corpus, method, "P1-loose", ratio]
        f1 = cells[corpus, method, "P1 token F1", ratio]["per_seed"]
        equivalent = judged.get((corpus, method, "P1 full equivalence", ratio))
        for place, seed in enumerate(seeds(r)):
            for i, example in enumerate(examples(corpus, "p1", seed, r["n"][place])):
                answer = "unjudged" if equivalent is None else "same" if i < counts(equivalent)[place] else "other"
                yield row(
                    example_id=example,
                    probe="initial_goal",
                    corpus=corpus,
                    reader="llama",
                    run_id="llama-main",
                    method=method,
                    sample_seeds=[seed],
                    strict=i < counts(r)[place],
                    loose=i < counts(loose)[place],
                    token_f1=f1[place],
                    answer=answer,
                )


def p2_rows(
    paper: Paper, table: str, reader: str, role: str, ratios: Sequence[float], run: str | None = None
) -> Iterator[Row]:
    """Tables 14, 17 and 24; the full context stands at every ratio."""
    cells = paper.cells(table, reader)
    for (corpus, method, metric, at), r in cells.items():
        if metric != "P2-strict":
            continue
        loose = cells[corpus, method, "P2-loose", at]
        for ratio in ratios if at is None else [at]:
            for place, seed in enumerate(seeds(r)):
                for i, example in enumerate(examples(corpus, "p2", seed, r["n"][place])):
                    yield row(
                        example_id=example,
                        corpus=corpus,
                        reader=reader,
                        run_id=run or f"{reader}-{role}",
                        role=role,
                        method=method,
                        ratio=ratio,
                        sample_seeds=[seed],
                        strict=i < counts(r)[place],
                        loose=i < counts(loose)[place],
                    )


def p3_rows(paper: Paper, reader: str) -> Iterator[Row]:
    """Tables 10, 18 and 25 with the pairs that Table 9 leaves out."""
    cells, kept = paper.cells("10", reader), paper.cells("9", reader)
    for (corpus, method, metric, ratio), r in cells.items():
        if metric != "P3-strict segment":
            continue

        def get(name: str, c: str = corpus, m: str = method, at: float | None = ratio) -> Row:
            return cells[c, m, name, at]

        strict_kept = kept[corpus, method, "P3-strict", ratio]
        loose_kept = kept[corpus, method, "P3-loose", ratio]
        for place, seed in enumerate(seeds(r)):
            yield from _p3_cell(
                corpus,
                method,
                reader,
                seed,
                n=r["n"][place],
                excluded=strict_kept["excluded"][place],
                strict=(counts(r)[place], counts(strict_kept)[place]),
                loose=(counts(get("P3-loose segment"))[place], counts(loose_kept)[place]),
                parsed=get("parse rate")["parsed"][place],
                whole=counts(get("P3-strict whole-field"))[place],
            )


def chunkkv_p3_rows(paper: Paper) -> Iterator[Row]:
    """The ChunkKV answers of Tables 9, 15 and 25."""
    cells, kept = paper.cells("25", "llama"), paper.cells("9", "llama")
    for corpus in ("sgd", "multiwoz"):
        strict, loose = (cells[corpus, "chunkkv", metric, 0.3] for metric in ("P3-strict", "P3-loose"))
        strict_kept, loose_kept = (kept[corpus, "chunkkv", m, 0.3] for m in ("P3-strict", "P3-loose"))
        for r in _p3_cell(
            corpus,
            "chunkkv",
            "llama",
            42,
            n=200,
            excluded=strict_kept["excluded"][0],
            strict=(counts(strict)[0], counts(strict_kept)[0]),
            loose=(counts(loose)[0], counts(loose_kept)[0]),
            parsed=200,
            whole=counts(strict)[0],
        ):
            yield r | {"role": "kv", "run_id": "llama-chunkkv"}


def _p3_cell(
    corpus: str,
    method: str,
    reader: str,
    seed: int,
    *,
    n: int,
    excluded: int,
    strict: tuple[int, int],
    loose: tuple[int, int],
    parsed: int,
    whole: int,
) -> Iterator[Row]:
    """``strict`` and ``loose``: (right in all, right among the kept). Kept examples come first."""
    kept = n - excluded
    right = {
        name: {*range(of_kept), *range(kept, kept + total - of_kept)}
        for name, (total, of_kept) in (("strict", strict), ("loose", loose))
    }
    read = right["strict"] | right["loose"]
    rest = [i for i in range(n) if i not in read]
    read |= set(rest[: parsed - len(read)])
    assert len(read) == parsed
    for i, example in enumerate(examples(corpus, "p3", seed, n)):
        yield row(
            example_id=example,
            probe="joint_recovery",
            corpus=corpus,
            reader=reader,
            run_id=f"{reader}-main",
            method=method,
            sample_seeds=[seed],
            strict=i in right["strict"],
            loose=i in right["loose"],
            parsed=i in read,
            whole_strict=i < whole,
            whole_loose=i < whole,
            alias_equivalent=i >= kept,
        )


def deletion_rows(paper: Paper) -> Iterator[Row]:
    """Tables 11, 12 and 13: items whose joint right-or-wrong patterns give the published paired counts."""
    cells, said = paper.cells("12"), paper.cells("13")
    for paired in paper.tables["12"]["paired"]:
        corpus = CORPORA[paired["dataset"]]
        update = paired["comparison"].startswith("update")
        names = ("drop_update", "drop_update_control") if update else ("drop_evidence", "drop_evidence_control")
        full_n = cells[corpus, "full_context", "P2-strict", None]["n"][0]
        full_right = counts(cells[corpus, "full_context", "P2-strict", None])[0]
        ids = examples(corpus, "p2", 42, full_n)
        # Items without a control are taken from both ends: some right from the full context, some wrong.
        right = ids[: paired["full_context_correct"]]
        wrong = ids[full_right : full_right + paired["n"] - len(right)]
        totals = {name: counts(cells[corpus, name, "P2-strict", None])[0] for name in names}
        patterns = _patterns(paired, totals[names[0]], totals[names[1]])
        flags = dict(zip([*right, *wrong], patterns, strict=True))
        conditions: dict[str, dict[str, bool]] = {
            name: {item: pattern[place] for item, pattern in flags.items()} for place, name in enumerate(names)
        }
        if update:
            conditions["full_context"] = {item: i < full_right for i, item in enumerate(ids)}
        for name, items in conditions.items():
            loose = counts(cells[corpus, name, "P2-loose", None])[0]
            old = said.get((corpus, name, "superseded-value rate", None))
            silent = counts(said[corpus, name, "explicit no-answer rate", None])[0]
            ranked = sorted(items, key=lambda item, found=items: not found[item])  # type: ignore[misc]
            for i, item in enumerate(ranked):
                yield row(
                    example_id=item,
                    corpus=corpus,
                    reader="llama",
                    run_id="llama-deletion",
                    role="deletion",
                    method=name,
                    strict=items[item],
                    loose=i < loose,
                    abstained=len(items) - i <= silent,
                    superseded=None if old is None else len(items) - i <= old["count_inferred"],
                )


def _patterns(paired: Mapping[str, int], deletion_right: int, control_right: int) -> list[tuple[bool, bool]]:
    """(right after the deletion, right under the control) per item, those right from the full context first."""
    only_deletion, only_control = paired["deletion_only"], paired["control_only"]
    neither = paired["deletion_flips"] - only_deletion
    assert paired["control_flips"] == only_control + neither
    both = paired["full_context_correct"] - only_deletion - only_control - neither
    first = [(False, True)] * only_deletion + [(True, False)] * only_control
    first += [(False, False)] * neither + [(True, True)] * both
    late_deletion = paired["all_items_deletion_wrong_control_right"] - only_deletion
    late_control = paired["all_items_deletion_right_control_wrong"] - only_control
    late_both = deletion_right - both - only_control - late_control
    assert control_right == both + only_deletion + late_deletion + late_both
    rest = paired["n"] - paired["full_context_correct"] - late_deletion - late_control - late_both
    second = [(False, True)] * late_deletion + [(True, False)] * late_control
    return [*first, *second, *[(True, True)] * late_both, *[(False, False)] * rest]


def matched_rows(paper: Paper) -> Iterator[Row]:
    """Table 8: P3 of the separate first-user-plus-recent run."""
    cells = paper.cells("8")
    for (corpus, method, metric, ratio), r in cells.items():
        if metric != "P3-strict":
            continue
        loose = cells[corpus, method, "P3-loose", ratio]
        for place, seed in enumerate(seeds(r)):
            for i, example in enumerate(examples(corpus, "p3", seed, r["n"][place])):
                yield row(
                    example_id=example,
                    probe="joint_recovery",
                    corpus=corpus,
                    reader="llama",
                    run_id="llama-matched",
                    role="first_user_recent",
                    method=method,
                    sample_seeds=[seed],
                    strict=i < counts(r)[place],
                    loose=i < counts(loose)[place],
                    parsed=True,
                )


def cache_rows(paper: Paper) -> Iterator[Row]:
    """Tables 15 and 16: P2 of the cache methods, and of ChunkKV at three chunk lengths."""
    for r in paper.rows("15") + paper.rows("16"):
        if r["metric"] != "P2-strict" or r["method_id"] not in METHODS or r.get("run", "").startswith("sweep"):
            continue
        corpus, method, length = CORPORA[r["dataset"]], METHODS[r["method_id"]], r.get("chunk_length")
        same = [x for x in paper.rows("16") if x["method_id"] == r["method_id"]]
        malformed = [x for x in same if x["metric"] == "malformed output rate"]
        silent = [x for x in same if x["metric"] == "no-answer rate"]
        bad, quiet = (counts(x[0])[0] if x and length else 0 for x in (malformed, silent))
        n = r["n"][0]
        for i, example in enumerate(examples(corpus, "p2", 42, n)):
            failed, abstained = n - i <= bad, bad < n - i <= bad + quiet
            yield row(
                example_id=example,
                corpus=corpus,
                reader="llama",
                run_id=f"llama-sweep-{length}" if length else f"llama-{method}",
                role="chunk_sweep" if length else "kv",
                method=method,
                strict=i < counts(r)[0],
                loose=i < counts(r)[0],
                abstained=abstained,
                status="error" if failed else "ok",
            )


def corpus_rows(paper: Paper) -> Iterator[Row]:
    """Tables 19 and 20: five selector seeds of random selection, one sample."""
    for table in ("19", "20"):
        for (corpus, method, metric, _), r in paper.cells(table).items():
            if metric != "P2-strict":
                continue
            for place, n in enumerate(r["n"]):
                for i, example in enumerate(examples(corpus, "p2", 42, n)):
                    yield row(
                        example_id=example,
                        corpus=corpus,
                        reader="llama",
                        run_id="llama-corpus",
                        role="corpus",
                        method=method,
                        selector_seed=42 + place if method == "random" else None,
                        strict=i < counts(r)[place],
                    )


def free_form_rows(paper: Paper) -> Iterator[Row]:
    """Table 21."""
    for (corpus, method, _, ratio), r in paper.cells("21").items():
        for i, example in enumerate(examples(corpus, "ff", 42, r["n"][0])):
            yield row(
                example_id=example,
                probe="free_form",
                corpus=corpus,
                reader="gpt",
                run_id="gpt-free-form",
                role="free_form",
                method=method,
                ratio=ratio,
                strict=i < counts(r)[0],
            )
