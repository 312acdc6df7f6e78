"""The artifact's names and ours (layout section 0)."""

from __future__ import annotations

from tpbench_data.names import Probe

PROBES: dict[str, Probe] = {"P1": "initial_goal", "P3": "current_value", "P1_LATE": "joint_recovery"}
"""``probe_type`` of rows -> probe; the artifact's P3 is the paper's P2."""

PAPER_PROBES: dict[str, Probe] = {"P1": "initial_goal", "P2": "current_value", "P3": "joint_recovery"}
"""``probe`` and ``paper_probe`` of later files -> probe."""

FILE_PROBES: dict[str, Probe] = {"p1": "initial_goal", "p3": "current_value", "late_intent": "joint_recovery"}
"""Tag in a file name -> probe."""

CORPORA = {
    "sgd": "sgd",
    "multiwoz": "multiwoz",
    "mw": "multiwoz",
    "lme_ku": "lme_ku",
    "risawoz": "risawoz",
    "fmts_indirect": "fmts",
}
"""Data set of rows and file names -> corpus."""

LANGUAGES = {"risawoz": "zh"}
"""Corpora that are not in English."""

SELECTORS = {
    "full_context": "full_context",
    "recency": "recency",
    "first_n": "first_turns",
    "uniform_stride": "uniform_stride",
    "attention_h2o_cache": "h2o_proxy",
    "embedding_mmr_cache": "embedding_mmr",
    "llmlingua2_cache": "llmlingua2",
    "first_user_recent": "first_user_recent",
    "cf_origin_minus_origin": "drop_update",
    "cf_origin_minus_control_origin": "drop_update_control",
    "cf_origin_minus_transition_support": "drop_evidence",
    "cf_origin_minus_control_support": "drop_evidence_control",
}
"""Methods that make a context."""

KV_METHODS = {
    "chunkkv_r03_kvpress": ("chunkkv", None),
    "chunkkv_r03_chunk10": ("chunkkv", 10),
    "chunkkv_r03_chunk20": ("chunkkv", 20),
    "chunkkv_r03_chunk40": ("chunkkv", 40),
    "snapkv_r03_kvpress": ("snapkv", None),
    "pyramidkv_r03_kvpress": ("pyramidkv", None),
    "streamingllm_r03_kvpress": ("streamingllm", None),
}
"""Methods that compress the cache of a reader of the full context -> (our name, chunk length where it is swept)."""

READERS = {"llama": "llama-3.1-8b-instruct", "mistral": "mistral-7b-instruct"}
"""Reader in file names -> reader."""

_RANDOM = "random_seed"
PUBLISHED_SELECTOR_SEED = 42


def selector(method: str) -> tuple[str, str, int | None] | None:
    """(method, its settings as we print them, selector seed) of a selector; ``None`` for an unknown name."""
    if method in SELECTORS:
        return SELECTORS[method], SELECTORS[method], None
    digits = method.removeprefix(_RANDOM)
    if method.startswith(_RANDOM) and digits.isascii() and digits.isdigit():
        seed = int(digits)
        return "random", "random" if seed == PUBLISHED_SELECTOR_SEED else f"random(seed={seed})", seed
    return None


def source_dialogue(example_id: str) -> str:
    """The dialogue of an example: its id up to the question number."""
    return example_id.partition("__qa_")[0]
