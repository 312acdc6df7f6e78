"""The readers of the published experiments by name, with revision, limits, attention and truncation side as recorded.

A preset names the model and the settings; which inputs it answers is for the other options of `run` to say. What the
record leaves open stays at our default and is said in the summary. Source: construction spec 12.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LLAMA = "hf:meta-llama/Llama-3.1-8B-Instruct@0e9e39f249a16976918f6564b8830bc894c89659"
MISTRAL = "hf:mistralai/Mistral-7B-Instruct-v0.3@c170c708c41dac9275d15a8fff4eca08d52bab71"


@dataclass(frozen=True)
class Preset:
    """A reader of the paper.

    Attributes:
        summary: One line, with what the record leaves open.
        model: ``hf:ORG/NAME@REVISION``.
        options: Fields of `ReaderOptions`.
        batch_size: Most prompts of a batch; 1 = serial, as most conditions were.
        batch_tokens: Most padded tokens of a batch, None = no limit.
    """

    summary: str
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    batch_size: int = 1
    batch_tokens: int | None = None


def _options(new: int, attention: str, *, limit: int = 7168, side: str = "left") -> dict[str, Any]:
    return {
        "max_new_tokens": new,
        "max_input_tokens": limit,
        "truncation_side": side,
        "dtype": "bfloat16",
        "attention": attention,
    }


PRESETS: dict[str, Preset] = {
    "paper-llama-p1": Preset(
        "the paper's Llama 3.1 8B for P1 and the matched baselines of P1 and P2",
        LLAMA,
        _options(96, "eager"),
        batch_size=8,
        batch_tokens=8000,
    ),
    "paper-llama-p2": Preset("the paper's Llama for P2 at ratios .1 and .3", LLAMA, _options(96, "eager")),
    "paper-llama-p2-large": Preset(
        "the paper's Llama for P2 at ratios .5 and .7; attention is not on record, sdpa is assumed",
        LLAMA,
        _options(128, "sdpa"),
    ),
    "paper-llama-p3": Preset("the paper's Llama for P3 and for deletion", LLAMA, _options(128, "sdpa")),
    "paper-llama-p3-matched": Preset(
        "the paper's Llama for the matched baselines of P3", LLAMA, _options(128, "sdpa"), batch_size=8
    ),
    "paper-mistral-p2": Preset(
        "the paper's Mistral 7B v0.3 for P2; the revision is that of the re-runs, the first is not on record",
        MISTRAL,
        _options(128, "sdpa"),
    ),
    "paper-mistral-p3": Preset(
        "the paper's Mistral 7B v0.3 for P3; revision as for P2", MISTRAL, _options(128, "eager")
    ),
    "paper-lme-ku": Preset("the paper's Llama for LongMemEval-KU", LLAMA, _options(128, "sdpa", limit=32768)),
    "paper-risawoz": Preset("the paper's Llama for RiSAWOZ", LLAMA, _options(128, "eager")),
    "paper-chunkkv": Preset("the paper's Llama under --kv chunkkv for P3", LLAMA, _options(128, "eager", side="right")),
    "paper-kv": Preset(
        "the paper's Llama under --kv snapkv, pyramidkv and streamingllm for P2",
        LLAMA,
        _options(128, "sdpa", side="right"),
    ),
}
"""Name -> preset, in the order of the paper's tables."""
