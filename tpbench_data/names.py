"""The vocabulary: probe, corpus, method and protocol names, in the order in which everything lists them.

Source: design page "Vocabulary"; labels and order of methods from scoring spec section 0.
"""

from __future__ import annotations

from typing import Literal

Probe = Literal["initial_goal", "current_value", "joint_recovery", "free_form"]
ProtocolName = Literal["paper", "matched"]
ValueRuleName = Literal["first", "disjoint"]
Role = Literal["main", "budgets", "deletion", "first_user_recent", "kv", "chunk_sweep", "corpus", "free_form", "judge"]

PROBES: tuple[Probe, ...] = ("initial_goal", "current_value", "joint_recovery")
INPUT_PROBES: tuple[Probe, ...] = (*PROBES, "free_form")
"""Every config whose rows are reader inputs."""
PROBE_LABELS: dict[str, str] = {
    "initial_goal": "P1",
    "current_value": "P2",
    "joint_recovery": "P3",
    "free_form": "Free-form",
}

TRANSITION_TYPES = ("replace_value", "add_constraint", "remove_constraint", "switch_goal", "return_value")

ROLES: tuple[Role, ...] = (
    "main",
    "budgets",
    "deletion",
    "first_user_recent",
    "kv",
    "chunk_sweep",
    "corpus",
    "free_form",
    "judge",
)

CORPUS_LABELS: dict[str, str] = {
    "sgd": "SGD",
    "multiwoz": "MultiWOZ",
    "risawoz": "RiSAWOZ",
    "lme_ku": "LongMemEval-KU",
    "fmts": "FMTS",
    "tpbench_en": "TPBench-en",
    "tpbench_zh": "TPBench-zh",
}

METHOD_LABELS: dict[str, str] = {
    "full_context": "Full context",
    "no_context": "No context",
    "oracle_evidence": "Oracle evidence",
    "recency": "Recency",
    "random": "Random selection",
    "first_turns": "Earliest turns",
    "uniform_stride": "Uniform stride",
    "h2o_proxy": "Attention/H2O proxy",
    "embedding_mmr": "Embedding MMR",
    "llmlingua2": "LLMLingua-2",
    "first_user_recent": "First user + recent",
    "bm25": "BM25",
    "dense_topk": "Dense top-k",
    "dycp": "DyCP",
    "dycp_budget": "DyCP (matched budget)",
    "drop_update": "Update turn deleted",
    "drop_update_control": "Control for update turn",
    "drop_evidence": "Update + answer turns deleted",
    "drop_evidence_control": "Control for all evidence",
    "chunkkv": "ChunkKV",
    "snapkv": "SnapKV",
    "pyramidkv": "PyramidKV",
    "streamingllm": "StreamingLLM",
}


def method_label(method: str) -> str:
    """The display name of a method; a user's own method is shown under its own name."""
    return METHOD_LABELS.get(method, method)


def corpus_label(corpus: str) -> str:
    """The display name of a corpus; a user's own corpus is shown under its own name."""
    return CORPUS_LABELS.get(corpus, corpus)


def method_rank(method: str) -> tuple[int, str]:
    """Sort key that puts methods in table order, unknown ones last by name."""
    order = list(METHOD_LABELS)
    return (order.index(method) if method in METHOD_LABELS else len(order), method)
