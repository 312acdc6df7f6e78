"""What makes two runs the same run.

A run id hashes every setting that can change an answer and nothing else: too few settings and one model's answers
pass for another's, too many (batch size, device) and nothing is ever found again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tpbench_data.canonical import canonical_json, sha256_hex
from tpbench_generate.readers.base import Environment, ReaderSettings

_ANSWER_FIELDS = (
    "role",
    "model_id",
    "model_revision",
    "backend",
    "dtype",
    "attention",
    "max_input_tokens",
    "max_new_tokens",
    "truncation_side",
    "system_role",
    "decoding",
    "stop_token_ids",
    "template_hash",
    "kv_settings",
    "demonstration",
    "seed",
)

_SETTLED_FIELDS = (*_ANSWER_FIELDS, "pad_token_id", "batch_plan", "release_digest")
"""What must not change between the parts of one run: also what fixes its batches and its inputs."""


def settings_columns(settings: ReaderSettings, role: str, demonstration: str | None = None) -> dict[str, Any]:
    """The columns of the `runs` table that come from reader, role and demonstration, `run_id` among them.

    A reader with a demonstration goes by another name, so that no table takes it for the bare one.
    """
    shown = f"+{demonstration}" if demonstration else ""
    stops = settings.stop_token_ids
    columns: dict[str, Any] = {
        "role": role,
        "reader": settings.reader + shown,
        "model_id": settings.model_id,
        "model_revision": settings.model_revision,
        "backend": settings.backend,
        "dtype": settings.dtype,
        "attention": settings.attention,
        "max_input_tokens": settings.max_input_tokens,
        "max_new_tokens": settings.max_new_tokens,
        "truncation_side": settings.truncation_side,
        "system_role": settings.system_role,
        "decoding": settings.decoding,
        "stop_token_ids": None if stops is None else list(stops),
        "pad_token_id": settings.pad_token_id,
        "template_hash": settings.template_hash,
        "kv_settings": settings.kv_settings,
        "demonstration": demonstration,
        "seed": settings.seed,
    }
    key = canonical_json({name: columns[name] for name in _ANSWER_FIELDS})
    return {"run_id": f"{settings.slug}-{sha256_hex(key)[:8]}", **columns}


def environment_columns(environment: Environment) -> dict[str, Any]:
    """The columns of the `runs` table that describe the machine."""
    return {
        "device": environment.device,
        "library_versions": canonical_json(dict(environment.library_versions)),
    }


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The settings in which two `runs` rows are not parts of one run, each as "NAME is X there and Y here"."""
    return [
        f"{name} is {_shown(before[name])} there and {_shown(now[name])} here"
        for name in _SETTLED_FIELDS
        if before[name] != now[name]
    ]


def joined_environment(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The environment columns of a run whose parts were made on different machines: every value that took part."""
    versions: dict[str, str] = json.loads(before["library_versions"])
    for name, version in json.loads(now["library_versions"]).items():
        versions[name] = _joined(versions.get(name), version)
    return {
        "device": _joined(before["device"], now["device"]),
        "library_versions": canonical_json(versions),
    }


def _joined(before: str | None, now: str) -> str:
    parts = before.split("; ") if before else []
    return "; ".join(parts if now in parts else [*parts, now])


def _shown(value: object) -> str:
    text = "unset" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:32]}…"
