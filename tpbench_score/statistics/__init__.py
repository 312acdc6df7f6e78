"""Statistics: small pure functions, each with its definition, unit of clustering and source in the docstring.

They work on per-item records or on cell values and never parse an answer. An undefined result is ``None``, never
NaN, so no writer has to guess.
"""

from __future__ import annotations

from tpbench_score.statistics.agreement import Confusion
from tpbench_score.statistics.bootstrap import (
    OWN,
    PUBLISHED,
    Interval,
    Recipe,
    Sample,
    corpus_interval,
    gap_intervals,
    intervals,
)
from tpbench_score.statistics.crossing import crossing_weight
from tpbench_score.statistics.paired import PairedFlips, mcnemar_exact, paired_flips
from tpbench_score.statistics.ranks import average_ranks, best, spearman
from tpbench_score.statistics.seeds import sample_sd, seed_mean
from tpbench_score.statistics.wilson import wilson_interval

__all__ = [
    "OWN",
    "PUBLISHED",
    "Confusion",
    "Interval",
    "PairedFlips",
    "Recipe",
    "Sample",
    "average_ranks",
    "best",
    "corpus_interval",
    "crossing_weight",
    "gap_intervals",
    "intervals",
    "mcnemar_exact",
    "paired_flips",
    "sample_sd",
    "seed_mean",
    "spearman",
    "wilson_interval",
]
