"""Cache methods by name: one file each. Importing this loads neither kvpress nor a model library."""

from __future__ import annotations

from importlib import metadata

from tpbench_data.errors import BadInput
from tpbench_data.selectors.settings import parse_method
from tpbench_generate.kv.any_press import CLASS_NAME, named_press
from tpbench_generate.kv.base import KVMethod, WrongCache
from tpbench_generate.kv.chunkkv import ChunkKV
from tpbench_generate.kv.pyramidkv import PyramidKV
from tpbench_generate.kv.snapkv import SnapKV
from tpbench_generate.kv.streamingllm import StreamingLLM
from tpbench_generate.readers.packages import require_packages

KV_METHODS: dict[str, type[KVMethod]] = {kind.name: kind for kind in (ChunkKV, SnapKV, PyramidKV, StreamingLLM)}
"""Method name -> class, in table order."""

TESTED_PAIRS = (("0.5.5", "5.2.0"),)
"""Versions of kvpress and transformers that were run together: cache lengths, positions and answers were checked."""


def parse_kv(text: str) -> KVMethod:
    """Reads ``snapkv``, ``chunkkv(chunk_length=10)`` or the class of any press, ``KnormPress``.

    Raises:
        BadInput: Unknown method, class or setting.
        MissingExtra: A press is named by its class, and kvpress is not installed.
    """
    press = CLASS_NAME.fullmatch(text.strip())
    if press is not None:
        require_packages("torch", "transformers", "kvpress")
        return named_press(press[1], press[2] or "")
    return parse_method(text, KV_METHODS)


def check_versions() -> None:
    """Whether kvpress and transformers were tested together.

    Raises:
        MissingExtra: One of them is not installed.
        BadInput: Another pair is installed.
    """
    require_packages("torch", "transformers", "kvpress")
    found = metadata.version("kvpress"), metadata.version("transformers")
    if found not in TESTED_PAIRS:
        kvpress, transformers = TESTED_PAIRS[-1]
        raise BadInput(
            f"kvpress {found[0]} with transformers {found[1]} was never tested: a cache may be compressed wrongly",
            field="--kv",
            remedy=f"pip install kvpress=={kvpress} transformers=={transformers}",
        )


__all__ = ["KV_METHODS", "TESTED_PAIRS", "KVMethod", "WrongCache", "check_versions", "parse_kv"]
