"""Table 2: what was compared with what, read off the scored outputs."""

from __future__ import annotations

import numpy as np

from tpbench_data.names import PROBE_LABELS, PROBES, ROLES, corpus_label
from tpbench_score.sample_seeds import NO_SEED
from tpbench_score.tables.grid import REFERENCE_METHODS, ratio_text
from tpbench_score.tables.main import corpora_of
from tpbench_score.tables.model import Cell, Column, Row, TableResult
from tpbench_score.tables.scores import Scores
from tpbench_score.tables.study import Study

_COLUMNS = tuple(
    Column(key, label, accuracy=False)
    for key, label in (
        ("reader", "Reader"),
        ("protocol", "Protocol"),
        ("ratios", "Ratios"),
        ("sample", "Items per sample seed"),
        ("conditions", "Conditions"),
        ("scorer", "Scorer"),
    )
)


def _sample(rows: Scores) -> str:
    sizes = []
    for seed in rows.seeds():
        examples = len(np.unique(rows.at_seed(seed)["example_id"]))
        sizes.append(str(examples) if seed == NO_SEED else f"{seed}: {examples}")
    return ", ".join(sizes)


def _conditions(rows: Scores) -> str:
    methods = rows.present("method")
    compared = [m for m in methods if m not in REFERENCE_METHODS]
    references = len(methods) - len(compared)
    return f"{len(compared)} methods" + (f" + {references} of reference" if references else "")


def table_2(study: Study) -> list[TableResult]:
    """One row per role, probe, corpus, reader and protocol."""
    rows = []
    scores = study.scores
    probes = [*PROBES, *(p for p in scores.present("probe") if p not in PROBES)]
    roles = [*ROLES, *(r for r in scores.present("role") if r not in ROLES)]
    for role in roles:
        for probe in probes:
            part = scores.pick(role=role, probe=probe)
            for corpus in corpora_of(part):
                for reader in part.pick(corpus=corpus).present("reader"):
                    for protocol in part.pick(corpus=corpus, reader=reader).present("protocol"):
                        mine = part.pick(corpus=corpus, reader=reader, protocol=protocol)
                        texts = (
                            reader,
                            protocol,
                            ", ".join(ratio_text(ratio) for ratio in mine.ratios()) or "adaptive",
                            _sample(mine),
                            _conditions(mine),
                            ", ".join(mine.present("scorer")),
                        )
                        label = f"{role} {PROBE_LABELS.get(probe, probe)} {corpus_label(corpus)}"
                        key = ".".join((role, probe, corpus, reader, protocol))
                        rows.append(Row(key, label, tuple(Cell(text=text) for text in texts)))
    return [TableResult(2, "Scope of each comparison", _COLUMNS, tuple(rows), head="Comparison")] if rows else []
