"""Readers by name. Importing this loads no model library; opening a reader does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tpbench_data.errors import BadInput
from tpbench_generate.readers.base import Reader, ReaderOptions

READERS: dict[str, str] = {
    "smollm2-135m": "SmolLM2-135M-Instruct from the package registry; 0.5 GB on disk, runs on any CPU",
    "hf:MODEL[@REVISION]": "a causal language model: Hugging Face id (ORG/NAME) or local folder (./NAME)",
}
"""What `tpbench-generate readers` lists: name -> one line."""


def open_reader(name: str, *, say: Callable[[str], None] = lambda text: None, **options: Any) -> Reader:
    """Opens a reader: configuration and tokenizer, not yet the weights.

    Args:
        name: ``smollm2-135m`` or ``hf:<id or folder>[@revision]``.
        say: Is told what a first use is doing while it takes its time.
        options: Fields of `ReaderOptions`.

    Raises:
        BadInput: Unknown name, a model that cannot be found or used, or an option out of range.
        MissingExtra: A package of the extra `generate` is not installed.
    """
    chosen = ReaderOptions(**options)
    if name != "smollm2-135m" and not name.startswith("hf:"):
        raise BadInput(f"there is no reader '{name}'", field="--reader", remedy=f"Known readers: {', '.join(READERS)}")
    from tpbench_generate.readers.transformers_reader import TransformersReader

    if name.startswith("hf:"):
        from tpbench_generate.readers.model_source import find_model

        return TransformersReader(find_model(name), chosen)
    from tpbench_generate.readers.smollm2 import find_smollm2

    return TransformersReader(find_smollm2(say), chosen)
