"""Arrow schemas of every table in a release and in a run folder: the one place that names the columns.

Source: design page "A release is a folder". Text columns are strings whatever they look like ("007", "None",
dates), so no reader has to guess a type.
"""

from __future__ import annotations

import pyarrow as pa

SCHEMA_VERSION = 1
"""Raised whenever a column is added, removed or changes meaning; a newer release than this is refused."""

_TURN_IDS = pa.list_(pa.int32())
_STRINGS = pa.list_(pa.string())
_MESSAGE = pa.struct([("role", pa.string()), ("content", pa.string())])

DIALOGUES = pa.schema(
    [
        ("dialogue_id", pa.string()),
        ("corpus", pa.string()),
        ("language", pa.string()),  # BCP 47: "en", "zh"
        ("n_turns", pa.int32()),
        ("speakers", _STRINGS),  # "user" or "system", one per turn
        ("texts", _STRINGS),
        ("states", _STRINGS),  # JSON text per turn; "null" where the corpus annotates nothing
    ]
)

PROBE = pa.schema(
    [
        ("input_id", pa.string()),
        ("example_id", pa.string()),
        ("corpus", pa.string()),
        ("language", pa.string()),
        ("dialogue_id", pa.string()),
        ("sample_seeds", pa.list_(pa.int64())),
        ("slot", pa.string()),
        ("slot_label", pa.string()),
        ("old_value", pa.string()),
        ("reference_goal", pa.string()),
        ("reference_value", pa.string()),
        ("value_alternatives", _STRINGS),
        ("update_turn", pa.int32()),
        ("answer_turns", _TURN_IDS),
        ("transition_type", pa.string()),
        ("alias_equivalent", pa.bool_()),
        ("method", pa.string()),
        ("method_config", pa.string()),
        ("selector_seed", pa.int64()),
        ("ratio", pa.float64()),  # nominal retained fraction of turns, (0, 1]
        ("n_turns", pa.int32()),
        ("k_turns", pa.int32()),
        ("kept_turns", _TURN_IDS),
        ("context", pa.string()),
        ("context_words", pa.int32()),  # white-space words
        ("full_context_words", pa.int32()),
        ("prompt", pa.list_(_MESSAGE)),
        ("template", pa.string()),
        ("protocol", pa.string()),
    ]
)
"""`initial_goal`, `current_value` and `joint_recovery`: one row is one frozen reader input."""

FREE_FORM = pa.schema(
    [
        *PROBE,
        ("question", pa.string()),  # what the reader is asked, in full
        ("reference_answer", pa.string()),
        ("old_answer", pa.string()),  # the answer before the update, empty where there was none
        ("boundary_turns", _TURN_IDS),  # where the answer changes, or a second decision is made
        ("support_turns", _TURN_IDS),  # the turns that state or confirm the answer
        ("distractor_turns", _TURN_IDS),  # turns that invite a wrong answer
    ]
)
"""`free_form`: a probe row whose references are an answer instead of a goal and a value."""

RUNS = pa.schema(
    [
        ("run_id", pa.string()),  # reader slug + "-" + 8 hex of the settings hash
        ("role", pa.string()),
        ("reader", pa.string()),  # the name the user typed
        ("model_id", pa.string()),
        ("model_revision", pa.string()),
        ("backend", pa.string()),  # "transformers", "openai", "import"
        ("dtype", pa.string()),
        ("attention", pa.string()),
        ("max_input_tokens", pa.int32()),
        ("max_new_tokens", pa.int32()),
        ("truncation_side", pa.string()),  # "left" or "right"
        ("system_role", pa.string()),  # "native" or "folded" (into the user message)
        ("decoding", pa.string()),  # "greedy"
        ("stop_token_ids", pa.list_(pa.int64())),
        ("pad_token_id", pa.int64()),
        ("template_hash", pa.string()),  # sha256 of the chat template text
        ("first_token_ids", pa.list_(pa.int64())),  # first 8 ids of the first planned prompt
        ("last_token_ids", pa.list_(pa.int64())),  # last 8 ids of the first planned prompt
        ("demonstration", pa.string()),  # worked example before every prompt, null = none
        ("kv_settings", pa.string()),  # JSON text, null unless the cache is compressed
        ("seed", pa.int64()),
        ("batch_plan", pa.string()),  # e.g. "length-sorted, batch_size=8"
        ("library_versions", pa.string()),  # JSON text
        ("device", pa.string()),
        ("release_digest", pa.string()),
        ("n_planned", pa.int64()),
    ]
)

OUTPUTS = pa.schema(
    [
        ("run_id", pa.string()),
        ("input_id", pa.string()),
        ("method", pa.string()),
        ("ratio", pa.float64()),
        ("text", pa.string()),  # as generated: never cut, cleaned or repaired
        ("text_source", pa.string()),  # "raw"; "json_span" or "rebuilt" only from an import
        ("error", pa.string()),
        ("finish_reason", pa.string()),  # "stop", "length" or "error"
        ("input_truncated", pa.bool_()),
        ("prompt_tokens", pa.int32()),
        ("output_tokens", pa.int32()),
        ("attempts", pa.int32()),
    ]
)

JUDGMENTS = pa.schema(
    [
        ("judgment_id", pa.string()),
        ("run_id", pa.string()),
        ("reference", pa.string()),
        ("answer", pa.string()),
        ("label", pa.string()),  # "equivalent", "not_equivalent", "uncertain"
        ("reason", pa.string()),
        ("prompt_hash", pa.string()),
    ]
)

PLAN = pa.schema(
    [
        ("input_id", pa.string()),
        ("probe", pa.string()),
        ("method", pa.string()),
        ("ratio", pa.float64()),
        ("prompt_hash", pa.string()),  # prompt_hash() of the messages: equal prompts are answered once
        ("prompt_tokens", pa.int32()),
        ("batch", pa.int32()),  # batch number of the prompt, the same for every input that shares it
    ]
)
"""`plan.parquet` of a run folder: the denominator of the run, in output order."""

CACHE = pa.schema(
    [
        ("input_id", pa.string()),
        ("context_tokens", pa.int32()),
        ("entries", pa.list_(pa.int32())),  # per layer, after the context was read
        ("passed_whole", pa.bool_()),  # the context was too short to be compressed
    ]
)
"""`cache.parquet` of a run folder whose reader compressed its cache, in plan order, inputs with an error left out."""

PROBE_CONFIGS = ("initial_goal", "current_value", "joint_recovery")
INPUT_CONFIGS = (*PROBE_CONFIGS, "free_form")
"""The configs whose rows are reader inputs."""

CONFIGS: dict[str, pa.Schema] = {
    "dialogues": DIALOGUES,
    "initial_goal": PROBE,
    "current_value": PROBE,
    "joint_recovery": PROBE,
    "free_form": FREE_FORM,
    "runs": RUNS,
    "outputs": OUTPUTS,
    "judgments": JUDGMENTS,
}
"""Config name -> schema; a config is the folder ``data/<name>/`` with the one split ``test``."""
