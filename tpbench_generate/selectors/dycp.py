"""DyCP: contiguous spans of turns that are relevant to the question, as many as clear a threshold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import ClassVar

from tpbench_data.selectors.base import SelectionInput, Size
from tpbench_generate.selectors.encoder import EncoderSelector
from tpbench_generate.selectors.spans import Span, best_window, spans_by_gain, standardised


@dataclass(frozen=True)
class SpanSelector(EncoderSelector):
    """What both DyCP variants share: gains of turns and the spans with the largest sums.

    A turn's gain is the z-score of its similarity to the question, less tau.

    Attributes:
        model: The encoder: `minilm-l6-v2`, or `hf:` with a hub id or folder of a sentence-transformers model.
        max_tokens: Tokens of a turn that are read; none = the encoder's limit.
        tau: Shift of the gains, in standard deviations.
    """

    paper: ClassVar[str] = "DyCP (KadaneDial), arXiv:2601.07994"

    tau: float = 0.6

    def gains(self, item: SelectionInput) -> list[float]:
        """One float per turn; positive = more relevant than tau standard deviations above the mean."""
        return [score - self.tau for score in standardised(self.relevance(item))]


@dataclass(frozen=True)
class DyCP(SpanSelector):
    """Keeps the best span, then every further one whose gain reaches theta; the share kept is its own choice.

    A span of L turns is kept if its mean z-score is at least tau + theta / L: an isolated turn needs more than one
    inside a relevant stretch.

    Attributes:
        model: The encoder: `minilm-l6-v2`, or `hf:` with a hub id or folder of a sentence-transformers model.
        max_tokens: Tokens of a turn that are read; none = the encoder's limit.
        tau: Shift of the gains, in standard deviations.
        theta: Least gain of every span but the first.
    """

    name: ClassVar[str] = "dycp"
    summary: ClassVar[str] = "spans of turns relevant to the question, as many as clear a threshold (no ratio)"
    size: ClassVar[Size] = "adaptive"

    theta: float = 1.0

    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        """The turns of the chosen spans."""
        return chain.from_iterable(range(span.first, span.last + 1) for span in self.spans(item))

    def spans(self, item: SelectionInput) -> list[Span]:
        """The chosen spans, best first."""
        found = spans_by_gain(self.gains(item))
        first = next(found)
        return [first, *takewhile(lambda span: span.gain >= self.theta, found)]


@dataclass(frozen=True)
class DyCPBudget(SpanSelector):
    """Takes spans in DyCP's order until k turns are kept; of the last span the best consecutive turns that fit.

    Where DyCP would stop, it goes on with the next best span, down to single turns of negative gain.

    Attributes:
        model: The encoder: `minilm-l6-v2`, or `hf:` with a hub id or folder of a sentence-transformers model.
        max_tokens: Tokens of a turn that are read; none = the encoder's limit.
        tau: Shift of the gains, in standard deviations.
    """

    name: ClassVar[str] = "dycp_budget"
    summary: ClassVar[str] = "spans of turns relevant to the question, filled or trimmed to k turns"

    def pick(self, item: SelectionInput, k: int) -> Iterable[int]:
        """The turns of the best spans, k in all."""
        gains = self.gains(item)
        kept: list[int] = []
        for span in spans_by_gain(gains):
            kept += best_window(gains, span, min(len(span), k - len(kept)))
            if len(kept) == k:
                break
        return kept
