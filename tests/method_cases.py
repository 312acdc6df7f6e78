"""The one list of methods that every property test runs over: a new method is tested by one more line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tiny_features import tiny_encoder, tiny_llmlingua2
from tiny_models import tiny_model, tiny_tokenizer

from tpbench_data.selectors import SELECTORS, Selector
from tpbench_data.selectors.settings import parse_method
from tpbench_generate.selectors import MODEL_SELECTORS


@dataclass(frozen=True)
class TinyModels:
    """Model settings of tiny models with random weights."""

    encoder: str
    language_model: str
    labeller: str


@dataclass(frozen=True)
class Case:
    """A method with its settings; ``splits_words`` = it needs spaces between words."""

    text: str
    splits_words: bool = False

    def make(self, models: Callable[[], TinyModels]) -> Selector:
        """The method, with tiny models in place of {encoder}, {lm} and {labeller}."""
        text = self.text
        if "{" in text:
            tiny = models()
            text = text.format(encoder=tiny.encoder, lm=tiny.language_model, labeller=tiny.labeller)
        return parse_method(text, SELECTORS | MODEL_SELECTORS)


CASES = [
    *(Case(name) for name in SELECTORS),
    Case("random(seed=7)"),
    Case("bm25(k1=2.0, b=0.0)"),
    Case("h2o_proxy(model={lm}, max_tokens=256)"),
    Case("h2o_proxy(model={lm}, max_tokens=64, long=windows)"),
    Case("embedding_mmr(model={encoder})"),
    Case("embedding_mmr(model={encoder}, max_tokens=16, trade_off=0.9)"),
    Case("dense_topk(model={encoder})"),
    Case("dycp(model={encoder})"),
    Case("dycp(model={encoder}, tau=0.1, theta=0.0)"),
    Case("dycp_budget(model={encoder})"),
    Case("llmlingua2(model={labeller}, token_counts=words)", splits_words=True),
    Case("llmlingua2(model={labeller}, token_counts=words, mode=per_dialogue, rate=0.3)"),
]

every_method = pytest.mark.parametrize("case", CASES, ids=lambda case: case.text)


def make_tiny_models(folder: Path) -> TinyModels:
    """Writes the tiny models below a folder."""
    return TinyModels(
        encoder=f"hf:{tiny_encoder(folder / 'sentences')}",
        language_model=f"hf:{tiny_model(folder / 'lm', tiny_tokenizer(None), positions=256)}",
        labeller=f"hf:{tiny_llmlingua2(folder / 'labels')}",
    )
