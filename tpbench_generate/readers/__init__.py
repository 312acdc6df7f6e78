"""Readers by name. Importing this loads no model library; opening a reader does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tpbench_data.errors import BadInput
from tpbench_generate.readers.base import Reader
from tpbench_generate.readers.specs import READERS, SMOLLM2, ReaderSpec, find_reader

if TYPE_CHECKING:
    from tpbench_generate.kv import KVMethod

__all__ = ["READERS", "ReaderSpec", "find_reader", "open_reader"]


def open_reader(
    name: str | ReaderSpec,
    *,
    say: Callable[[str], None] = lambda text: None,
    kv: tuple[KVMethod, float] | None = None,
    **options: Any,
) -> Reader:
    """Opens a reader: configuration and tokenizer, not yet the weights.

    Args:
        name: A name of `tpbench-generate readers`, a reader file, or what `find_reader` gave for one.
        say: Is told what a first use is doing while it takes its time.
        kv: How the cache of the context is compressed: a method and the retained fraction; None = not at all.
        options: Fields of `ReaderOptions`; None = what the reader has by default.

    Raises:
        BadInput: Unknown name, a model that cannot be found or used, or an option out of range.
        MissingExtra: A package of the extra `generate` is not installed.
    """
    spec = find_reader(name) if isinstance(name, str) else name
    chosen = spec.options(options)
    if kv is not None and not spec.model:
        raise BadInput(
            f"the cache of {spec.name} cannot be compressed from here", field="--kv", remedy="Use an hf: reader"
        )
    if spec.plugin is not None:
        return spec.plugin(chosen)
    if spec.server is not None:
        from tpbench_generate.readers.openai_reader import OpenAIReader

        return OpenAIReader(spec.server, chosen, name=spec.name)
    if spec.model == SMOLLM2:
        from tpbench_generate.readers.smollm2 import find_smollm2

        source = find_smollm2(say)
    else:
        from tpbench_generate.readers.model_source import find_model

        source = find_model(spec.model)
    source = replace(source, reader=spec.name)
    if kv is not None:
        from tpbench_generate.readers.kv import KVReader

        return KVReader(source, chosen, *kv)
    from tpbench_generate.readers.transformers_reader import TransformersReader

    return TransformersReader(source, chosen)
